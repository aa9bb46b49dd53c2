"""Train the demo network `digits` and write its folder, goldens excepted.

    python train_digits.py [--out digits] [--seed 7] [--epochs 60]
    python ../oracle/make_goldens.py digits          (in the oracle's own environment)

A CNN with two residual additions for 8x8x1 images, small enough for about 3,000 cycles on a 16x16
array. Everything is seeded; two runs on one machine give the same file. The held-out images take no
part in training, calibration or the choice of epochs.
"""

import argparse
import pathlib
import platform

import numpy as np

import digits_data
import tflite_export as ex
from tflite_export import tf

OPS = ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "AVERAGE_POOL_2D", "RESHAPE", "SOFTMAX"]
CALIBRATION_IMAGES = 400


def conv(x, filters, size, stride=1, relu=True):
    """Convolution, batch normalisation and, unless a sum follows, ReLU; the converter fuses the three."""
    lay = tf.keras.layers
    x = lay.Conv2D(filters, size, stride, "same", use_bias=False,
                   kernel_regularizer=tf.keras.regularizers.l2(1e-4))(x)
    x = lay.BatchNormalization()(x)
    return lay.ReLU()(x) if relu else x


def depthwise(x):
    """3x3 depthwise convolution, batch normalisation and ReLU."""
    lay = tf.keras.layers
    x = lay.DepthwiseConv2D(3, padding="same", use_bias=False)(x)
    return lay.ReLU()(lay.BatchNormalization()(x))


def residual(x, filters):
    """x + 1x1(depthwise(3x3(x))), then ReLU, which is fused into the ADD."""
    lay = tf.keras.layers
    y = conv(x, filters, 3)
    y = depthwise(y)
    y = conv(y, filters, 1, relu=False)
    return lay.ReLU()(lay.Add()([x, y]))


def build():
    """The network. Output is the softmax over ten classes."""
    lay = tf.keras.layers
    inp = tf.keras.Input((8, 8, 1))
    x = conv(inp, 16, 3)
    x = residual(x, 16)
    x = conv(x, 32, 3, stride=2)
    x = residual(x, 32)
    x = conv(x, 64, 1)
    x = lay.AveragePooling2D(2)(x)
    x = lay.Reshape((256,))(x)  # 2x2 pixels: after a global pool the converter would fold the reshape away
    return tf.keras.Model(inp, lay.Softmax()(lay.Dense(10)(x)))


def train(model, x, y, epochs, seed):
    """Adam with a cosine decay on freshly augmented images in every epoch."""
    batch = 32
    steps = epochs * (-(-len(x) // batch))
    rate = tf.keras.optimizers.schedules.CosineDecay(2e-3, steps)
    model.compile(tf.keras.optimizers.Adam(rate), "sparse_categorical_crossentropy", ["accuracy"])
    rng = np.random.default_rng(seed)
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        log = model.fit(digits_data.augment(x[order], rng), y[order], batch, shuffle=False, verbose=0)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {log.history['loss'][0]:.4f} "
                  f"accuracy {log.history['accuracy'][0]:.4f}", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default=str(pathlib.Path(__file__).parent / "digits"))
    ap.add_argument("--seed", type=int, default=7, help="of weights, augmentation and order")
    ap.add_argument("--epochs", type=int, default=60)
    args = ap.parse_args()

    ex.seed_everything(args.seed)
    x_train, y_train, x_test, y_test = digits_data.load()
    model = build()
    train(model, x_train, y_train, args.epochs, args.seed)
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
        "data": {
            "set": "Optical Recognition of Handwritten Digits (UCI), as carried by scikit-learn",
            "licence": "CC BY 4.0 (data), BSD-3-Clause (scikit-learn)",
            "split": f"{len(x_train)} training, {len(x_test)} held out, seed {digits_data.SPLIT_SEED}",
        },
        "weights": "trained",
        "float_accuracy": round(float_acc, 4),
    }
    ex.write_model(args.out, content, ex.quantise_input(content, x_test), meta, y_test, range(10))
    print(f"float accuracy {float_acc:.4f}; operators: {' '.join(ops)}")


if __name__ == "__main__":
    main()
