"""Layer normalisations of quantised values against ONNX Runtime without optimisations, at most one step off.

    layer_norm_onnx.py --heddle build/heddle [--seed S] [--count K] [--engine func]
    layer_norm_onnx.py --write DIR

LayerNormalization and what exporters write in its place, int8 and uint8, rows of 1 to 65535 values; narrow and wide
rows, outliers on one side, every code, rows of other magnitudes; with and without beta; over the last dimension or, written
out, the channels of an image. Those that docs/ONNX.md takes as LAYER_NORM must be on the accelerator, the others in
float32. --write makes the folder of tests/compiler/import/onnx. Exit status 1 if one is more than a step off, 77 without onnxruntime. Environment:
requirements-new.txt.
"""

import argparse
import json
import pathlib
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    from onnx_net import Nodes, in_float, run_onnx, steps_off
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

FORMS = ["LayerNormalization", "Pow", "Mul"]


class Net(Nodes):
    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def quant(self, op, x, scale, zero):
        return self.node(op, x, self.const(np.float32(scale)), self.const(self.dtype(zero)))

    def layer_norm(self, form, x, gamma, beta, epsilon, axis=-1):
        """Return the float32 result of normalising float32 `x`; beta may be None. gamma and beta broadcast along the axis."""
        if form == "LayerNormalization":
            parameters = [self.const(v) for v in (gamma, beta) if v is not None]
            return self.node(form, x, *parameters, axis=-1, epsilon=float(epsilon))
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[axis], keepdims=1))
        squares = self.node("Mul", centred, centred) if form == "Mul" else self.node("Pow", centred, self.const(np.float32(2)))
        variance = self.node("ReduceMean", squares, axes=[axis], keepdims=1)
        root = self.node("Sqrt", self.node("Add", variance, self.const(np.float32(epsilon))))
        y = self.node("Mul", self.node("Div", centred, root), self.const(gamma))
        return y if beta is None else self.node("Add", y, self.const(beta))

    def model(self, shape, outputs):
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        values = [[helper.make_tensor_value_info(n, kind, shape) for n in names] for names in (["x"], outputs)]
        graph = helper.make_graph(self.nodes, "layer_norm", *values, self.inits)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def draw_codes(rng, rows, channels):
    """int8 values of one of four kinds."""
    kind, deviation = int(rng.integers(4)), 2.0 ** rng.uniform(0, 5.5)
    q = rng.normal(rng.uniform(-60, 60), deviation, (rows, channels))
    if kind == 1:
        q[:, :2] += rng.choice([-1, 1]) * 100
    elif kind == 2:
        q = rng.integers(-128, 128, (rows, channels))
    elif kind == 3:
        q = rng.normal(0, 1, (rows, channels)) * 2.0 ** rng.uniform(0, 5, (rows, 1))
    return np.clip(np.round(q), -128, 127)


def is_rule(epsilon, gamma):
    """docs/ONNX.md, rule 9: epsilon in squares of x's step, the greatest gamma in steps of the result."""
    return gamma / np.sqrt(0.25 + epsilon) < 127


def draw(seed):
    """(model, quantised values, whether LAYER_NORM must take it)"""
    rng = np.random.default_rng(seed)
    channels, rows = int(rng.choice([1, 2, 3, 7, 16, 48, 63, 64, 65, 96, 127, 192, 384, 768, 1016, 1017, 1024, 4099])), int(rng.integers(1, 20))
    rows = min(rows, 1 + 20000 // channels)
    dtype = [np.int8, np.uint8][int(rng.integers(2))]
    lowest = np.iinfo(dtype).min
    n = Net(dtype)
    form, scale, zero = str(rng.choice(FORMS)), 2.0 ** rng.uniform(-7, 0), int(rng.integers(0, 256)) + lowest
    gamma, epsilon = rng.normal(1, 0.4, channels).astype(np.float32), 10.0 ** rng.choice([-12, -6, -5, -3, -1, 1])
    beta = rng.normal(size=channels).astype(np.float32) if rng.integers(4) else None
    q = draw_codes(rng, rows, channels)
    deviation = q.std(-1)
    q[(deviation > 0) & (deviation < 0.5)] = 0  # below the table's end (NUMERICS.md)
    centred = q - q.mean(-1, keepdims=True)
    y = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + epsilon / scale**2) * gamma
    y_scale = max(float(np.abs(y + (0 if beta is None else beta)).max() / 127), 1e-3)
    x, codes, axis = n.quant("DequantizeLinear", "x", scale, zero), (q + 128 + lowest).astype(dtype)[None], -1
    if form != "LayerNormalization" and seed % 3 == 0:
        axis, codes = 1, np.ascontiguousarray(codes.transpose(0, 2, 1))[..., None]
        gamma, beta = (v if v is None else v.reshape(channels, 1, 1) for v in (gamma, beta))
    out = n.quant("QuantizeLinear", n.layer_norm(form, x, gamma, beta, epsilon, axis), y_scale, lowest + 128)
    model = n.model(codes.shape, [out])
    return model, codes, is_rule(epsilon / scale**2, np.abs(gamma).max() / y_scale)


def trial(args):
    count, bad, kept = [0] * 5, 0, 0
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        for seed in range(args.seed, args.seed + args.count):
            model, codes, must = draw(seed)
            want = run_onnx(model, {"x": codes})[0]
            (folder / "model.onnx").write_bytes(model.SerializeToString())
            (folder / "in.bin").write_bytes(codes.tobytes())
            (folder / "out.bin").write_bytes(want.tobytes())
            (off, _), taken = steps_off(args.heddle, folder, args.engine, ["in.bin"]), not in_float(args.heddle, folder)
            count[off] += 1
            kept += not taken
            if off > 1 or must != taken:
                bad += 1
                print(f"seed {seed}: {off} steps off, {'LAYER_NORM' if taken else 'float32'}")
    print(f"{args.count} networks: {count[0]} equal, {count[1]} one step off, {sum(count[2:])} more; {kept} in float32")
    return 1 if bad else 0


def write(folder):
    """Three layer normalisations in a row: the node, written out, and one of too fine a scale."""
    rng = np.random.default_rng(3)
    n, shape, names = Net(np.int8), [1, 9, 70], []
    x, scale, zero = "x", 0.04, 3
    for form, y_scale, zero_out in (("LayerNormalization", 0.05, -5), ("Pow", 0.05, 7), ("Mul", 0.004, 0)):
        real = n.quant("DequantizeLinear", x, scale, zero)
        gamma, beta = (rng.normal(m, 0.3, 70).astype(np.float32) for m in (1, 0))
        gamma[:2] = -gamma[0], 0
        x = n.quant("QuantizeLinear", n.layer_norm(form, real, gamma, beta, 1e-5), y_scale, zero_out)
        scale, zero = y_scale, zero_out
        names.append(x)
    model = n.model(shape, [x])
    codes = np.clip(np.round(rng.normal(-20, 25, shape)), -128, 127).astype(np.int8)
    values = run_onnx(n.model(shape, names), {"x": codes})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "in_0_0.bin").write_bytes(codes.tobytes())
    (folder / "out_0_0.bin").write_bytes(values[-1].tobytes())
    tensors = []
    for name, v in zip(names, values):
        (folder / f"{name}.bin").write_bytes(v.tobytes())
        tensors.append({"tensor": name, "file": f"{name}.bin", "shape": shape, "dtype": "int8"})
    (folder / "meta.json").write_text(json.dumps({"layers": {"sample": 0, "tensors": tensors}}, indent=1) + "\n")


def write_channels(folder):
    """One over the channels of an image, with its input and its result."""
    rng = np.random.default_rng(5)
    n, shape = Net(np.int8), [1, 24, 4, 6]
    gamma, beta = (rng.normal(m, 0.3, (24, 1, 1)).astype(np.float32) for m in (1, 0))
    x = n.layer_norm("Pow", n.quant("DequantizeLinear", "x", 0.04, 3), gamma, beta, 1e-5, axis=1)
    model = n.model(shape, [n.quant("QuantizeLinear", x, 0.05, -5)])
    codes = np.clip(np.round(rng.normal(-20, 25, shape)), -128, 127).astype(np.int8)
    (folder / "channels.onnx").write_bytes(model.SerializeToString())
    (folder / "channels_in.bin").write_bytes(codes.tobytes())
    (folder / "channels_out.bin").write_bytes(run_onnx(model, {"x": codes})[0].tobytes())


def write_limits(path):
    """One layer normalisation past each limit: the types, gamma, epsilon; and rows that are too long."""
    n, values = Net(np.int8), [[], []]
    for i, (width, y_type, epsilon, gamma) in enumerate(((64, np.uint8, 1e-5, 1),
                                                         (64, np.int8, 1e-5, np.inf), (64, np.int8, -1, 1))):
        real = n.quant("DequantizeLinear", f"x{i}", 0.05, 0)
        real = n.layer_norm("LayerNormalization", real, np.full(width, gamma, np.float32), None, epsilon)
        n.dtype = y_type
        y = n.quant("QuantizeLinear", real, 0.05, 0)
        for value, name, dtype in zip(values, (f"x{i}", y), (np.int8, y_type)):
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            value.append(helper.make_tensor_value_info(name, kind, [1, 2, width]))
        n.dtype = np.int8
    for name, shape in (("row", [2, 65536]), ("group", [1, 1, 2000001]), ("groups", [1, 2, 1000001])):
        y = n.quant("DequantizeLinear", name, 0.05, 0)
        if name == "row":
            y = n.node("Div", y, n.node("ReduceL2", y, axes=[-1]))
        else:
            y = n.node("InstanceNormalization", y, *(n.const(np.full(shape[1], v, np.float32)) for v in (1, 0)))
        y = n.quant("QuantizeLinear", y, 0.05, 0)
        for value, tensor in zip(values, (name, y)):
            value.append(helper.make_tensor_value_info(tensor, TensorProto.INT8, shape))
    graph = helper.make_graph(n.nodes, "limits", *values, n.inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default="build/heddle")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--engine", default="func")
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    if args.write:
        write(args.write)
        write_channels(args.write)
        write_limits(args.write / "limits.onnx")
        return 0
    return trial(args)


sys.exit(main())
