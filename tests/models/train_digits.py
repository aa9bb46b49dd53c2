"""Train the demo network `digits` and write its folder, in float32 as well, goldens excepted.

    python train_digits.py [--out digits] [--seed 7] [--epochs 60]
    python ../oracle/make_goldens.py digits          (in the oracle's own environment)

A CNN with two residual additions for 8x8x1 images, small enough for about 3,000 cycles on a 16x16
array. Everything is seeded; two runs on one machine give the same file. The held-out images take no
part in training, calibration or the choice of epochs.
"""

import argparse
import pathlib
import platform

import digits_data
import numpy as np
import tflite_export as ex
from blocks import conv, depthwise, lay, train
from tflite_export import tf

OPS = ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "AVERAGE_POOL_2D", "RESHAPE", "SOFTMAX"]
CALIBRATION_IMAGES = 400


def residual(x, filters):
    """x + 1x1(depthwise(3x3(x))), then ReLU, which is fused into the ADD."""
    y = conv(x, filters, 3)
    y = depthwise(y)
    y = conv(y, filters, 1, act=None)
    return lay.ReLU()(lay.Add()([x, y]))


def build():
    """The network. Output is the softmax over ten classes."""
    inp = tf.keras.Input((8, 8, 1))
    x = conv(inp, 16, 3)
    x = residual(x, 16)
    x = conv(x, 32, 3, stride=2)
    x = residual(x, 32)
    x = conv(x, 64, 1)
    x = lay.AveragePooling2D(2)(x)
    x = lay.Reshape((256,))(x)  # 2x2 pixels: after a global pool the converter would fold the reshape away
    return tf.keras.Model(inp, lay.Softmax()(lay.Dense(10)(x)))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default=str(pathlib.Path(__file__).parent / "digits"))
    ap.add_argument("--seed", type=int, default=7, help="of weights, augmentation and order")
    ap.add_argument("--epochs", type=int, default=60)
    args = ap.parse_args()

    ex.seed_everything(args.seed)
    x_train, y_train, x_test, y_test = digits_data.load()
    model = build()

    def epoch_data(rng):
        order = rng.permutation(len(x_train))
        return digits_data.augment(x_train[order], rng), y_train[order]

    train(model, epoch_data, args.epochs, args.seed)
    float_acc = float((model.predict(x_test, verbose=0).argmax(1) == y_test).mean())

    content = ex.to_int8(model, x_train[:CALIBRATION_IMAGES])
    ops = ex.check_ops(content, OPS)
    meta = {
        "name": "digits",
        "task": "handwritten digits, 10 classes",
        "source": {
            "script": "tests/models/train_digits.py",
            "seed": args.seed,
            "epochs": args.epochs,
            "tensorflow": tf.__version__,
            "python": platform.python_version(),
            "licence": "Apache-2.0",
        },
        "data": digits_data.ATTRIBUTION,
        "weights": "trained",
        "float_accuracy": round(float_acc, 4),
    }
    ex.write_model(args.out, content, ex.quantise_input(content, x_test), meta, y_test, range(10))
    out = pathlib.Path(args.out)
    (out / "float.tflite").write_bytes(ex.to_float(model))
    np.savez_compressed(out / "float_in.npz", input=x_test)
    np.savez_compressed(out / "calibration.npz", input=x_train[:100])
    print(f"float accuracy {float_acc:.4f}; operators: {' '.join(ops)}")


if __name__ == "__main__":
    main()
