"""Float forms of the operators that rand_tflite.py emits, for choosing plausible output scales.

Never a golden: the answers come from the oracle. Each function takes and returns one sample, float64,
in TFLite's layouts (activations NHWC, convolution weights OHWI, depthwise weights 1HWO).
"""

import numpy as np


def same_pads(size, kernel, stride, dilation):
    """Padding before and after that TFLite's SAME gives one axis."""
    out = -(-size // stride)
    total = max((out - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def out_size(size, kernel, stride, dilation, same):
    """Output length of one axis; below 1 if the window does not fit."""
    if same:
        return -(-size // stride)
    return (size - (kernel - 1) * dilation - 1) // stride + 1


def windows(x, kernel, stride, dilation, same, fill):
    """Return all windows of x [1,H,W,C] as [OH, OW, KH, KW, C]; cells outside the image hold `fill`."""
    pads = [same_pads(x.shape[1 + a], kernel[a], stride[a], dilation[a]) if same else (0, 0) for a in (0, 1)]
    p = np.pad(x[0], (*pads, (0, 0)), constant_values=fill)
    span = [(kernel[a] - 1) * dilation[a] + 1 for a in (0, 1)]
    v = np.lib.stride_tricks.sliding_window_view(p, span, axis=(0, 1))
    v = v[::stride[0], ::stride[1], :, ::dilation[0], ::dilation[1]]
    return np.moveaxis(v, 2, 4)


def conv(x, w, b, stride, dilation, same):
    v = windows(x, w.shape[1:3], stride, dilation, same, 0.0)
    return np.tensordot(v, w, ([2, 3, 4], [1, 2, 3]))[None] + b


def depthwise(x, w, b, multiplier, stride, dilation, same):
    v = np.repeat(windows(x, w.shape[1:3], stride, dilation, same, 0.0), multiplier, axis=4)
    return np.einsum("hwijc,ijc->hwc", v, w[0])[None] + b


def average_pool(x, kernel, stride, same):
    return np.nanmean(windows(x, kernel, stride, (1, 1), same, np.nan), axis=(2, 3))[None]


def max_pool(x, kernel, stride, same):
    return np.nanmax(windows(x, kernel, stride, (1, 1), same, np.nan), axis=(2, 3))[None]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def logistic(x):
    return 0.5 * (1 + np.tanh(x / 2))


def activation(x, name):
    """A fused activation by its schema name."""
    low, high = {"NONE": (None, None), "RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}[name]
    return x if name == "NONE" else np.clip(x, low, high)
