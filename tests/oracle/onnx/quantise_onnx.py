"""`heddle quantise` compared with ONNX Runtime's static quantiser, on networks with seeded weights.

    quantise_onnx.py NETWORK [--size 96] [--samples 8] [--seed 1] [--ranges minmax] [--heddle build/heddle] [--keep DIR]

NETWORK is mobilenetv2, resnet50v2 or operators (one of each kind), float32, NCHW. Both quantisers get the same samples;
48 other images of the same kind then go through the float network and both results on ONNX Runtime, its optimiser off
(it takes a Pad with zeros into a MaxPool, which changes the answer). Fails if the signal to quantisation noise of
heddle's file is more than 0.5 dB below that of ONNX Runtime's (1 dB of operators, which it leaves in float32 in part),
if heddle's own answer to that file loses more than 1 dB, or if a layer other than QuantizeLinear and DequantizeLinear
is on the host. NETWORK digits is tests/models/digits/float.tflite: at most half a percent of the 360 images less are
right, and ONNX Runtime's answers and heddle's in ONNX's rounding are the same bytes.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

try:
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process
    from resnet50_onnx import Writer, resnet50
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

FEW = 8  # images that heddle computes too
METHODS = {"minmax": CalibrationMethod.MinMax, "percentile": CalibrationMethod.Percentile, "mse": CalibrationMethod.MinMax}


class Images(CalibrationDataReader):
    def __init__(self, images):
        self.left = [{"image": image[None]} for image in images]

    def get_next(self):
        return self.left.pop(0) if self.left else None


def mobilenet_v2(seed, size, classes):
    """Inverted residuals: (expansion, channels, count, stride); each convolution has a BatchNormalization."""
    w = Writer(seed)

    def conv(x, cin, cout, k, stride=1, group=1, clamp=True):
        u = w.rng.uniform
        weight = w.const(w.rng.normal(0, np.sqrt(2 / (cin // group * k * k)), (cout, cin // group, k, k)))
        y = w.node("Conv", x, weight, kernel_shape=[k, k], strides=[stride] * 2, pads=[k // 2] * 4, group=group)
        y = w.node("BatchNormalization", y, w.const(u(0.5, 1.5, cout)), w.const(u(-0.3, 0.3, cout)), w.const(u(-0.2, 0.2, cout)),
                   w.const(u(0.6, 1.4, cout)))
        return w.node("Clip", y, w.const(np.array(0)), w.const(np.array(6))) if clamp else y

    x, cin = conv("image", 3, 32, 3, 2), 32
    for expansion, cout, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                           (6, 320, 1, 1)]:
        for i in range(count):
            step, wide = stride if i == 0 else 1, cin * expansion
            y = conv(x, cin, wide, 1) if expansion > 1 else x
            y = conv(conv(y, wide, wide, 3, step, wide), wide, cout, 1, clamp=False)
            x, cin = w.node("Add", x, y) if step == 1 and cin == cout else y, cout
    x = w.node("Flatten", w.node("GlobalAveragePool", conv(x, cin, 1280, 1)))
    fc = w.rng.normal(0, 1 / np.sqrt(1280), (classes, 1280))
    w.nodes.append(helper.make_node("Gemm", [x, w.const(fc), w.const(np.zeros(classes))], ["logits"], transB=1))
    graph = helper.make_graph(w.nodes, "mobilenet_v2", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, classes])], w.inits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def operators(seed, size, classes):
    """One of each operator that has a form on quantised values, and some that have none."""
    w = Writer(seed)

    def weights(*shape):
        return w.const(w.rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape))

    def ints(*values):
        w.n += 1
        w.inits.append(numpy_helper.from_array(np.array(values, np.int64), f"i{w.n}"))
        return f"i{w.n}"

    def conv(x, cin, cout, k=1, group=1, **attrs):
        attrs["group"] = group
        return w.node("Conv", x, weights(cout, cin // group, k, k), w.const(w.rng.normal(0, 0.1, cout)), pads=[k // 2] * 4, **attrs)

    x = w.node("Relu", conv("image", 3, 16, 3, strides=[2, 2]))
    squeezed = w.node("Sigmoid", conv(w.node("HardSwish", conv(w.node("GlobalAveragePool", x), 16, 4)), 4, 16))
    x = w.node("Mul", x, squeezed)
    x = w.node("Mul", x, w.node("Sigmoid", x))  # one function of x: one table
    left = w.node("Tanh", conv(x, 16, 8))
    right = w.node("LeakyRelu", conv(x, 16, 8), alpha=0.1)
    x = w.node("Concat", left, w.node("Sub", right, left), axis=1)
    x = w.node("Pad", w.node("Mul", x, w.const(np.array(0.5))), ints(0, 0, 1, 1, 0, 0, 1, 1))
    x = w.node("Add", x, w.const(w.rng.normal(0, 0.2, (1, 16, 1, 1))))
    x = w.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    x = w.node("Add", w.node("AveragePool", x, kernel_shape=[3, 3], pads=[1] * 4), conv(x, 16, 16, 3, group=4))
    x = w.node("Relu", w.node("ConvTranspose", x, weights(16, 8, 2, 2), strides=[2, 2]))
    x = w.node("Slice", x, ints(1), ints(1000), ints(2))
    x = w.node("Elu", conv(w.node("Max", x, conv(x, 8, 8)), 8, 8, 3, strides=[4, 4]))  # Elu has no form
    side = size // 8
    x = w.node("Transpose", w.node("Reshape", x, ints(1, 8, side * side)), perm=[0, 2, 1])
    x = w.node("MatMul", x, weights(8, 64))
    n = w.node("LayerNormalization", x, w.const(w.rng.uniform(0.5, 1, 64)), w.const(w.rng.normal(0, 0.2, 64)))
    q, k, v = (w.node("MatMul", n, weights(64, 64)) for _ in range(3))
    q = w.node("Mul", q, w.const(np.array(1 / 8)))
    a = w.node("Softmax", w.node("MatMul", q, w.node("Transpose", k, perm=[0, 2, 1])), axis=-1)
    x = w.node("Add", x, w.node("MatMul", a, v))
    x = w.node("Gelu", w.node("Add", w.node("MatMul", x, weights(64, 32)), w.const(w.rng.normal(0, 0.1, 32))))
    half = w.node("Mul", x, w.const(np.array(0.5)))  # Gelu written out
    x = w.node("Mul", half, w.node("Add", w.node("Erf", w.node("Div", x, w.const(np.sqrt(2)))), w.const(np.array(1))))
    x = w.node("ReduceMean", x, ints(1), keepdims=0)
    w.nodes.append(helper.make_node("Gemm", [x, weights(classes, 32), w.const(np.zeros(classes))], ["logits"], transB=1))
    graph = helper.make_graph(w.nodes, "operators", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, classes])], w.inits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def images(rng, n, size):
    """Smooth colours with some noise: neighbours are alike, as in pictures."""
    coarse = rng.normal(0, 1, (n, 3, 8, 8))
    x = coarse.repeat(size // 8, 2).repeat(size // 8, 3) if size % 8 == 0 else np.resize(coarse, (n, 3, size, size))
    return (x + rng.normal(0, 0.3, x.shape)).astype(np.float32)


def answers(path, x, name="image"):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {name or session.get_inputs()[0].name: one[None]})[0] for one in x])


def decibel(want, got):
    return 10 * np.log10(np.sum(want.astype(np.float64) ** 2) / np.sum((want.astype(np.float64) - got) ** 2))


def digits(heddle, d):
    """0: as right as the float network, and the same bytes on ONNX Runtime."""
    home = pathlib.Path(__file__).parents[2] / "models/digits"
    x, labels = np.load(home / "float_in.npz")["input"], np.loadtxt(home / "labels.txt", dtype=int)
    net, samples = home / "float.tflite", home / "calibration.npz"

    def run(path, *how):
        subprocess.run([heddle, "run", str(path), "--target=c", "--engine=ref", "-q", "-i", str(home / "float_in.npz"), "-o", str(d / "out"), *how],
                       check=True, capture_output=True)
        return np.fromfile(d / "out/out_0.bin", np.float32).reshape(len(x), 10)

    subprocess.run([heddle, "quantise", str(net), "-i", str(samples), "-o", str(d / "digits.onnx")], check=True, capture_output=True)
    theirs, equal = answers(d / "digits.onnx", x, None), run(d / "digits.onnx", "--onnx-rounding=onnx")
    right = [int((y.argmax(1) == labels).sum()) for y in (run(net), run(d / "digits.onnx"), theirs)]
    wrong = int((theirs != equal).any(1).sum())
    print(f"digits: right of {len(x)}: float {right[0]}, int8 on heddle {right[1]}, on ONNX Runtime {right[2]}; answers of ONNX Runtime that "
          f"differ from heddle's in its rounding: {wrong}")
    return int(min(right[1:]) < right[0] - len(x) / 200 or wrong > 0)


NETWORKS = {"mobilenetv2": mobilenet_v2, "resnet50v2": resnet50, "operators": operators}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("network", choices=[*NETWORKS, "digits"])
    p.add_argument("--size", type=int, default=96)
    p.add_argument("--samples", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--ranges", default="minmax", choices=METHODS)
    p.add_argument("--bias-correction", action="store_true")
    p.add_argument("--heddle", default="build/heddle")
    p.add_argument("--keep")
    a = p.parse_args()
    folder = tempfile.TemporaryDirectory()
    d = pathlib.Path(a.keep or folder.name)
    d.mkdir(parents=True, exist_ok=True)

    if a.network == "digits":
        return digits(a.heddle, d)
    onnx.save(NETWORKS[a.network](a.seed, a.size, 100), d / "net.onnx")
    rng = np.random.default_rng(a.seed + 1)
    calibration, test = images(rng, a.samples, a.size), images(rng, 48, a.size)
    np.save(d / "calibration.npy", calibration)
    np.save(d / "test.npy", test[:FEW])
    command = [a.heddle, "quantise", str(d / "net.onnx"), "-i", str(d / "calibration.npy"), "-o", str(d / "net_int8.onnx"),
               f"--ranges={a.ranges}"] + ["--bias-correction"] * a.bias_correction
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print("\n".join(report.splitlines()[:3]))

    quant_pre_process(str(d / "net.onnx"), str(d / "prepared.onnx"), skip_symbolic_shape=True)
    quantize_static(str(d / "prepared.onnx"), str(d / "ort_int8.onnx"), Images(calibration), quant_format=QuantFormat.QDQ,
                    per_channel=True, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8, calibrate_method=METHODS[a.ranges])
    want = answers(d / "net.onnx", test)
    ours, theirs = answers(d / "net_int8.onnx", test), answers(d / "ort_int8.onnx", test)
    mine, other = decibel(want, ours), decibel(want, theirs)
    subprocess.run([a.heddle, "run", str(d / "net_int8.onnx"), "--target=c", "--engine=ref", "-q", "-i", str(d / "test.npy"), "-o", str(d / "out")],
                   check=True, capture_output=True)
    heddle, few = np.fromfile(d / "out/out_0.bin", np.float32).reshape(FEW, -1), want[:FEW]
    print(f"outputs of {len(test)} other images: heddle {mine:.2f} dB, ONNX Runtime's quantiser {other:.2f} dB; of {FEW} of them heddle's file "
          f"on ONNX Runtime {decibel(few, ours[:FEW]):.2f} dB, on heddle {decibel(few, heddle):.2f} dB")
    inspect = subprocess.run([a.heddle, "inspect", str(d / "net_int8.onnx"), "--no-search"], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in inspect.split("\n\n")[0].splitlines()[1:]]
    host = [row[0] for row in rows if row[2] == "c"]
    print(f"{len(rows)} layers, on the host: {', '.join(host)}")
    below = 1 if a.network == "operators" else 0.5
    bad = mine < other - below or decibel(few, heddle) < decibel(few, ours[:FEW]) - 1 or any("quantize" not in row for row in host)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
