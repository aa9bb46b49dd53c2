#!/bin/bash
# check-target passes the example and new-target's output, and finds bugs planted in the example, each with the right
# kind of message.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CONFIG_HOME=$work/config
vanilla=$HEDDLE_HOME/targets/vanilla

# --- what passes ---
"$heddle" new-target mine >stdout 2>stderr || fail "new-target: $(cat stderr)"
[ "$(ls mine | tr '\n' ' ')" = "CMakeLists.txt README.md mine.c mine.h target.json " ] || fail "mine: $(ls mine)"
grep -qr newtarget mine && fail "the template's name is left in mine"
expect 2 "heddle: target mine comes from '$work/mine', and this would execute its code: add \
--allow-native-targets, or that folder as a line of '$work/config/heddle/trusted'" \
    "$heddle" check-target mine
"$heddle" check-target mine --allow-native-targets >stdout 2>stderr ||
    fail "mine: $(cat stdout stderr)"
grep -q "^target mine passes" stdout || fail "mine does not pass"
grep -q "with unroll=8: 24 operators" stdout || fail "attributes are not varied: $(cat stdout)"
"$heddle" run digits --engine=func --target-dir=mine --target=mine --allow-native-targets \
    --partition=priority >stdout 2>stderr || fail "mine on digits: $(cat stderr)"
grep -q '^13_fully_connected .* mine ' stdout || fail "mine does not take the dense layer of digits"
expect 2 "heddle: new-target: 'mine/target.json' already exists" "$heddle" new-target mine
expect 2 "heddle: new-target: target 'vanilla' already exists" "$heddle" new-target vanilla
expect 2 "heddle: new-target: found 'My-NPU', expected a lower-case letter, then lower-case letters, digits and _" \
    "$heddle" new-target My-NPU

# --- bugs ---
# bug NAME FILE SED COMPLAINT: vanilla without its core (the plain C is what is broken), changed.
bug() {
    rm -rf nut
    cp -r "$vanilla" nut
    sed -i '/"core"/d; s/"name": "vanilla"/"name": "nut"/; /"topping"/,/changes nothing/d' nut/target.json
    cp "nut/$2" before
    sed -i "$3" "nut/$2"
    cmp -s before "nut/$2" && fail "$1: nothing changed"
    "$heddle" check-target nut --allow-native-targets >stdout 2>stderr
    [ $? = 1 ] || fail "$1: not found: $(tail -n 2 stdout stderr)"
    grep -q "^FAIL .*$4" stdout || fail "$1: expected '$4', found $(grep -A1 FAIL stdout)"
    grep -q "^heddle: target nut: [1-9] checks failed" stderr || fail "$1: $(cat stderr)"
}
bug "zero point forgotten" vanilla.c 's/ - s.z_in)/)/' "conv2d: in_h=.*: expected .*, found "
bug "one column too many" vanilla.c 's/ix >= s.in_w/ix > s.in_w/' "memory: conv2d: .*AddressSanitizer\|expected .*, found "
bug "one channel too many" vanilla.c 's/c < s.in_c/c <= s.in_c/' "memory: conv2d: .*AddressSanitizer: \(SEGV\|.*overflow\|use-after-poison\)"
bug "writes beyond the output" vanilla.c 's/y\[i\] = /y[i + 1] = /' "memory: conv2d: .*AddressSanitizer"
bug "last element left out" vanilla.c 's/i < s.out_h \* s.out_w \* s.out_c/i < s.out_h * s.out_w * s.out_c - 1/' "expected .*, found 90 .*may be unwritten"
bug "rounding left out" vanilla.c 's/(product >= 0 ? 1 << 30 : 1 - (1 << 30))/0/' "expected .*, found "
bug "second rounding differs" vanilla.c 's/ + (high < 0))/)/' "expected .*, found "
bug "activation forgotten" vanilla.c 's/acc < s.act_min ? s.act_min :/acc < -128 ? -128 :/' "expected .*, found "
bug "first channel's scale for all" vanilla.c 's/s.scales > 1 ? c : 0/0/' "expected .*, found "
bug "memory not given back" vanilla.c 's/^    int32_t taps = /    extern void *malloc(size_t); volatile char *lost = malloc(100); lost[0] = 1; lost = 0;\n    int32_t taps = /' "leaked: .*leaked"
bug "signed overflow" vanilla.c 's/int64_t product = (int64_t)(int32_t)/int64_t product = (int32_t)/' "memory: conv2d: .*runtime error: signed integer overflow"
bug "an error returned" vanilla.c 's/^    return 0;/    return -3;/' "conv2d: .*: the call returned -3"
bug "does not compile" vanilla.c 's/int32_t acc = 0;/int32_t acc = 0/' "do not compile .*error: expected"
bug "more promised than done" target.json 's/"dilation_h": 1, "dilation_w": 1,//' "dilation_.*=2.*expected .*, found "
bug "batches ignored" target.json 's/"batch": 1,//' "conv2d: batch=2 .*expected .*, found 90"
bug "in_h over 16" vanilla.c 's/^    int32_t taps = /    s.z_in ^= s.in_h > 16;\n&/' "conv2d: in_h=.*: expected .*, found "
bug "shift and 7" vanilla.c 's/right = shift < 0 ? -shift : 0/right = -shift \& 7/' "conv2d: .*: expected .*, found "
bug "the input is overwritten" vanilla.c 's/^    return 0;/    ((int8_t *)(uintptr_t)x)[0] = y[0] + 1;\n&/' "conv2d: .*: the call changed byte 0 of [0-9]* of its input from"
bug "nothing it takes" target.json 's/"batch": 1,/"batch": 1, "in_c": {"max": 0},/; s/"in_c": \[1, 4096\], //' "found no operator that it supports"

# limits that combine: the depth of 7 rows, 7 columns and 64 channels, whatever the seed
rm -rf nut
cp -r "$vanilla" nut
sed -i '/"core"/d; s/"name": "vanilla"/"name": "nut"/; /"topping"/,/changes nothing/d; s/"max_kernel"\]/7]/g; s/"in_c": \[1, 4096\]/"in_c": [1, 64], "depth": [1, 3200]/' nut/target.json
"$heddle" check-target nut --allow-native-targets >stdout 2>stderr || fail "depth: $(tail -n 2 stdout stderr)"
grep -q '^ok   pattern conv2d: .* depth [0-9]*\.\.3136' stdout || fail "depth: $(grep conv2d stdout)"
sed -i 's/"depth": \[1, 3200\]/"depth": [1, 9000]/' nut/target.json
sed -i 's/^    int32_t taps = /    s.z_in ^= s.kernel_h * s.kernel_w * s.in_c > 2048;\n&/' nut/vanilla.c
for seed in 1 2 3 4 5; do
    "$heddle" check-target nut --allow-native-targets --seed=$seed >stdout 2>stderr
    [ $? = 1 ] || fail "depth over 2048, seed $seed: not found"
    grep -q '^FAIL .*conv2d: in_h=.*: expected .*, found ' stdout || fail "depth over 2048: $(grep FAIL stdout)"
done
grep -q '^warn pattern conv2d: drawn .*depth up to 3136 of 9000' stdout || fail "not reached: $(grep warn stdout)"

# some of the kit, whatever the seed: sums at their ends, ties, start values of registers
. "$(dirname "$0")/bugs.sh"
kept() {
    case $1:$4 in
        "vanilla:no rounding at a shift of 31" | "vanilla:result in 16 bits, in C") ;;
        "matvec:sums in 24 bits" | "wide:no reset" | "vanilla:the core is left as it is after an error") command -v verilator >/dev/null || return ;;
        *) return ;;
    esac
    plant "$@"
    found "$1: $4" --seed=$((RANDOM % 9 + 1)) >>found || fail "$(tail -n 1 found)"
}
each kept
[ "$(wc -l <found)" -ge 1 ] || fail "the kit: $(cat found)"

# --- cores ---
if command -v verilator >/dev/null; then
    "$heddle" new-target mover --template=copy >stdout || fail "new-target --template=copy"
    then=$(sed -n 's/^then: heddle //p' stdout)
    [ "$then" = "run mover/copy.ir --hw=tiny --target-dir=mover --target=mover --allow-native-targets --waves=first -o out" ] ||
        fail "new-target says '$then'"
    grep -qr newcopy mover && fail "the template's name is left in mover"
    "$heddle" check-target mover --allow-native-targets >stdout 2>stderr || fail "mover: $(cat stdout stderr)"
    grep -q "^ok .*on the Verilated core, separate memory: 24 operators" stdout || fail "mover: $(cat stdout)"
    # shellcheck disable=SC2086 # words
    "$heddle" $then >stdout 2>stderr || fail "mover runs: $(cat stdout stderr)"
    grep -q '^waves: out/waves.fst, 197 cycles' stdout || fail "mover's waves: $(grep ^waves stdout)"
    grep -q '^\[markername\] A00_copy$' out/waves.gtkw || fail "mover's marker: $(cat out/waves.gtkw)"
    grep -q '^TOP.mover_core.mem_read_o' out/waves.gtkw || fail "mover's save file: $(cat out/waves.gtkw)"
    grep -qE '^00_copy +1x8x8x12 +mover +197 ' stdout || fail "mover's cycles: $(cat stdout)"
    python3 - <<'PY' || fail "mover is not in trace.json or report.html"
import json
page = open("out/report.html").read().split('id="trace">')[1]
for trace in json.load(open("out/trace.json")), json.JSONDecoder().raw_decode(page)[0]:
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert [(s["dur"], "model" in s["args"]) for s in slices if s["name"] == "00_copy"] == [(197, False)], slices
PY
    "$heddle" new-target tiny_core --template=core >/dev/null || fail "new-target --template=core"
    # an error of the port, hidden; then cycles beside estimates, and rates that fit
    sed 's/return rc ? rc : dev/return dev/' mover/mover.c >hides.c
    cp mover/mover.c was.c && cp hides.c mover/mover.c
    "$heddle" check-target mover --allow-native-targets >stdout 2>stderr
    grep -q "^FAIL on the Verilated core, after calls whose port failed: .*: wait_irq returned -9, and the call returned 0: expected an error" stdout ||
        fail "a hidden error: $(tail -n 3 stdout stderr)"
    cp was.c mover/mover.c
    sed -i 's/"cost": {[^}]*}/"cost": {"fixed": 1}/' mover/target.json
    "$heddle" check-target mover --allow-native-targets >stdout 2>stderr || fail "cost: $(tail -n 3 stdout stderr)"
    grep -q '^warn cost of max_pool_2d: [0-9.]* % off the measured cycles on average, at most: estimate 1, measured [0-9]*: max_pool_2d: ' stdout &&
        grep -qE '^     --fit-cost writes \{"fixed": .*, fitted to operators of [0-9]+ to [0-9]+ cycles$' stdout || fail "cost: $(grep -A1 cost stdout)"
    grep -q '^ok   pattern max_pool_2d: [0-9]* operators: .*in_bytes [0-9]*\.\.65536' stdout || fail "reach: $(grep pattern stdout)"
    "$heddle" check-target mover --allow-native-targets --fit-cost >stdout 2>stderr || fail "--fit-cost: $(cat stderr)"
    "$heddle" check-target mover --allow-native-targets >stdout 2>stderr || fail "fitted: $(cat stderr)"
    grep -qE '^ok   cost of max_pool_2d: [0-9]\.[0-9] % off' stdout || fail "fitted: $(grep cost stdout)"

    # a hang is reported at once, with registers and the last accesses
    sed -i "s/assign irq_o *= .*/assign irq_o = 1'b0;/" mover/mover_core.sv
    # shellcheck disable=SC2086 # words
    expect 4 "heddle: inference 0, 00_copy on mover: the device can make no more progress; no register, memory or interrupt \
activity for 100000 cycles, until cycle 100203; registers: 0x4 = 0x3 0x8 = 0x3 0xc = 0x0 0x0 = 0x3; last accesses: memory \
read 0x2e0 (8 bytes) in cycle 196, memory write 0x5e0 (8 bytes) in cycle 197, memory read 0x2e8 (8 bytes) in cycle 198, \
memory write 0x5e8 (8 bytes) in cycle 199, memory read 0x2f0 (8 bytes) in cycle 200, memory write 0x5f0 (8 bytes) in \
cycle 201, memory read 0x2f8 (8 bytes) in cycle 202, memory write 0x5f8 (8 bytes) in cycle 203" \
        "$heddle" run mover/copy.ir --hw=tiny --target-dir=mover --target=mover --allow-native-targets
    # a core may compute for longer without an access: --max-cycles
    expect 4 "heddle: inference 0, 00_copy on mover: the device did not finish in the cycles allowed: its own limit, or the 150000 of --max-cycles" \
        "$heddle" run mover/copy.ir --hw=tiny --target-dir=mover --target=mover --allow-native-targets --max-cycles=150000
    # nor is a core that works for ever while its call polls
    sed -i 's/rc = dev->wait_irq.*/while (dev->read32(dev->ctx, 0) != 3)\n        ;/' mover/mover.c
    sed -i "s/{from_q + 32'd8, to_q + 32'd8, left_q - 32'd8}/{from_q, to_q, left_q}/" mover/mover_core.sv
    "$heddle" run mover/copy.ir --hw=tiny --target-dir=mover --target=mover --allow-native-targets --max-cycles=150000 --seconds=4 >stdout 2>stderr
    [ $? = 4 ] && grep -qE 'only register reads for 150000 cycles \(--max-cycles\), until cycle 1[0-9]{5}; registers: .*; last accesses: ' stderr ||
        fail "polling: $(tail -n 3 stderr)"

    # --- a bug in the core ---
    sed -i 's/ - r\[Z_IN\]) \*/) */' tiny_core/tiny_core_core.sv
    grep -q 'Z_IN\]) \*' tiny_core/tiny_core_core.sv && fail "the core did not change"
    HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++" "$heddle" check-target tiny_core --allow-native-targets >stdout 2>stderr
    [ $? = 1 ] || fail "a wrong core is not found: $(tail -n 3 stdout stderr)"
    grep -q "^ok .*plain C, between guard pages" stdout || fail "the plain C is right: $(cat stdout)"
    grep -q "^FAIL .*on the Verilated core, separate memory: conv2d: .*: expected .*, found " stdout ||
        fail "the wrong core: $(cat stdout)"
fi
finish
