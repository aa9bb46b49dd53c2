"""Small random quantised ONNX networks against ONNX Runtime without optimisations.

    rand_onnx.py --heddle build/heddle [--seed S] [--count K] [--engine func] [--keep DIR]

Each network mixes QDQ islands, QLinear operators and float operators between them over int8 and uint8, NCHW, odd shapes. Its answers
with `--target=c --onnx-rounding=onnx` must be ONNX Runtime's, byte for byte; in the accelerator's rounding, on the
accelerator, they must be those of heddle's reference. A network that fails is cut
to the shortest prefix that still fails and kept in DIR. Exit status 1 if one differs, 77 without
onnxruntime. Environment: requirements-new.txt.

A QDQ convolution adds float32 products in an order of the runtime's own; its scales are powers of two
here, where every order gives the same sum. Scales of everything else are arbitrary.
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
NOT_THERE = (ort.capi.onnxruntime_pybind11_state.NotImplemented, ort.capi.onnxruntime_pybind11_state.RuntimeException)
MISMATCH = 1  # exit status of heddle run
SIZES = [1, 2, 3, 4, 5, 7, 8, 9]
CHANNELS = [1, 2, 3, 4, 5, 8, 15, 16, 17]


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Value:
    """Quantised values in the graph: name, scale, zero point, quantised values of the one sample."""

    def __init__(self, name, scale, zero, codes):
        self.name, self.scale, self.zero, self.codes = name, scale, zero, codes
        self.shape, self.dtype = codes.shape, codes.dtype
        self.real = (codes.astype(np.float32) - np.float32(zero)) * scale


class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.inits, self.steps = [], [], []
        self.dtype = [np.int8, np.uint8][int(self.rng.integers(2))]
        self.opset = int(self.rng.choice([13, 17, 21]))
        shape = (1, self.pick(CHANNELS), self.pick(SIZES) + 2, self.pick(SIZES) + 2)
        self.input = self.codes("x", shape, self.scale(), self.zero())
        self.values = [self.input]
        self.count = 0

    def pick(self, among):
        return int(self.rng.choice(among))

    def scale(self, power=False):
        s = 2.0 ** self.rng.uniform(-6, 0)
        return np.float32(2.0 ** round(np.log2(s)) if power else s)

    def zero(self):
        i = np.iinfo(self.dtype)
        return self.dtype(self.rng.choice([i.min, i.max, int(self.rng.integers(i.min, i.max + 1)), (i.min + i.max + 1) // 2]))

    def codes(self, name, shape, scale, zero):
        i = np.iinfo(self.dtype)
        return Value(name, scale, zero, self.rng.integers(i.min, i.max + 1, shape).astype(self.dtype))

    def name(self, what):
        self.count += 1
        return f"{what}{self.count}"

    def const(self, what, v):
        name = self.name(what)
        self.inits.append(numpy_helper.from_array(np.asarray(v), name))
        return name

    def node(self, op, inputs, n_out=1, domain="", **attrs):
        outs = [self.name(op) for _ in range(n_out)]
        self.nodes.append(helper.make_node(op, inputs, outs, domain=domain, **attrs))
        return outs if n_out > 1 else outs[0]

    def params(self, v):
        return [self.const("s", v.scale), self.const("z", v.zero)]

    def dq(self, v):
        return self.node("DequantizeLinear", [v.name, *self.params(v)])

    def model(self, outputs):
        outs = [helper.make_tensor_value_info(n, t, s) for n, t, s in outputs]
        x = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype)), self.input.shape)
        graph = helper.make_graph(self.nodes, "g", [x], outs, self.inits)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 8
        return model

    def value_of(self, name):
        return session(self.any_output(name)).run(None, {"x": self.input.codes})[0]

    def any_output(self, name):
        model = self.model([])
        model.graph.output.append(onnx.ValueInfoProto(name=name))
        return model

    def range_of(self, real):
        """Scale and zero point that a float result roughly fills, arbitrary bits."""
        i = np.iinfo(self.dtype)
        low, high = min(float(real.min()), 0), max(float(real.max()), 0)
        s = np.float32(max(high - low, 1e-3) / 255 * self.rng.uniform(0.6, 1.3))
        z = self.dtype(np.clip(round(i.min - low / float(s)), i.min, i.max))
        return s, z

    def quantized(self, real_name):
        """QuantizeLinear after a float result."""
        s, z = self.range_of(self.value_of(real_name))
        name = self.node("QuantizeLinear", [real_name, self.const("s", s), self.const("z", z)])
        return Value(name, s, z, self.value_of(name))

    def take(self, rank=None):
        fits = [v for v in self.values if rank is None or len(v.shape) == rank]
        if not fits:
            raise LookupError
        return fits[-1] if self.rng.random() < 0.7 else fits[int(self.rng.integers(len(fits)))]

    def activation(self, real):
        k = self.rng.integers(4)
        if k == 0:
            return self.node("Relu", [real])
        if k == 1:
            return self.node("Clip", [real, self.const("lo", np.float32(self.rng.uniform(-2, 0))), self.const("hi", np.float32(self.rng.uniform(0.5, 6)))])
        return real

    def window(self, v, pool=False):
        k = [min(self.pick([1, 2, 3, 5]), n) for n in v.shape[2:]]
        a = {"kernel_shape": k, "strides": [self.pick([1, 1, 2, 3]) for _ in k]}
        kind = self.rng.integers(3)
        if kind == 0:
            a["auto_pad"] = ["SAME_UPPER", "SAME_LOWER", "VALID"][int(self.rng.integers(3))]
        elif kind == 1:
            a["pads"] = [int(self.rng.integers(0, n)) for n in k] + [int(self.rng.integers(0, n)) for n in k]
        return a

    def weights(self, shape, channels, axis, power):
        per = self.rng.random() < 0.6
        n = channels if per else 1
        s = np.array([self.scale(power) / np.float32(16) for _ in range(n)], np.float32)
        dtype = np.int8 if per or self.rng.random() < 0.7 else np.uint8
        z = np.zeros(n, dtype) if per else np.array([self.rng.integers(0, 20)], dtype)
        i = np.iinfo(dtype)
        # int8 weights of uint8 activations: 7 bits, as without VNNI the runtime's sums of two products saturate
        half = 2 if self.dtype is np.uint8 and dtype is np.int8 else 1
        w = self.rng.integers(i.min // half, i.max // half + 1, shape).astype(dtype)
        return w, (s if per else s[0]), (z if per else z[0]), per

    def op_conv(self):
        v = self.take(4)
        c = v.shape[1]
        group = int(self.rng.choice([g for g in (1, 1, 2, 3, c) if c % g == 0]))
        oc = group * self.pick([1, 2, 3, 4]) if group > 1 else self.pick(CHANNELS)
        a = self.window(v)
        a["group"] = group
        if "auto_pad" not in a and self.rng.random() < 0.3:
            a["dilations"] = [2 if (k - 1) * 2 + 1 <= n else 1 for k, n in zip(a["kernel_shape"], v.shape[2:])]
        qlinear = self.rng.random() < 0.5
        w, s, z, per = self.weights((oc, c // group, *a["kernel_shape"]), oc, 0, not qlinear)
        bias = self.rng.integers(-2000, 2000, oc).astype(np.int32) if self.rng.random() < 0.6 else None
        if qlinear:
            ins = [v.name, *self.params(v), self.const("w", w), self.const("ws", s), self.const("wz", z)]
            probe = np.float32(np.abs(v.real).max() * np.abs(w).max() * s.max() * 4 + 1e-3)
            so, zo = np.float32(probe / 127 * self.rng.uniform(0.3, 1)), self.zero()
            ins += [self.const("s", so), self.const("z", zo)] + ([self.const("b", bias)] if bias is not None else [])
            name = self.node("QLinearConv", ins, **a)
            return Value(name, so, zo, self.value_of(name))
        v = self.powered(v)
        wd = self.node("DequantizeLinear", [self.const("w", w), self.const("ws", s), self.const("wz", z)], **({"axis": 0} if per else {}))
        ins = [self.dq(v), wd]
        if bias is not None:
            bs = np.float32(v.scale) * s
            bz = np.zeros_like(bs, np.int32)
            ins.append(self.node("DequantizeLinear", [self.const("b", bias), self.const("bs", bs), self.const("bz", bz)], **({"axis": 0} if per else {})))
        return self.quantized(self.activation(self.node("Conv", ins, **a)))

    def powered(self, v):
        """The same in a power-of-two scale."""
        if np.log2(v.scale) % 1 == 0:
            return v
        s = np.float32(2.0 ** np.round(np.log2(v.scale)))
        name = self.node("QuantizeLinear", [self.dq(v), self.const("s", s), self.const("z", v.zero)])
        return Value(name, s, v.zero, self.value_of(name))

    def op_batch_norm(self):
        v = self.powered(self.take(4))
        c = v.shape[1]
        p = [(2.0 ** self.rng.integers(-2, 2, c)) * self.rng.choice([-1, 1], c), self.rng.integers(-8, 8, c) / 8,
             self.rng.integers(-8, 8, c) / 8, 4.0 ** self.rng.integers(-1, 2, c)]
        real = self.node("BatchNormalization", [self.dq(v), *[self.const("p", a.astype(np.float32)) for a in p]], epsilon=0.0)
        return self.quantized(self.activation(real))

    def op_dense(self):
        v = self.take(2)
        k, n = v.shape[1], self.pick(CHANNELS)
        qlinear = self.rng.random() < 0.4
        w, s, z, per = self.weights((k, n), n, 1, not qlinear)
        if qlinear:
            if per:
                s, z = s[0], z[0]
            so, zo = np.float32(np.abs(v.real).max() * float(s) * 40 + 1e-3), self.zero()
            name = self.node("QLinearMatMul", [v.name, *self.params(v), self.const("w", w), self.const("ws", s), self.const("wz", z),
                                               self.const("s", so), self.const("z", zo)])
            return Value(name, so, zo, self.value_of(name))
        v = self.powered(v)
        trans = self.rng.random() < 0.5
        wd = self.node("DequantizeLinear", [self.const("w", w.T.copy() if trans else w), self.const("ws", s), self.const("wz", z)],
                       **({"axis": 0 if trans else 1} if per else {}))
        bias = (self.rng.integers(-300, 300, n) * np.float32(v.scale) * np.float32(np.min(s))).astype(np.float32)
        if trans or self.rng.random() < 0.5:
            real = self.node("Gemm", [self.dq(v), wd], transB=int(trans))
        else:
            real = self.node("MatMul", [self.dq(v), wd])
        if self.rng.random() < 0.5 and not per:
            real = self.node("Add", [real, self.const("b", bias)])
        return self.quantized(self.activation(real))

    def op_binary(self):
        a = self.take()
        same = [v for v in self.values if v.shape == a.shape]
        b = same[int(self.rng.integers(len(same)))]
        if self.rng.random() < 0.3 and len(a.shape) == 4:
            b = self.codes("", (a.shape[1], 1, 1), self.scale(), self.zero())
            b.name = self.const("c", b.codes)
        op = ["Add", "Mul", "Sub"][int(self.rng.integers(3))]
        if op != "Sub" and self.rng.random() < 0.5:
            real = a.real + b.real if op == "Add" else a.real * b.real
            s, z = self.range_of(real)
            name = self.node("QLinear" + op, [a.name, *self.params(a), b.name, *self.params(b), self.const("s", s), self.const("z", z)],
                             domain="com.microsoft")
            return Value(name, s, z, self.value_of(name))
        return self.quantized(self.activation(self.node(op, [self.dq(a), self.dq(b)])))

    def op_scalar(self):
        v = self.take()
        op = ["Add", "Mul", "Sub"][int(self.rng.integers(3))]
        return self.quantized(self.node(op, [self.dq(v), self.const("c", np.float32(self.rng.uniform(-2, 2)))]))

    def op_quotient(self):
        """Division by a number into a scale that makes ties."""
        v = self.powered(self.take())
        c = np.float32(self.pick([3, 5, 6, 7, 10, 12]))
        s, z = self.const("s", np.float32(v.scale / c * self.pick([1, 2, 4]))), self.zero()
        name = self.node("QuantizeLinear", [self.node("Div", [self.dq(v), self.const("c", c)]), s, self.const("z", z)])
        return Value(name, numpy_helper.to_array(next(i for i in self.inits if i.name == s))[()], z, self.value_of(name))

    def op_unary(self):
        v = self.take()
        op = ["Relu", "LeakyRelu", "HardSwish", "Clip"][int(self.rng.integers(4))]
        if op == "HardSwish" and self.opset < 14:
            op = "Relu"
        ins = [self.dq(v)]
        if op == "Clip":
            ins += ["", self.const("hi", np.float32(1.5))]
        return self.quantized(self.node(op, ins, **({"alpha": 0.125} if op == "LeakyRelu" else {})))

    def op_pool(self):
        v = self.take(4)
        kind = self.rng.integers(3)
        if kind == 0:
            a = self.window(v)
            if self.rng.random() < 0.5:  # quantised values, without DequantizeLinear: int8 and uint8 from opset 12 on
                name = self.node("MaxPool", [v.name], **a)
                return Value(name, v.scale, v.zero, self.value_of(name))
            return self.quantized(self.node("MaxPool", [self.dq(v)], **a))
        v = self.powered(v)
        real = self.node("AveragePool", [self.dq(v)], **self.window(v)) if kind == 1 else self.node("GlobalAveragePool", [self.dq(v)])
        if self.rng.random() < 0.5:
            name = self.node("QuantizeLinear", [real, *self.params(v)])
            return Value(name, v.scale, v.zero, self.value_of(name))
        return self.quantized(real)

    def op_qlinear_pool(self):
        v = self.take(4)
        s, z = self.range_of(v.real)
        tail = [self.const("s", s), self.const("z", z)]
        if self.rng.random() < 0.5:
            a = {k: n for k, n in self.window(v).items() if k != "auto_pad"}
            name = self.node("QLinearAveragePool", [v.name, *self.params(v), *tail], domain="com.microsoft", **a)
            return Value(name, s, z, self.value_of(name))
        name = self.node("QLinearGlobalAveragePool", [v.name, *self.params(v), *tail], domain="com.microsoft", channels_last=0)
        return Value(name, s, z, self.value_of(name))

    def op_curve(self):
        v = self.take()
        if self.rng.random() < 0.4 and v.shape[-1] > 1:
            return self.quantized(self.node("Softmax", [self.dq(v)], axis=-1))
        return self.quantized(self.node(["Sigmoid", "Tanh"][int(self.rng.integers(2))], [self.dq(v)]))

    def op_move(self):
        v = self.take()
        kind = self.rng.integers(5)
        real = self.rng.random() < 0.5
        x = self.dq(v) if real else v.name
        if kind == 0:
            name = self.node("Flatten", [x], axis=1) if real else self.node("Reshape", [x, self.const("n", np.array([1, -1], np.int64))])
        elif kind == 1:
            name = self.node("Transpose", [x], perm=[int(i) for i in self.rng.permutation(len(v.shape))]) if len(v.shape) != 4 else \
                self.node("Transpose", [x], perm=[0, 1, 3, 2])
        elif kind == 2:
            k = int(self.rng.integers(1, len(v.shape)))
            to = int(self.rng.integers(1, v.shape[k] + 1))
            name = self.node("Slice", [x, self.const("n", np.array([0], np.int64)), self.const("n", np.array([to], np.int64)),
                                       self.const("n", np.array([k], np.int64))])
        elif kind == 3 and len(v.shape) == 4:
            x = self.dq(v)
            real = True
            name = self.node("Pad", [x, self.const("n", np.array([0, 0, 1, 0, 0, 0, 0, 2], np.int64))])
        else:
            k = len(v.shape) - 1
            name = self.node("Concat", [x, x], axis=k)
        if real:
            name = self.node("QuantizeLinear", [name, *self.params(v)])
        return Value(name, v.scale, v.zero, self.value_of(name))

    def op_concat(self):
        a = self.take(4)
        same = [v for v in self.values if v.shape[:1] + v.shape[2:] == a.shape[:1] + a.shape[2:]]
        b = same[int(self.rng.integers(len(same)))]
        return self.quantized(self.node("Concat", [self.dq(a), self.dq(b)], axis=1))

    def op_mean(self):
        v = self.powered(self.take(4))
        if self.opset >= 18:
            return self.quantized(self.node("ReduceMean", [self.dq(v), self.const("n", np.array([2, 3], np.int64))], keepdims=int(self.rng.integers(2))))
        return self.quantized(self.node("ReduceMean", [self.dq(v)], axes=[2, 3], keepdims=int(self.rng.integers(2))))

    def op_float(self):
        """Operators without arithmetic on quantised values: between DequantizeLinear and QuantizeLinear they are float32."""
        v = self.take()
        x = self.dq(v)
        op = ["PRelu", "Div", "Neg", "Abs", "Max", "Min"][int(self.rng.integers(6))]
        if op in ("Neg", "Abs"):
            return self.quantized(self.node(op, [x]))
        if op in ("Max", "Min"):
            same = [o for o in self.values if o.shape == v.shape]
            return self.quantized(self.node(op, [x, self.dq(same[int(self.rng.integers(len(same)))])]))
        c = self.rng.uniform(0.25, 2, (v.shape[1], *[1] * (len(v.shape) - 2))).astype(np.float32)
        return self.quantized(self.activation(self.node(op, [x, self.const("c", c)])))

    def op_resize(self):
        v = self.take(4)
        mode = ["nearest", "linear"][int(self.rng.integers(2))]
        v = self.powered(v) if mode == "linear" else v  # sums in any order
        scales = np.array([1, 1, self.pick([1, 2]), self.pick([1, 2])], np.float32)
        real = self.node("Resize", [self.dq(v), "", self.const("r", scales)], mode=mode,
                         coordinate_transformation_mode=["half_pixel", "asymmetric"][int(self.rng.integers(2))])
        return self.quantized(real)

    def op_transposed(self):
        v = self.powered(self.take(4))
        c, oc, k = v.shape[1], self.pick([1, 2, 3, 5]), self.pick([1, 2, 3])
        w, s, z, per = self.weights((c, oc, k, k), oc, 1, True)
        wd = self.node("DequantizeLinear", [self.const("w", w), self.const("ws", s), self.const("wz", z)], **({"axis": 1} if per else {}))
        pad = int(self.rng.integers(0, k))
        return self.quantized(self.activation(self.node("ConvTranspose", [self.dq(v), wd], strides=[self.pick([1, 2]), 2], pads=[pad, 0, 0, pad])))

    def op_matmul(self):
        v = self.powered(self.take())
        if len(v.shape) < 2:
            raise LookupError
        turned = [*range(len(v.shape) - 2), len(v.shape) - 1, len(v.shape) - 2]
        return self.quantized(self.node("MatMul", [self.dq(v), self.node("Transpose", [self.dq(v)], perm=turned)]))

    def make(self):
        ops = [n for n in dir(self) if n.startswith("op_")]
        for _ in range(int(self.rng.integers(1, 9))):
            op = str(self.rng.choice(ops))
            before = len(self.nodes), len(self.inits)
            try:
                v = getattr(self, op)()
            except (LookupError, *NOT_THERE):  # nothing fits, or the runtime lacks this pair of types or window
                del self.nodes[before[0]:], self.inits[before[1]:]
                continue
            if v.codes.size > 20000 or v.codes.size == 0:
                del self.nodes[before[0]:], self.inits[before[1]:]
                continue
            self.values.append(v)
            self.steps.append((op, v, len(self.nodes)))
        return self

    def prefix(self, n):
        """The network up to step n: its model and answer."""
        op, v, n_nodes = self.steps[n]
        whole, self.nodes = self.nodes, self.nodes[:n_nodes]
        used = {i for node in self.nodes for i in node.input}
        inits, self.inits = self.inits, [i for i in self.inits if i.name in used]
        model = self.model([(v.name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)])
        self.nodes, self.inits = whole, inits
        return model, v.codes


def run(args, model, x, want, folder):
    onnx.save(model, folder / "model.onnx")
    x.tofile(folder / "in.bin")
    want.tofile(folder / "out.bin")
    done = subprocess.run([args.heddle, "run", folder / "model.onnx", "-i", folder / "in.bin", "--expect", folder / "out.bin",
                           f"--engine={args.engine}", "--target=c", "--onnx-rounding=onnx"], capture_output=True, text=True)
    if done.returncode == 0:  # in the accelerator's rounding: heddle's reference, an island for an island
        own = subprocess.run([args.heddle, "run", folder / "model.onnx", "-i", folder / "in.bin", f"--engine={args.engine}", "-q"],
                             capture_output=True, text=True)
        if own.returncode == MISMATCH:
            return own.returncode, own.stdout.strip() + own.stderr.strip()
    return done.returncode, done.stderr.strip()


def write(net, folder):
    """The network as a folder for tests: model, sample 0, the quantised values after every step."""
    model, want = net.prefix(len(net.steps) - 1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "in_0_0.bin").write_bytes(net.input.codes.tobytes())
    (folder / "out_0_0.bin").write_bytes(want.tobytes())
    made = {o for node in model.graph.node for o in node.output}
    tensors = []
    for _, v, _ in net.steps:
        if v.name in made:
            (folder / f"{v.name}.bin").write_bytes(v.codes.tobytes())
            tensors.append({"tensor": v.name, "file": f"{v.name}.bin", "shape": list(v.shape), "dtype": v.dtype.name})
    (folder / "meta.json").write_text(json.dumps({"layers": {"sample": 0, "tensors": tensors}}, indent=1) + "\n")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=50)
    ap.add_argument("--engine", default="func")
    ap.add_argument("--keep", default="", help="folder for networks that fail")
    ap.add_argument("--write", default="", help="only write the networks as folders seed_<s> below this one")
    args = ap.parse_args()
    bad = 0
    for seed in range(args.seed, args.seed + args.count):
        net = Maker(seed).make()
        if not net.steps:
            continue
        if args.write:
            write(net, pathlib.Path(args.write) / f"seed_{seed}")
            continue
        with tempfile.TemporaryDirectory() as tmp:
            tmp = pathlib.Path(tmp)
            code, text = run(args, *[net.prefix(len(net.steps) - 1)[0], net.input.codes, net.prefix(len(net.steps) - 1)[1]], tmp)
            if code == 0:
                continue
            bad += 1
            for n in range(len(net.steps)):
                model, want = net.prefix(n)
                code, text = run(args, model, net.input.codes, want, tmp)
                if code != 0:
                    break
            print(f"seed {seed}, step {n} {net.steps[n][0]}: exit {code}: {text[:300]}")
            print(f"again: {sys.argv[0]} --heddle {args.heddle} --engine {args.engine} --seed {seed} --count 1")
            if args.keep:
                folder = pathlib.Path(args.keep) / f"seed_{seed}"
                folder.mkdir(parents=True, exist_ok=True)
                for f in tmp.iterdir():
                    (folder / f.name).write_bytes(f.read_bytes())
    print(f"{args.count - bad} of {args.count} networks equal")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
