"""A small ONNX network of many kinds of islands, for tests of what is made of them.

    python3 tests/models/islands_onnx.py islands.onnx
    python3 tests/models/islands_onnx.py resizes.onnx resizes       one of resizes alone
    python3 tests/models/islands_onnx.py sums.onnx sums             one of normalisations, sums, float32 weights
    python3 tests/models/islands_onnx.py places.onnx places         one of places of maxima, a norm with a least value, sums of squares
    python3 tests/models/islands_onnx.py coarse.onnx coarse         sums that stay in float32
    python3 tests/models/islands_onnx.py exported.onnx exported     two LSTMs, a Softplus and a normalised kernel as PyTorch exports them
    python3 tests/models/islands_onnx.py volumes.onnx volumes       a convolution and a maximum of volumes, a norm of rows

Weights and scales come from a fixed seed; nothing is trained. Scales are not powers of two, zero points are
not 0, most values are inside the range: what goes wrong in an island changes an output. No packages."""

import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ir_to_onnx import FLOAT, INT8, INT32, INT64, field, initializer  # noqa: E402

UINT8 = 2
PACK = {FLOAT: "f", INT8: "b", UINT8: "B", INT32: "i", INT64: "q"}


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)


class Net:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.initializers, self.outputs, self.n = [], [], [], 0
        self.quant = {}  # name of quantised values: scale, zero point, type

    def const(self, kind, dims, values):
        self.n += 1
        raw = struct.pack(f"<{len(values)}{PACK[kind]}", *values)
        self.initializers.append(initializer(f"c{self.n}", kind, dims, raw))
        return f"c{self.n}"

    def node(self, kind, inputs, domain="", more=(), **attributes):
        """Its first output; the name of each other one is that, "_" and a word of `more`."""
        self.n += 1
        out = f"{kind.lower()}_{self.n}"
        outs = [out, *(f"{out}_{name}" for name in more)]
        self.nodes.append(b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outs) + field(3, out) + field(4, kind) +
                          b"".join(field(5, attribute(*a)) for a in attributes.items()) +
                          (field(7, domain) if domain else b""))
        return out

    def params(self, scale, zero, kind):
        return [self.const(FLOAT, [], [scale]), self.const(kind, [], [zero])]

    def q(self, real, scale, zero, kind=INT8):
        name = self.node("QuantizeLinear", [real, *self.params(scale, zero, kind)])
        self.quant[name] = scale, zero, kind
        return name

    def dq(self, name):
        return self.node("DequantizeLinear", [name, *self.params(*self.quant[name])])

    def weights(self, dims, scales, low=-127, high=127, axis=0):
        n = 1
        for d in dims:
            n *= d
        w = self.const(INT8, dims, [self.random.randint(low, high) for _ in range(n)])
        shape = [len(scales)] if len(scales) > 1 else []
        more = {"axis": axis} if len(scales) > 1 else {}
        return self.node("DequantizeLinear", [w, self.const(FLOAT, shape, scales),
                                              self.const(INT8, shape, [0] * len(scales))], **more)

    def bias(self, values, scales):
        b = self.const(INT32, [len(values)], values)
        return self.node("DequantizeLinear", [b, self.const(FLOAT, [len(scales)], scales),
                                              self.const(INT32, [len(scales)], [0] * len(scales))], axis=0)

    def scales(self, n, low, high):
        return [struct.unpack("<f", struct.pack("<f", self.random.uniform(low, high)))[0] for _ in range(n)]

    def floats(self, n, low, high):
        return self.const(FLOAT, [n], self.scales(n, low, high))

    def output(self, name, kind, dims):
        self.outputs.append((name, kind, dims))


def border(name, kind, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def convolutions(n, x):
    """Scales per channel, an int32 bias, a clamp; a depthwise one with a float bias and BatchNormalization."""
    s = n.scales(8, 0.004, 0.02)
    bias = n.bias([n.random.randint(-900, 900) for _ in range(8)], [n.quant[x][0] * v for v in s])
    a = n.node("Conv", [n.dq(x), n.weights([8, 4, 3, 3], s), bias], pads=[1, 1, 1, 1])
    a = n.node("Clip", [a, n.const(FLOAT, [], [-0.71]), n.const(FLOAT, [], [0.83])])
    a = n.q(a, 0.0217, -93)
    s = n.scales(8, 0.003, 0.008)
    b = n.node("Conv", [n.dq(a), n.weights([8, 1, 3, 3], s), n.floats(8, -0.5, 0.5)], pads=[1, 1, 1, 1], group=8)
    b = n.node("BatchNormalization", [b, n.const(FLOAT, [8], [1.1, -0.7, 0.4, 1.9, 0.9, -1.2, 0.6, 1.3]),
                                      n.floats(8, -0.4, 0.4), n.floats(8, -0.3, 0.3), n.floats(8, 0.5, 2.0)])
    b = n.q(n.node("Relu", [b]), 0.0131, -117)
    return a, b


def arithmetic(n, a, b):
    """Operands of two scales, constants, parts of two scales, a maximum and a pool that counts its pads."""
    c = n.q(n.node("Add", [n.dq(a), n.dq(b)]), 0.0293, -61)
    d = n.q(n.node("Mul", [n.dq(c), n.const(FLOAT, [], [-0.37])]), 0.0107, 40)
    e = n.q(n.node("Div", [n.dq(d), n.const(FLOAT, [], [1.7])]), 0.0059, 11)
    f = n.q(n.node("Max", [n.dq(b), n.dq(e)]), 0.0141, -88)
    g = n.q(n.node("AveragePool", [n.dq(c)], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1), 0.0249, -70)
    n.output(d, INT8, [1, 8, 9, 9])
    rescaled(n, d)
    return n.q(n.node("Concat", [n.dq(f), n.dq(g)], axis=1), 0.0263, -75)


def rescaled(n, x):
    """Another zero point; twice the scale, where every second value is halfway between two; uint8 with int8."""
    moved = n.q(n.dq(x), n.quant[x][0], n.quant[x][1] - 9)
    p = n.q(n.dq(x), 0.0625, 3)
    half = n.q(n.dq(p), 0.125, -2)
    both = n.q(n.node("Add", [n.dq(p), n.dq(p)]), 0.25, 6)
    u = n.q(n.dq(x), 0.0171, 133, UINT8)
    v = n.q(n.node("Conv", [n.dq(u), n.weights([3, 8, 1, 1], [0.0047])]), 0.0305, 119, UINT8)
    w = n.q(n.node("Add", [n.dq(u), n.dq(moved)]), 0.0333, 101, UINT8)
    for name, kind, channels in ((moved, INT8, 8), (half, INT8, 8), (both, INT8, 8), (v, UINT8, 3), (w, UINT8, 8)):
        n.output(name, kind, [1, channels, 9, 9])


def tail(n, x):
    """A grouped convolution, QLinear operators, values that are only moved, dense layers, a softmax."""
    s = n.scales(6, 0.001, 0.004)
    h = n.node("Conv", [n.dq(x), n.weights([6, 8, 3, 3], s)], group=2, strides=[2, 2])
    h = n.q(n.node("HardSwish", [n.dq(n.q(h, 0.031, 7))]), 0.0157, -95)
    w = n.const(INT8, [5, 6, 1, 1], [n.random.randint(-127, 127) for _ in range(30)])
    bias = n.const(INT32, [5], [n.random.randint(-500, 500) for _ in range(5)])
    i = n.node("QLinearConv", [h, *n.params(*n.quant[h]), w, n.const(FLOAT, [], [0.0071]), n.const(INT8, [], [0]),
                               *n.params(0.0237, 4, INT8), bias])
    n.quant[i] = 0.0237, 4, INT8
    j = n.q(n.node("MaxPool", [n.dq(i)], kernel_shape=[2, 2]), *n.quant[i][:2])
    k = n.q(n.node("Sigmoid", [n.dq(j)]), 1 / 256, -128)
    k = n.node("QLinearAdd", [j, *n.params(*n.quant[j]), k, *n.params(*n.quant[k]), *n.params(0.0209, -9, INT8)],
               domain="com.microsoft")
    n.quant[k] = 0.0209, -9, INT8
    flat = n.node("Flatten", [n.dq(k)])
    m = n.node("Gemm", [flat, n.weights([45, 7], [0.0053]), n.floats(7, -1, 1)], alpha=0.75, beta=1.25)
    m = n.q(n.node("Relu", [m]), 0.0311, -122)
    p = n.node("Add", [n.node("MatMul", [n.dq(m), n.weights([7, 5], n.scales(5, 0.003, 0.009), axis=1)]),
                       n.floats(5, -1, 1)])
    p = n.q(p, 0.037, 13)
    n.output(p, INT8, [1, 5])
    y = n.q(n.node("Softmax", [n.dq(p)], axis=-1), 1 / 200, -120)
    return n.dq(y)


def resized(n, x):
    """Weights that are quarters, thirds on one axis, and those of a cubic, which exceed the range between."""
    for mode, scales, size in (("linear", [1, 1, 2, 2], [18, 18]), ("linear", [1, 1, 1, 3], [9, 27]), ("cubic", [1, 1, 2, 1.5], [18, 13])):
        y = n.node("Resize", [n.dq(x), "", n.const(FLOAT, [4], scales)], mode=mode)
        n.output(n.q(y, 0.0193, -11), INT8, [1, 4, *size])


def network():
    n = Net(20)
    x = n.q("x", 0.0173, 5)
    a, b = convolutions(n, x)
    joined = arithmetic(n, a, b)
    n.output(joined, INT8, [1, 16, 9, 9])
    n.output(tail(n, joined), FLOAT, [1, 5])
    return model(n)


def resizes():
    n = Net(21)
    x = n.q("x", 0.0173, 5)
    resized(n, x)
    n.output(n.node("Resize", [x, "", n.const(FLOAT, [4], [1, 1, 2, 2])], mode="linear"), INT8, [1, 4, 18, 18])
    return model(n)


def sums():
    n = Net(22)
    x = n.q("x", 0.0173, 5)
    n.output(n.q(n.node("LpNormalization", [n.dq(x)], axis=1), 0.0211, 3), INT8, [1, 4, 9, 9])
    channels = n.node("InstanceNormalization", [n.dq(x), n.floats(4, 0.5, 1.5), n.floats(4, -1, 1)])
    n.output(n.q(channels, 0.0293, -7), INT8, [1, 4, 9, 9])
    wide = n.node("ConvTranspose", [n.dq(x), n.const(FLOAT, [4, 3, 2, 2], n.scales(48, -1, 1)), n.floats(3, -1, 1)],
                  strides=[2, 2])
    n.output(n.q(wide, 0.0317, 11), INT8, [1, 3, 18, 18])
    n.output(n.q(n.node("ReduceSum", [n.dq(x), n.const(INT64, [1], [2])]), 0.0523, 2), INT8, [1, 4, 1, 9])
    part = n.node("Div", [n.dq(x), n.const(FLOAT, [], [-6.0])])
    n.output(n.q(n.node("GlobalAveragePool", [part]), 0.0019, 9), INT8, [1, 4, 1, 1])
    n.output(n.q(part, 0.0029, -4), INT8, [1, 4, 9, 9])
    waiting(n, x, 0.0231)
    flat = n.node("InstanceNormalization", [n.dq(x), n.floats(4, 0.5, 1.5), n.floats(4, -1, 1)], epsilon=0.1)
    n.output(n.q(flat, 0.0237, 6), INT8, [1, 4, 9, 9])
    rows = n.dq(n.q(n.node("Reshape", [n.dq(x), n.const(INT64, [3], [4, 9, 9])]), 0.0173, 5))
    apart = n.dq(n.q(n.node("Add", [rows, n.weights([4, 1, 9], [0.0113])]), 0.0253, 3))
    n.output(n.q(n.node("Sub", [apart, n.weights([9], [1.0], 0, 0)]), 0.0253, 3), INT8, [4, 9, 9])
    return model(n)


def waiting(n, x, scale):
    """Products that wait for the scale of their sum with other values."""
    for kind, first, clamp in (("Add", True, "Relu"), ("Sub", False, ""), ("Sub", True, "Clip")):
        y = n.node("Conv", [n.dq(x), n.weights([4, 4, 1, 1], [0.0061]), n.floats(4, -1, 1)])
        y = n.node(kind, [y, n.dq(x)] if first else [n.const(FLOAT, [], [1.3]), y])
        y = n.node(clamp, [y, *([n.const(FLOAT, [], [v]) for v in (-0.9, 1.1) if clamp == "Clip"])]) if clamp else y
        n.output(n.q(y, scale, -30), INT8, [1, 4, 9, 9])
    y = n.node("Add", [n.dq(x), n.node("MatMul", [n.dq(x), n.dq(x)])])
    n.output(n.q(y, scale, 12), INT8, [1, 4, 9, 9])


def places():
    n = Net(24)
    x = n.q("x", 0.0173, 5)
    n.output(n.node("ArgMax", [n.dq(x)], axis=3, keepdims=0), INT64, [1, 4, 9])
    n.output(n.node("ArgMin", [n.dq(x)], axis=2), INT64, [1, 4, 1, 9])
    n.output(n.q(n.node("TopK", [n.dq(x), n.const(INT64, [1], [1])]), 0.0173, 5), INT8, [1, 4, 9, 1])
    norm = n.node("Clip", [n.node("ReduceL2", [n.dq(x), n.const(INT64, [1], [3])]), n.const(FLOAT, [], [1e-12])])
    unit = n.node("Div", [n.dq(x), n.node("Expand", [norm, n.const(INT64, [4], [1, 4, 9, 9])])])
    n.output(n.q(unit, 0.0213, 4), INT8, [1, 4, 9, 9])
    squares(n, x)
    return model(n)


def squares(n, x):
    """Sums of squares along one axis and two, of int8 and uint8; a quotient with one."""
    u = n.q(n.dq(x), 0.0151, 107, UINT8)
    norm = n.q(n.node("ReduceL2", [n.dq(x), n.const(INT64, [1], [1])]), 0.0301, -119)
    n.output(norm, INT8, [1, 1, 9, 9])
    n.output(n.q(n.node("Div", [n.dq(x), n.dq(norm)]), 0.0171, -4), INT8, [1, 4, 9, 9])
    n.output(n.node("ReduceSumSquare", [n.dq(u), n.const(INT64, [2], [0, 3])], keepdims=0), FLOAT, [4, 9])
    mean = n.node("ReduceMean", [n.node("Mul", [n.dq(u), n.dq(u)]), n.const(INT64, [1], [2])])
    n.output(n.q(n.node("Sqrt", [mean]), 0.0113, -103), INT8, [1, 4, 1, 9])


def coarse():
    """Values whose step is greater than one of the sum."""
    n = Net(23)
    waiting(n, n.q("x", 0.0173, 5), 0.0119)
    return model(n)


def gates(n, rows, columns):
    """Weights whose gates change places, each part of them quantised by itself, as an exporter leaves them."""
    w = n.const(FLOAT, [4 * rows, columns], [n.random.uniform(-0.6, 0.6) for _ in range(4 * rows * columns)])
    part = [n.node("Slice", [w, *(n.const(INT64, [1], [v]) for v in (k * rows, (k + 1) * rows, 0))]) for k in (0, 3, 1, 2)]
    part = [n.dq(n.q(p, 0.0047 + 0.0001 * k, 0)) for k, p in enumerate(part)]
    whole = n.dq(n.q(n.node("Concat", part, axis=0), 0.0049, 0))
    return n.dq(n.q(n.node("Unsqueeze", [whole, n.const(INT64, [1], [0])]), 0.0049, 0))


def exported():
    n, last = Net(25), []
    x = n.dq(n.q("x", 0.0173, 5))
    y = n.dq(n.q(n.node("Reshape", [x, n.const(INT64, [3], [36, 1, 9])]), 0.0173, 5))
    for columns in 9, 6:
        zero = n.weights([1, 1, 6], [1.0], 0, 0)
        inputs = [y, gates(n, 6, columns), gates(n, 6, 6), n.const(FLOAT, [1, 48], n.scales(48, -0.5, 0.5)), "", zero, zero]
        state = n.node("LSTM", inputs, more=["last"], hidden_size=6)
        last.append(n.dq(n.q(f"{state}_last", 0.0071, -3)))
        y = n.dq(n.q(state, 0.0079, 2))
        y = n.node("Reshape", [y, n.const(INT64, [3], [36, 1, 6])])
    soft = n.dq(n.q(n.node("Softplus", [x]), 0.0119, -120))
    n.output(n.q(n.node("Where", [n.node("Greater", [x, n.const(FLOAT, [], [1.1])]), x, soft]), 0.0119, -120), INT8, [1, 4, 9, 9])
    v = n.weights([6, 4, 3, 3], [0.0071])
    norm = n.dq(n.q(n.node("ReduceL2", [v, n.const(INT64, [2], [1, 2])]), 0.0313, -128))
    unit = n.dq(n.q(n.node("Div", [n.weights([6, 1, 1, 3], [0.0091]), norm]), 0.0049, 0))
    kernel = n.dq(n.q(n.node("Mul", [v, unit]), 0.0037, 0))
    n.output(n.q(n.node("Conv", [x, kernel]), 0.0217, 4), INT8, [1, 6, 7, 7])
    both = n.dq(n.q(n.node("Concat", last, axis=0), 0.0079, 2))
    n.output(n.q(n.node("Gather", [both, n.const(INT64, [], [1])]), 0.0079, 2), INT8, [1, 6])
    return model(n)


def volumes():
    n = Net(26)
    x = n.dq(n.q(n.node("Reshape", [n.dq(n.q("x", 0.0173, 5)), n.const(INT64, [5], [1, 2, 2, 9, 9])]), 0.0173, 5))
    y = n.node("Conv", [x, n.weights([3, 2, 2, 3, 3], [0.0041]), n.floats(3, -1, 1)], pads=[1, 1, 1, 0, 1, 1], strides=[1, 2, 2])
    y = n.dq(n.q(n.node("Relu", [y]), 0.0211, -128))
    y = n.dq(n.q(n.node("MaxPool", [y], kernel_shape=[2, 2, 2], strides=[1, 2, 2]), 0.0211, -128))
    y = n.dq(n.q(n.node("Reshape", [y, n.const(INT64, [2], [4, 3])]), 0.0211, -128))
    y = n.node("BatchNormalization", [y, n.floats(3, 0.5, 1.5), n.floats(3, -1, 1), n.floats(3, -1, 1), n.floats(3, 0.5, 2)])
    n.output(n.q(n.node("Clip", [y, n.const(FLOAT, [], [-2.5]), n.const(FLOAT, [], [5.9])]), 0.0373, -29), INT8, [4, 3])
    return model(n)


NETWORKS = {"exported": exported, "volumes": volumes, "resizes": resizes, "sums": sums, "places": places, "coarse": coarse}


def model(n):
    graph = (b"".join(field(1, node) for node in n.nodes) + field(2, "islands") +
             b"".join(field(5, i) for i in n.initializers) + field(11, border("x", FLOAT, [1, 4, 9, 9])) +
             b"".join(field(12, border(*o)) for o in n.outputs))
    return (field(1, 8) + field(2, "heddle") + field(7, graph) + field(8, field(2, 14)) +
            field(8, field(1, "com.microsoft") + field(2, 1)))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not set(sys.argv[2:]) <= set(NETWORKS):
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).write_bytes(NETWORKS[sys.argv[2]]() if sys.argv[2:] else network())
