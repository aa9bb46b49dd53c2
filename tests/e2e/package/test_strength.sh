#!/bin/bash
# --strength: single faults in a compiled package, the same from one seed. All layers detect more than the outputs of
# one inference do, and nine of ten faults that have an effect.
. "$(dirname "$0")/../common.sh"
cp "$models/digits/model.tflite" .
shares() { # OPTION...: planted, with an effect, detected
    "$heddle" run model.tflite --engine=func --strength -q "$@" >stdout 2>stderr || fail "$*: $(cat stderr)"
    awk '/^all /{print $2, $5, $6}' stdout
}
read -r planted effect found < <(shares)
[ "$planted" = 200 ] && [ "$effect" -gt 120 ] || fail "planted $planted, with an effect $effect"
[ $((100 * found)) -ge $((90 * effect)) ] || fail "$found of $effect are detected"
grep -q "^strength: $found of $effect faults that change a compared byte are detected by this run (seed 1)$" stdout ||
    fail "$(grep ^strength stdout)"
read -r _ _ few < <(shares --compare=outputs -n 1)
[ "$few" -lt $((found * 3 / 4)) ] || fail "outputs of one inference detect $few, all layers $found"
expect 2 'heddle: --strength: found --engine=ref, expected --engine=func, on which its faults run' \
    "$heddle" run model.tflite --engine=ref --strength
finish
