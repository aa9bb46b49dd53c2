#!/bin/bash
# The vanilla example on its own Verilated core, alone and next to the systolic accelerator: the same
# bytes, cycles of its own, waits that end. Its README's line count holds.
. "$(dirname "$0")/../common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
vanilla=$HEDDLE_HOME/targets/vanilla
o0="$HEDDLE_HOME/tests/e2e/o0 g++" # cores that run once

lines=$(cat "$vanilla"/*.json "$vanilla"/*.c "$vanilla"/*.h | wc -l)
[ "$lines" -lt 120 ] || fail "vanilla has $lines lines of JSON and C, expected under 120"
echo "vanilla: $lines lines of JSON and C"
"$heddle" check-target "$vanilla" --allow-native-targets >stdout 2>stderr || fail "$(cat stdout stderr)"

head -c $((64 * 10)) "$models/digits/in_0.bin" >in.bin
head -c 100 "$models/digits/out_0.bin" >want.bin
for list in vanilla "vanilla,systolic --partition=priority"; do
    # shellcheck disable=SC2086
    "$heddle" run digits --hw=tiny --target=$list -i in.bin -o out --stats stats.json >stdout 2>stderr ||
        fail "$list: $(cat stderr)"
    cmp -s out/out_0.bin want.bin || fail "$list: another answer"
    grep -q '^01_conv2d .* vanilla  *[1-9][0-9]*  *[1-9]' stdout || fail "$list: no cycles of vanilla"
done
grep -q '^04_add .* systolic  *[1-9]' stdout || fail "no cycles of systolic beside vanilla"

# Edges: one channel, wide kernels, strides, padding on every side, per tensor and per channel.
"$HEDDLE_BUILD"/random_layers --hw tiny --count 40 --seed 7 --write layers >/dev/null
taken=0
for ir in layers/*.ir; do
    "$heddle" inspect "$ir" --target=vanilla | grep -q ' vanilla  ' || continue
    taken=$((taken + 1)) one=$ir
    "$heddle" run "$ir" --hw=tiny --target=vanilla >/dev/null 2>stderr || fail "$ir: $(cat stderr)"
done
[ "$taken" -ge 3 ] || fail "vanilla took $taken of 40 random layers"

# A package brings the Verilog of its cores, and is run on them; what metadata.json specifies is checked.
export CC="$HEDDLE_HOME/tests/e2e/o0 ${CC:-cc}" # its package runs once
"$heddle" compile digits --hw=tiny --target=vanilla,systolic --offload=01*=vanilla -o net.tar ||
    fail "compile with a core"
net() {
    "$heddle" run "$1" --allow-native-targets -i in.bin --expect want.bin >stdout 2>stderr
}
net net.tar || fail "a package with a core: $(cat stderr)"
grep -q '^digits, engine rtl: 10 inferences, [0-9.]* cycles each' stdout || fail "no cycles of a package: $(cat stdout)"
"$heddle" compile "$one" --hw=tiny --target=vanilla,c --partition=priority -o one || fail "compile $one" # it compiles again each time
cp one/metadata.json right.json
for change in 's/"top":.*"vanilla_core"/"top": "vanilla-core"/' 's/"vanilla_core.sv"/"..\/vanilla_core.sv"/' \
    's/"name":.*"vanilla",/"name": "other",/' 's/"memory_bytes":.*524288/"memory_bytes": 1/'; do
    sed "$change" right.json >one/metadata.json
    cmp -s right.json one/metadata.json && fail "$change: nothing changed"
    net one
    [ $? = 2 ] || fail "$change: expected exit 2: $(cat stderr)"
    grep -q 'one/metadata.json: "cores": expected one with name' stderr || fail "$change: $(cat stderr)"
done

# A core that never ends, and one that reads outside its memory: exit 4 with the operator's name.
broken() { # broken NAME SED MESSAGE
    cp -r "$vanilla" "$1"
    sed -i "s/\"name\": \"vanilla\"/\"name\": \"$1\"/" "$1/target.json"
    sed -i "$2" "$1/vanilla_core.sv"
    cmp -s "$1/vanilla_core.sv" "$vanilla/vanilla_core.sv" && fail "nothing changed: $2"
    HEDDLE_CXX=$o0 "$heddle" run digits --hw=tiny --target-dir="$1" --target="$1" --allow-native-targets \
        --max-cycles=100000 >/dev/null 2>stderr
    [ $? = 4 ] || fail "$1: expected exit 4: $(cat stderr)"
    grep -q "$3" stderr || fail "$1: expected '$3', found '$(cat stderr)'"
}
broken deaf 's/assign irq_o = .*/assign irq_o = 1'"'"'b0;/' "inference 0, 00_conv2d on deaf: "
broken astray 's/mem_addr_o = wa_q;/mem_addr_o = wa_q + 32'"'"'h100000;/' \
    "00_conv2d on astray: .*the core reads byte 0x100"
finish
