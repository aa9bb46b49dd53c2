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


class Norm(lay.Layer):
    """Layer normalisation over the last dimension, written out as x / deviation - mean / deviation: what TFLite's
    converter makes of it are operators of int8 (its LayerNormalization becomes a float batch normalisation)."""

    def build(self, shape):
        self.gamma = self.add_weight("gamma", (shape[-1],), initializer="ones")
        self.beta = self.add_weight("beta", (shape[-1],), initializer="zeros")

    def call(self, x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, self.beta, self.gamma, 1e-3)


class Attention(lay.Layer):
    """Self-attention of `heads` heads over [batch, tokens, width]: softmax(q k^T / sqrt(d)) v, projected."""

    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def build(self, shape):
        _, self.tokens, self.width = shape
        self.project = [lay.Dense(self.width) for _ in range(4)]

    def split(self, x):
        x = tf.reshape(x, (-1, self.tokens, self.heads, self.width // self.heads))
        return tf.transpose(x, (0, 2, 1, 3))

    def call(self, x):
        q, k, v = (self.split(dense(x)) for dense in self.project[:3])
        score = tf.matmul(q, k, transpose_b=True) * (self.width // self.heads) ** -0.5
        y = tf.transpose(tf.matmul(tf.nn.softmax(score), v), (0, 2, 1, 3))
        return self.project[3](tf.reshape(y, (-1, self.tokens, self.width)))


class Position(lay.Layer):
    """Adds a learnt vector to each token."""

    def build(self, shape):
        self.table = self.add_weight("table", (1, *shape[1:]), initializer=tf.keras.initializers.RandomNormal(stddev=0.02))

    def call(self, x):
        return x + self.table


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
