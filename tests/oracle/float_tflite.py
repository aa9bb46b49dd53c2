"""Float32 TFLite networks, one operator each, and some with other types beside, against tflite-runtime's reference kernels.

    float_tflite.py --heddle build/heddle [--case NAME] [--keep DIR]

Emitted C gives the runtime's bytes except the cases of NEAR, which are within 2e-5 of the largest magnitude of
its answer. Exit status 1 if one differs, 77 without the runtime. Environment:
requirements-classic.txt.
"""

import sys

try:
    import numpy as np
    import tflite
    from tflite_runtime.interpreter import Interpreter, OpResolverType

    from float_cases import TOLERANCE, main, run_heddle
    from tflite_writer import Net
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

rng = np.random.default_rng(3)
F = np.float32
CASES = {}
# libm's functions, and sums in another order.
NEAR = ("logistic", "tanh", "exp", "log", "log_softmax", "sin", "cos", "softmax", "mixed", "hard_swish", "transpose_conv", "conv_3d", "conv_3d_valid", "average_pool_2d", "l2_pool_2d",
        "resize_bilinear_False_False", "resize_bilinear_False_True")


def floats(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(F)


def const(net, array):
    array = np.asarray(array)
    return net.tensor(f"c{len(net.tensors)}", array.shape, array.dtype, data=array)


def one(name, op, inputs, out, constants=(), options=None, low=-2.0, order=None, **fields):
    """A network of one operator; `inputs` are shapes, `constants` arrays after them."""
    def build():
        net = Net(name)
        xs = [net.tensor(f"x{i}", s, F) for i, s in enumerate(inputs)]
        operands = [*xs, *(const(net, c) for c in constants)]
        y = net.tensor("y", out, F)
        net.op(op, [operands[i] for i in order] if order else operands, [y], 1, options, **fields)
        return net.finish(xs, [y]), [floats(*s, low=low) for s in inputs]
    CASES[name] = build


SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID
RELU6 = tflite.ActivationFunctionType.RELU6
one("conv", "CONV_2D", [(2, 9, 8, 5)], (2, 5, 8, 19), [floats(19, 3, 3, 5) / 4, floats(19)], "Conv2DOptions", Padding=SAME, StrideH=2, StrideW=1,
    FusedActivationFunction=RELU6)
one("conv_3d", "CONV_3D", [(2, 5, 7, 6, 3)], (2, 3, 4, 6, 4), [floats(3, 2, 3, 3, 4) / 4, floats(4)], "Conv3DOptions", Padding=SAME, StrideD=2, StrideH=2,
    StrideW=1, FusedActivationFunction=RELU6)
one("conv_3d_valid", "CONV_3D", [(1, 6, 7, 6, 2)], (1, 4, 3, 4, 5), [floats(2, 3, 3, 2, 5) / 4], "Conv3DOptions", Padding=VALID, StrideD=1, StrideH=1,
    StrideW=1, DilationDFactor=2, DilationHFactor=2)
one("conv_valid", "CONV_2D", [(1, 9, 8, 5)], (1, 5, 4, 3), [floats(3, 3, 3, 5), floats(3)], "Conv2DOptions", Padding=VALID, StrideH=1, StrideW=1,
    DilationHFactor=2, DilationWFactor=2)
one("depthwise", "DEPTHWISE_CONV_2D", [(1, 7, 7, 6)], (1, 7, 7, 12), [floats(1, 3, 3, 12), floats(12)], "DepthwiseConv2DOptions", Padding=SAME,
    StrideH=1, StrideW=1, DepthMultiplier=2)
one("dense", "FULLY_CONNECTED", [(3, 20)], (3, 33), [floats(33, 20), floats(33)], "FullyConnectedOptions")
one("transpose_conv", "TRANSPOSE_CONV", [(1, 4, 4, 6)], (1, 8, 8, 5), [np.array([1, 8, 8, 5], np.int32), floats(5, 3, 3, 6)], "TransposeConvOptions",
    Padding=SAME, StrideH=2, StrideW=2, order=[1, 2, 0])
one("batch_matmul", "BATCH_MATMUL", [(2, 5, 7), (2, 4, 7)], (2, 5, 4), (), "BatchMatMulOptions", AdjY=True)
for op in ["ADD", "SUB", "MUL", "DIV"]:
    one(op.lower(), op, [(2, 3, 4, 5), (4, 1)], (2, 3, 4, 5), (), f"{op.capitalize()}Options", low=0.5, FusedActivationFunction=RELU6)
one("pow", "POW", [(2, 3, 4, 5), (4, 1)], (2, 3, 4, 5), (), "PowOptions", low=0.5)
one("add_n", "ADD_N", [(3, 4)] * 3, (3, 4), (), "AddNOptions")
one("reduce_prod", "REDUCE_PROD", [(2, 7, 9, 5)], (2, 5), [np.array([1, 2], np.int32)], "ReducerOptions", KeepDims=False)
for op in ["MAXIMUM", "MINIMUM"]:
    one(op.lower(), op, [(2, 3, 4, 5), (4, 1)], (2, 3, 4, 5), (), "MaximumMinimumOptions")
for op in ["RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC", "TANH", "HARD_SWISH", "EXP", "ABS", "NEG", "SQRT", "FLOOR", "SQUARE", "LOG", "RSQRT", "LOG_SOFTMAX", "SIN", "COS", "SIGN"]:
    options = {"HARD_SWISH": "HardSwishOptions", "EXP": "ExpOptions", "ABS": "AbsOptions", "NEG": "NegOptions",
               "SQUARE": "SquareOptions", "COS": "CosOptions", "SIGN": "SignOptions", "LOG_SOFTMAX": "LogSoftmaxOptions"}.get(op)
    one(op.lower(), op, [(2, 5, 33)], (2, 5, 33), (), options, low=0.0 if op == "SQRT" else 0.01 if op in ("LOG", "RSQRT") else -8.0)
one("leaky_relu", "LEAKY_RELU", [(2, 33)], (2, 33), (), "LeakyReluOptions", Alpha=0.2)
one("prelu", "PRELU", [(1, 4, 4, 6)], (1, 4, 4, 6), [floats(1, 1, 6)])
one("softmax", "SOFTMAX", [(4, 37)], (4, 37), (), "SoftmaxOptions", Beta=1.5)
one("l2_normalization", "L2_NORMALIZATION", [(4, 37)], (4, 37), (), "L2NormOptions")
for op in ["AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"]:
    one(op.lower(), op, [(2, 7, 9, 5)], (2, 4, 5, 5), (), "Pool2DOptions", Padding=SAME, StrideH=2, StrideW=2, FilterHeight=3, FilterWidth=2)
for op in ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"]:
    one(op.lower(), op, [(2, 7, 9, 5)], (2, 5), [np.array([1, 2], np.int32)], "ReducerOptions", KeepDims=False)
one("pad", "PAD", [(1, 3, 4, 2)], (1, 6, 5, 2), [np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32)], "PadOptions")
one("reverse_sequence", "REVERSE_SEQUENCE", [(3, 4, 5, 2)], (3, 4, 5, 2), [np.array([5, 1, 3], np.int32)], "ReverseSequenceOptions",
    SeqDim=2, BatchDim=0)
one("reverse_first", "REVERSE_SEQUENCE", [(3, 4, 2)], (3, 4, 2), [np.array([0, 2, 3, 1], np.int32)], "ReverseSequenceOptions", SeqDim=0, BatchDim=1)
one("scatter_nd", "SCATTER_ND", [(2, 3, 4)], (5, 2, 4), [np.array([[[0, 1], [4, 0], [2, 1]], [[3, 0], [3, 1], [1, 1]]], np.int32),
    np.array([5, 2, 4], np.int32)], "ScatterNdOptions", order=[1, 0, 2])
one("concatenation", "CONCATENATION", [(1, 3, 4, 2), (1, 3, 4, 5)], (1, 3, 4, 7), (), "ConcatenationOptions", Axis=3)
one("transpose", "TRANSPOSE", [(1, 3, 4, 2)], (1, 2, 4, 3), [np.array([0, 3, 2, 1], np.int32)], "TransposeOptions")
one("squared_difference", "SQUARED_DIFFERENCE", [(2, 3, 4, 5), (4, 1)], (2, 3, 4, 5), (), "SquaredDifferenceOptions")


for align, half in [(False, False), (True, False), (False, True)]:
    one(f"resize_bilinear_{align}_{half}", "RESIZE_BILINEAR", [(2, 5, 7, 3)], (2, 9, 4, 3), [np.array([9, 4], np.int32)], "ResizeBilinearOptions",
        AlignCorners=align, HalfPixelCenters=half)


def mixed():
    """int8 convolution, float softmax of what it gives, int8 again."""
    net = Net("mixed")
    x = net.tensor("x", (1, 6, 6, 3), np.int8, 0.05, -3)
    w = net.tensor("w", (8, 3, 3, 3), np.int8, 0.01, 0, data=rng.integers(-127, 128, (8, 3, 3, 3)))
    b = net.tensor("b", (8,), np.int32, 0.0005, 0, data=np.arange(8))
    c = net.tensor("c", (1, 4, 4, 8), np.int8, 0.03, 5)
    f, s = net.tensor("f", (1, 4, 4, 8), F), net.tensor("s", (1, 4, 4, 8), F)
    q = net.tensor("q", (1, 4, 4, 8), np.int8, 1 / 256, -128)
    net.op("CONV_2D", [x, w, b], [c], 1, "Conv2DOptions", Padding=VALID, StrideH=1, StrideW=1)
    net.op("DEQUANTIZE", [c], [f])
    net.op("SOFTMAX", [f], [s], 1, "SoftmaxOptions", Beta=1.0)
    net.op("QUANTIZE", [s], [q])
    return net.finish([x], [q, s]), [rng.integers(-128, 128, (1, 6, 6, 3)).astype(np.int8)]


CASES["mixed"] = mixed


def float16_weights():
    """Dense with weights and bias of float16 behind DEQUANTIZE."""
    net = Net("float16_weights")
    x, y = net.tensor("x", (3, 20), F), net.tensor("y", (3, 33), F)
    operands = [x]
    for name, array in [("w", floats(33, 20)), ("b", floats(33))]:
        half = net.tensor(name, array.shape, np.float16, data=array.astype(np.float16))
        operands.append(net.tensor(name + "32", array.shape, F))
        net.op("DEQUANTIZE", [half], [operands[-1]], 3)
    net.op("FULLY_CONNECTED", operands, [y], 1, "FullyConnectedOptions")
    return net.finish([x], [y]), [floats(3, 20)]


def int4_weights():
    """int8 dense and convolution whose weights are packed."""
    net = Net("int4_weights")
    x = net.tensor("x", (1, 5, 4, 3), np.int8, 0.05, -3)
    w = net.tensor("w", (7, 3, 3, 3), "int4", list(0.01 * np.arange(1, 8)), 0, data=rng.integers(-7, 8, (7, 3, 3, 3)))
    b = net.tensor("b", (7,), np.int32, list(0.0005 * np.arange(1, 8)), 0, data=rng.integers(-99, 99, 7))
    c = net.tensor("c", (1, 3, 2, 7), np.int8, 0.03, 5)
    v = net.tensor("v", (5, 7), "int4", 0.02, 0, data=rng.integers(-7, 8, (5, 7)))
    y = net.tensor("y", (6, 5), np.int8, 0.04, -9)
    net.op("CONV_2D", [x, w, b], [c], 5, "Conv2DOptions", Padding=VALID, StrideH=1, StrideW=1)
    net.op("FULLY_CONNECTED", [c, v], [y], 9, "FullyConnectedOptions")
    return net.finish([x], [y]), [rng.integers(-128, 128, (1, 5, 4, 3)).astype(np.int8)]


def no_operators():
    """The input is the output."""
    net = Net("no_operators")
    x = net.tensor("x", (1, 3, 5), F)
    return net.finish([x], [x]), [floats(1, 3, 5)]


def embedding():
    net = Net("embedding")
    index, y = net.tensor("index", (6,), np.int32), net.tensor("y", (6, 9), np.int8, 0.05, 3)
    table = net.tensor("table", (12, 9), np.int8, 0.05, 3, data=rng.integers(-128, 128, (12, 9)))
    net.op("EMBEDDING_LOOKUP", [index, table], [y])
    return net.finish([index], [y]), [rng.integers(0, 12, 6).astype(np.int32)]


CASES.update(float16_weights=float16_weights, int4_weights=int4_weights, no_operators=no_operators, embedding=embedding)


def run_case(heddle, name, folder):
    content, inputs = CASES[name]()
    path = folder / f"{name}.tflite"
    path.write_bytes(content)
    runtime = Interpreter(model_content=bytes(content), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    runtime.allocate_tensors()
    command = [heddle, "run", str(path), "--target=c", "--engine=func", "-o", str(folder / name)]
    for k, (detail, x) in enumerate(zip(runtime.get_input_details(), inputs)):
        runtime.set_tensor(detail["index"], x)
        x.tofile(folder / f"{name}_{k}.bin")
        command += ["-i", str(folder / f"{name}_{k}.bin")]
    runtime.invoke()
    wants = [runtime.get_tensor(detail["index"]) for detail in runtime.get_output_details()]
    return run_heddle(command, folder / name, wants, lambda dtype: 0 if name in NEAR and dtype == F else int(name in NEAR),
                      TOLERANCE if name in NEAR else 0)


if __name__ == "__main__":
    sys.exit(main(CASES, run_case))
