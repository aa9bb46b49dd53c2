"""Keras building blocks and the training loop that the demo models share."""

import numpy as np

from tflite_export import tf

lay = tf.keras.layers


def conv(x, filters, size, stride=1, act=lay.ReLU):
    """Convolution and batch normalisation; then `act`, or nothing where a sum follows. The converter
    fuses them into one CONV_2D."""
    x = lay.Conv2D(filters, size, stride, "same", use_bias=False,
                   kernel_regularizer=tf.keras.regularizers.l2(1e-4))(x)
    x = lay.BatchNormalization()(x)
    return act()(x) if act else x


def depthwise(x, stride=1, act=lay.ReLU):
    """3x3 depthwise convolution, batch normalisation, activation."""
    x = lay.DepthwiseConv2D(3, stride, padding="same", use_bias=False)(x)
    return act()(lay.BatchNormalization()(x))


def relu6():
    return lay.ReLU(6.0)


def train(model, epoch_data, epochs, seed, loss="sparse_categorical_crossentropy", rate=2e-3, batch=32):
    """Adam with a cosine decay. epoch_data(rng) gives fresh (inputs, targets) for every epoch, in the
    order in which they are used."""
    rng = np.random.default_rng(seed)
    for epoch in range(epochs):
        x, y = epoch_data(rng)
        if epoch == 0:
            steps = epochs * (-(-len(x) // batch))
            model.compile(tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(rate, steps)), loss)
        log = model.fit(x, y, batch, shuffle=False, verbose=0)
        if epoch % 5 == 4 or epoch == epochs - 1:
            print(f"epoch {epoch + 1}: loss {log.history['loss'][0]:.4f}", flush=True)
