"""A Keras network as an int8 TFLite file, ready for `make sim` (docs/KERAS.md).

    python keras_int8.py FOLDER

Trains a small convolutional network for a few seconds on shapes that it draws itself, converts it with
representative inputs, writes FOLDER/model.tflite, x.npy (int8 inputs) and labels.txt. Needs tensorflow.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf

SIZE = 16


def drawings(n, seed):
    """Return images [n,16,16,1] in 0..1 of a horizontal bar (0), a vertical bar (1) or a square (2), with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 0.3, (n, SIZE, SIZE, 1)).astype(np.float32)
    y = rng.integers(0, 3, n)
    for image, kind in zip(x, y):
        row, col = rng.integers(2, SIZE - 8, 2)
        height, width = [(2, 8), (8, 2), (6, 6)][kind]
        image[row:row + height, col:col + width] += 0.6
    return np.clip(x, 0, 1), y


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tf.keras.utils.set_random_seed(1)
    net = tf.keras.Sequential([
        tf.keras.layers.Input((SIZE, SIZE, 1), batch_size=1),
        tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
        tf.keras.layers.DepthwiseConv2D(3, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Conv2D(16, 1, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(3, activation="softmax"),
    ])
    net.compile("adam", "sparse_categorical_crossentropy")
    x, y = drawings(600, 1)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(1)
    net.fit(data, epochs=10, verbose=0)

    converter = tf.lite.TFLiteConverter.from_keras_model(net)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([v[None]] for v in x[:100])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    content = converter.convert()
    (folder / "model.tflite").write_bytes(content)

    details = tf.lite.Interpreter(model_content=content).get_input_details()[0]
    scale, zero = details["quantization"]
    x, y = drawings(20, 2)
    np.save(folder / "x.npy", np.clip(np.round(x / scale) + zero, -128, 127).astype(np.int8))
    (folder / "labels.txt").write_text("".join(f"{v}\n" for v in y))
    return 0


if __name__ == "__main__":
    sys.exit(main())
