#!/bin/bash
# docs/ADD_AN_OPERATOR.md walked through: in a copy of the sources its blocks (a row, a reference
# function, a kernel with its prototype) make CUBE an operator. It comes in as text and from ONNX,
# `heddle ops` lists it, and its C gives the reference's bytes.
. "$(dirname "$0")/common.sh"

page=$HEDDLE_HOME/docs/ADD_AN_OPERATOR.md
mkdir tree
(cd "$HEDDLE_HOME" && git ls-files -z -- ':!tests' | tar -c --null -T -) | tar -x -C tree ||
    fail "cannot copy the sources"

# before FILE TEXT N: the page's N-th indented block goes before FILE's first line with TEXT.
before() {
    awk -v want="$3" '/^    /{if (!inside) n++; inside = 1; if (n == want) print substr($0, 5)}
        !/^    /{inside = 0}' "$page" >block
    [ -s block ] || fail "$page has no block $3"
    awk -v text="$2" 'FNR == NR {block = block $0 "\n"; next}
        !done && index($0, text) {printf "%s", block; done = 1} {print}' block "tree/$1" >changed
    cmp -s changed "tree/$1" && fail "$1 has no line with '$2'"
    mv changed "tree/$1"
}

before operators/operators.def 'OPERATOR(NEG,' 1
before reference/ref_float_unary.c 'static float f32_relu(' 2
before kernels/hdk_f32_ops.c 'UNARY(negative,' 3
before kernels/hdk_f32.h 'void hdk_f32_negative(' 4

cmake -S tree -B tree/build -DHEDDLE_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug >log 2>&1 &&
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
finish
