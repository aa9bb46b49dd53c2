"""A quantised network of heddle's text form (the graph as imported) as an ONNX file of QDQ operators.

    build/heddle inspect digits --dump-ir ir && python3 tests/models/ir_to_onnx.py ir/02_padding.ir digits.onnx

Knows what digits has: convolutions, depthwise ones, additions, average pools, reshapes, dense layers,
softmax, all int8 and NHWC; inputs and outputs keep type and shape. No packages: ONNX is protobuf, and a
message is a row of tagged numbers and bytes."""

import re
import struct
import sys

INT8, INT32, INT64, FLOAT = 3, 6, 7, 1
NCHW, NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    """Return one field of a message: a whole number, a float, or bytes (text, another message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)


def initializer(name, kind, dims, raw):
    return b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name) + field(9, raw)


def border(name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, INT8) + field(2, shape)))


def turn(data, dims, order):
    """int8 elements with their dimensions in another order."""
    if len(dims) == 1:
        return data
    step = [1] * len(dims)
    for i in range(len(dims) - 1, 0, -1):
        step[i - 1] = step[i] * dims[i]
    places = [0]
    for axis in order:
        places = [p + k * step[axis] for p in places for k in range(dims[axis])]
    return bytes(data[p] for p in places)


class Tensor:
    def __init__(self, line):
        self.id = int(line.split()[1])
        self.kind, dims = re.match(r"tensor \d+ (\w+) \[([\d,]*)\]", line).groups()
        self.dims = [int(d) for d in dims.split(",")]
        numbers = lambda key: re.search(key + r"=\(([^)]*)\)", line)
        scale, zero, values = numbers("scale"), numbers("zero"), numbers("values")
        self.scale = [float(s) for s in scale.group(1).split(",")] if scale else []
        self.zero = [int(z) for z in zero.group(1).split(",")] if zero else []
        self.values = [int(v) for v in values.group(1).split(",")] if values else []
        self.data = b""


class Writer:
    """Nodes and initializers as they come; operands are float tensors after a DequantizeLinear."""

    def __init__(self, tensors):
        self.t, self.nodes, self.initializers, self.n = tensors, [], [], 0

    def node(self, kind, inputs, output, **attributes):
        self.n += 1
        self.nodes.append(b"".join(field(1, i) for i in inputs) + field(2, output) +
                          field(3, f"{kind}{self.n}") + field(4, kind) +
                          b"".join(field(5, attribute(*a)) for a in attributes.items()))
        return output

    def constant(self, name, kind, dims, raw):
        self.initializers.append(initializer(name, kind, dims, raw))
        return name

    def scale(self, name, scale, zero, kind=INT8):
        dims = [len(scale)] if len(scale) > 1 else []
        zero = (zero * len(scale))[:len(scale)] if len(zero) == 1 else zero
        pack = {INT8: "b", INT32: "i"}[kind]
        return [self.constant(name + "_scale", FLOAT, dims, struct.pack(f"<{len(scale)}f", *scale)),
                self.constant(name + "_zero", kind, dims, struct.pack(f"<{len(zero)}{pack}", *zero))]

    def real(self, t, name=None):
        """The real values of the quantised values of t."""
        name = name or f"t{t.id}"
        return self.node("DequantizeLinear", [name] + self.scale(f"{name}_in{self.n}", t.scale, t.zero),
                         f"{name}_r{self.n}")

    def codes(self, real, t):
        return self.node("QuantizeLinear", [real] + self.scale(f"t{t.id}_out", t.scale, t.zero), f"t{t.id}")

    def weights(self, t, order, dims):
        name = self.constant(f"w{t.id}", INT8, dims, turn(t.data, t.dims, order))
        zero = t.zero or [0]
        return self.node("DequantizeLinear", [name] + self.scale(name, t.scale, zero), f"{name}_r", axis=0)

    def bias(self, t, x, w):
        scale = [x.scale[0] * s for s in w.scale]
        name = self.constant(f"b{t.id}", INT32, t.dims, struct.pack(f"<{len(t.values)}i", *t.values))
        return self.node("DequantizeLinear", [name] + self.scale(name, scale, [0], INT32), f"{name}_r", axis=0)


def operator(w, kind, ins, out, a):
    t, y = w.t, w.t[out]
    x = t[ins[0]]
    window = dict(kernel_shape=[a.get("kernel_h", 1), a.get("kernel_w", 1)],
                  strides=[a.get("stride_h", 1), a.get("stride_w", 1)],
                  pads=[a.get(p, 0) for p in ("pad_top", "pad_left", "pad_bottom", "pad_right")])
    if kind in ("conv2d", "depthwise_conv2d"):
        f, deep = t[ins[1]], kind == "depthwise_conv2d"
        order = (3, 0, 1, 2) if deep else NCHW
        real = w.node("Conv", [w.real(x), w.weights(f, order, [f.dims[i] for i in order]),
                               w.bias(t[ins[2]], x, f)], f"t{out}_s", group=x.dims[3] if deep else 1, **window)
    elif kind == "add":
        real = w.node("Add", [w.real(x), w.real(t[ins[1]])], f"t{out}_s")
    elif kind == "average_pool_2d":
        real = w.node("AveragePool", [w.real(x)], f"t{out}_s", **window)
    elif kind == "fully_connected":
        f = t[ins[1]]
        real = w.node("Gemm", [w.real(x), w.weights(f, (0, 1), f.dims), w.bias(t[ins[2]], x, f)],
                      f"t{out}_s", transB=1)
    elif kind == "softmax":
        real = w.node("Softmax", [w.real(x)], f"t{out}_s", axis=-1)
    elif kind == "reshape":
        turned = w.node("Transpose", [f"t{x.id}"], f"t{x.id}_nhwc", perm=NHWC)
        shape = w.constant(f"shape{out}", INT64, [len(y.dims)], struct.pack(f"<{len(y.dims)}q", *y.dims))
        w.node("Reshape", [turned, shape], f"t{out}")
        return
    else:
        sys.exit(f"ir_to_onnx: no {kind} here")
    w.codes(real, y)


def convert(text):
    tensors, operators, last = {}, [], None
    for line in text.splitlines():
        word = line.split()[0] if line.split() else ""
        if word == "tensor":
            last = Tensor(line)
            tensors[last.id] = last
        elif word.startswith("data="):
            last.data += bytes.fromhex(word[5:])
        elif word in ("op", "border"):
            ids = {k: [int(i) for i in v.split(",")] for k, v in re.findall(r"(in|out)=\(([\d,]*)\)", line)}
            attributes = {k: int(v) for k, v in re.findall(r"(\w+)=(-?\d+)", line)}
            operators.append((line.split()[1], ids["in"], ids["out"][0], attributes))
    _, first, result, _ = operators.pop()
    w, x, y = Writer(tensors), tensors[first[0]], tensors[result]
    w.node("Transpose", ["input"], f"t{x.id}", perm=NCHW)
    for one in operators:
        operator(w, *one)
    w.nodes[-1] = w.nodes[-1].replace(field(2, f"t{y.id}"), field(2, "output"))
    graph = (b"".join(field(1, n) for n in w.nodes) + field(2, "digits") +
             b"".join(field(5, i) for i in w.initializers) + field(11, border("input", x.dims)) +
             field(12, border("output", y.dims)))
    return field(1, 8) + field(2, "heddle") + field(7, graph) + field(8, field(2, 13))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="ascii") as ir, open(sys.argv[2], "wb") as onnx:
        onnx.write(convert(ir.read()))
