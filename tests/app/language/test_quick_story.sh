#!/bin/bash
# --prompt: the words of story, which NumPy's float32 chooses too, equal on reference and functional model; a seed's
# choice; refusals.
. "$(dirname "$0")/../../e2e/common.sh"

for products in int8 static16 static; do
    "$heddle" run story --products=$products --engine=func --tokens 6 --no-search >said 2>&1 || fail "$(cat said)"
    head -n 1 said | grep -qx "Once upon a time there was a little clock that was alw" || fail "$(cat said)"
    grep -q "^verdict: match" said || fail "$(cat said)"
    cp said said.$products
done
[ "$(sed -n 's/.* and \([0-9]*\) on the host (estimate).*/\1/p' said.static16)" -lt 25000 ] || fail "static16: $(cat said.static16)"
grep -q "^[0-9]* MACs, 100.0 % on the accelerator" said || fail "static: $(cat said)"
grep -q "and 0 on the host (estimate)" said || fail "static: $(cat said)"
for seed in 1 1 2; do
    "$heddle" run story --engine=ref --products=float --temperature=3 --seed=$seed --tokens 6 -q >new 2>&1 || fail "$(cat new)"
    [ ! -e said.$seed ] || cmp said.$seed new || fail "seed $seed: other words"
    mv new said.$seed
done
cmp -s said.1 said.2 && fail "seeds 1 and 2 choose the same words"
story=$HEDDLE_HOME/tests/models/story/model.gguf
refuse() { # refuse TEXT OPTION...
    expect 2 "heddle: $1" "$heddle" run "${@:2}"
}
refuse "--prompt: expected a .gguf file, found '$HEDDLE_HOME/tests/models/digits/model.tflite'" digits --prompt=x
refuse "--prompt: not with --input, --expect or --reset-state" "$story" --prompt=x --reset-state
refuse "--prompt: expected --host=native and --engine=ref, func or rtl" "$story" --prompt=x --host=iss
refuse "--temperature: expected a number from 0 to 100, found 'hot'" "$story" --prompt=x --temperature=hot
refuse "--prompt: expected a text, found none" "$story" --prompt=
refuse "--tokens: 21 after a prompt of 1 need --context=21, found 20" "$story" --prompt=x --tokens 21 --context 20
finish
