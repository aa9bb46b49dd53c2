#!/bin/bash
# The judgement of `make bench-host`, and that float_network.py's float32 network recognises digits as well as the
# quantised one. The latter needs requirements-new.txt: HEDDLE_VENV_NEW, or build/venv-new.
. "$(dirname "$0")/../e2e/common.sh"
bench=$HEDDLE_HOME/tests/bench
python3 -B - "$bench" <<'END' || fail "verdicts and ratios"
import sys
sys.path.insert(0, sys.argv[1])
from bench_host import times_as_long, verdict
assert verdict("kws", {"heddle": 1.0, "float": 1.0, "litert": 1.0}) == []
assert verdict("kws", {"heddle": 1.1, "float": 1.0, "litert": 1.0}) == ["slower than its float32"]
assert verdict("kws", {"heddle": 3.1, "float": 4.0, "litert": 1.0}) == ["above 3x LiteRT"]
assert verdict("resnet8", {"heddle": 0.56, "litert": None}) == ["above 0.55 ms"]
assert times_as_long(1.5, 0.5) == "     3.00x" and times_as_long(1.5, None) == "         -"
END
venv=${HEDDLE_VENV_NEW:-$HEDDLE_HOME/build/venv-new}
if [ "$failures" = 0 ] && ! "$venv/bin/python" -c 'import ai_edge_litert' 2>/dev/null; then
    echo "no $venv: float_network.py not tried"
    exit 77
fi
"$venv/bin/python" -B "$bench/float_network.py" "$models/digits/model.tflite" float.tflite || fail "float_network.py"
"$venv/bin/python" - "$models/digits/in_0.bin" <<'END'
import sys
import numpy as np
codes = np.fromfile(sys.argv[1], np.int8).reshape(360, 8, 8, 1)
np.save("in.npy", (codes.astype(np.float32) + 128) / 255)
END
"$heddle" run float.tflite --target=c --engine=func -i in.npy --labels="$models/digits/labels.txt" -o out >stdout 2>&1 ||
    fail "$(cat stdout)"
grep -q "^accuracy: 9[89]\." stdout || fail "accuracy: $(cat stdout)"
[ "$(wc -c <out/out_0.bin)" = $((360 * 10 * 4)) ] || fail "outputs are not float32"
finish
