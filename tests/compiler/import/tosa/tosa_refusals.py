"""tosa_refusals.py HEDDLE FOLDER - TOSA files that heddle refuses, each with its message."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "oracle" / "tosa"))
from tosa_writer import OPS, TYPES, Net, Table, flatbuffer  # noqa: E402

CASES = []


def case(text, version=(1, 0, 0)):
    def add(fn):
        net = Net(version)
        out = fn(net)
        CASES.append((text, out if isinstance(out, bytes) else net.finish(out if isinstance(out, list) else [out])))
        return fn
    return add


def x_of(net, shape=(1, 4, 4, 2), kind="INT8"):
    return net.input("x", shape, kind)


def one(op, text, kind="INT8", shape=(1, 4, 4, 2), out=None, out_kind=None, more=(), **fields):
    @case(text)
    def made(net):
        x = x_of(net, shape, kind)
        return net.op(op, [x] + [m(net) if callable(m) else m for m in more], out or shape, out_kind or kind, **fields)


def const(value, kind):
    return lambda net: net.const(value, kind)


def shape(*value):
    return lambda net: net.shape(list(value))


def rescale(text, multiplier=1 << 30, shift=30, **more):
    one("RESCALE", text, more=[const(multiplier if isinstance(multiplier, list) else [multiplier], "INT32"),
                               const(shift if isinstance(shift, list) else [shift], "INT8"), const([0], "INT8"),
                               const([0], "INT8")], scale32=True, rounding_mode=1, **more)


def conv(text, weights=(3, 1, 1, 2), bias=(3,), op="CONV2D", out=(1, 4, 4, 3), **fields):
    def zeros(dims):
        return 0 if not dims else [zeros(dims[1:]) for _ in range(dims[0])]
    fields = {"pad": [0] * 4, "stride": [1, 1], "dilation": [1, 1], **fields}
    if op == "TRANSPOSE_CONV2D":
        fields = {k: v for k, v in fields.items() if k in ("stride", "out_pad")}
    one(op, text, out=out, out_kind="INT32", more=[const(zeros(list(weights)), "INT8"), const(zeros(list(bias)), "INT32"),
                                                   const([0], "INT8"), const([0], "INT8")], **fields)


@case("TOSA version: expected 1.x, found 0.80", (0, 80, 0))
def _(net):
    return net.op("IDENTITY", [x_of(net)], (1, 4, 4, 2), "INT8")


@case("expected at least one graph input and output, found 0 and 1")
def _(net):
    return net.const([1], "INT8")


@case("graph output 0: expected the name of a tensor")
def _(net):
    x_of(net)
    return "nobody"


@case("graph output 0 'y' is not computed by any operator")
def _(net):
    x_of(net)
    return net.tensor("y", (1,), "INT8")


@case("graph input 1: expected a tensor without data, listed once")
def _(net):
    net.inputs = ["x", "x"]
    return net.tensor("x", (1,), "INT8")


@case("tensor 'x' is listed twice")
def _(net):
    x_of(net)
    return x_of(net)


@case("tensor 0 'x': type FP16 (8): expected BOOL, INT8, INT16, INT32, INT48, INT64 or FP32")
def _(net):
    return x_of(net, (1,), "FP16")


for what, fields in (("variables", dict(variable=True)), ("tensors without a rank", dict(is_unranked=True)),
                     ("tensors outside the FlatBuffer", dict(offset=("u64", 64)))):
    @case(f"tensor 1 'v': {what} are not supported")
    def _(net, fields=fields):
        x_of(net)
        return net.tensor("v", (1,), "INT8", **fields)

for dims in ((1, 0), (1, -1), (1,) * 7, (1 << 16, 1 << 16)):
    @case("tensor 0 'x': shape: expected up to 6 dimensions of at least 1, at most 2147483647 bytes")
    def _(net, dims=dims):
        return x_of(net, dims)


@case("tensor 1 'c': expected 8 bytes for 2 of INT32, found 7")
def _(net):
    x_of(net)
    return net.tensor("c", (2,), "INT32", b"1234567")


@case("operator 0 CUSTOM: this operator is not supported ('heddle ops' lists those that are)")
def _(net):
    return net.op("CUSTOM", [x_of(net)], (1,), "INT8")


@case("operator 0 operator 200: this operator is not supported ('heddle ops' lists those that are)")
def _(net):
    y = net.op("IDENTITY", [x_of(net)], (1,), "INT8")
    net.ops[0][0] = 200
    return y


@case("operator 0 IDENTITY: expected 1 to 1 inputs, found 2")
def _(net):
    x = x_of(net)
    return net.op("IDENTITY", [x, x], (1, 4, 4, 2), "INT8")


@case("operator 0 IDENTITY: input 0: expected the name of a tensor")
def _(net):
    x_of(net)
    return net.op("IDENTITY", ["nobody"], (1,), "INT8")


@case("operator 0 IDENTITY: input 0 'y' is used before it is computed")
def _(net):
    x_of(net)
    return net.op("IDENTITY", [net.tensor("y", (1,), "INT8")], (1,), "INT8")


@case("operator 0 IDENTITY: expected 1 output, a tensor of the block, found 2")
def _(net):
    y = net.op("IDENTITY", [x_of(net)], (1, 4, 4, 2), "INT8")
    net.ops[0][4] = [y, y]
    return y


@case("operator 1 IDENTITY: output 'y' is computed twice")
def _(net):
    y = net.op("IDENTITY", [x_of(net)], (1, 4, 4, 2), "INT8", name="y")
    net.ops.append(net.ops[0])
    return y


@case("operator 0 IDENTITY: output 'x' is an input or constant")
def _(net):
    y = net.op("IDENTITY", [x_of(net)], (1, 4, 4, 2), "INT8", name="y")
    net.ops[0][4] = ["x"]
    return y


one("IDENTITY", "operator 0 IDENTITY: output 'y': expected i8 1x4x4x2, found INT16 1x4x4x2", out_kind="INT16", name="y")
one("SIGMOID", "operator 0 SIGMOID: input 0 'x': INT8 is not supported here")
one("REVERSE", "operator 0 REVERSE: attribute: field 3 is not known here: expected its default", axis=1, extra={3: 7})
one("REVERSE", "operator 0 REVERSE: axis: expected 0 to 3, found 4", axis=4)
one("CLAMP", "operator 0 CLAMP: nan_mode: expected PROPAGATE, found IGNORE", kind="FP32", min_val=b"\0" * 4,
    max_val=b"\0" * 4, nan_mode=2)
one("CLAMP", "operator 0 CLAMP: min_val: expected 2 bytes, found 1", kind="INT16", min_val=b"\0", max_val=b"\0\0")
one("CLAMP", "operator 0 CLAMP: min_val 3 is above max_val 2", min_val=b"\3", max_val=b"\2")
one("TRANSPOSE", "operator 0 TRANSPOSE: perms: expected 4 values, found 2", perms=[1, 0])
one("TABLE", "operator 0 TABLE: table: expected 256 values of the input's type", more=[const([1, 2], "INT8")])
one("MUL", "operator 0 MUL: shift: expected 0 to 63, 0 except of int32, found 3", out_kind="INT32", more=["x", const([3], "INT8")])
one("TILE", "operator 0 TILE: input 1: expected 4 values, found 3", more=[shape(1, 1, 1)])
one("TILE", "operator 0 TILE: input 1: expected 0 to 2147483647, found -1", more=[shape(1, 1, 1, -1)])
one("TILE", "operator 0 TILE: multiples: 2000000000 times 2: expected 1 to 536870911", more=[shape(1, 1, 1, 2000000000)])
one("TILE", "operator 0 TILE: a tensor between: expected up to 6 dimensions, at most 2147483647 bytes",
    more=[shape(100000, 100000, 1, 1)])
one("TILE", "operator 0 TILE: input 1: expected a constant", more=["x"])
one("TILE", "operator 0 TILE: input 1 'f': expected integers, found f32", more=[lambda net: net.const([1.0], "FP32", "f")])
one("SLICE", "operator 0 SLICE: size: expected the output's shape", more=[shape(0, 0, 0, 0), shape(1, 1, 1, 1)])
one("PAD", "operator 0 PAD: pad_const: expected a constant of type i8", out=(1, 4, 4, 3),
    more=[shape(0, 0, 0, 0, 0, 0, 0, 1), const([1], "INT32")])
one("MATMUL", "operator 0 MATMUL: expected matrices of 3 dimensions", out_kind="INT32",
    more=["x", const([0], "INT8"), const([0], "INT8")])
one("MATMUL", "operator 0 MATMUL: input 2: expected 1 value, found 2", shape=(1, 4, 4), out_kind="INT32",
    more=["x", const([0, 1], "INT8"), const([0], "INT8")])
one("MAX_POOL2D", "operator 0 MAX_POOL2D: kernel: expected 2 values, found 1", kernel=[1], stride=[1, 1], pad=[0] * 4)
one("MAX_POOL2D", "operator 0 MAX_POOL2D: stride: expected at least 1, found 0", kernel=[1, 1], stride=[0, 1], pad=[0] * 4)
one("MAX_POOL2D", "operator 0 MAX_POOL2D: expected an input and output of 4 dimensions", shape=(4, 4), kernel=[1, 1],
    stride=[1, 1], pad=[0] * 4)
AVERAGE = dict(out=(1, 4, 4, 2), more=[const([1], "INT8"), const([3], "INT8")], stride=[1, 1])
one("AVG_POOL2D", "operator 0 AVG_POOL2D: a window has no cell inside the image", kernel=[1, 1], pad=[1, 0, 0, 0], **AVERAGE)
one("AVG_POOL2D", "operator 0 AVG_POOL2D: kernel: expected up to 4096", kernel=[4097, 1], pad=[0] * 4, **AVERAGE)
RESIZE = dict(more=[shape(1, 1, 1, 1), shape(0, 0), shape(0, 0)])
one("RESIZE", "operator 0 RESIZE: mode: expected NEAREST or BILINEAR, found 3", mode=3, **RESIZE)
one("RESIZE", "operator 0 RESIZE: scale: expected 1 to 4096, found 0", mode=1, more=[shape(1, 0, 1, 1), *RESIZE["more"][1:]])
one("RESIZE", "operator 0 RESIZE: expected 4 dimensions, 4 scales and 2 offsets", mode=1, more=[shape(1), *RESIZE["more"][1:]])
rescale("operator 0 RESCALE: expected as many shifts as multipliers, found 1 and 2", [1, 2])
rescale("operator 0 RESCALE: multiplier and shift: expected from 0 on, and 2 to 62, found -1 and 30", -1)
rescale("operator 0 RESCALE: multiplier and shift: expected from 0 on, and 2 to 62, found 1 and 63", 1, 63)
conv("operator 0 CONV2D: expected an input of 4 dimensions and constant weights of its type", weights=(3, 2))
conv("operator 0 CONV2D: bias: expected 1 or 3 constants", bias=(2,))
conv("operator 0 CONV2D: dilation: expected at least 1, found 0", dilation=[0, 1])
conv("operator 0 DEPTHWISE_CONV2D: weights: expected 2 input channels, found 3", weights=(1, 1, 3, 1), op="DEPTHWISE_CONV2D")
conv("operator 0 TRANSPOSE_CONV2D: bias: expected 1 or 3 constants", op="TRANSPOSE_CONV2D", bias=(2,), out_pad=[0] * 4)
conv("operator 0 TRANSPOSE_CONV2D: expected 4 dimensions, constant weights, strides up to 64", op="TRANSPOSE_CONV2D",
     out_pad=[0] * 4, stride=[65, 1])
conv("operator 0 TRANSPOSE_CONV2D: out_pad: expected 1 - kernel to 0, a kernel of at least the stride, found -1",
     op="TRANSPOSE_CONV2D", out_pad=[-1, 0, 0, 0], out=(1, 3, 4, 3))


@case("operator 1 RESCALE: RESCALE: expected 1 or 3 multipliers, found 2")
def _(net):
    y = net.op("CONV2D", [x_of(net), net.const([[[[0, 0]]]] * 3, "INT8"), net.const([0], "INT32"), net.const([0], "INT8"),
                          net.const([0], "INT8")], (1, 4, 4, 3), "INT32", pad=[0] * 4, stride=[1, 1], dilation=[1, 1],
               acc_type=TYPES["INT32"])
    return net.rescale(y, [1 << 30] * 2, [33] * 2, 0, 0, "INT8")


def regions(n):
    block = Table({0: "main", 1: [], 2: [], 3: [], 4: [], 5: []})
    version = Table({0: 1, 1: 0, 2: 0, 3: False})
    return flatbuffer(Table({0: version, 1: [Table({0: "main", 1: [block] * (i + 1)}) for i in range(n)]}))


CASES += [("expected 1 region of 1 block, found 2 of 1", regions(2)),
          ("not a TOSA file: expected the identifier 'TOSA' at byte 4 (5 bytes read)", b"12345"),
          ("not a TOSA file: expected the identifier 'TOSA' at byte 4 (16 bytes read)", b"\0\0\0\0TFL3" + bytes(8)),
          ("damaged or truncated TOSA file: its tables exceed its 40 bytes", regions(1)[:40])]


def main():
    heddle, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong, path = 0, folder / "net.tosa"
    for text, content in CASES:
        path.write_bytes(content)
        p = subprocess.run([heddle, "inspect", path], capture_output=True, text=True, timeout=20)
        pattern = re.escape(f"heddle: {path}: ") + re.sub("^operator [01]", r"operator \\d+", re.escape(text).replace(r"\ ", " "))
        if p.returncode != 3 or not re.match(pattern, p.stderr):
            wrong += 1
            print(f"expected exit 3, {text}\nfound exit {p.returncode}, {p.stderr.strip()}")
    content = (pathlib.Path(__file__).parent / "conv2d" / "net.tosa").read_bytes()
    for at in range(0, len(content), 17):  # one byte changed: an answer or exit 3
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1:])
        code = subprocess.run([heddle, "inspect", path], capture_output=True, timeout=20).returncode
        if code not in (0, 3):
            wrong += 1
            print(f"byte {at} changed: exit {code}")
    print(f"{len(CASES)} refusals, {wrong} wrong; {len(OPS)} operators of the format")
    sys.exit(wrong != 0)


main()
