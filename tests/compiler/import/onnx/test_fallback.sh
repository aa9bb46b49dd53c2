#!/bin/bash
# --host-fallback=onnxruntime: nodes that heddle refuses, computed by ONNX Runtime; the library's own answers of the whole file are the
# expected outputs. Without the library, which HEDDLE_VENV_NEW or build/venv-new has, only the refusals that need none.
. "$(dirname "$0")/../../../e2e/common.sh"

here=$HEDDLE_HOME/tests/compiler/import/onnx/fallback
pools=$here/pools.onnx
align="node 1 '' RoiAlign (ai.onnx, opset 21)"
own="this operator is not supported ('heddle ops' lists those that are)"
expect 3 "heddle: $pools: $align: $own" "$heddle" inspect "$pools"
export HEDDLE_ONNXRUNTIME=./none
expect 3 "heddle: $pools: $align: ONNX Runtime: the library was not found (./none: cannot open shared object file: No such file or directory): install it (pip install onnxruntime) and set HEDDLE_ONNXRUNTIME to its file, .../site-packages/onnxruntime/capi/libonnxruntime.so.VERSION
  heddle itself: $own" "$heddle" inspect "$pools" --host-fallback=onnxruntime
while IFS='|' read -r net text more; do
    expect 3 "heddle: $here/$net.onnx: node 0 '' $text
  heddle itself: $more" "$heddle" inspect "$here/$net.onnx" --host-fallback=onnxruntime
done <<END
int4|Frobnicate (ai.onnx, opset 21): ONNX Runtime: input 1: integers of 4 bits|$own
branch|If (ai.onnx, opset 21): ONNX Runtime: a node with graphs inside|a condition that is no constant: expected branches of one shape, found 2 and 3
END
expect 3 "heddle: $here/random.onnx: node 0 '' RandomNormalLike (ai.onnx, opset 21): ONNX Runtime: a random result does not repeat
  heddle itself: $own" "$heddle" inspect "$here/random.onnx" --host-fallback=onnxruntime
HEDDLE_ONNXRUNTIME=$(ls "${HEDDLE_VENV_NEW:-$HEDDLE_HOME/build/venv-new}"/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.* 2>/dev/null | head -n 1)
[ -n "$HEDDLE_ONNXRUNTIME" ] || { echo "without ONNX Runtime: refusals only"; finish; }
note="heddle: note: ONNX Runtime computes 2 operators (--host-fallback): their cycles are unknown, so the host's are those of the others"
for engine in ref func; do
    "$heddle" run "$pools" --host-fallback=onnxruntime --engine=$engine -i "$here/in_0.bin" --expect "$here/out_0.bin" \
        --expect "$here/out_1.bin" --expect "$here/out_2.bin" >said 2>&1 || fail "$engine: $(cat said)"
    grep -q "^$note$" said ||
        fail "$engine, note: $(cat said)"
done
"$heddle" inspect "$pools" --host-fallback=onnxruntime >said || fail inspect
grep -q "^01_onnx_node .*RoiAlign (ONNX Runtime) c .*c, cycles unknown; .*ONNX Runtime has it (--host-fallback)$" said || fail "$(cat said)"
expect 3 "$note
heddle: operator 01_onnx_node (RoiAlign (ONNX Runtime)): only this machine's library computes it (--host-fallback); a package takes operators that heddle has" \
    "$heddle" compile "$pools" --host-fallback=onnxruntime -o package
expect 3 "heddle: $here/float8.onnx: node 0 '' Cast (ai.onnx, opset 21): ONNX Runtime: output 'y': float8 of shape 2
  heddle itself: to: expected float32, uint8, int8, int32, int64 or bool, found float8" "$heddle" inspect "$here/float8.onnx" --host-fallback=onnxruntime
expect 3 "heddle: $here/values.onnx: node 0 '' NonZero (ai.onnx, opset 21): ONNX Runtime: output 'y', dimension 1: expected a size that does not depend on values, declared or inferred, of 1 to 2147483647 in at most 6 dimensions
  heddle itself: the shape of its result depends on values: end the network before it with python3 -c \"import onnx; onnx.utils.extract_model('net.onnx', 'cut.onnx', ['x'], ['x'])\"" "$heddle" inspect "$here/values.onnx" --host-fallback=onnxruntime
finish
