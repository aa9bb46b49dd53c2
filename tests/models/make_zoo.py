"""Train the larger networks of the zoo and write their folders, goldens excepted.

    python make_zoo.py [resnet8_own] [dscnn_own] [mobilenet025_own] [autoencoder_own] [vit_own] [--out DIR]
    python ../oracle/make_goldens.py resnet8_own     (each, in the oracle's own environment)

The shapes are those of the four MLPerf Tiny networks and of a vision transformer; weights are our own,
trained on the handwritten digits brought to the size in question. The digits' held-out images are not used in training or
calibration. Seeded as train_digits.py is.
"""

import argparse
import pathlib
import platform

import numpy as np

import digits_data
import tflite_export as ex
from blocks import Attention, Norm, Position, conv, depthwise, lay, relu6, train
from tflite_export import tf

CALIBRATION_IMAGES = 200
DIGITS = [str(d) for d in range(10)]


# -- networks ----------------------------------------------------------------------------------------


def resnet8():
    """ResNet-8 for 32x32x3: three stacks of one residual block, 16, 32 and 64 channels."""
    inp = tf.keras.Input((32, 32, 3))
    x = conv(inp, 16, 3)
    for filters, stride in ((16, 1), (32, 2), (64, 2)):
        y = conv(conv(x, filters, 3, stride), filters, 3, act=None)
        x = x if stride == 1 else conv(x, filters, 1, stride, act=None)
        x = lay.ReLU()(lay.Add()([x, y]))
    return classifier(inp, x, 10)


def dscnn():
    """DS-CNN for 49x10x1: a 10x4 convolution of stride 2, four depthwise-separable blocks of 64 channels."""
    inp = tf.keras.Input((49, 10, 1))
    x = conv(inp, 64, (10, 4), 2)
    for _ in range(4):
        x = conv(depthwise(x), 64, 1)
    return classifier(inp, x, 12)


def mobilenet025():
    """MobileNetV1 with width 0.25 for 96x96x3, ReLU6: 13 depthwise-separable blocks, 8 to 256 channels."""
    inp = tf.keras.Input((96, 96, 3))
    x = conv(inp, 8, 3, 2, relu6)
    strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1]
    widths = [16, 32, 32, 64, 64] + [128] * 6 + [256, 256]
    for filters, stride in zip(widths, strides):
        x = conv(depthwise(x, stride, relu6), filters, 1, act=relu6)
    return classifier(inp, x, 10)


def classifier(inp, x, classes):
    """Average over all pixels, dense layer, softmax."""
    x = lay.AveragePooling2D(x.shape[1:3])(x)
    x = lay.Reshape((x.shape[-1],))(x)
    return tf.keras.Model(inp, lay.Softmax()(lay.Dense(classes)(x)))


def autoencoder():
    """640-128-128-128-128-8-128-128-128-128-640, all dense, ReLU between."""
    inp = tf.keras.Input((640,))
    x = inp
    for width in [128] * 4 + [8] + [128] * 4:
        x = lay.ReLU()(lay.BatchNormalization()(lay.Dense(width)(x)))
    return tf.keras.Model(inp, lay.Dense(640)(x))


def vit():
    """Vision transformer for 8x8x1: 16 tokens of 2x2 pixels, width 48, two blocks of 3 heads, hidden 96, GELU."""
    inp = tf.keras.Input((8, 8, 1))
    x = lay.Reshape((16, 48))(lay.Conv2D(48, 2, 2)(inp))
    x = Position()(x)
    for _ in range(2):
        x = lay.Add()([x, Attention(3)(Norm()(x))])
        y = lay.Dense(96, activation=tf.nn.gelu)(Norm()(x))
        x = lay.Add()([x, lay.Dense(48)(y)])
    x = lay.GlobalAveragePooling1D()(Norm()(x))
    return tf.keras.Model(inp, lay.Softmax()(lay.Dense(10)(x)))


# -- data: the 8x8 digits brought to each network's input --------------------------------------------


def resized(x, height, width):
    """Bilinear to height x width; x is [n, 8, 8, 1] in 0..1."""
    return tf.image.resize(x, (height, width)).numpy()


def coloured(x, y, rng, size):
    """Digits of size x size in one random colour on another, at least 0.6 apart in brightness."""
    ink = rng.uniform(0, 1, (len(x), 2, 1, 1, 3))
    dark = rng.random(len(x)) < 0.5
    ink[:, 0] = np.where(dark[:, None, None, None], ink[:, 0] * 0.2, 0.8 + ink[:, 0] * 0.2)
    ink[:, 1] = np.where(dark[:, None, None, None], 0.8 + ink[:, 1] * 0.2, ink[:, 1] * 0.2)
    shape = resized(x, size, size)
    return (ink[:, 0] * (1 - shape) + ink[:, 1] * shape).astype(np.float32), y


def spoken(x, y, rng):
    """Digits stretched to 49x10 in faint noise; one in ten is blank (class 10), one in ten noise (class 11)."""
    out, y = resized(x, 49, 10), y.copy()
    kind = rng.random(len(x))
    out[kind < 0.2] = 0.0
    out[kind < 0.1] = rng.uniform(0, 1, (int((kind < 0.1).sum()), 49, 10, 1))
    y[kind < 0.2] = 10
    y[kind < 0.1] = 11
    return np.clip(out + rng.normal(0, 0.03, out.shape), 0, 1).astype(np.float32), y


def frames(x, y, rng):
    """Ten frames of one digit, each augmented by itself, one after another: 640 values. Target is the input."""
    out = np.stack([digits_data.augment(x, rng) for _ in range(10)], 1).reshape(len(x), 640)
    return out, out


TRANSFORMER_OPS = ["ADD", "BATCH_MATMUL", "DEQUANTIZE", "GELU", "MEAN", "MUL", "NEG", "QUANTIZE", "RSQRT",
                   "SQUARED_DIFFERENCE", "SUB", "TRANSPOSE"]
NETS = {
    "resnet8_own": dict(
        build=resnet8, data=lambda x, y, rng: coloured(x, y, rng, 32), epochs=15, samples=8, classes=DIGITS,
        task="digits in colour at 32x32, 10 classes; the shape of MLPerf Tiny's ResNet-8"),
    "dscnn_own": dict(
        build=dscnn, data=spoken, epochs=20, samples=8, classes=DIGITS + ["blank", "noise"],
        task="digits stretched to 49x10, blank and noise, 12 classes; the shape of MLPerf Tiny's DS-CNN"),
    "mobilenet025_own": dict(
        build=mobilenet025, data=lambda x, y, rng: coloured(x, y, rng, 96), epochs=60, samples=4, classes=DIGITS,
        task="digits in colour at 96x96, 10 classes; the shape of MLPerf Tiny's MobileNetV1 0.25"),
    "autoencoder_own": dict(
        build=autoencoder, data=frames, epochs=60, samples=8, classes=None,
        task="ten frames of one digit, reproduced; the shape of MLPerf Tiny's autoencoder"),
    "vit_own": dict(
        build=vit, data=lambda x, y, rng: (x, y), epochs=300, samples=100, classes=DIGITS, ops=TRANSFORMER_OPS,
        task="handwritten digits, 10 classes, by a vision transformer"),
}
OPS = ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "AVERAGE_POOL_2D", "RESHAPE", "SOFTMAX"]


# -- training ----------------------------------------------------------------------------------------


def run_int8(content, codes):
    """TensorFlow's own reference kernels on int8 inputs; for the accuracy in meta.json only."""
    it = tf.lite.Interpreter(model_content=content,
                             experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    i, o = it.get_input_details()[0]["index"], it.get_output_details()[0]
    out = []
    for sample in codes:
        it.set_tensor(i, sample[None])
        it.invoke()
        out.append(it.get_tensor(o["index"])[0].copy())
    return np.stack(out), o["quantization"]


def quality(net, model, content, x, y):
    """Compute the accuracy of the float and the int8 network on held-out images."""
    float_out = model.predict(x, verbose=0)
    int_out, (scale, zero) = run_int8(content, ex.quantise_input(content, x))
    if net["classes"]:
        return {"images": len(x), "float_accuracy": round(float((float_out.argmax(1) == y).mean()), 4),
                "int8_accuracy": round(float((int_out.argmax(1) == y).mean()), 4)}
    back = (int_out.astype(np.float64) - zero) * scale
    return {"images": len(x), "variance": round(float(x.var()), 5),
            "float_mean_square_error": round(float(np.mean((float_out - y) ** 2)), 5),
            "int8_mean_square_error": round(float(np.mean((back - y) ** 2)), 5)}


def make(name, folder, seed):
    """Train, convert and write one network."""
    net = NETS[name]
    ex.seed_everything(seed)
    x_train, y_train, x_test, y_test = digits_data.load()
    model = net["build"]()

    def epoch_data(rng):
        order = rng.permutation(len(x_train))
        return net["data"](digits_data.augment(x_train[order], rng), y_train[order], rng)

    train(model, epoch_data, net["epochs"], seed, "sparse_categorical_crossentropy" if net["classes"] else "mse")
    rng = np.random.default_rng(seed + 1)
    calibration, _ = net["data"](x_train[:CALIBRATION_IMAGES], y_train[:CALIBRATION_IMAGES], rng)
    x, y = net["data"](x_test, y_test, rng)

    per_channel = name != "autoencoder_own"
    content = ex.to_int8(model, calibration, per_channel)
    ops = ex.check_ops(content, OPS + net.get("ops", []))
    held_out = quality(net, model, content, x, y)
    meta = {
        "name": name,
        "task": net["task"],
        "source": {"script": "tests/models/make_zoo.py", "seed": seed, "epochs": net["epochs"],
                   "tensorflow": tf.__version__, "python": platform.python_version(), "licence": "Apache-2.0"},
        "data": digits_data.ATTRIBUTION,
        "weights": "trained, per channel" if per_channel else "trained, per tensor",
        "held_out": held_out,
    }
    n = net["samples"]
    labels = y[:n] if net["classes"] else None
    ex.write_model(folder, content, ex.quantise_input(content, x[:n]), meta, labels, net["classes"])
    print(f"{name}: {len(content)} bytes, {held_out}, operators: {' '.join(ops)}", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("names", nargs="*", help="default all: " + " ".join(NETS))
    ap.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()
    unknown = sorted(set(args.names) - set(NETS))
    if unknown:
        ap.error(f"unknown networks {unknown}")
    for name in args.names or NETS:
        make(name, args.out / name, args.seed)


if __name__ == "__main__":
    main()
