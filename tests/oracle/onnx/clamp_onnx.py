"""Random chains of clamps against ONNX Runtime without optimisations.

    clamp_onnx.py --heddle build/heddle [--seed S] [--count CHAINS] [--keep DIR]
    clamp_onnx.py --write tests/compiler/import/onnx/clamps

A chain is one to six of Clip, Relu, Min, Max and Clip(0, 6) after a graph input (float32 or quantised), an Add or a Conv, and ends
in float32 or in a QuantizeLinear. Clips have any bounds: minimum above maximum, one of them absent, half-way between two
quantised values. Scales are powers of two in half of the chains, so that ties are exact. Every network holds 25 chains. Answers
with --target=c --onnx-rounding=onnx must be ONNX Runtime's, byte for byte; in the accelerator's rounding they must be
heddle's reference's. Exit status 1 if one differs, 77 without onnxruntime. Environment: requirements-new.txt.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

ort.set_default_logger_severity(4)
CHAINS = 25
SHAPE = (1, 4, 3, 5)


class Net:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.opset = int(self.rng.choice([12, 13, 17, 21]))
        self.nodes, self.inits, self.outputs = [], [], []
        self.real = self.rng.normal(0, 4, SHAPE).astype(np.float32)
        self.real.flat[:6] = [0, -0.0, 0.5, -0.5, 6, -1]
        self.codes = self.rng.integers(-128, 128, SHAPE).astype(np.int8)
        self.params = [self.const(self.scale(seed % 2 == 0)), self.const(np.int8(self.rng.integers(-128, 128)))]
        for _ in range(CHAINS):
            self.chain()

    def const(self, v):
        self.inits.append(numpy_helper.from_array(np.asarray(v), f"c{len(self.inits)}"))
        return self.inits[-1].name

    def node(self, op, inputs, **attrs):
        out = f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], **attrs))
        return out

    def scale(self, exact):
        s = 2.0 ** self.rng.uniform(-6, -1)
        return np.float32(2.0 ** round(np.log2(s)) if exact else s)

    def bound(self, scale):
        """Return a number half-way between two quantised values, on one, or anywhere."""
        k = self.rng.integers(-130, 130)
        return np.float32([(k + 0.5) * scale, k * scale, self.rng.uniform(-8, 8)][int(self.rng.integers(3))])

    def step(self, x, scale):
        kind = int(self.rng.integers(6))
        if kind == 0:
            return self.node("Relu", [x])
        if kind == 1:
            return self.node("Clip", [x, self.const(np.float32(0)), self.const(np.float32(6))])
        if kind == 2:
            bound, op = self.const(self.bound(scale)), ["Min", "Max"][int(self.rng.integers(2))]
            return self.node(op, [x, bound] if self.rng.random() < 0.5 else [bound, x])
        ends = [self.const(self.bound(scale)) if self.rng.random() < 0.8 else "" for _ in range(2)]
        return self.node("Clip", [x, *ends])

    def source(self):
        kind = int(self.rng.integers(4))
        if kind == 0:
            return "real"
        if kind == 1:  # float32 sums in any order: small integers
            w = self.rng.integers(-3, 4, (2, SHAPE[1], 1, 1)).astype(np.float32)
            x = self.node("Floor", ["real"])
            return self.node("Conv", [x, self.const(w)])
        x = self.node("DequantizeLinear", ["codes", *self.params])
        return self.node("Add", [x, x]) if kind == 3 else x

    def chain(self):
        scale = self.scale(self.rng.random() < 0.5)
        x = self.source()
        for _ in range(int(self.rng.integers(1, 7))):
            x = self.step(x, scale)
            if self.rng.random() < 0.1:
                self.outputs.append(x)
        if self.rng.random() < 0.7:
            zero = self.const([np.int8, np.uint8][int(self.rng.integers(2))](self.rng.integers(0, 128)))
            x = self.node("QuantizeLinear", [x, self.const(scale), zero])
        self.outputs.append(x)

    def model(self):
        ins = [helper.make_tensor_value_info(n, t, SHAPE) for n, t in (("real", TensorProto.FLOAT), ("codes", TensorProto.INT8))]
        outs = [onnx.ValueInfoProto(name=n) for n in dict.fromkeys(self.outputs) if n != "real"]
        graph = helper.make_graph(self.nodes, "clamps", ins, outs, self.inits)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        return model


# Chains of bounds after one convolution, in scale 1/8: later clamps that win, inverted bounds, ties.
FIXED = [[(1, 3), (-1, 0.5)], [(-1, 0.5), (1, 3)], [(2, -1)], [(0, 6), (2, -1), (0, None)], [(-0.8125, 0.8125)], [(-0.6875, 0.6875)], [(0, None), (None, -1)]]


def write(folder):
    """The network FIXED as a folder for tests: model, sample 0, the quantised values of each chain."""
    rng = np.random.default_rng(1)
    shape, scale, zero = (1, 3, 4, 4), numpy_helper.from_array(np.float32(0.125), "s"), numpy_helper.from_array(np.int8(-3), "z")
    x = rng.integers(-60, 60, shape).astype(np.int8)
    inits = [scale, zero, numpy_helper.from_array(rng.integers(-8, 9, (2, 3, 1, 1)).astype(np.int8), "w"), numpy_helper.from_array(np.int8(0), "o")]
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["xr"]), helper.make_node("DequantizeLinear", ["w", "s", "o"], ["wr"]),
             helper.make_node("Conv", ["xr", "wr"], ["c"])]
    for i, bounds in enumerate(FIXED):
        last = "c"
        for j, ends in enumerate(bounds):
            names = [f"b{i}_{j}_{k}" if v is not None else "" for k, v in enumerate(ends)]
            inits += [numpy_helper.from_array(np.float32(v), n) for v, n in zip(ends, names) if n]
            nodes.append(helper.make_node("Clip", [last, *names], [f"k{i}_{j}"]))
            last = f"k{i}_{j}"
        nodes.append(helper.make_node("QuantizeLinear", [last, "s", "z"], [f"q{i}"]))
    parts = [f"q{i}" for i in range(len(FIXED))]
    nodes.append(helper.make_node("Concat", parts, ["y"], axis=1))
    graph = helper.make_graph(nodes, "clamps", [helper.make_tensor_value_info("x", TensorProto.INT8, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.INT8, (1, 2 * len(FIXED), 4, 4))], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    want = answers(model, {"x": x})[0]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "in_0_0.bin").write_bytes(x.tobytes())
    (folder / "out_0_0.bin").write_bytes(want.tobytes())
    tensors = [{"tensor": "y", "file": "out_0_0.bin", "shape": list(want.shape), "dtype": "int8"}]
    (folder / "meta.json").write_text(json.dumps({"layers": {"sample": 0, "tensors": tensors}}, indent=1) + "\n")


def answers(model, feed):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feed)


def differs(heddle, net, folder):
    """Return the mistake in network `net`, or nothing."""
    model = net.model()
    onnx.save(model, folder / "model.onnx")
    feed = {"real": net.real, "codes": net.codes}
    call = [heddle, "run", folder / "model.onnx"]
    for name, value in feed.items():
        value.tofile(folder / f"{name}.bin")
        call += ["-i", folder / f"{name}.bin"]
    done = subprocess.run([*call, "--engine=func", "--target=c", "--onnx-rounding=onnx", "-o", folder / "out"], capture_output=True, text=True)
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr.strip()[:300]}"]
    words = []
    for k, (want, out) in enumerate(zip(answers(model, feed), model.graph.output)):
        got = np.frombuffer((folder / "out" / f"out_{k}.bin").read_bytes(), want.dtype).reshape(want.shape)
        if not np.array_equal(got, want):
            words.append(f"{out.name}: {np.count_nonzero(got != want)} of {want.size} differ")
    done = subprocess.run([*call, "--engine=func", "-q"], capture_output=True, text=True)
    return words + ([f"accelerator's rounding: exit {done.returncode}: {done.stderr.strip()[:300]}"] if done.returncode else [])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=1000, help="chains; rounded up to whole networks")
    ap.add_argument("--keep", type=pathlib.Path, help="folder for networks that fail")
    ap.add_argument("--write", type=pathlib.Path, help="only write the network of the tests")
    args = ap.parse_args()
    if args.write:
        write(args.write)
        return 0
    n, bad = -(-args.count // CHAINS), 0
    for seed in range(args.seed, args.seed + n):
        with tempfile.TemporaryDirectory() as tmp:
            folder = args.keep / f"clamps_{seed}" if args.keep else pathlib.Path(tmp)
            folder.mkdir(parents=True, exist_ok=True)
            words = differs(args.heddle, Net(seed), folder)
        if words:
            bad += 1
            print(f"seed {seed}: {'; '.join(words)}\nagain: {sys.argv[0]} --heddle {args.heddle} --seed {seed} --count 1 --keep DIR")
    print(f"{n * CHAINS} chains of clamps, seeds {args.seed} to {args.seed + n - 1}: {bad} of {n} networks differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
