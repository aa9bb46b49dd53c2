#!/bin/bash
# report.html is one self-contained file; the model's names stay text in it; it contains the graph; --no-report omits
# it. On every engine.
. "$(dirname "$0")/../../e2e/common.sh"

# names that would end a script or begin an element
sed 's/^graph name="accounts"/graph name="<\/script><img src=x onerror=hit=1>"/; s/name="x"/name="<\/script><img onerror=hit=1>"/
     s/tensor="y"/tensor="<\/script><script>hit=1<\/script>"/' "$HEDDLE_HOME/tests/e2e/numbers/accounts.ir" >names.ir
grep -c '<script>' names.ir >stdout || fail "names.ir: nothing was replaced"
expect 0 '' "$heddle" run names.ir --engine=func -o out
page=out/report.html
[ -s $page ] || fail "no report.html: $(ls out)"
grep -q '<img' $page && fail "a name of the model is an element"
[ "$(grep -c '<script' $page)" = "$(grep -c '</script>' $page)" ] || fail "a name of the model ends a script"
[ "$(grep -o '<script[^>]*>' $page | tr '\n' ' ')" = \
    '<script type="application/json" id="stats"> <script type="application/json" id="columns"> <script type="application/json" id="schedule"> <script type="application/json" id="trace"> <script> ' ] ||
    fail "scripts: $(grep -o '<script[^>]*>' $page)"
grep -q 'id="trace">null<' $page || fail "func has a trace"
# nothing is loaded: no address but the names of formats
grep -oE '(src|href)=.?(https?:)?//[^ ">]*|url\([^)]*\)|https?://[^ "<]*' $page | grep -v 'http://www.w3.org/\|^url(#' && fail "an address"
ls -A out | grep -q graph && fail "files of the drawing are left: $(ls -A out)"

# the same run gives the same bytes, except for the seconds
expect 0 '' "$heddle" run names.ir --engine=func -o again
sed 's/"wall_seconds":[^,]*//' $page >one
sed 's/"wall_seconds":[^,]*//' again/report.html >two
same one two "two runs"

# heddle draws the graph itself: one box per layer, without Graphviz
mkdir bin
for program in cc as ld sh env bash; do ln -s "$(command -v $program)" bin/; done
expect 0 '' env PATH="$work/bin" "$heddle" run names.ir --engine=func -o plain
grep -q 'id="layer0" class="node accelerator"' plain/report.html || fail "no graph"
expect 0 '' env PATH="$work/bin" "$heddle" run resnet8_own --engine=func -o eight
[ "$(grep -c '<g id="layer[0-9]*" class="node ' eight/report.html)" = 15 ] || fail "resnet8_own has 15 layers"
grep -q ' class="s">systolic, [0-9]* cycles (estimate)</text>' eight/report.html || fail "an estimate is not labelled"

expect 0 '' "$heddle" run names.ir --engine=ref -o reference
grep -q 'id="stats">{' reference/report.html || fail "ref: no page"
expect 0 '' "$heddle" run names.ir --engine=func --no-report -o without
[ -e without/stats.json ] && [ ! -e without/report.html ] || fail "--no-report: $(ls without)"
finish
