"""A ResNet-50 v2 in float32 with random weights: the example of a large float network on the host.

    resnet50_onnx.py FILE.onnx [--seed S] [--size 224] [--classes 1000] [--check build/heddle]

Pre-activation blocks (batch normalisation, ReLU, convolution), depths 3, 4, 6, 3, as NCHW ONNX, opset 17;
about 100 MB. With --check heddle runs it with `--target=c` on one random image and the answer is compared
with ONNX Runtime's: within 1e-3 of the largest magnitude, the same class. Needs only onnx and numpy to
write the file.
"""

import argparse
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)


class Writer:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.inits, self.n = [], [], 0

    def const(self, array):
        self.n += 1
        self.inits.append(numpy_helper.from_array(array.astype(np.float32), f"c{self.n}"))
        return f"c{self.n}"

    def node(self, op, *ins, **attrs):
        self.n += 1
        self.nodes.append(helper.make_node(op, list(ins), [f"{op.lower()}{self.n}"], **attrs))
        return f"{op.lower()}{self.n}"

    def conv(self, x, cin, cout, k, stride=1):
        w = self.rng.normal(0, np.sqrt(2 / (cin * k * k)), (cout, cin, k, k))
        return self.node("Conv", x, self.const(w), kernel_shape=[k, k], strides=[stride] * 2, pads=[k // 2] * 4)

    def norm_relu(self, x, c):
        u = self.rng.uniform
        bn = self.node("BatchNormalization", x, self.const(u(0.5, 1, c)), self.const(u(-0.2, 0.2, c)), self.const(u(-0.2, 0.2, c)),
                       self.const(u(0.8, 1.2, c)))
        return self.node("Relu", bn)


def resnet50(seed, size, classes):
    w = Writer(seed)
    x = w.node("MaxPool", w.conv("image", 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    cin = 64
    for stage, depth in enumerate([3, 4, 6, 3]):
        mid = 64 << stage
        for block in range(depth):
            stride = 2 if block == 0 and stage > 0 else 1
            pre = w.norm_relu(x, cin)
            if block == 0:
                x = w.conv(pre, cin, 4 * mid, 1, stride)
            y = w.norm_relu(w.conv(pre, cin, mid, 1), mid)
            y = w.norm_relu(w.conv(y, mid, mid, 3, stride), mid)
            x = w.node("Add", x, w.conv(y, mid, 4 * mid, 1))
            cin = 4 * mid
    x = w.node("Flatten", w.node("GlobalAveragePool", w.norm_relu(x, cin)))
    fc = w.rng.normal(0, 1 / np.sqrt(cin), (classes, cin))
    w.nodes.append(helper.make_node("Gemm", [x, w.const(fc), w.const(np.zeros(classes))], ["logits"], transB=1))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, classes])
    graph = helper.make_graph(w.nodes, "resnet50_v2", [image], [logits], w.inits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(heddle, path, size, seed):
    try:
        import onnxruntime as ort
    except ImportError as e:
        print(f"SKIPPED: {e}")
        return 77
    image = np.random.default_rng(seed + 1).normal(0, 1, (1, 3, size, size)).astype(np.float32)
    want = ort.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"image": image})[0]
    with tempfile.TemporaryDirectory() as d:
        np.save(f"{d}/image.npy", image)
        subprocess.run([heddle, "run", path, "--target=c", "--engine=func", "-i", f"{d}/image.npy", "-o", f"{d}/out"], check=True)
        got = np.fromfile(f"{d}/out/out_0.bin", np.float32).reshape(want.shape)
    error = float(np.max(np.abs(got - want)) / np.max(np.abs(want)))
    print(f"largest difference from ONNX Runtime: {error:.2e} of the largest logit; classes {np.argmax(got)} and {np.argmax(want)}")
    return 0 if error < 1e-3 and np.argmax(got) == np.argmax(want) else 1


def main():
    p = argparse.ArgumentParser()
    p.add_argument("file")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--size", type=int, default=224)
    p.add_argument("--classes", type=int, default=1000)
    p.add_argument("--check")
    a = p.parse_args()
    onnx.save(resnet50(a.seed, a.size, a.classes), a.file)
    return check(a.check, a.file, a.size, a.seed) if a.check else 0


if __name__ == "__main__":
    sys.exit(main())
