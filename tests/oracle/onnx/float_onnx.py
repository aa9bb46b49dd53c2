"""Float32 ONNX networks, one operator or a few, against ONNX Runtime without optimisations.

    float_onnx.py --heddle build/heddle [--case NAME] [--keep DIR]

heddle runs each with `--target=c`: its emitted C must give the bytes of its own reference, and both must
be within 2e-5 of the largest magnitude of ONNX Runtime's answer (sums are taken in another order there;
the bound is 100 times what float32 rounds). Networks of quantised values with an operator that has no arithmetic on
quantised values (QDQ) may differ by one code. Exit status 1 if one differs, 77 without onnxruntime.
"""

import pathlib
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper

    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    from float_cases import main, run_heddle
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

rng = np.random.default_rng(7)


def floats(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float32)


class Net:
    """Nodes in order; `x` is the first input."""

    def __init__(self, opset=17, ms=False):
        self.opset, self.ms = opset, ms
        self.inputs, self.inits, self.nodes, self.n = [], [], [], 0

    def input(self, array):
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, array))
        return name

    def const(self, array, dtype=None):
        self.n += 1
        self.inits.append(numpy_helper.from_array(np.asarray(array, dtype), f"c{self.n}"))
        return f"c{self.n}"

    def node(self, op, *ins, outs=1, domain="", **attrs):
        self.n += 1
        names = [f"{op}{self.n}_{i}" for i in range(outs)]
        self.nodes.append(helper.make_node(op, list(ins), names, domain=domain, **attrs))
        return names[0] if outs == 1 else names

    def qdq(self, name, scale, zero, dtype=np.int8):
        s, z = self.const(scale, np.float32), self.const(zero, dtype)
        return self.node("DequantizeLinear", self.node("QuantizeLinear", name, s, z), s, z)

    def model(self, outputs):
        ins = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in self.inputs]
        outs = [helper.make_empty_tensor_value_info(o) for o in outputs]
        opsets = [helper.make_opsetid("", self.opset)] + ([helper.make_opsetid("com.microsoft", 1)] if self.ms else [])
        graph = helper.make_graph(self.nodes, "net", ins, outs, self.inits)
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        return model


def conv(n, x, cin, cout, k, bias=True, **attrs):
    w = n.const(floats(cout, cin // attrs.get("group", 1), *([k] * 2)) / np.float32(np.sqrt(cin) * k))
    return n.node("Conv", x, w, *([n.const(floats(cout))] if bias else []), **attrs)


def bn(n, x, c):
    return n.node("BatchNormalization", x, n.const(floats(c)), n.const(floats(c)), n.const(floats(c)), n.const(floats(c, low=0.5)))


CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def unary(op, **kw):
    def build(attrs=kw):
        n = Net(opset=attrs.pop("opset", 17)) if "opset" in attrs else Net()
        x = n.input(floats(2, 5, 33, low=attrs.pop("low", -4), high=attrs.pop("high", 4)))
        return n, [n.node(op, x, **attrs)]
    CASES[op + "".join(f"_{k}{v}" for k, v in kw.items())] = lambda: build(dict(kw))


for op, kw in [("Relu", {}), ("Sigmoid", dict(low=-30, high=30)), ("Tanh", {}), ("Tanh", dict(low=-0.5, high=0.5)), ("HardSwish", {}),
               ("HardSigmoid", {}), ("HardSigmoid", dict(alpha=0.3, beta=0.4)), ("LeakyRelu", {}), ("LeakyRelu", dict(alpha=-0.3)),
               ("Elu", {}), ("Exp", {}), ("Erf", {}), ("Sqrt", dict(low=0)), ("Neg", {}), ("Round", {}), ("Abs", {}), ("Gelu", dict(opset=20)),
               ("Gelu", dict(opset=20, approximate="tanh")), ("Softmax", {}), ("Softmax", dict(axis=1)), 
               ("Identity", {}), ("Flatten", dict(axis=2)), ("Transpose", dict(perm=[2, 0, 1]))]:
    unary(op, **kw)

for op in ["Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"]:
    def build(op=op):
        n = Net()
        a, b = n.input(floats(2, 3, 4, 5)), n.input(floats(3, 1, 5, low=0.5))
        y = n.node(op, a, b)
        return n, [n.node("Relu", n.node(op, y, n.const(floats(4, 1, low=0.5))))]
    CASES["binary_" + op] = build


@case
def conv_plain():
    n = Net()
    return n, [conv(n, n.input(floats(1, 3, 11, 13)), 3, 20, 3, pads=[1, 1, 1, 1], strides=[2, 1])]


@case
def conv_dilated_batch():
    n = Net()
    y = conv(n, n.input(floats(2, 5, 12, 9)), 5, 17, 3, bias=False, pads=[2, 1, 2, 3], dilations=[2, 2])
    return n, [n.node("Clip", y, n.const(-0.25, np.float32), n.const(0.5, np.float32))]


@case
def conv_groups():
    n = Net()
    return n, [conv(n, n.input(floats(1, 12, 7, 7)), 12, 40, 3, group=2, pads=[0, 1, 2, 0])]


@case
def conv_depthwise():
    n = Net()
    return n, [conv(n, conv(n, n.input(floats(1, 6, 9, 9)), 6, 6, 3, group=6, pads=[1, 1, 1, 1]), 6, 12, 5, group=6)]


@case
def conv_1d():
    n = Net()
    x = n.input(floats(1, 4, 20))
    return n, [n.node("Conv", x, n.const(floats(8, 4, 5)), n.const(floats(8)), strides=[2], pads=[2, 2])]


@case
def residual():
    n = Net()
    x = conv(n, n.input(floats(1, 3, 16, 16)), 3, 16, 3, pads=[1] * 4)
    for _ in range(2):
        y = n.node("Relu", bn(n, x, 16))
        y = n.node("Relu", bn(n, conv(n, y, 16, 16, 3, bias=False, pads=[1] * 4), 16))
        x = n.node("Add", x, conv(n, y, 16, 16, 1))
    y = n.node("Flatten", n.node("GlobalAveragePool", n.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)))
    y = n.node("Gemm", y, n.const(floats(10, 16)), n.const(floats(10)), transB=1, alpha=0.5, beta=2.0)
    return n, [n.node("Softmax", y)]


@case
def flatten_image():
    n = Net()
    x = conv(n, n.input(floats(2, 3, 6, 6)), 3, 8, 3)
    return n, [n.node("MatMul", n.node("Flatten", x), n.const(floats(128, 9)))]


@case
def pools():
    n = Net()
    x = n.input(floats(1, 5, 9, 11))
    a = n.node("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], count_include_pad=1)
    b = n.node("AveragePool", x, kernel_shape=[2, 3], pads=[0, 1, 1, 0], ceil_mode=1, strides=[2, 2])
    return n, [a, b, n.node("GlobalMaxPool", x)]


@case
def concat_split():
    n = Net()
    x = n.input(floats(1, 6, 4, 4))
    a, b, c = n.node("Split", x, outs=3, axis=1)
    return n, [n.node("Concat", c, n.node("Relu", a), n.node("Sigmoid", b), axis=1)]


@case
def movers():
    n = Net()
    x = n.input(floats(1, 8, 6, 4))
    y = n.node("Pad", x, n.const([0, 0, 1, 2, 0, 0, 0, 1], np.int64), n.const(1.5, np.float32))
    y = n.node("Slice", y, n.const([5, 1], np.int64), n.const([-9, 6], np.int64), n.const([2, 3], np.int64), n.const([-1, 2], np.int64))
    y = n.node("Gather", y, n.const([3, 0, -1], np.int64), axis=1)
    z = n.node("DepthToSpace", x, blocksize=2, mode="CRD")
    return n, [n.node("Unsqueeze", y, n.const([0], np.int64)), n.node("SpaceToDepth", z, blocksize=2), n.node("Squeeze", y)]


@case
def pads():
    n = Net(opset=19)
    x = n.input(floats(1, 3, 5, 4))
    p = n.const([0, 1, 3, 2, 0, 0, 2, 3], np.int64)
    ys = [n.node("Pad", x, p, mode=mode) for mode in ("reflect", "edge", "wrap")]
    q = n.qdq(x, 0.02, 3)
    return n, ys + [n.node("Pad", q, p, n.const(v, np.float32)) for v in (0.02, 0.03)]


@case
def transposed():
    n = Net()
    x = n.input(floats(2, 5, 4, 6))
    a = n.node("ConvTranspose", x, n.const(floats(5, 7, 3, 3)), n.const(floats(7)), strides=[2, 3], pads=[1, 0, 1, 2], output_padding=[1, 0])
    b = n.node("ConvTranspose", x, n.const(floats(5, 3, 4, 2)), strides=[2, 2], auto_pad="SAME_UPPER")
    c = n.node("ConvTranspose", x, n.const(floats(5, 3, 3, 3)), strides=[2, 2], output_shape=[9, 12])
    return n, [n.node("Relu", a), n.node("Clip", b, n.const(-0.5, np.float32), n.const(1.25, np.float32)), c]


@case
def transposed_groups():
    n = Net()
    x = n.input(floats(2, 6, 4, 5))
    a = n.node("ConvTranspose", x, n.const(floats(6, 2, 3, 2)), n.const(floats(6)), strides=[2, 1], dilations=[2, 3], group=3)
    b = n.node("ConvTranspose", x, n.const(floats(6, 1, 2, 2)), group=6, pads=[1, 0, 0, 1])
    line = n.input(floats(1, 4, 9))
    return n, [a, b, n.node("ConvTranspose", line, n.const(floats(4, 3, 3)), group=2, dilations=[2], strides=[3])]


def recurrent(op, gates, directions=1, **attrs):
    def build():
        n = Net()
        steps, batch, size, hidden = 5, 2, 3, 4
        x = n.input(floats(steps, batch, size))
        w, r = n.const(floats(directions, gates * hidden, size)), n.const(floats(directions, gates * hidden, hidden))
        ins = [x, w, r, n.const(floats(directions, 2 * gates * hidden)), n.const([steps] * batch, np.int32)]
        ins += [n.input(floats(directions, batch, hidden))] + ([n.const(floats(directions, batch, hidden))] if op == "LSTM" else [])
        bare = n.node(op, x, w, r, outs=2, hidden_size=hidden, **attrs)
        return n, n.node(op, *ins, outs=3 if op == "LSTM" else 2, hidden_size=hidden, **attrs) + bare
    CASES["_".join([op, str(directions), *map(str, attrs.values())])] = build


for ways, way in [(1, "forward"), (1, "reverse"), (2, "bidirectional")]:
    recurrent("LSTM", 4, ways, direction=way)
    recurrent("GRU", 3, ways, direction=way)
    recurrent("GRU", 3, ways, direction=way, linear_before_reset=1)
    recurrent("RNN", 1, ways, direction=way)
recurrent("RNN", 1, 1, activations=["Relu"])
recurrent("LSTM", 4, 1, activations=["Sigmoid", "Relu", "Tanh"])


@case
def dense_norm():
    n = Net()
    x = n.input(floats(3, 4))
    norm = n.node("BatchNormalization", x, *[n.const(floats(4, low=0.5)) for _ in range(4)])
    volume = n.node("BatchNormalization", n.input(floats(1, 2, 3, 4, 5)), *[n.const(floats(2, low=0.5)) for _ in range(4)])
    other = n.input(floats(5, 4))
    full = n.node("Gemm", x, other, n.const(floats(5)), alpha=0.5, beta=-2.0, transB=1)
    return n, [norm, volume, full, n.node("Gemm", x, n.input(floats(3, 6)), transA=1)]


@case
def qdq_gemm():
    n = Net()
    x, y = n.qdq(n.input(floats(3, 4)), 1 / 64, 3), n.qdq(n.input(floats(4, 5)), 1 / 64, -3)
    return n, [n.qdq(n.node("Gemm", x, y), 1 / 16, 1), n.qdq(n.node("Gemm", x, y, n.const(floats(5)), alpha=2.0), 1 / 16, 1)]


def resize(mode, coordinates, scales=None, sizes=None, **attrs):
    def build():
        n = Net(opset=19)
        x = n.input(floats(2, 3, 5, 7))
        ins = [x, "", n.const(scales, np.float32) if scales else "", n.const(sizes, np.int64) if sizes else ""]
        return n, [n.node("Resize", *ins, mode=mode, coordinate_transformation_mode=coordinates, **attrs)]
    CASES[f"resize_{mode}_{coordinates}_{scales or sizes}" + "".join(map(str, attrs.values()))] = build


for where in ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]:
    for how in ["nearest", "linear", "cubic"]:
        resize(how, where, scales=[1, 1, 2, 1.7])
        resize(how, where, sizes=[2, 3, 3, 11])
for how in ["floor", "ceil", "round_prefer_ceil"]:
    resize("nearest", "half_pixel", scales=[1, 1, 2.5, 0.6], nearest_mode=how)
resize("cubic", "half_pixel", scales=[1, 1, 2, 0.8], exclude_outside=1, cubic_coeff_a=-0.5)


@case
def qdq_resize():
    n = Net()
    x = n.qdq(n.input(floats(1, 3, 5, 6)), 0.02, 3)
    y = n.node("Resize", x, "", n.const([1, 1, 2, 2], np.float32), mode="linear")
    z = n.node("Resize", x, "", n.const([1, 1, 2, 2], np.float32), mode="nearest")
    return n, [n.qdq(y, 0.02, 3), n.qdq(z, 0.02, 3)]


@case
def scales_within_a_sum():
    n = Net()
    x = n.qdq(n.input(floats(2, 6)), 0.02, 3)
    scales = n.const(floats(6, low=0.01, high=0.03))
    w = n.node("DequantizeLinear", n.const(rng.integers(-127, 128, (6, 5)), np.int8), scales, axis=0)
    image = n.qdq(n.input(floats(1, 6, 4, 4)), 0.02, 3)
    k = n.node("DequantizeLinear", n.const(rng.integers(-127, 128, (5, 6, 2, 2)), np.int8), scales, axis=1)
    return n, [n.node("MatMul", x, w), n.node("Gemm", x, n.node("Transpose", w), transB=1), n.node("Conv", image, k)]


@case
def resized_codes():
    n, outs = Net(), []
    x = n.input(floats(1, 3, 5, 6))
    for dtype, zero in ((np.int8, -3), (np.uint8, 120)):
        s, z = n.const(0.017, np.float32), n.const(zero, dtype)
        q = n.node("QuantizeLinear", x, s, z)
        for where in ("half_pixel", "align_corners"):
            y = n.node("Resize", q, "", n.const([1, 1, 2.5, 1.6], np.float32), mode="linear", coordinate_transformation_mode=where)
            outs.append(n.node("DequantizeLinear", y, s, z))
    return n, outs


@case
def qdq_transposed():
    n = Net()
    x = n.qdq(n.input(floats(1, 3, 5, 6)), 0.02, 3)
    w = n.node("DequantizeLinear", n.const(rng.integers(-127, 128, (3, 8, 3, 3)), np.int8), n.const(0.01, np.float32), n.const(0, np.int8))
    return n, [n.qdq(n.node("ConvTranspose", x, w, strides=[2, 2]), 0.05, 3)]


@case
def dynamic():
    n = Net()
    x = n.input(floats(2, 7, 300))
    q, s, z = n.node("DynamicQuantizeLinear", x, outs=3)
    w = n.const(rng.integers(-63, 64, (300, 11)), np.int8)  # without VNNI the runtime saturates sums of 8-bit weights
    ws = n.const(floats(11, low=0.01, high=0.02))
    y = n.node("MatMulInteger", q, w, z, n.const(0, np.int8))
    scale = n.node("Mul", s, ws)
    r = n.node("MatMulInteger", q, n.node("Transpose", q, perm=[0, 2, 1]), z, z)
    return n, [n.node("Mul", n.node("Cast", y, to=TensorProto.FLOAT), scale), q, r, s, z]


@case
def dynamic_conv():
    n = Net()
    x = n.input(floats(1, 4, 9, 8))
    q, s, z = n.node("DynamicQuantizeLinear", x, outs=3)
    w = n.const(rng.integers(0, 256, (6, 2, 3, 3)), np.uint8)
    y = n.node("ConvInteger", q, w, z, n.const(117, np.uint8), pads=[1, 1, 1, 1], strides=[2, 1], group=2)
    return n, [n.node("Mul", n.node("Cast", y, to=TensorProto.FLOAT), n.node("Mul", s, n.const(0.01, np.float32))), y]


@case
def qdq_attention():
    n = Net()
    x = n.qdq(n.input(floats(1, 4, 6, 8)), 0.02, 3)
    y = n.qdq(n.input(floats(1, 4, 8, 5)), 0.03, -20)
    s = n.qdq(n.node("Softmax", n.qdq(n.node("MatMul", x, y), 0.1, 5)), 1 / 256, -128)
    return n, [s]


@case
def reduces():
    n = Net()
    x = n.input(floats(2, 3, 5, 7))
    return n, [n.node("ReduceMean", x, axes=[2, 3]), n.node("ReduceSum", x, n.const([1], np.int64), keepdims=0),
               n.node("ReduceMax", x, axes=[-1]), n.node("ReduceMin", x, axes=[0, 2], keepdims=0), n.node("ReduceMean", x, axes=[1], keepdims=0)]


@case
def layer_norms():
    n = Net()
    x = n.input(floats(2, 5, 16))
    y = n.node("LayerNormalization", x, n.const(floats(16)), n.const(floats(16)), axis=-1)
    c = n.node("Sub", x, n.node("ReduceMean", x, axes=[-1]))
    v = n.node("ReduceMean", n.node("Pow", c, n.const(2.0, np.float32)), axes=[-1])
    z = n.node("Div", c, n.node("Sqrt", n.node("Add", v, n.const(1e-5, np.float32))))
    return n, [y, n.node("Add", n.node("Mul", z, n.const(floats(16))), n.const(floats(16)))]


@case
def attention():
    n = Net()
    x = n.input(floats(1, 6, 16))
    q, k, v = (n.node("Transpose", n.node("Reshape", n.node("MatMul", x, n.const(floats(16, 16))), n.const([0, 0, 4, 4], np.int64)), perm=p)
               for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    s = n.node("Softmax", n.node("Mul", n.node("MatMul", q, k), n.const(0.5, np.float32)))
    y = n.node("Reshape", n.node("Transpose", n.node("MatMul", s, v), perm=[0, 2, 1, 3]), n.const([0, 0, -1], np.int64))
    return n, [n.node("Add", y, x)]


@case
def qdq_fallback():
    n = Net()
    x = n.qdq(n.input(floats(1, 4, 5, 6)), 0.02, 3)
    y = n.qdq(n.node("Erf", x), 0.01, -5)
    z = n.qdq(n.node("Div", y, n.qdq(n.input(floats(1, 4, 5, 6, low=0.5)), 0.02, -100)), 0.02, 0)
    return n, [n.qdq(n.node("HardSigmoid", z), 1 / 128, -10)]


@case
def qdq_mixed():
    n = Net()
    x = n.qdq(n.input(floats(1, 3, 8, 8)), 0.02, 3)
    w = n.node("DequantizeLinear", n.const(rng.integers(-127, 128, (8, 3, 3, 3)), np.int8), n.const(0.01, np.float32), n.const(0, np.int8))
    y = n.node("Conv", x, w, pads=[1] * 4)
    z = n.qdq(n.node("Relu", y), 0.05, -128)
    return n, [n.node("Elu", y), n.node("GlobalAveragePool", z)]


@case
def shape_chains():
    """A reshape by what torch exports: Shape, Gather, arithmetic, Cast, Concat; Expand by Where."""
    n = Net()
    x = n.input(floats(2, 6, 4, 5))
    dims = [n.node("Gather", n.node("Shape", x), n.const(i, np.int64)) for i in range(4)]
    half = n.node("Cast", n.node("Floor", n.node("Cast", n.node("Div", dims[1], n.const(2, np.int64)), to=TensorProto.FLOAT)), to=TensorProto.INT64)
    lists = [n.node("Unsqueeze", d, n.const([0], np.int64)) for d in (dims[0], n.const(2, np.int64), half, n.node("Mul", dims[2], dims[3]))]
    y = n.node("Reshape", x, n.node("Concat", *lists, axis=0))
    one = n.node("ConstantOfShape", n.node("Shape", n.const([1, 1, 1], np.int64)), value=helper.make_tensor("v", TensorProto.INT64, [1], [1]))
    ask = n.const([2, -1, -1], np.int64)
    shape = n.node("Where", n.node("Equal", ask, n.node("Neg", one)), one, ask)
    token = n.node("Expand", n.const(floats(1, 1, 4)), shape)
    places = n.node("Cast", n.node("Range", n.const(0, np.int64), n.node("Size", n.const([1, 2, 3, 4, 5])), n.const(1, np.int64)), to=TensorProto.FLOAT)
    picked = n.node("Slice", n.node("Shape", x, start=1), n.const([-1], np.int64), n.const([2 ** 63 - 1], np.int64))
    scale = n.node("Sqrt", n.node("Cast", picked, to=TensorProto.FLOAT))
    return n, [y, n.node("Identity", token), n.node("Div", n.node("Add", x, places), scale), n.node("Tile", x, n.const([1, 2, 1, 3], np.int64)),
               n.node("Expand", n.node("Slice", x, *[n.const([k], np.int64) for k in (0, 1, 3)]), n.const([3, 1, 1, 1, 1], np.int64))]


@case
def normalisations():
    n = Net(opset=21)
    x = n.input(floats(2, 6, 5, 7))
    return n, [n.node("InstanceNormalization", x, n.const(floats(6)), n.const(floats(6)), epsilon=1e-3),
               n.node("GroupNormalization", x, n.const(floats(6)), n.const(floats(6)), num_groups=3),
               n.node("LpNormalization", x, axis=1), n.node("LpNormalization", n.node("Relu", n.node("Sub", x, n.const([9], np.float32))), axis=-1), n.node("LpNormalization", x, axis=-1, p=1),
               n.node("ReduceL1", x, n.const([1], np.int64)), n.node("ReduceL2", x, n.const([2, 3], np.int64), keepdims=0),
               n.node("ReduceSumSquare", x), n.node("ReduceSum", x, noop_with_empty_axes=1)]


@case
def curves():
    n = Net()
    x = n.input(floats(2, 5, 33))
    return n, [n.node("Elu", x, alpha=0.3), n.node("Celu", x, alpha=1.7), n.node("Selu", x), n.node("Softsign", x), n.node("Reciprocal", x),
               n.node("Mean", x, n.const(floats(33)), n.const(floats(5, 1))), n.node("Mean", x)]


@case
def qdq_norms():
    """After a QuantizeLinear a BatchNormalization is by itself, its parameters may be quantised values; a pool and
    a linear Resize meet many halves of quantised values."""
    n = Net()
    x = n.qdq(n.input(floats(1, 6, 9, 8)), 0.0203, 3)
    codes = [n.node("DequantizeLinear", n.const(rng.integers(20, 100, 6), np.int8), n.const(0.013, np.float32), n.const(0, np.int8)) for _ in range(4)]
    y = n.qdq(n.node("Relu", n.node("BatchNormalization", x, *codes)), 0.0311, -128)
    z = n.qdq(n.node("AveragePool", y, kernel_shape=[2, 2]), 0.0301, -128)
    return n, [n.qdq(n.node("Resize", z, "", n.const([1, 1, 2, 3], np.float32), mode="linear"), 0.0299, -128),
               n.node("ArgMax", z, axis=1), n.node("ArgMin", z, axis=-1, keepdims=0)]


@case
def qgemm():
    n = Net(ms=True)
    x = n.node("QuantizeLinear", n.input(floats(3, 8)), n.const(0.02, np.float32), n.const(120, np.uint8))
    p = [n.const(0.02, np.float32), n.const(120, np.uint8), n.const(rng.integers(-60, 60, (5, 8)), np.int8),
         n.const(floats(5, low=0.01, high=0.02)), n.const(np.zeros(5), np.int8), n.const(rng.integers(-500, 500, 5), np.int32)]
    out = [n.const(0.05, np.float32), n.const(100, np.uint8)]
    y = n.node("QGemm", x, *p, *out, domain="com.microsoft", transB=1)
    soft = n.node("QLinearSoftmax", y, *out, n.const(1 / 256, np.float32), n.const(0, np.uint8), domain="com.microsoft", axis=-1, opset=13)
    return n, [y, n.node("QGemm", x, *p, domain="com.microsoft", transB=1, alpha=0.5),
               n.node("DequantizeLinear", soft, n.const(1 / 256, np.float32), n.const(0, np.uint8))]


@case
def orders():
    n = Net(opset=18)
    x = n.input(np.round(floats(3, 7, 5) * 3) / 3)  # equal ones
    return n, [*n.node("TopK", x, n.const([3], np.int64), outs=2), *n.node("TopK", x, n.const([7], np.int64), outs=2, axis=1, largest=0),
               n.node("CumSum", x, n.const(1, np.int64)), n.node("CumSum", x, n.const(-1, np.int32), exclusive=1, reverse=1),
               n.node("ArgMax", x, axis=1), n.node("ArgMin", x, axis=2, keepdims=0),
               n.node("ReduceProd", x, n.const([0, 2], np.int64)), n.node("ReduceLogSumExp", x, n.const([1], np.int64), keepdims=0),
               n.node("ReduceLogSum", n.node("Exp", x), n.const([0], np.int64))]


@case
def constant_sums():
    n, x = Net(opset=18), floats(3, 7, 5)
    y, outs = n.input(floats(3, 7, 5)), []
    for axis, exclusive, reverse in [(0, 0, 0), (1, 0, 1), (-1, 1, 0), (1, 1, 1)]:
        sums = n.node("CumSum", n.const(x), n.const(axis, np.int64), exclusive=exclusive, reverse=reverse)
        counts = n.node("CumSum", n.const(rng.integers(-9, 9, (3, 7, 5)), np.int32), n.const(axis, np.int32), exclusive=exclusive, reverse=reverse)
        outs += [n.node("Mul", y, sums), n.node("Mul", y, n.node("Cast", counts, to=1))]
    return n, outs


@case
def powers():
    n = Net()
    x = n.input(floats(2, 5, 9))
    y = n.input(floats(2, 5, 9, low=0.01, high=5))
    return n, [n.node("Pow", y, x), n.node("Pow", x, n.const(3.0, np.float32)), n.node("Pow", y, n.const([0.3], np.float32)),
               n.node("Pow", y, n.const(floats(5, 1))), n.node("Softplus", x), n.node("LogSoftmax", x, axis=1),
               n.node("Log", y), n.node("Floor", x), n.node("Ceil", x)]


@case
def casts():
    n = Net()
    x = n.input(floats(4, 33, low=-100, high=100))
    i = n.node("Cast", x, to=TensorProto.INT32)
    return n, [i, n.node("Cast", x, to=TensorProto.INT64), n.node("Cast", x, to=TensorProto.INT8), n.node("Cast", x, to=TensorProto.BOOL),
               n.node("Cast", n.node("Cast", n.node("Abs", x), to=TensorProto.UINT8), to=TensorProto.FLOAT), n.node("Cast", i, to=TensorProto.INT64),
               n.node("Cast", n.node("Cast", i, to=TensorProto.BOOL), to=TensorProto.FLOAT)]


@case
def quantize_channels():
    n = Net()
    x = n.input(floats(2, 4, 5, 3))
    s, z = n.const(floats(4, low=0.005, high=0.03)), n.const(rng.integers(-40, 40, 4), np.int8)
    q = n.node("QuantizeLinear", x, s, z, axis=1)
    high, low = n.node("ReduceMax", x, keepdims=0), n.node("ReduceMin", x, keepdims=0)
    step = n.node("Div", n.node("Sub", high, low), n.const(255, np.float32))
    zero = n.node("Cast", n.node("Round", n.node("Div", n.node("Neg", low), step)), to=TensorProto.UINT8)
    y = n.node("QuantizeLinear", x, step, zero)
    return n, [q, n.node("DequantizeLinear", q, s, z, axis=1), y, n.node("DequantizeLinear", y, step, zero), zero]


@case
def codes_of_16_bits():
    n = Net(opset=21)
    x = n.qdq(n.input(floats(2, 5, 4)), 1 / 8192, -37, np.int16)
    y = n.qdq(n.node("Mul", x, n.qdq(n.const(floats(4)), 1 / 16384, 40000, np.uint16)), 1 / 4096, 21000, np.uint16)
    s, z = n.const([0.5, 0.25, 0.125, 1, 2], np.float32), n.const([-9, 0, 9, 1, 300], np.int16)
    rows = n.node("DequantizeLinear", n.node("QuantizeLinear", y, s, z, axis=1), s, z, axis=1)
    saturated = n.qdq(n.node("Mul", x, n.const(1e6, np.float32)), 1 / 8192, 5, np.int16)
    w = n.node("DequantizeLinear", n.const(rng.integers(-32768, 32768, (4, 3)), np.int16), n.const(1 / 16384, np.float32))
    coarse = n.qdq(n.node("DequantizeLinear", n.const(rng.integers(-128, 128, (4,)), np.int8), n.const(0.02, np.float32)), 0.05, 2, np.uint8)
    return n, [y, rows, saturated, n.node("MatMul", x, w), n.node("Add", x, coarse)]


@case
def comparisons():
    n = Net(opset=19)
    x, y = n.input(np.round(floats(2, 3, 4) * 2) / 2), n.input(np.round(floats(3, 1) * 2) / 2)
    i, j = n.input(rng.integers(-2, 3, (2, 3)).astype(np.int32)), n.input(rng.integers(-2, 3, (1, 3)).astype(np.int64))
    less, more = n.node("Less", x, y), n.node("GreaterOrEqual", x, n.const(0.5, np.float32))
    equal = n.node("Equal", j, n.const([[0], [1]], np.int64))
    both = [n.node(op, less, more) for op in ("And", "Or", "Xor")]
    codes = n.qdq(x, 0.25, 3)
    masked = n.qdq(n.node("Where", more, codes, n.const(-30.0, np.float32)), 0.25, 3)
    outs = [less, more, equal, *both, n.node("Not", less), n.node("Where", less, x, y), n.node("Where", equal, j, n.const([7, 8, 9], np.int64)),
            n.node("Greater", i, n.const([1, 0, -1], np.int32)), n.node("LessOrEqual", codes, y), masked,
            n.node("IsNaN", n.node("Log", x)), n.node("ThresholdedRelu", x, alpha=0.5), n.node("Where", n.const([True, False, True, False], np.bool_), x, y)]
    return n, outs


@case
def embeddings():
    n = Net()
    i = n.input(rng.integers(-5, 5, (2, 3)).astype(np.int64))
    table = n.node("DequantizeLinear", n.const(rng.integers(0, 256, (5, 4)), np.uint8), n.const(0.02, np.float32), n.const(120, np.uint8))
    x = n.qdq(n.input(floats(2, 5, 3)), 0.02, 3)
    y = n.node("Gather", x, n.input(np.array([4, 0], np.int32)), axis=1)
    codes = n.node("Gather", n.const(rng.integers(0, 256, (5, 4)), np.uint8), i)
    plain = n.node("DequantizeLinear", codes, n.const(0.03, np.float32), n.const(7, np.uint8))
    return n, [plain, n.node("Gather", table, i), n.qdq(y, 0.02, 3), *[n.node(op, n.node("Gather", n.const(floats(5, 2)), i)) for op in ("Sin", "Cos", "Sign")]]


@case
def integers():
    n = Net()
    i, j = n.input(rng.integers(-50, 50, (2, 3)).astype(np.int64)), n.input(rng.choice([-7, -3, 2, 5], (3,)).astype(np.int64))
    k = n.input(rng.integers(-50, 50, (4,)).astype(np.int32))
    outs = [n.node(op, i, j) for op in ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min")]
    return n, outs + [n.node("Mod", k, n.const([3, -3, 4, -4], np.int32)), n.node("Mul", k, n.const(3, np.int32))]


@case
def integer_rows():
    n = Net()
    a, b = n.input(rng.integers(0, 256, (3, 7)).astype(np.uint8)), n.const(rng.integers(-60, 60, (7, 5)), np.int8)
    return n, [n.node("MatMulInteger", a, b, n.const(7, np.uint8), n.const(rng.integers(-9, 9, 5), np.int8))]


@case
def masked():
    n = Net()
    x = n.input(floats(1, 2, 5, 5))
    mask = n.const(np.tril(np.ones((1, 1, 5, 5))), np.bool_)
    q = n.node("QuantizeLinear", x, n.const(0.02, np.float32), n.const(3, np.int8))
    p = n.node("Pad", q, n.const([0, 0, 1, 2, 0, 0, 0, 1], np.int64), n.const(7, np.int8))
    return n, [n.node("Softmax", n.node("Where", mask, x, n.const(-1e9, np.float32))), n.node("Where", mask, n.const(floats(5)), x),
               n.node("DequantizeLinear", p, n.const(0.02, np.float32), n.const(3, np.int8))]


@case
def samples():
    n = Net(20)
    x, volume = n.input(floats(2, 3, 4, 5)), n.input(floats(2, 2, 3, 4, 2))
    grid, places = n.input(floats(2, 3, 6, 2, low=-1.7, high=1.7)), n.input(floats(2, 2, 2, 3, 3, low=-1.7, high=1.7))
    kinds = [(mode, padding, corners) for mode in ("nearest", "linear", "cubic") for padding in ("zeros", "border", "reflection") for corners in (0, 1)]
    outs = [n.node("GridSample", x, grid, mode=mode, padding_mode=padding, align_corners=corners) for mode, padding, corners in kinds]
    outs += [n.node("GridSample", volume, places, mode=mode, padding_mode=padding, align_corners=corners) for mode, padding, corners in kinds if mode != "cubic"]
    theta = n.input(floats(2, 2, 3))
    return n, outs + [n.node("AffineGrid", theta, n.const([2, 3, 4, 5], np.int64), align_corners=corners) for corners in (0, 1)]


@case
def transforms():
    n = Net(20)
    x, z, signal = n.input(floats(2, 7, 3, 1)), n.input(floats(2, 8, 5, 2)), n.input(floats(2, 40, 1))
    one, length = n.const(1, np.int64), n.const(10, np.int64)
    outs = [n.node("DFT", x, "", one), n.node("DFT", x, length, one, onesided=1), n.node("DFT", z, "", n.const(-2, np.int64), inverse=1),
            n.node("DFT", z, n.const(5, np.int64), one)]
    outs += [n.node("STFT", signal, n.const(6, np.int64), n.input(floats(16))), n.node("STFT", signal, n.const(9, np.int64), "", n.const(12, np.int64), onesided=0)]
    return n, outs + [n.node("Col2Im", n.input(floats(2, 12, 9)), n.const([5, 6], np.int64), n.const([2, 3], np.int64), strides=[2, 3], pads=[1, 2, 0, 1])]


@case
def computed_parameters():
    n = Net()
    x, volume, k = n.input(floats(2, 4, 5, 6)), n.input(floats(1, 2, 3, 4, 3)), n.input(np.array(-1, np.int64))
    w, b = n.input(floats(4, 3, 3, 2)), n.input(floats(6))
    outs = [n.node("ConvTranspose", x, w, b, group=2, strides=[2, 3], pads=[1, 0, 3, 1], output_padding=[1, 2], dilations=[2, 1]),
            n.node("ConvTranspose", volume, n.const(floats(2, 3, 2, 3, 2)), strides=[2, 1, 3], pads=[0, 1, 0, 1, 0, 1]),
            n.node("ConvTranspose", x, w, auto_pad="SAME_UPPER", strides=[2, 2], group=2)]
    outs += [n.node("Trilu", x, k, upper=upper) for upper in (0, 1)]
    outs += [n.node("CumSum", x, n.input(np.array(axis, np.int32)), exclusive=1) for axis in (-1, 1)]
    outs.append(n.node("CumSum", n.input(rng.integers(-9, 9, (3, 4)).astype(np.int64)), n.const(0, np.int64), reverse=1))
    outs.append(n.node("Pad", x, n.const([0, 0, 1, 2, 0, 1, 0, 0], np.int64), n.input(np.array(7.5, np.float32))))
    outs += [n.node("EyeLike", x2, k=1, dtype=1) for x2 in [n.input(floats(3, 4))]]
    outs.append(n.node("Concat", n.input(floats(1)), n.const([2.5], np.float32), axis=0))
    return n, outs + [n.node("Concat", k1, n.const([4, 5], np.int64), axis=0) for k1 in [n.node("Reshape", k, n.const([1], np.int64))]]


@case
def constant_outputs():
    n = Net()
    x = n.input(floats(2, 3))
    return n, [n.node("Relu", x), n.node("Shape", x), n.node("Exp", n.const(floats(3)))]


# Steps of the quantised values, where a float output follows them.
STEP = {"qgemm": 1.1 / 256, "qdq_fallback": 1 / 64, "qdq_mixed": 0.05, "qdq_resize": 0.02, "qdq_transposed": 0.05, "qdq_gemm": 1 / 16, "qdq_attention": 1.1 / 256}


def run_case(heddle, name, folder):
    n, outputs = CASES[name]()
    model = n.model(outputs)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    want = session.run(None, dict(n.inputs))
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    command = [heddle, "run", str(path), "--target=c", "--engine=func", "--onnx-rounding=onnx", "-o", str(folder / name)]
    for k, (_, a) in enumerate(n.inputs):
        np.save(folder / f"{name}_{k}.npy", a)
        command += ["-i", str(folder / f"{name}_{k}.npy")]
    return run_heddle(command, folder / name, want, lambda dtype: STEP.get(name, 0) if dtype == np.float32 else 0)


if __name__ == "__main__":
    sys.exit(main(CASES, run_case))
