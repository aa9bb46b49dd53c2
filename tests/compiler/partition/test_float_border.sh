#!/bin/bash
# Float32 inputs that LOAD quantises, outputs that STORE dequantises: values next to every half step, beyond the bytes, infinite, denormal, NaN and -0.
# Answers of functional model and RTL equal the reference's; the proof holds for all floats. The report names for the
# host only the input that its operator reads.
. "$(dirname "$0")/../../e2e/common.sh"

net=$HEDDLE_HOME/tests/compiler/partition/float_border.ir
python3 - <<'END' || fail "inputs"
import math, struct

def near(scale, step):
    """Three floats around a half step: before, at and after it."""
    bits, = struct.unpack("<I", struct.pack("<f", scale * (step + 0.5)))
    return [struct.unpack("<f", struct.pack("<I", bits + k))[0] for k in (-1, 0, 1)]

odd = [math.nan, -math.nan, math.inf, -math.inf, -0.0, 1e-45, -1e-45, 3e38, -3e38]
for name, scale in (("x", 0.5), ("other", 0.0625), ("third", 0.5)):
    values = odd + [v for step in range(-150, 150) for v in near(scale, step)]
    values += [0.25] * (-len(values) % 64)
    open(f"{name}.bin", "wb").write(struct.pack(f"<{len(values)}f", *values))
END
for engine in func rtl; do
    "$heddle" run "$net" --engine=$engine --hw=tiny --stall-seed=5 -i x.bin -i other.bin -i third.bin >stdout 2>stderr ||
        fail "$engine: $(cat stderr)"
    grep -q "^verdict: match: 4 of 4 layers and 4 outputs of 15 inferences equal" stdout ||
        fail "$engine: $(grep ^verdict stdout)"
done
grep -qE "^02_log_softmax .* c  " stdout || fail "the host's row: $(cat stdout)"
"$heddle" disasm "$net" --hw=tiny >stdout 2>stderr || fail "disasm: $(cat stderr)"
[ "$(grep -c "thresholds" stdout)" = 2 ] || fail "two inputs of two scales: $(grep -c thresholds stdout) fetches of thresholds"
[ "$(grep -c "floats" stdout)" = 2 ] || fail "two outputs of two scales: $(grep -c floats stdout) fetches of floats"
"$heddle" prove "$HEDDLE_HOME/tests/compiler/partition/float_one.ir" --hw=tiny >stdout 2>stderr || fail "prove: $(cat stderr)"
grep -q "^proved: all" stdout || fail "prove: $(cat stdout)"
finish
