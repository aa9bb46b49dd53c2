"""One-operator TFLite networks of every type that LiteRT's reference kernels compute: what heddle makes of each.

    sweep_tflite.py --heddle build/heddle [--only WORD] [--seed N] [--verbose]
    sweep_tflite.py --write FOLDER CASE...

Each case goes to LiteRT (BUILTIN_REF) and, if that runs it, to heddle's func engine and emitted C, byte for byte.
--write makes one network of the cases that begin with the names, as the folders of tests/reference/models.
Prints the counts and every case that differs; --verbose also those that heddle or LiteRT refuses. Exit status 1 if
one differs, 77 without the runtime. Environment: requirements-new.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    from tflite_writer import Net, answers
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

CODES = {np.int8: (0.05, -3), np.uint8: (0.05, 121), np.int16: (0.001, 0)}
PLAIN = [np.int32, np.int64]  # float_tflite.py has float32
QUANTISED = [np.int8, np.uint8, np.int16]
SHAPE = (2, 3, 4)
OTHERWISE = {("FULLY_CONNECTED", np.int64), ("TRANSPOSE_CONV", None)}  # LiteRT differs from tflite-runtime, heddle's rule


class Case:
    """A network under construction: `x` makes inputs, `c` constants, `y` the operator's output."""

    def __init__(self, rng):
        self.net, self.rng, self.inputs, self.values, self.outputs = Net("sweep"), rng, [], [], []

    def quant(self, kind, other):
        if kind not in CODES:
            return None, 0
        scale, zero = CODES[kind]
        return (scale * (1.7 if other else 1), 0 if kind == np.int16 else zero + 10 * other)

    def x(self, kind, shape=SHAPE, values=None, other=False, quant=None):
        t = self.net.tensor(f"x{len(self.inputs)}", shape, kind, *(quant or self.quant(kind, other)))
        self.inputs.append(t)
        if values is None:
            if kind == np.float32:
                values = self.rng.normal(0, 2, shape)
            elif kind == np.bool_:
                values = self.rng.random(shape) < 0.5
            elif kind in QUANTISED:
                values = self.rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape)
            else:
                values = self.rng.integers(-9, 10, shape)
        self.values.append(np.asarray(values, kind))
        return t

    def c(self, data, kind=np.int32, quant=(None, 0)):
        data = np.asarray(data, kind)
        return self.net.tensor(f"c{len(self.net.tensors)}", data.shape, kind, *quant, data=data)

    def y(self, op, operands, shape, kind, options=None, version=1, other=False, quant=None, **fields):
        y = self.net.tensor(f"y{len(self.outputs)}", shape, kind, *(quant or self.quant(kind, other)))
        self.net.op(op, operands, [y], version, options, **fields)
        self.outputs.append(y)
        return y


def unary(op, options=None, **fields):
    return lambda c, k, other: c.y(op, [c.x(k)], SHAPE, k, options, other=other, **fields)


def root(op):
    """Values that are not below the zero point."""
    def build(c, k, other):
        least = c.quant(k, 0)[1] + (op == "RSQRT") if k in CODES else 1
        most = np.iinfo(k).max if k in CODES else 9
        return c.y(op, [c.x(k, SHAPE, c.rng.integers(least, most + 1, SHAPE))], SHAPE, k, other=other)
    return build


def binary(op, options=None, broadcast=(3, 1)):
    return lambda c, k, other: c.y(op, [c.x(k), c.x(k, broadcast, other=other)], SHAPE, k, options, other=other)


def divided(c, k, other):
    """LiteRT shifts by more than 31 bits, which is undefined, for divisors of 0 and dividends near it: not drawn."""
    least, most = np.iinfo(k).min, np.iinfo(k).max
    a, zero = c.rng.integers(least, most + 1, SHAPE) if k in CODES else c.rng.integers(-9, 10, SHAPE), c.quant(k, 0)[1]
    a = np.where(abs(a - zero) < 32, zero + 37, a) if k in CODES else a
    zero = c.quant(k, other)[1]
    b = c.rng.integers(zero + 1, most + 1, (3, 1)) if k in CODES else c.rng.integers(1, 9, (3, 1))
    b = np.where(c.rng.random((3, 1)) < 0.5, 2 * zero - b, b) if k in CODES and zero <= 0 else b
    return c.y("DIV", [c.x(k, SHAPE, a), c.x(k, (3, 1), np.clip(b, least, most), other=other)], SHAPE, k, "DivOptions", other=other)


def reduction(op):
    return lambda c, k, other: c.y(op, [c.x(k), c.c([1])], (2, 4), k, "ReducerOptions", other=other)


def moved(op, more, shape, options=None, **fields):
    """An operator that moves bytes, with constant parameters `more`."""
    return lambda c, k, other: c.y(op, [c.x(k), *(c.c(v) for v in more)], shape, k, options, **fields)


def matmul(c, k, other):
    c.y("BATCH_MATMUL", [c.x(k, (2, 3, 4)), c.x(k, (2, 4, 5), other=other)], (2, 3, 5), k, "BatchMatMulOptions",
        quant=(c.quant(k, 0)[0] * 5, c.quant(k, 0)[1]) if k in CODES else None)


def volumes(c, k, other):
    """Whole numbers: float32 adds them exactly in any order."""
    more, out = (dict(Padding=1, DilationDFactor=2, DilationHFactor=2), (2, 3, 2, 4, 4)) if other else (dict(Padding=0), (2, 3, 2, 6, 4))
    whole = [c.rng.integers(-9, 10, s) for s in ((2, 5, 4, 6, 3), (2, 2, 3, 3, 4), (4,))]
    c.y("CONV_3D", [c.x(k, whole[0].shape, whole[0]), c.c(whole[1], k), *([] if other else [c.c(whole[2], k)])], out, k, "Conv3DOptions",
        StrideD=1 if other else 2, StrideH=1 if other else 2, StrideW=1, FusedActivationFunction=0 if other else 1, **more)


def scatter(c, k, other):
    c.y("SCATTER_ND", [c.c([[1], [3]]), c.x(k, (2, 4)), c.c([5, 4])], (5, 4), k, "ScatterNdOptions")


def chosen(op):
    def build(c, k, other):
        c.y(op, [c.x(np.bool_), c.x(k), c.x(k)], SHAPE, k, "SelectOptions" if op == "SELECT" else "SelectV2Options")
    return build


def compared(op):
    name = "".join(w.capitalize() for w in op.split("_")) + "Options"
    return lambda c, k, other: c.y(op, [c.x(k), c.x(k, (3, 1), other=other)], SHAPE, np.bool_, name)


def arg(op):
    def build(c, k, other):
        c.y(op, [c.x(k), c.c(1)], (2, 4), np.int32, "ArgMaxOptions" if op == "ARG_MAX" else "ArgMinOptions",
            OutputType=2)
    return build


def top_k(c, k, other):
    y = [c.net.tensor(f"top{i}", (2, 3, 2), t, *q) for i, (t, q) in enumerate([(k, c.quant(k, 0)), (np.int32, (None, 0))])]
    c.net.op("TOPK_V2", [c.x(k), c.c(2)], y, 1, "TopKV2Options")
    c.outputs += y


def one_hot(c, k, other):
    q = c.quant(k, 0)
    c.y("ONE_HOT", [c.x(np.int32, (2, 3), c.rng.integers(-1, 5, (2, 3))), c.c(4), c.c(7, k, q), c.c(1, k, q)], (2, 3, 4), k,
        "OneHotOptions", Axis=-1)


def softmax(c, k, other):
    if k == np.float32:
        return c.y("SOFTMAX", [c.x(k)], SHAPE, k, "SoftmaxOptions", Beta=1.0)
    quant = {np.int8: (1 / 256, -128), np.uint8: (1 / 256, 0), np.int16: (1 / 32768, 0)}[k]
    if other:
        return c.y("SOFTMAX", [c.x(k)], SHAPE, np.int16, "SoftmaxOptions", quant=(1 / 65536, -32768), Beta=1.0)
    return c.y("SOFTMAX", [c.x(k)], SHAPE, k, "SoftmaxOptions", quant=quant, Beta=1.0)


def fixed(op, quants):
    return lambda c, k, other: c.y(op, [c.x(k)], SHAPE, k, quant=quants.get(k))


def quantize_to(to):
    def build(c, k, other):
        c.y("QUANTIZE", [c.x(k)], SHAPE, to, "QuantizeOptions", quant=c.quant(to, other) if to in CODES else (0.07, 0))
    return build


def cast_to(to):
    return lambda c, k, other: c.y("CAST", [c.x(k)], SHAPE, to, "CastOptions")


def conv(op, bias):
    """A convolution of int16 with a bias of int32 or int64, or dense."""
    def build(c, k, other):
        scales = np.float32(0.01) * np.arange(1, 6, dtype=np.float32) if other else [np.float32(0.02)]
        w = c.rng.integers(-127, 128, (5, 3, 3, 4) if op != "FULLY_CONNECTED" else (5, 4))
        t = c.net.tensor("w", w.shape, np.int8, scales if other else 0.02, 0, data=w)
        b = None if bias is None else c.net.tensor("b", (5,), bias, [0.001 * s for s in scales] if other else 0.001 * 0.02, 0, data=c.rng.integers(-90000, 90000, 5))
        more = [t] if b is None else [t, b]
        extra = {"QuantizedBiasType": {np.int32: 2, np.int64: 4}.get(bias, 0)}
        if op == "FULLY_CONNECTED":
            c.y(op, [c.x(k, (3, 4)), *more], (3, 5), k, "FullyConnectedOptions", 11, quant=(0.0013, 0), **extra)
        elif op == "TRANSPOSE_CONV":
            c.y(op, [c.c([1, 8, 8, 5]), t, c.x(k, (1, 4, 4, 4)), *more[1:]], (1, 8, 8, 5), k, "TransposeConvOptions", 5,
                quant=(0.0013, 0), Padding=0, StrideH=2, StrideW=2, **extra)
        else:
            c.y(op, [c.x(k, (1, 6, 6, 4)), *more], (1, 6, 6, 5), k, "Conv2DOptions", 8, quant=(0.0013, 0), Padding=0,
                StrideH=1, StrideW=1, DilationHFactor=1, DilationWFactor=1, **extra)
    return build


ALIKE = QUANTISED + PLAIN
ANYTHING = ALIKE + [np.bool_]


def of_one_operand():
    table = []
    for op in ("ABS", "NEG", "EXP", "LOG", "FLOOR", "CEIL", "ROUND", "SIGN", "SIN", "COS", "SQUARE", "ELU",
               "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "HARD_SWISH"):
        table.append((op, unary(op, {"ABS": "AbsOptions", "NEG": "NegOptions", "EXP": "ExpOptions", "SQUARE": "SquareOptions",
                                     "COS": "CosOptions", "HARD_SWISH": "HardSwishOptions"}.get(op)), ALIKE))
    table += [(op, root(op), ALIKE) for op in ("SQRT", "RSQRT")]
    table += [("LEAKY_RELU", unary("LEAKY_RELU", "LeakyReluOptions", Alpha=0.3), ALIKE),
              ("GELU", unary("GELU", "GeluOptions"), ALIKE), ("ZEROS_LIKE", unary("ZEROS_LIKE", "ZerosLikeOptions"), ALIKE),
              ("LOGISTIC", fixed("LOGISTIC", {np.int8: (1 / 256, -128), np.uint8: (1 / 256, 0), np.int16: (1 / 32768, 0)}), ALIKE),
              ("TANH", fixed("TANH", {np.int8: (1 / 128, 0), np.uint8: (1 / 128, 128), np.int16: (1 / 32768, 0)}), ALIKE),
              ("LOG_SOFTMAX", fixed("LOG_SOFTMAX", {np.int8: (1 / 16, 127), np.uint8: (1 / 16, 255)}), ALIKE),
              ("L2_NORMALIZATION", lambda c, k, other: c.y("L2_NORMALIZATION", [c.x(k)], SHAPE, k, "L2NormOptions",
                                                           quant={np.int8: (1 / 128, 0), np.uint8: (1 / 128, 128)}.get(k)), ALIKE),
              ("SOFTMAX", softmax, QUANTISED)]
    return table


def of_two_operands():
    table = []
    for op in ("ADD", "SUB", "MUL"):
        table.append((op, binary(op, op.capitalize() + "Options"), ALIKE))
    table.append(("DIV", divided, ALIKE))
    for op, options in (("FLOOR_DIV", "FloorDivOptions"), ("FLOOR_MOD", "FloorModOptions"), ("POW", "PowOptions"),
                        ("SQUARED_DIFFERENCE", "SquaredDifferenceOptions"), ("ATAN2", None),
                        ("BITWISE_XOR", None), ("RIGHT_SHIFT", None), ("PRELU", None)):
        table.append((op, binary(op, options), ALIKE))
    for op in ("MAXIMUM", "MINIMUM"):
        table.append((op, lambda c, k, other, op=op: c.y(op, [c.x(k), c.x(k, (3, 1))], SHAPE, k, "MaximumMinimumOptions"), ALIKE))
    for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        table.append((op, compared(op), ALIKE))
    return table


def of_rows():
    table = []
    for op in ("MEAN", "SUM", "REDUCE_PROD"):
        table.append((op, reduction(op), ALIKE))
    for op in ("REDUCE_MAX", "REDUCE_MIN"):
        table.append((op, lambda c, k, other, op=op: c.y(op, [c.x(k), c.c([1, 2])], (2,), k, "ReducerOptions"), ALIKE))
    table += [("CUMSUM", lambda c, k, other: c.y("CUMSUM", [c.x(k), c.c(1)], SHAPE, k, "CumsumOptions", Exclusive=other,
                                                 Reverse=other), ALIKE),
              ("ARG_MAX", arg("ARG_MAX"), ANYTHING), ("ARG_MIN", arg("ARG_MIN"), ANYTHING), ("TOPK_V2", top_k, ALIKE)]
    return table


def of_places():
    table = [("SELECT", chosen("SELECT"), ANYTHING), ("SELECT_V2", chosen("SELECT_V2"), ANYTHING),
              ("ONE_HOT", one_hot, ANYTHING), ("BATCH_MATMUL", matmul, ALIKE), ("SCATTER_ND", scatter, ANYTHING),
              ("TILE", moved("TILE", [[1, 2, 1]], (2, 6, 4), "TileOptions"), ANYTHING),
              ("BROADCAST_TO", moved("BROADCAST_TO", [[3, 2, 3, 4]], (3, 2, 3, 4), "BroadcastToOptions"), ANYTHING),
              ("MIRROR_PAD", moved("MIRROR_PAD", [[[0, 0], [1, 1], [2, 1]]], (2, 5, 7), "MirrorPadOptions"), ANYTHING),
              ("PAD", moved("PAD", [[[0, 0], [1, 1], [2, 1]]], (2, 5, 7), "PadOptions"), ANYTHING),
              ("PADV2", lambda c, k, other: c.y("PADV2", [c.x(k), c.c([[0, 0], [1, 1], [2, 1]]), c.c(1, k, c.quant(k, 0))],
                                                (2, 5, 7), k, "PadV2Options"), ANYTHING),
              ("GATHER", moved("GATHER", [[1, 0, 2]], SHAPE, "GatherOptions", Axis=1), ANYTHING),
              ("GATHER_ND", moved("GATHER_ND", [[[1, 2], [0, 0]]], (2, 4), "GatherNdOptions"), ANYTHING),
              ("TRANSPOSE", moved("TRANSPOSE", [[2, 0, 1]], (4, 2, 3), "TransposeOptions"), ANYTHING),
              ("REVERSE_V2", moved("REVERSE_V2", [[1]], SHAPE, "ReverseV2Options"), ANYTHING),
              ("SLICE", moved("SLICE", [[0, 1, 1], [2, 2, -1]], (2, 2, 3), "SliceOptions"), ANYTHING),
              ("STRIDED_SLICE", moved("STRIDED_SLICE", [[0, 0, 3], [2, 3, 0], [1, 2, -1]], (2, 2, 3), "StridedSliceOptions"), ANYTHING),
              ("EXPAND_DIMS", moved("EXPAND_DIMS", [1], (2, 1, 3, 4), "ExpandDimsOptions"), ANYTHING),
              ("RESHAPE", moved("RESHAPE", [[6, 4]], (6, 4), "ReshapeOptions"), ANYTHING),
              ("REVERSE_SEQUENCE", moved("REVERSE_SEQUENCE", [[2, 3]], SHAPE, "ReverseSequenceOptions", SeqDim=1, BatchDim=0), ANYTHING),
              ("MATRIX_DIAG", lambda c, k, other: c.y("MATRIX_DIAG", [c.x(k)], (2, 3, 4, 4), k, "MatrixDiagOptions"), [np.int8]),
              ("SEGMENT_SUM", lambda c, k, other: c.y("SEGMENT_SUM", [c.x(k), c.c([0, 0])], (1, 3, 4), k, "SegmentSumOptions"), ALIKE),
              ("DYNAMIC_UPDATE_SLICE", lambda c, k, other: c.y("DYNAMIC_UPDATE_SLICE", [c.x(k), c.x(k, (1, 2, 2)), c.c([1, 1, 1])],
                                                               SHAPE, k), ANYTHING),
              ("FILL", lambda c, k, other: c.y("FILL", [c.c([2, 3]), c.x(k, (), 1)], (2, 3), k, "FillOptions"), ANYTHING),
              ("PACK", lambda c, k, other: c.y("PACK", [c.x(k), c.x(k)], (2, 2, 3, 4), k, "PackOptions", ValuesCount=2, Axis=1), ANYTHING),
              ("CONCATENATION", lambda c, k, other: c.y("CONCATENATION", [c.x(k), c.x(k, other=other)], (2, 6, 4), k,
                                                        "ConcatenationOptions", Axis=1), ANYTHING),
    ]
    return table


def of_images():
    table = [("RANGE", lambda c, k, other: c.y("RANGE", [c.c(1, k), c.c(9, k), c.c(2, k)], (4,), k, "RangeOptions"), PLAIN),
              ("ADD_N", lambda c, k, other: c.y("ADD_N", [c.x(k), c.x(k), c.x(k)], SHAPE, k, "AddNOptions"), PLAIN),
              ("DEQUANTIZE", lambda c, k, other: c.y("DEQUANTIZE", [c.x(k)], SHAPE, np.float32, "DequantizeOptions"), QUANTISED),
              ("CONV_3D", volumes, [np.float32]),
              ("SPACE_TO_DEPTH", lambda c, k, other: c.y("SPACE_TO_DEPTH", [c.x(k, (1, 4, 4, 3))], (1, 2, 2, 12), k,
                                                         "SpaceToDepthOptions", BlockSize=2), ANYTHING),
              ("DEPTH_TO_SPACE", lambda c, k, other: c.y("DEPTH_TO_SPACE", [c.x(k, (1, 2, 2, 12))], (1, 4, 4, 3), k,
                                                         "DepthToSpaceOptions", BlockSize=2), ANYTHING),
              ("RESIZE_NEAREST_NEIGHBOR", lambda c, k, other: c.y("RESIZE_NEAREST_NEIGHBOR", [c.x(k, (1, 4, 4, 3)), c.c([6, 5])],
                                                                  (1, 6, 5, 3), k, "ResizeNearestNeighborOptions"), ANYTHING),
              ("RESIZE_BILINEAR", lambda c, k, other: c.y("RESIZE_BILINEAR", [c.x(k, (1, 4, 4, 3)), c.c([6, 5])], (1, 6, 5, 3), k,
                                                          "ResizeBilinearOptions"), ALIKE)]
    for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        table.append((op, lambda c, k, other, op=op: c.y(op, [c.x(k, (1, 6, 6, 3))], (1, 3, 3, 3), k, "Pool2DOptions", Padding=0,
                                                         StrideH=2, StrideW=2, FilterHeight=3, FilterWidth=3), ALIKE))
    return table


def of_types():
    table = []
    for to in QUANTISED + [np.int32]:
        table.append((f"QUANTIZE to {np.dtype(to)}", quantize_to(to), QUANTISED + [np.int32, np.float32]))
    for to in ANYTHING:
        table.append((f"CAST to {np.dtype(to)}", cast_to(to), ANYTHING))
    for op in ("CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV"):
        for bias in (np.int32, np.int64, None):
            if (op, bias) in OTHERWISE:
                continue
            table.append((f"{op} bias {bias and np.dtype(bias)}", conv(op, bias), [np.int16]))
    for op in ("LOGICAL_AND", "LOGICAL_OR"):
        table.append((op, binary(op, "LogicalAndOptions" if op[-3:] == "AND" else "LogicalOrOptions"), [np.bool_]))
    table.append(("LOGICAL_NOT", unary("LOGICAL_NOT", "LogicalNotOptions"), [np.bool_]))
    for op in ("REDUCE_ANY", "REDUCE_ALL"):
        table.append((op, reduction(op), [np.bool_]))
    return table


def cases():
    return of_one_operand() + of_two_operands() + of_rows() + of_places() + of_images() + of_types()


def oracle(content, values):
    return answers(Interpreter(model_content=content, experimental_op_resolver_type=OpResolverType.BUILTIN_REF), values)


def titles():
    """Each case: its title, what builds it, its type, and whether its scales differ."""
    for name, build, kinds in cases():
        for kind in kinds:
            for other in (False, True):
                yield f"{name} {np.dtype(kind)}{' other scale' if other else ''}", build, kind, other


def save(case, folder):
    """Write network, inputs and LiteRT's answers; return the number of outputs."""
    content = case.net.finish(case.inputs, case.outputs)
    answers = oracle(content, case.values)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(content)
    for k, x in enumerate(case.values):
        x.tofile(folder / f"in_{k}.bin")
    for k, y in enumerate(answers):
        y.tofile(folder / f"out_{k}.bin")
    return len(answers)


def run(heddle, build, kind, other, seed, folder):
    """(verdict, words) of one case."""
    c = Case(np.random.default_rng(seed))
    build(c, kind, other)
    try:
        n = save(c, folder)
    except (RuntimeError, ValueError) as e:
        return "oracle refuses", str(e).strip().splitlines()[-1]
    command = [heddle, "run", str(folder / "model.tflite"), "--engine=func"]
    for k in range(len(c.values)):
        command += ["-i", str(folder / f"in_{k}.bin")]
    for k in range(n):
        command += ["--expect", str(folder / f"out_{k}.bin")]
    for more in [], ["--target=c"]:
        done = subprocess.run(command + more, capture_output=True, text=True)
        if done.returncode:
            return "refused" if done.returncode == 3 else "differs", done.stderr.strip().splitlines()[-1]
    return "equal", ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle")
    ap.add_argument("--write", type=pathlib.Path)
    ap.add_argument("--only")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--verbose", action="store_true")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    counts = {}
    if args.write:
        c = Case(np.random.default_rng(args.seed))
        for title, build, kind, other in titles():
            if any(title.startswith(name) for name in args.names):
                build(c, kind, other)
        return save(c, args.write) == 0
    with tempfile.TemporaryDirectory() as scratch:
        for title, build, kind, other in titles():
            if args.only and args.only not in title:
                continue
            verdict, words = run(args.heddle, build, kind, other, args.seed, pathlib.Path(scratch))
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict == "differs" or (args.verbose and verdict != "equal"):
                print(f"{title}: {verdict}: {words}", flush=True)
    print(", ".join(f"{v} {k}" for k, v in sorted(counts.items())))
    return counts.get("differs", 0) != 0


if __name__ == "__main__":
    sys.exit(main())
