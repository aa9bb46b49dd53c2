"""Make small random int8, uint8 and int16x8 TFLite networks with inputs and goldens, without TensorFlow.

    rand_tflite.py --seed S --count K --out DIR [--ops conv2d,add,...] [--max-ops M] [--samples N]

Writes DIR/net_<seed>/{model.tflite, in_<k>.bin, out_<k>.bin, meta.json} for seeds S .. S+K-1, in the
folder format of tests/models. The same seed and options give the same files. Environment:
requirements-classic.txt.

A network is a random graph: each operator takes a random earlier tensor (mostly the newest), tensors without readers
become the graph's outputs. Sizes straddle 4, 8, 16 and 32. Output scales follow the
range that the float form of the operator reaches on the network's own samples, so answers fill int8
without all of them saturating. Left out on purpose: what the reference leaves undefined (NUMERICS.md)
and what no converter writes (stride and dilation together). The other operators are in rand_ops.py and
rand_math.py.
"""

import argparse
import json
import pathlib
import platform
import sys

import numpy as np
import tflite

import float_sim as fs
import make_goldens
import rand_math
import rand_ops
from rand_ops import Skip
from tflite_writer import Net

EDGES = [n + d for n in (4, 8, 16, 32) for d in (-1, 0, 1)]
CHANNELS = [1, 2, 3] + EDGES
SPATIAL = [1, 2] + [v for v in EDGES if v <= 17]
MAX_ELEMENTS = 6144      # of one activation tensor
MAX_MACS = 600_000       # of one operator
MAX_WEIGHTS = 40_000     # bytes of one operator
SOFTMAX_MAX = 128        # a flat distribution over 512 or more is undefined in the reference
ACTIVATIONS = ["NONE", "RELU", "RELU6", "RELU_N1_TO_1"]


class Act:
    """An activation tensor: its number in the file, quantisation, and its value per sample (float, on the int8 grid)."""

    def __init__(self, index, scale, zero, values):
        self.index, self.scale, self.zero, self.values = index, scale, zero, values
        self.shape = values[0].shape
        self.read = False


class Maker(rand_ops.Ops, rand_math.Ops):
    """One network under construction. Every method named op_* appends one operator (or, for concat, a few)."""

    def __init__(self, seed, names, n_samples, dtypes=(np.int8,)):
        self.rng = np.random.default_rng(seed)
        self.dtype = dtypes[int(self.rng.integers(len(dtypes)))] if len(dtypes) > 1 else dtypes[0]
        self.low, self.high = np.iinfo(self.dtype).min, np.iinfo(self.dtype).max
        self.wide = self.dtype == np.int16  # zero points 0, int8 weights, int64 biases
        self.net = Net(f"rand_tflite seed {seed}")
        self.n_samples = n_samples
        self.names = names
        self.acts, self.inputs, self.input_codes = [], [], []
        self.n_ops = 0
        self.more_outputs = []  # of other types

    # -- drawing ---------------------------------------------------------------------------------

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, seq):
        return seq[int(self.rng.integers(len(seq)))]

    def source(self, image=False):
        """An earlier tensor, mostly the newest; with `image` one that is [1,H,W,C]."""
        fit = [a for a in self.acts if not image or len(a.shape) == 4 and a.shape[0] == 1]
        if not fit:
            raise Skip
        return fit[-1] if self.chance(0.75) else self.pick(fit)

    def range_scale(self, values, signed=True):
        """Scale and zero point for a tensor that takes `values`: from 30 % clipped to twice too wide,
        mostly asymmetric."""
        low = min(0.0, min(float(v.min()) for v in values))
        high = max(0.0, max(float(v.max()) for v in values))
        if high - low < 1e-6:
            high = low + 1.0
        if self.wide:
            return np.float32(max(high, -low) / 32767 * self.rng.uniform(0.7, 1.3)), 0
        scale = np.float32((high - low) / 255 * self.rng.uniform(0.7, 1.3) * (2 if self.chance(0.1) else 1))
        if signed and self.chance(0.15):
            return np.float32(max(high, -low) / 127 * self.rng.uniform(0.8, 1.2)), self.low + 128
        return scale, int(np.clip(round(self.low - low / float(scale)), self.low, self.low + 255))

    # -- tensors ---------------------------------------------------------------------------------

    def add_act(self, name, values, scale, zero):
        """A new activation tensor; its values are put on the int8 grid so that errors do not pile up."""
        index = self.net.tensor(name, values[0].shape, self.dtype, scale, zero)
        grid = [(np.clip(np.rint(v / scale) + zero, self.low, self.high) - zero) * float(scale) for v in values]
        act = Act(index, np.float32(scale), int(zero), grid)
        self.acts.append(act)
        return act

    def add_input(self, shape):
        """A graph input; samples are in turn uniform, bell-shaped, at the rails, smooth."""
        scale = np.float32(10 ** self.rng.uniform(-2.5, -0.9))
        zero = int(self.pick([-128, 0, 127, int(self.rng.integers(-128, 128)), int(self.rng.integers(-20, 21))]))
        if self.wide:
            codes = [self.codes(shape, 0, k % 4) * 256 + self.rng.integers(0, 256, shape) for k in range(self.n_samples)]
            act = self.add_act(f"input_{len(self.inputs)}", [c * float(scale / 256) for c in codes],
                               np.float32(scale / 256), 0)
            self.inputs.append(act)
            self.input_codes.append(np.stack(codes).astype(self.dtype))
            return act
        codes = [self.codes(shape, zero, k % 4) + self.low + 128 for k in range(self.n_samples)]
        zero += self.low + 128
        act = self.add_act(f"input_{len(self.inputs)}", [(c.astype(float) - zero) * float(scale) for c in codes],
                           scale, zero)
        self.inputs.append(act)
        self.input_codes.append(np.stack(codes).astype(self.dtype))
        return act

    def codes(self, shape, zero, kind):
        if kind == 0:
            return self.rng.integers(-128, 128, shape)
        if kind == 1:
            return np.clip(np.rint(self.rng.normal(zero, 30, shape)), -128, 127).astype(int)
        if kind == 2:
            return self.rng.choice([-128, 127], shape)
        steps = np.arange(int(np.prod(shape))).reshape(shape)
        return np.rint(100 * np.sin(steps * self.rng.uniform(0.01, 0.5))).astype(int)

    def out(self, name, values, like=None, fixed=None):
        """The output tensor of an operator: quantised like another, with a fixed pair, or by range."""
        scale, zero = (like.scale, like.zero) if like else fixed if fixed else self.range_scale(values)
        return self.add_act(f"t{self.n_ops:02d}_{name}", values, scale, zero)

    def ints(self, name, values):
        values = np.array(values, np.int32)
        return self.net.tensor(f"t{self.n_ops:02d}_{name}", values.shape, np.int32, data=values)

    def emit(self, op, inputs, out, version, options=None, **fields):
        """Append the operator; `inputs` are Acts or tensor numbers."""
        for a in inputs:
            if isinstance(a, Act):
                a.read = True
        self.net.op(op, [a.index if isinstance(a, Act) else a for a in inputs], [out.index], version,
                    options, **fields)
        self.n_ops += 1

    # -- convolutions and dense ------------------------------------------------------------------

    def weights(self, shape, axis, x, per_channel):
        """Random weights and bias whose result has a spread between 0.5 and 5, so that ReLU6 and tanh
        have something to do. Returns (w quantised values, w scales, w float, bias values, bias scales, bias float)."""
        if self.chance(0.5):
            w = self.rng.integers(-127, 128, shape)
        else:
            w = np.clip(np.rint(self.rng.normal(0, 35, shape)), -127, 127).astype(int)
        spread = max(float(np.sqrt(np.mean(np.square(x.values)))), float(x.scale)) * np.sqrt(
            np.prod(shape) / shape[axis] * np.mean(np.square(w)) + 1)  # of the sum, for weight scale 1
        n = shape[axis] if per_channel else 1
        scales = (10 ** self.rng.uniform(-0.3, 0.7) / spread * 2 ** self.rng.uniform(-1.5, 1.5, n)).astype(np.float32)
        bias = np.rint(self.rng.normal(0, 0.5 * spread / float(x.scale), shape[axis])).astype(int)
        bias_scales = (x.scale * scales).astype(np.float32)
        along = [1] * len(shape)
        along[axis] = -1
        return w, scales, w * scales.astype(float).reshape(along), bias, bias_scales, bias * bias_scales.astype(float)

    def add_weights(self, name, shape, axis, x, per_channel, optional_bias=True):
        """Constant tensors of a weighted operator. Returns (weights number, bias number or -1, w float, bias float)."""
        unsigned = self.dtype == np.uint8
        w, scales, wf, bias, bias_scales, bf = self.weights(shape, axis, x, per_channel and not unsigned)
        zero = 0
        if unsigned:  # weights have a zero point then
            zero = int(self.rng.integers(1, 256))
            w = np.clip(w + zero, 0, 255)
            wf = (w - zero) * float(scales[0])
        wi = self.net.tensor(f"t{self.n_ops:02d}_{name}_w", shape, np.int8 if self.wide else self.dtype, scales, zero,
                             axis if len(scales) > 1 else 0, w)
        if optional_bias and self.chance(0.1):
            return wi, -1, wf, 0.0
        bi = self.net.tensor(f"t{self.n_ops:02d}_{name}_b", bias.shape, np.int64 if self.wide else np.int32, bias_scales, 0, 0, bias)
        return wi, bi, wf, bf

    def window(self, x, kernels=(1, 1, 2, 3, 3, 3, 4, 5, 7), dilate=True):
        """Kernel, stride, dilation and padding of a sliding window over x, and the output's height and width."""
        h, w = x.shape[1:3]
        k = [self.pick(kernels)] * 2 if self.chance(0.7) else [self.pick(kernels), self.pick(kernels)]
        stride, dilation = [1, 1], [1, 1]
        if self.chance(0.35):
            stride = [self.pick([2, 2, 3])] * 2 if self.chance(0.7) else [self.pick([1, 2, 3]), self.pick([1, 2, 3])]
        elif dilate and self.chance(0.2):
            dilation = [self.pick([2, 3])] * 2 if self.chance(0.7) else [self.pick([1, 2]), self.pick([1, 2, 3])]
        same = self.chance(0.6)
        out = [fs.out_size(v, k[a], stride[a], dilation[a], same) for a, v in enumerate((h, w))]
        if min(out) < 1:
            raise Skip
        return k, stride, dilation, same, out

    def fused(self):
        return self.pick(ACTIVATIONS) if self.chance(0.4) else self.pick(["NONE", "RELU"])

    def window_fields(self, stride, dilation, same, act):
        return dict(Padding=tflite.Padding.SAME if same else tflite.Padding.VALID,
                    StrideH=stride[0], StrideW=stride[1], FusedActivationFunction=activation_code(act),
                    **({} if dilation is None else dict(DilationHFactor=dilation[0], DilationWFactor=dilation[1])))

    def op_conv2d(self, x=None, like=None, geometry=None):
        """`like` and `geometry` are used by concat: a second branch of the same shape and quantisation."""
        x = x or self.source(image=True)
        k, stride, dilation, same, out = geometry or self.window(x)
        oc = self.pick(CHANNELS)
        shape = (oc, *k, x.shape[3])
        n_weights, n_out = int(np.prod(shape)), out[0] * out[1] * oc
        if n_weights > MAX_WEIGHTS or n_out > MAX_ELEMENTS or n_out * n_weights // oc > MAX_MACS:
            raise Skip
        wi, bi, wf, bf = self.add_weights("conv", shape, 0, x, self.chance(0.85), optional_bias=False)
        act = "NONE" if like else self.fused()
        y = [fs.activation(fs.conv(v, wf, bf, stride, dilation, same), act) for v in x.values]
        t = self.out("conv", y, like=like)
        self.emit("CONV_2D", [x, wi, bi], t, 3, "Conv2DOptions",
                  **self.window_fields(stride, dilation, same, act))
        return t

    def op_long_depthwise(self):
        """Kernels as long as those of speech networks, dilations as far as those of atrous pooling."""
        x = self.source(image=True)
        far = [self.pick([1, 3]), self.pick([1, 3])]
        k, dilation = self.pick([([1, 41], [1, 1]), ([33, 1], [1, 1]), ([1, 17], [1, 2]), ([3, 3], [18, 18]),
                                 (far, [self.pick([1, 20]), self.pick([15, 16, 17])])])
        self.op_depthwise(x, (k, [1, 1], dilation, True, x.shape[1:3]))

    def op_depthwise(self, x=None, geometry=None):
        x = x or self.source(image=True)
        k, stride, dilation, same, out = geometry or self.window(x)
        multiplier = self.pick([1, 1, 1, 1, 2, 3, 4, 8])
        oc = x.shape[3] * multiplier
        n_out = out[0] * out[1] * oc
        if oc > 64 or n_out > MAX_ELEMENTS or n_out * k[0] * k[1] > MAX_MACS:
            raise Skip
        wi, bi, wf, bf = self.add_weights("dw", (1, *k, oc), 3, x, self.chance(0.85))
        act = self.fused()
        y = [fs.activation(fs.depthwise(v, wf, bf, multiplier, stride, dilation, same), act) for v in x.values]
        self.emit("DEPTHWISE_CONV_2D", [x, wi] + ([bi] if bi >= 0 else []), self.out("dw", y), 3,
                  "DepthwiseConv2DOptions", DepthMultiplier=multiplier,
                  **self.window_fields(stride, dilation, same, act))

    def op_fc(self):
        """Mostly the whole tensor as one row; sometimes each row of the last dimension by itself."""
        x = self.source()
        rows = len(x.shape) > 1 and self.chance(0.3)
        k = x.shape[-1] if rows else int(np.prod(x.shape))
        n = self.pick(CHANNELS + [10, 12, 64])
        m = int(np.prod(x.shape)) // k
        if n * k > MAX_WEIGHTS or n * m > MAX_ELEMENTS:
            raise Skip
        keep = rows and self.chance(0.5)
        wi, bi, wf, bf = self.add_weights("fc", (n, k), 0, x, False)
        act = self.fused()
        shape = (*x.shape[:-1], n) if keep else (m, n)
        y = [fs.activation(v.reshape(m, k) @ wf.T + bf, act).reshape(shape) for v in x.values]
        self.emit("FULLY_CONNECTED", [x, wi, bi], self.out("fc", y), 5 if keep else 4, "FullyConnectedOptions",
                  FusedActivationFunction=activation_code(act), KeepNumDims=keep)

    # -- elementwise, two operands ---------------------------------------------------------------

    def operands(self, twice):
        """Two operands of a broadcastable shape: two tensors, a tensor and a new input, a tensor and a
        constant, or, with probability `twice`, one tensor twice."""
        x = self.source()
        others = [a for a in self.acts if a.shape == x.shape and a is not x]
        if self.chance(twice):
            y = x
        elif others and self.chance(0.7):
            y = self.pick(others)
        elif len(self.inputs) < 3 and self.chance(0.6):
            y = self.add_input(x.shape)
        else:
            narrow = [(1,) * (len(x.shape) - 1) + (x.shape[-1],), (x.shape[-1],), (1,)]
            y = self.constant(x.shape if self.chance(0.5) else self.pick(narrow))
        return (y, x) if self.chance(0.5) else (x, y)

    def code(self, shape=None):
        return self.rng.integers(self.low, self.high + 1, shape)

    def constant(self, shape, like=None):
        """A constant, quantised like another tensor or not, as an Act that is not a candidate for later operators."""
        scale, zero = np.float32(10 ** self.rng.uniform(-2.5, -1)), int(self.code())
        if self.wide:
            scale, zero = np.float32(scale / 256), 0
        if like:
            scale, zero = like.scale, like.zero
        codes = self.code(shape)
        index = self.net.tensor(f"t{self.n_ops:02d}_const", shape, self.dtype, scale, zero, 0, codes)
        return Act(index, scale, zero, [(codes - zero) * float(scale)] * self.n_samples)

    def sum_scale(self, a, b, values):
        """By range, but not much finer than the operands: a difference of nearly equal tensors would be all
        rounding. This also keeps the reference's condition 2*max(s1, s2) / (2^20 * s_out) < 1 (it aborts
        otherwise)."""
        scale, zero = self.range_scale(values)
        return max(scale, np.float32(max(a.scale, b.scale) / 32)), zero

    def binary(self, op, function, options, version, twice):
        a, b = self.operands(twice)
        act = self.fused()
        y = [fs.activation(function(u, v), act) for u, v in zip(a.values, b.values)]
        fixed = self.sum_scale(a, b, y) if op in ("ADD", "SUB") else None
        shifts = {} if op == "MUL" else {"PotScaleInt16": not self.wide}
        self.emit(op, [a, b], self.out(op.lower(), y, fixed=fixed), version, options,
                  FusedActivationFunction=activation_code(act), **shifts)

    def op_add(self):
        self.binary("ADD", np.add, "AddOptions", 2, twice=0.1)

    def op_sub(self):
        self.binary("SUB", np.subtract, "SubOptions", 2, twice=0.02)

    def op_mul(self):
        self.binary("MUL", np.multiply, "MulOptions", 2, twice=0.1)

    # -- pools and means -------------------------------------------------------------------------

    def pool(self, op, function):
        x = self.source(image=True)
        k, stride, _, same, _ = self.window(x, (1, 2, 2, 3, 3, 4, 5, 8), dilate=False)
        if self.chance(0.25):  # global
            k, stride, same = list(x.shape[1:3]), [1, 1], False
        act = self.pick(ACTIVATIONS) if self.chance(0.2) else "NONE"
        y = [fs.activation(function(v, k, stride, same), act) for v in x.values]
        self.emit(op, [x], self.out(op.lower()[:3] + "pool", y, like=x), 2, "Pool2DOptions",
                  FilterHeight=k[0], FilterWidth=k[1], **self.window_fields(stride, None, same, act))

    def op_avgpool(self):
        self.pool("AVERAGE_POOL_2D", fs.average_pool)

    def op_maxpool(self):
        self.pool("MAX_POOL_2D", fs.max_pool)

    def op_mean(self):
        x = self.source(image=True)
        axes = self.pick([[1, 2], [1, 2], [2, 1], [1], [2], [3], [1, 2, 3], [-2, -3]])
        keep = self.chance(0.5)
        y = [v.mean(tuple(axes), keepdims=keep) for v in x.values]
        t = self.out("mean", y, like=x if self.chance(0.3) else None)
        self.emit("MEAN", [x, self.ints("axes", axes)], t, 2, "ReducerOptions", KeepDims=keep)

    # -- one operand -----------------------------------------------------------------------------

    def unit(self, over, zero):
        """Parameters that the format fixes: scale 1 / over and a zero point above the lowest code; int16: 1/32768 and
        0."""
        return (np.float32(1 / 32768), 0) if self.wide else (np.float32(1 / over), self.low + zero)

    def op_softmax(self):
        x = self.source()
        if x.shape[-1] > SOFTMAX_MAX:
            raise Skip
        t = self.out("softmax", [fs.softmax(v) for v in x.values], fixed=self.unit(256, 0))
        self.emit("SOFTMAX", [x], t, 2, "SoftmaxOptions", Beta=1.0)

    def op_logistic(self):
        x = self.source()
        t = self.out("logistic", [fs.logistic(v) for v in x.values], fixed=self.unit(256, 0))
        self.emit("LOGISTIC", [x], t, 2)

    def op_tanh(self):
        x = self.source()
        t = self.out("tanh", [np.tanh(v) for v in x.values], fixed=self.unit(128, 128))
        self.emit("TANH", [x], t, 2)

    def op_leaky_relu(self):
        x = self.source()
        alpha = self.pick([0.01, 0.1, 0.2, 0.3, float(self.rng.uniform(0.01, 0.9))])
        t = self.out("leaky", [np.where(v < 0, alpha * v, v) for v in x.values])
        self.emit("LEAKY_RELU", [x], t, 2, "LeakyReluOptions", Alpha=alpha)

    def op_quantize(self):
        x = self.source()
        self.emit("QUANTIZE", [x], self.out("requant", x.values), 2, "QuantizeOptions")

    # -- data movement ---------------------------------------------------------------------------

    def op_reshape(self):
        """To one row, to four dimensions again, or with two dimensions swapped in size."""
        x = self.source()
        n = int(np.prod(x.shape))
        c = self.pick([v for v in CHANNELS + [n] if n % v == 0])
        shape = self.pick([(1, n), (1, 1, 1, n), (1, 1, n // c, c), (1, n // c, 1, c), (1, n // c, c)])
        asked = list(shape)
        if self.chance(0.2):
            asked[-1] = -1
        y = [v.reshape(shape) for v in x.values]
        self.emit("RESHAPE", [x, self.ints("shape", asked)], self.out("reshape", y, like=x), 1, "ReshapeOptions",
                  NewShape=asked)

    def op_transpose(self):
        x = self.source()
        rank = len(x.shape)
        if rank < 2:
            raise Skip
        perm = [int(v) for v in self.rng.permutation(rank)]
        if self.chance(0.6):  # the batch stays in front
            perm = [0] + [p for p in perm if p != 0]
        y = [v.transpose(perm) for v in x.values]
        self.emit("TRANSPOSE", [x, self.ints("perm", perm)], self.out("transpose", y, like=x), 2, "TransposeOptions")

    def op_pad(self):
        x = self.source()
        pads = [[0, 0]] + [[int(self.rng.integers(0, 3)), int(self.rng.integers(0, 3))] for _ in x.shape[1:]]
        if len(pads) == 4 and self.chance(0.7):
            pads[3] = [0, 0]
        if np.prod([s + sum(p) for s, p in zip(x.shape, pads)]) > MAX_ELEMENTS:
            raise Skip
        y = [np.pad(v, pads) for v in x.values]
        self.emit("PAD", [x, self.ints("pads", pads)], self.out("pad", y, like=x), 2, "PadOptions")

    def op_concat(self):
        """Two to four parts of one quantisation: the tensor itself, a requantised neighbour, a second
        convolution, a constant. Other operators are added for the parts only where --ops allows them."""
        x = self.source()
        axis = len(x.shape) - 1 if self.chance(0.6) else int(self.rng.integers(min(1, len(x.shape) - 1), len(x.shape)))
        n_parts = self.pick([2, 2, 2, 3, 4])
        if np.prod(x.shape) * n_parts > MAX_ELEMENTS:
            raise Skip
        parts = [x] + [self.part(x, axis) for _ in range(n_parts - 1)]
        parts = [parts[i] for i in self.rng.permutation(n_parts)]
        y = [np.concatenate(v, axis) for v in zip(*(p.values for p in parts))]
        asked = axis - len(x.shape) if self.chance(0.3) else axis
        self.emit("CONCATENATION", parts, self.out("concat", y, like=x), 2, "ConcatenationOptions", Axis=asked)

    def part(self, x, axis):
        """One more part for concat, of x's quantisation and shape (except `axis`)."""
        kind = self.rng.random()
        others = [a for a in self.acts if len(a.shape) == len(x.shape) and a is not x
                  and all(p == q for i, (p, q) in enumerate(zip(a.shape, x.shape)) if i != axis)
                  and a.shape[axis] <= 33]
        if others and kind < 0.5:
            other = self.pick(others)
            if (other.scale, other.zero) == (x.scale, x.zero):
                return other
            if "quantize" in self.names:
                t = self.out("requant", other.values, like=x)
                self.emit("QUANTIZE", [other], t, 2, "QuantizeOptions")
                return t
        if kind < 0.75 and len(x.shape) == 4 and x.shape[0] == 1 and axis == 3 and "conv2d" in self.names:
            k = self.pick([1, 3])
            try:
                return self.op_conv2d(x, x, ([k, k], [1, 1], [1, 1], True, x.shape[1:3]))
            except Skip:
                pass
        if kind < 0.9:
            return x
        return self.constant(x.shape, x)

    # -- the whole -------------------------------------------------------------------------------

    def input_shape(self):
        if not set(self.names) & RANK4 and self.chance(0.4):
            return (1, self.pick(CHANNELS + [63, 64, 65]))
        while True:
            shape = (1, self.pick(SPATIAL), self.pick(SPATIAL), self.pick(CHANNELS))
            if np.prod(shape) <= MAX_ELEMENTS // 2:
                return shape

    def build(self, n_ops):
        """Draw operators until there are n_ops of them (concat may bring one or two more)."""
        self.add_input(self.input_shape())
        tries, drawn = 0, [n for n in self.names for _ in range(WEIGHT.get(n, 1))]
        while self.n_ops < n_ops and tries < 400:
            tries += 1
            try:
                getattr(self, "op_" + self.pick(drawn))()
            except Skip:
                continue
        if self.n_ops == 0:
            raise ValueError(f"none of {self.names} fits the input drawn")
        outputs = [a for a in self.acts if not a.read and (a not in self.inputs or self.chance(0.3))]
        self.borders = [a.index for a in self.inputs], [a.index for a in outputs] + self.more_outputs
        return self.net.finish(*self.borders)


OPS = sorted(n[3:] for n in dir(Maker) if n.startswith("op_"))
WEIGHT = {"conv2d": 4, "depthwise": 3, "fc": 2, "add": 2}  # how often each is drawn, 1 if not named
RANK4 = {"conv2d", "depthwise", "avgpool", "maxpool", "mean", "transpose_conv", "grouped_conv", "resize_bilinear",
         "dilated", "resize_nearest", "space_to_depth", "space_to_batch"}


def activation_code(name):
    return getattr(tflite.ActivationFunctionType, name)


def make(folder, seed, names, max_ops, n_samples, dtypes=(np.int8,)):
    """Write one network's folder. Returns its meta.json and the Maker."""
    maker = Maker(seed, names, n_samples, dtypes)
    content = maker.build(int(maker.rng.integers(1, max_ops + 1)))
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("in_*.bin"), *folder.glob("out_*.bin")]:
        old.unlink()
    (folder / "model.tflite").write_bytes(content)
    for k, codes in enumerate(maker.input_codes):
        codes.tofile(folder / f"in_{k}.bin")
    meta = {"name": folder.name, "task": "random network",
            "source": {"script": "tests/oracle/rand_tflite.py", "seed": seed, "ops": names, "max_ops": max_ops,
                       "python": platform.python_version(), "numpy": np.__version__, "licence": "Apache-2.0"},
            "weights": "seeded random"}
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")
    return make_goldens.goldens_of_folder(folder)[2], maker


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--count", type=int, default=1)
    ap.add_argument("--out", type=pathlib.Path, required=True)
    ap.add_argument("--ops", default=",".join(OPS), help="comma-separated, default all: " + ",".join(OPS))
    ap.add_argument("--max-ops", type=int, default=6)
    ap.add_argument("--samples", type=int, default=3)
    ap.add_argument("--types", default="int8,uint8", help="of the networks, drawn from int8, uint8, int16")
    args = ap.parse_args()
    names = [n.strip() for n in args.ops.split(",") if n.strip()]
    unknown = sorted(set(names) - set(OPS))
    if unknown or not names:
        ap.error(f"unknown operators {unknown}; known are {','.join(OPS)}")

    for seed in range(args.seed, args.seed + args.count):
        types = [np.dtype(t).type for t in args.types.split(",")]
        meta, _ = make(args.out / f"net_{seed}", seed, names, args.max_ops, args.samples, types)
        print(f"net_{seed}: {meta['macs']} MACs, {' '.join(meta['ops'])}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
