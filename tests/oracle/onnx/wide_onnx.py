"""Random networks with quantised values of 16 bits, some next to 8 bits, against ONNX Runtime without optimisations.

    wide_onnx.py --heddle build/heddle [--seed S] [--count K] [--engine func]

Operators between QuantizeLinear and DequantizeLinear: int16 of zero point 0, uint16, other zero points, now and then a value
that is not quantised; weights of int8 for each channel, or uint8. Each layer must be the CPU reference's. The result is within a
hundredth of its range of ONNX Runtime's, a tenth with 8 bits on the way. Exit status 1 otherwise, 77 without onnxruntime. Environment:
requirements-new.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import helper
    from onnx_net import Nodes, run_onnx
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

MOVES = ("Reshape", "Transpose", "MaxPool")
IMAGES = ("Conv", "Depthwise", "ConvTranspose", "AveragePool", "GlobalAveragePool", "MaxPool", "Reshape")
ROWS = ("MatMul", "Product", "LayerNormalization")
ANY = ("Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "Softmax", "HardSwish", "Add", "Sub", "Mul", "Max", "Number", "Constant",
       "Concat", "Transpose", "ReduceMean", "ReduceSum", "Erf")


class Net(Nodes):
    """A network; its values are pairs of a name and what ONNX Runtime's float operators make of the inputs."""

    def __init__(self, rng):
        super().__init__()
        self.rng = rng
        self.style = str(rng.choice(["int16", "uint16", "mixed"]))
        self.loose = float(rng.choice([0, 0, 0.3]))
        self.scales = {}

    def quantised(self, name, value, like=None):
        """The value dequantised from a type of the style, in the scale of `like` if it is given."""
        rng, kind = self.rng, self.style
        if kind == "mixed":
            kind = str(rng.choice(["int16", "uint16", "int8", "uint8"]))
        low, high = min(0.0, float(value.min())), max(1e-3, float(value.max()))
        info = np.iinfo(kind)
        symmetric = kind == "int16" and rng.integers(8) != 0
        scale = np.float32(max(-low, high) / info.max if symmetric else (high - low) / (info.max - info.min))
        zero = 0 if symmetric else int(np.clip(round(info.min - low / float(scale)), info.min, info.max))
        parts = self.scales[like] if like in self.scales else [self.const(scale), self.const(info.dtype.type(zero))]
        y = self.node("DequantizeLinear", self.node("QuantizeLinear", name, *parts), *parts)
        self.scales[y] = parts
        return y

    def weights(self, shape, axis):
        """Dequantised weights whose products keep their input's magnitude."""
        w = self.rng.normal(0, (shape[axis] / np.prod(shape)) ** 0.5, shape)
        if self.rng.integers(3) == 0:
            low, high = min(0, w.min()), max(0, w.max())
            scale, zero = np.float32((high - low) / 255), np.uint8(round(-low / (high - low) * 255))
            codes = np.clip(np.round(w / scale) + int(zero), 0, 255).astype(np.uint8)
            return self.node("DequantizeLinear", self.const(codes), self.const(scale), self.const(zero))
        wide = tuple(i for i in range(len(shape)) if i != axis)
        scale = (np.abs(w).max(wide) / 127).astype(np.float32)
        codes = np.round(w / np.expand_dims(scale, wide)).astype(np.int8)
        return self.node("DequantizeLinear", self.const(codes), self.const(scale), self.const(np.zeros(scale.shape, np.int8)), axis=axis)

    def image_operator(self, kind, x, shape):
        rng, channels = self.rng, shape[1]
        results = int(rng.integers(1, 9))
        if kind == "Depthwise":
            return self.node("Conv", x, self.weights([channels, 1, 3, 3], 0), group=channels, pads=[1, 1, 1, 1])
        if kind == "Conv":
            bias = [self.const(rng.normal(0, 0.5, results).astype(np.float32))] if rng.integers(2) else []
            return self.node(kind, x, self.weights([results, channels, 3, 3], 0), *bias, pads=[1, 1, 1, 1], strides=[int(rng.integers(1, 3))] * 2)
        if kind == "ConvTranspose":
            return self.node(kind, x, self.weights([channels, results, 2, 2], 1), strides=[2, 2])
        if kind == "AveragePool":
            return self.node(kind, x, kernel_shape=[3, 3], pads=[int(rng.integers(2))] * 4, count_include_pad=int(rng.integers(2)))
        if kind == "MaxPool":
            return self.node(kind, x, kernel_shape=[2, 2])
        return self.node(kind, x, *([self.const(np.array([0, 0, -1], np.int64))] if kind == "Reshape" else []))

    def row_operator(self, kind, x, shape):
        rng, last = self.rng, shape[-1]
        if kind == "MatMul":
            y = self.node(kind, x, self.weights([last, int(rng.integers(1, 9))], 1))
            return self.node("Add", y, self.const(np.float32(rng.normal()))) if rng.integers(3) == 0 else y
        if kind == "Product":
            return self.node("MatMul", x, self.node("Transpose", x, perm=[0, 2, 1]))
        return self.node(kind, x, self.const(rng.uniform(0.5, 1.5, last).astype(np.float32)), axis=-1)

    def operator(self, kind, x, shape, other):
        rng, rank = self.rng, len(shape)
        if kind in IMAGES:
            return self.image_operator(kind, x, shape)
        if kind in ROWS:
            return self.row_operator(kind, x, shape)
        if kind in ("Add", "Sub", "Mul", "Max"):
            return self.node(kind, x, other)
        if kind == "Clip":
            return self.node(kind, x, self.const(np.float32(-rng.uniform(0, 1))), self.const(np.float32(rng.uniform(0, 1))))
        if kind == "Number":
            return self.node(str(rng.choice(["Add", "Mul", "Div"])), x, self.const(np.float32(rng.choice([-1, 1]) * rng.uniform(0.3, 3))))
        if kind == "Constant":
            value = rng.normal(0, 1, [1, shape[1]] + [1] * (rank - 2)).astype(np.float32)
            scale = np.float32(np.abs(value).max() / 32767)
            codes = self.const(np.round(value / scale).astype(np.int16))
            return self.node(str(rng.choice(["Add", "Mul"])), x, self.node("DequantizeLinear", codes, self.const(scale), self.const(np.int16(0))))
        if kind == "Concat":
            return self.node(kind, x, other, axis=1)
        if kind == "Transpose":
            return self.node(kind, x, perm=[0, *(int(i) for i in 1 + rng.permutation(rank - 1))])
        if kind.startswith("Reduce"):
            return self.node(kind, x, self.const(np.array([rank - 1], np.int64)), keepdims=1)
        return self.node(kind, x, **({"axis": int(rng.integers(1, rank))} if kind == "Softmax" else {}))


def network(rng):
    """A model, its input, and the scales of the style."""
    n = Net(rng)
    shape = [1, int(rng.integers(1, 7)), *(int(v) for v in rng.integers(4, 9, 2))] if rng.integers(3) else [1, int(rng.integers(2, 9)), int(rng.integers(4, 13))]
    feed = rng.normal(rng.choice([0, 0.5]), 2.0 ** rng.integers(-2, 3), shape).astype(np.float32)
    inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)]

    def model(y):
        graph = helper.make_graph(n.nodes, "wide", inputs, [helper.make_tensor_value_info(y, onnx.TensorProto.FLOAT, None)], n.inits)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    made = [(n.quantised("x", feed), feed)]
    for left in reversed(range(int(rng.integers(1, 7)))):
        x, value = made[int(rng.integers(len(made)))]
        others = [name for name, v in made if v.shape == value.shape]
        kind = str(rng.choice([*ANY, *(IMAGES * 3 if value.ndim == 4 else ROWS * 6)]))
        if value.ndim == 4 and min(value.shape[2:]) < 3 and kind in IMAGES:
            kind = "Relu"
        real = n.operator(kind, x, value.shape, others[int(rng.integers(len(others)))])
        answer = run_onnx(model(real), {"x": feed})[0]
        if left and rng.random() < n.loose:
            made.append((real, answer))
        else:
            made.append((n.quantised(real, answer, x if kind in MOVES and rng.integers(4) else None), answer))
    return model(made[-1][0]), feed, 0.1 if n.style == "mixed" else 0.01


def wrong(heddle, engine, folder, seed):
    """Words for a network that is not computed as it should be."""
    model, feed, allowed = network(np.random.default_rng(seed))
    want = run_onnx(model, {"x": feed})[0].astype(float)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "in.bin").write_bytes(feed.tobytes())
    command = [heddle, "run", folder / "model.onnx", "-i", folder / "in.bin", "-o", folder / "out", f"--engine={engine}", "--no-search"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or (engine != "ref" and "verdict: match" not in done.stdout):
        return (done.stderr or done.stdout).strip()[:300]
    found = np.fromfile(folder / "out" / "out_0.bin", np.float32).reshape(want.shape)
    off = np.abs(found - want).max() / max(np.abs(want).max(), 1e-3)
    return f"{off:.3g} of its range off" if off > allowed else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default="build/heddle")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--engine", default="func")
    parser.add_argument("--keep", type=pathlib.Path, help="write the networks here")
    args = parser.parse_args()
    bad = 0
    for seed in range(args.seed, args.seed + args.count):
        with tempfile.TemporaryDirectory() as work:
            folder = args.keep / f"wide_{seed}" if args.keep else pathlib.Path(work)
            folder.mkdir(parents=True, exist_ok=True)
            words = wrong(args.heddle, args.engine, folder, seed)
        if words:
            print(f"seed {seed}: {words}")
            bad += 1
    print(f"{args.count} networks of 16 bits: {args.count - bad} right")
    return 1 if bad else 0


sys.exit(main())
