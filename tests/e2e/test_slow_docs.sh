#!/bin/bash
# Every command of docs/RETARGET.md, in its order, as a newcomer types them; docs/TARGET.md is what
# heddle prints; links between pages lead somewhere.
. "$(dirname "$0")/common.sh"
docs=$HEDDLE_HOME/docs
export PATH=$HEDDLE_BUILD:$PATH XDG_CONFIG_HOME=$work/config

"$heddle" targets --reference | diff - "$docs/TARGET.md" >stdout ||
    fail "docs/TARGET.md is not what heddle targets --reference prints: $(head -n 4 stdout)"

n=0
while read -r line; do
    case $line in
        *mycore*) command -v verilator >/dev/null || { echo "not tried, no verilator: $line"; continue; } ;;
    esac
    n=$((n + 1))
    bash -c "$line" >stdout 2>stderr </dev/null || fail "$line: $(cat stderr) $(grep FAIL stdout)"
    case $n in # what the text says one sees
        2) grep -q "^target mine passes" stdout || fail "$line" ;;
        4) grep -q '^13_fully_connected .* systolic  *mine [0-9]*, systolic [0-9]*, c [0-9]*$' stdout ||
            fail "$line: $(grep ^13 stdout)" ;;
    esac
    case $line in
        *"inspect digits --target-dir=mine --target=mine")
            grep -q "mine: out_c is 10, expected at most 8" stdout || fail "the refusal of section 4" ;;
        *--expect*) grep -qx "verdict: match: .* equal, bit for bit, to the expected outputs (.*)" stdout &&
            grep -q '^1[0-9]_fully_connected .* mine ' stdout || fail "$line: $(tail -n 1 stdout)" ;;
    esac
done < <(grep -E '^ {4,}(heddle|sed|cp|cd|cmake) ' "$docs/RETARGET.md" | sed "s/^ *//; s|HEDDLE/|$HEDDLE_HOME/|g")
[ "$n" -ge 23 ] || fail "only $n commands were found"
grep -q "mine_dense(" out/emitted/model.c || fail "no call of mine_dense"
cp broken.json mine/target.json
"$heddle" targets --target-dir=mine 2>&1 | grep -q \
    'mine/target.json:17:21: operators\[0\].zeropoints: unknown member; did you mean "zero_points"?' ||
    fail "the message of section 4: $("$heddle" targets --target-dir=mine 2>&1)"

grep -q "mine_dense(" net/model.c && [ -f net/mine/mine.c ] || fail "nothing of mine in the package"
cmp -s net/build/out_0.bin out_0.bin || fail "the package's own program: another answer"

for page in "$docs"/*.md "$HEDDLE_HOME"/targets/*.md "$HEDDLE_HOME"/targets/*/README.md; do
    for link in $(grep -o '](\([^)#]*\))' "$page" | sed 's/^](//; s/)$//' | grep -v '^http'); do
        [ -e "$(dirname "$page")/$link" ] || fail "$page: no $link"
    done
done
finish
