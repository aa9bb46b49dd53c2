#!/bin/bash
# docs/ADD_AN_OPERATOR.md walked through: in a copy of the sources its blocks (a row, a reference
# function, a kernel with its prototype) make CUBE an operator. It comes in as text and from ONNX,
# `heddle ops` lists it, and its C gives the reference's bytes. In the same copy the blocks of docs/ADD_A_REWRITE.md
# make GATHER of neighbours a SLICE.
. "$(dirname "$0")/../common.sh"
. "$HEDDLE_HOME/tests/docs/typed_page.sh"

page=$HEDDLE_HOME/docs/ADD_AN_OPERATOR.md
copy_sources

put before operators/operators.def 'OPERATOR(NEG,' 1
put before reference/float32/ref_float_unary.c 'static float f32_relu(' 2
put before kernels/float32/hdk_f32_ops.c 'UNARY(negative,' 3
put before kernels/hdk_f32.h 'void hdk_f32_negative(' 4
page=$HEDDLE_HOME/docs/ADD_A_REWRITE.md
block_of 1 && mv block tree/compiler/systolic/rewrites/gather_run.c
put before compiler/passes.def 'REWRITE(left_padding,' 2

cmake -S tree -B tree/build -DHEDDLE_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= -DCMAKE_CXX_FLAGS_DEBUG= >log 2>&1 &&
    cmake --build tree/build -j "$(nproc)" --target heddle gen >log 2>&1 ||
    fail "the copy does not build: $(grep -A6 -i "undefined\|error" log | tail -n 20)"
export HEDDLE_HOME=$work/tree
new=$work/tree/build/heddle

"$new" ops >ops || fail "heddle ops"
grep -Eq '^cube +float32 +- +f32_cube ' ops || fail "ops does not list cube: $(grep cube ops)"

cat >cube.ir <<'IR'
heddle-ir 1
graph name="cube"
row 0 name="00_cube" op="CUBE" tensor="y" shape="" macs=0
tensor 0 f32 [2,3] input name="x"
tensor 1 f32 [2,3] value name="y"
op cube row=0 in=(0) out=(1)
border in=(0) out=(1)
IR
python3 - <<'PYTHON' || fail "cannot write cube.onnx"
def field(number, data):
    if isinstance(data, int):
        return bytes([number << 3, data])
    data = data.encode() if isinstance(data, str) else data
    return bytes([number << 3 | 2, len(data)]) + data

def value(name):
    shape = b"".join(field(1, field(1, n)) for n in (2, 3))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

node = field(1, "x") + field(2, "y") + field(4, "Cube")
graph = field(1, node) + field(2, "cube") + field(11, value("x")) + field(12, value("y"))
with open("cube.onnx", "wb") as file:
    file.write(field(1, 8) + field(8, field(1, "") + field(2, 13)) + field(7, graph))
PYTHON
python3 -c "
import struct
x = (0.0, -1.5, 2.0, 3.25, -0.5, 10.0)
open('x.bin', 'wb').write(struct.pack('<6f', *x))
open('y.bin', 'wb').write(struct.pack('<6f', *(v * v * v for v in x)))"
for model in cube.ir cube.onnx; do
    for engine in ref func; do
        "$new" run $model -i x.bin --expect y.bin --engine=$engine >log 2>&1 ||
            fail "$model on $engine: $(head -n 3 log)"
    done
done

cat >gather.ir <<'IR'
heddle-ir 1
graph name="run_of_rows"
row 0 name="00_gather" op="GATHER" tensor="y" shape="" macs=0
row 1 name="01_add" op="ADD" tensor="z" shape="" macs=0
tensor 0 i8 [1,8,4,16] input name="x" scale=(0.5) zero=(1)
tensor 1 i8 [1,3,4,16] value name="y" scale=(0.5) zero=(1)
tensor 2 i8 [1,3,4,16] value name="z" scale=(1) zero=(0)
tensor 3 i32 [3] const name="rows" values=(2,3,4)
op gather row=0 in=(0,3) out=(1) axis=1
op add row=1 in=(1,1) out=(2)
border in=(0) out=(2)
IR
"$new" run gather.ir --engine=func --dump-ir=ir >log 2>&1 || fail "gather.ir: $(head -n 3 log)"
grep -q '^op gather' ir/*_channel_order.ir || fail "gather.ir has no GATHER before the rewrite"
grep -q '^op slice' ir/*_gather_run.ir || fail "gather.ir has no SLICE after the rewrite: $(grep ^op ir/*_gather_run.ir)"
finish
