#!/bin/bash
# The strawberry example: layers that the compiler makes of a core's 4x4 products. The same bytes with
# the core and without, also where its memory holds few rows and few channels at a time; its loads hide
# after its products; a core that forgets a buffer is seen.
. "$(dirname "$0")/../common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
strawberry=$HEDDLE_HOME/targets/strawberry

for model in digits resnet8_own dscnn_own mobilenet025_own autoencoder_own; do
    "$heddle" run $model --engine=func --target=strawberry -o out >stdout 2>stderr ||
        fail "$model: $(cat stderr)"
    cmp -s out/out_0.bin "$models/$model/out_0.bin" || fail "$model: another answer"
    grep -q '^[0-9].* strawberry  ' stdout || fail "$model: nothing on strawberry"
done
head -c $((64 * 20)) "$models/digits/in_0.bin" >in.bin
head -c 200 "$models/digits/out_0.bin" >want.bin
digits() { "$heddle" run digits --hw=tiny -i in.bin --expect want.bin "$@"; }
for list in strawberry "strawberry,systolic --partition=priority" "vanilla,strawberry --offload=01*=strawberry"; do
    # shellcheck disable=SC2086
    digits --target=$list >stdout 2>stderr || fail "$list: $(cat stderr)"
    grep -q '^01_conv2d .* strawberry  *[1-9][0-9]*  *[1-9]' stdout || fail "$list: no cycles"
done
digits --target=strawberry >stdout 2>stderr || fail "alone: $(cat stderr)"
# 16 multiplications a cycle at most: at least 90 % of them where the depth is 144.
grep -q '^01_conv2d .* strawberry  *[0-9]*  *[0-9]*  *-  *9[0-9][.][0-9]%' stdout ||
    fail "loads do not overlap with products: $(grep ^01 stdout)"

# changed NAME FILE SED: the example under another name, with a change.
changed() {
    cp -r "$strawberry" "$1"
    sed -i "s/\"name\": \"strawberry\"/\"name\": \"$1\"/" "$1/target.json"
    sed -i "$3" "$1/$2"
    cmp -s "$1/$2" "$strawberry/$2" && fail "$1: nothing changed: $3"
}
changed narrow target.json 's/"memory_bytes": 131072/"memory_bytes": 6000/'
digits --target-dir=narrow --target=narrow --allow-native-targets -o few >stdout 2>stderr ||
    fail "narrow: $(cat stderr)"
grep -q 'band = [1-7], .group = [1-9],' few/emitted/model.c || fail "narrow: all is in memory at once"
changed shallow target.json 's/"depth": 256/"depth": 20/'
digits --target-dir=shallow --target=shallow --allow-native-targets -o cut >stdout 2>stderr ||
    fail "shallow: $(cat stderr)"
grep -q 'piece_bytes = 20,' cut/emitted/model.c || fail "shallow: kernel rows are not cut"
changed tight target.json 's/"memory_bytes": 131072/"memory_bytes": 700/'
"$heddle" inspect digits --target-dir=tight --target=tight >stdout 2>stderr
grep -q "^06_conv2d .*tight: one output row of 4 channels needs [0-9]* bytes of the core's memory, it has 700" stdout ||
    fail "tight: $(grep ^06 stdout)"

"$heddle" check-target "$strawberry" --allow-native-targets >stdout 2>stderr || fail "$(cat stdout stderr)"
changed forgetful strawberry_core.sv 's/start_multiply \&\& !multiply_q/start_multiply/; s/{first_q, s_q, b_q, a_q} <= reg_wdata_i\[3:0\]/{first_q, s_q, b_q} <= reg_wdata_i[3:1]; a_q <= 0/'
HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++" "$heddle" check-target forgetful --allow-native-targets >stdout 2>stderr &&
    fail "a core that uses one buffer passes"
grep -q '^FAIL .*Verilated core' stdout || fail "forgetful: $(cat stdout)"

# "blocks" in target.json.
wrong() { # wrong MESSAGE SED
    rm -rf wrong
    changed wrong target.json "$2"
    expect 2 "heddle: $work/wrong/target.json:$1" "$heddle" targets --target-dir=wrong
}
wrong "15:5: operators[0]: member \"call\" is missing; without it only conv2d and fully_connected of a target with \"blocks\" or \"instructions\", and add, average_pool_2d and depthwise_conv2d of one with \"instructions\"" \
    's/"op": "conv2d"/"op": "add"/'
wrong "15:5: operators[0]: member \"cost\" is missing" 's/"op": "conv2d"/"op": "conv2d", "call": "f()"/'
wrong "15:5: operators[0]: without \"call\" the compiler sets cost, order of weights and requantisation: leave them out" \
    's/"op": "conv2d"/"op": "conv2d", "weights": "hwio"/'
wrong "11:13: blocks: it needs a \"core\", whose memory it uses" '/"core":/d'
wrong "12:49: blocks.rows: expected a number of at most 16, found 17" 's/"rows": 4/"rows": 17/'
finish
