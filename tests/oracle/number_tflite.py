"""Operators on plain numbers and bools: a TFLite network for each type, against tflite-runtime's reference kernels.

    number_tflite.py --heddle build/heddle [--case TYPE] [--keep DIR]

Every operator of a type reads the same two inputs (the second one is broadcast) and is an output of the network.
Case cast has CAST between all types (quantised values are plain numbers there), case shape a RESHAPE whose shape the
network computes from SHAPE.
Ties, extremes and, of float32, NaN and infinities occur. `ref`, `func` and emitted C give the oracle's bytes. --keep
writes DIR/numbers_<type> as the folders of tests/reference/models. Exit status 1 if one differs, 77 without the
runtime. Environment: requirements-classic.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import tflite
    from tflite_runtime.interpreter import Interpreter, OpResolverType

    from tflite_writer import Net, answers
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

A, B = (2, 3, 4, 5), (3, 1, 5)
COMPARE = ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]
TYPES = {"bool": np.bool_, "int32": np.int32, "int64": np.int64, "float32": np.float32, "int16": np.int16}
LOGIC = ["LOGICAL_AND", "LOGICAL_OR"]
ARITHMETIC = {"int32": ["ADD", "SUB", "MUL", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"],
              "int64": ["ADD", "SUB", "MUL", "FLOOR_MOD", "MAXIMUM", "MINIMUM"],
              "float32": ["FLOOR_DIV", "FLOOR_MOD"]}
SHARED = {"MAXIMUM": "MaximumMinimumOptions", "MINIMUM": "MaximumMinimumOptions"}  # tables of two operators


def options_of(op):
    return "".join(w.capitalize() for w in op.split("_")) + "Options"


def relations(kind):
    """The oracle lacks half of those of int16."""
    return ["EQUAL", "NOT_EQUAL"] if kind == "bool" else ["EQUAL", "LESS", "GREATER_EQUAL"] if kind == "int16" else COMPARE


def network(kind):
    net, dtype = Net(f"numbers {kind}"), TYPES[kind]
    quant = (0.01, 0) if kind == "int16" else (None, 0)
    inputs = [net.tensor("a", A, dtype, *quant), net.tensor("b", B, dtype, *quant)]
    outputs = []

    def emit(op, operands, shape, out, *quant, options=None, **fields):
        y = net.tensor(f"y{len(net.ops)}", shape, out, *quant)
        net.op(op, operands, [y], 1, options or SHARED.get(op) or options_of(op), **fields)
        outputs.append(y)
        return y

    flags = [emit(op, inputs, A, np.bool_) for op in relations(kind)]
    if kind == "bool":
        flags += [emit(op, inputs, A, np.bool_) for op in LOGIC]
        emit("REDUCE_ANY", [inputs[0], net.tensor("axes", (2,), np.int32, data=[1, -1])], (2, 4), np.bool_,
             options="ReducerOptions")
        emit("REDUCE_ALL", [inputs[1], net.tensor("axis1", (1,), np.int32, data=[0])], (1, 1, 5), np.bool_,
             options="ReducerOptions", KeepDims=True)
        emit("LOGICAL_NOT", inputs[1:], B, np.bool_)
    emit("SELECT_V2", [flags[1], *inputs], A, dtype, *quant)
    emit("SELECT", [flags[0], inputs[0], inputs[0]], A, dtype, *quant)
    rows = net.tensor("rows", (2,), np.bool_, data=[True, False])
    other = net.tensor("other", A, dtype, *quant, data=draw(np.random.default_rng(1), dtype, A))
    emit("SELECT", [rows, inputs[0], other], A, dtype, *quant)
    divisors = [inputs[0], net.tensor("divisors", (5,), dtype, data=[-3, -2, -1, 2, 7])] if kind in ARITHMETIC else []
    for op in ARITHMETIC.get(kind, []):
        emit(op, divisors if op[-3:] in ("DIV", "MOD") else inputs, A, dtype)
    if kind == "int32":
        emit("ADD", inputs, A, dtype, FusedActivationFunction=tflite.ActivationFunctionType.RELU6)
        emit("ADD_N", [inputs[0], inputs[0], other], A, dtype)
    picks(net, emit, kind, inputs, dtype, quant)
    return net.finish(inputs, outputs)


def picks(net, emit, kind, inputs, dtype, quant):
    """Elements by computed places: GATHER with and without batches, GATHER_ND, ONE_HOT, TOPK_V2's places."""
    places = net.tensor("places", (2, 3), np.int32)
    net.op("ARG_MAX", [net.tensor("scores", (2, 3, 4), np.float32, data=np.random.default_rng(2).random((2, 3, 4))),
                       net.tensor("axis", (), np.int32, data=-1)], [places], 1, "ArgMaxOptions",
           OutputType=tflite.TensorType.INT32)
    emit("GATHER", [inputs[0], places], (2, 3, 2, 3, 5), dtype, *quant, Axis=2)
    emit("GATHER", [inputs[0], places], A[:2] + (3, 5), dtype, *quant, Axis=2, BatchDims=1)
    if kind == "bool":
        return
    emit("GATHER_ND", [inputs[0], net.tensor("where", (3, 2), np.int32, data=[[1, 2], [0, 0], [1, 1]])], (3, 4, 5), dtype,
         *quant)
    one = [net.tensor(f"number{v}", (), dtype, *quant, data=v) for v in (3, -1)]
    if kind != "int16":
        emit("ONE_HOT", [places, net.tensor("depth", (), np.int32, data=4), *one], (2, 4, 3), dtype, Axis=1)
        emit("FILL", [net.tensor("shape", (2,), np.int32, data=[2, 3]), one[0]], (2, 3), dtype)


CAST_TYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, np.bool_]


def cast_network(rng):
    """Every type to every type; the first three once with a scale and once without. Beyond int32 float32 has no defined
    integer in the oracle's language."""
    net, inputs, outputs, values = Net("numbers cast"), [], [], []
    for source in CAST_TYPES:
        narrow = source in (np.int8, np.uint8, np.int16)
        for quant in [(None, 0), (0.1, 0)] if narrow else [(None, 0)]:
            x = net.tensor(f"x{len(inputs)}", (256,), source, *quant)
            inputs.append(x)
            v = rng.normal(0, 300, 256) if source == np.float32 else rng.integers(-2**40, 2**40, 256)
            values.append(rng.random(256) < 0.5 if source == np.bool_ else v.astype(source))
            for to in CAST_TYPES:
                if to == source:
                    continue
                y = net.tensor(f"y{len(outputs)}", (256,), to, *(quant if to in (np.int8, np.uint8, np.int16) else (None, 0)))
                net.op("CAST", [x], [y], 1, "CastOptions")
                outputs.append(y)
    return net.finish(inputs, outputs), values


def shape_network(rng):
    """x [2,3,4,5] to [6, 4, 5] and to [3, 2 * 4 * 5]: SHAPE of int64, RANK, CAST, SLICE, CONCATENATION, PACK, MUL."""
    net = Net("numbers shape")
    x = net.tensor("x", (2, 3, 4, 5), np.int8, 0.1, 3)
    numbers = iter(range(99))

    def const(v):
        return net.tensor(f"c{next(numbers)}", np.shape(v), np.int32, data=v)

    def emit(op, operands, shape, kind=np.int32, options=None, **fields):
        y = net.tensor(f"t{next(numbers)}", shape, kind, *((0.1, 3) if kind == np.int8 else (None, 0)))
        net.op(op, operands, [y], 1, options, **fields)
        return y

    wide = emit("SHAPE", [x], (4,), np.int64, "ShapeOptions", OutType=tflite.TensorType.INT64)
    shape = emit("CAST", [wide], (4,), options="CastOptions")
    last = emit("SLICE", [shape, const([2]), const([2])], (2,), options="SliceOptions")
    first = emit("CONCATENATION", [const([6]), last], (3,), options="ConcatenationOptions", Axis=0)
    y = [emit("RESHAPE", [x, first], (6, 4, 5), np.int8)]
    axis = [emit("STRIDED_SLICE", [shape, const([i]), const([i + 1]), const([1])], (), options="StridedSliceOptions",
                 ShrinkAxisMask=1) for i in range(4)]
    rest = emit("MUL", [axis[0], axis[2]], (), options="MulOptions")
    rest = emit("MUL", [rest, axis[3]], (), options="MulOptions")
    three = emit("SUB", [emit("RANK", [x], (), options="RankOptions"), const(1)], (), options="SubOptions")
    pair = emit("PACK", [three, rest], (2,), options="PackOptions", ValuesCount=2, Axis=0)
    y.append(emit("RESHAPE", [x, pair], (3, 40), np.int8))
    return net.finish([x], y), [rng.integers(-128, 128, (2, 3, 4, 5)).astype(np.int8)]


def draw(rng, dtype, shape):
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    x = rng.integers(-3, 4, shape).astype(dtype)
    if dtype == np.float32:
        odd = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
    else:
        odd = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    return np.where(rng.random(shape) < 0.15, rng.choice(odd, shape), x).astype(dtype)


OTHERS = {"cast": cast_network, "shape": shape_network}


def oracle(content, inputs):
    return answers(Interpreter(model_content=content, experimental_op_resolver_type=OpResolverType.BUILTIN_REF), inputs)


def run(heddle, kind, folder):
    """Write the case's folder, run it; what heddle reports of it, empty if all is equal."""
    rng = np.random.default_rng(7)
    if kind in OTHERS:
        content, inputs = OTHERS[kind](rng)
    else:
        content, inputs = network(kind), [draw(rng, TYPES[kind], s) for s in (A, B)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(content)
    command = [heddle, "run", str(folder / "model.tflite")]
    for k, x in enumerate(inputs):
        x.tofile(folder / f"in_{k}.bin")
        command += ["-i", str(folder / f"in_{k}.bin")]
    for k, y in enumerate(oracle(content, inputs)):
        y.tofile(folder / f"out_{k}.bin")
        command += ["--expect", str(folder / f"out_{k}.bin")]
    for engine in ["--engine=ref"], ["--engine=func"], ["--engine=func", "--target=c"]:
        done = subprocess.run(command + engine, capture_output=True, text=True)
        if done.returncode:
            return f"{engine}: {done.stderr.strip()}"
    return ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", required=True)
    ap.add_argument("--case", choices=sorted([*TYPES, *OTHERS]))
    ap.add_argument("--keep", type=pathlib.Path)
    args = ap.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for kind in [args.case] if args.case else [*TYPES, *OTHERS]:
            said = run(args.heddle, kind, (args.keep or pathlib.Path(scratch)) / f"numbers_{kind}")
            print(f"{kind}: {said or 'equal'}")
            failed += said != ""
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
