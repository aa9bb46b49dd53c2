"""Operators of rand_tflite.py that compute, beyond the common ones: one method op_* draws and appends one."""

import math

import numpy as np
import tflite

import float_sim as fs
from rand_ops import LIMIT, Skip


RELATIONS = [("EQUAL", np.equal), ("NOT_EQUAL", np.not_equal), ("LESS", np.less), ("GREATER", np.greater),
             ("GREATER_EQUAL", np.greater_equal), ("LESS_EQUAL", np.less_equal)]  # the even ones also of int16


def lstm(x, weights, biases, major):
    """The float form, for the output's range."""
    x = np.swapaxes(x, 0, 1) if major else x
    h = c = np.zeros((x.shape[0], len(biases[0])))
    y = []
    for t in range(x.shape[1]):
        i, f, g, o = (np.clip(x[:, t] @ weights[k].T + h @ weights[4 + k].T + biases[k], -50, 50) for k in range(4))
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        y.append(h)
    return np.stack(y, 0 if major else 1)


class Ops:
    """Mixed into rand_tflite.Maker."""

    def only(self, *dtypes):
        """The types that the oracle has this operator for."""
        if self.dtype not in dtypes:
            raise Skip

    # -- one operand -----------------------------------------------------------------------------------

    def unary(self, op, function, version=1, options=None, fixed=None, **fields):
        x = self.source()
        y = [function(v) for v in x.values]
        self.emit(op, [x], self.out(op.lower(), y, fixed=fixed), version, options, **fields)

    def op_abs(self):
        self.only(np.int8, np.int16)
        self.unary("ABS", np.abs, 2)

    def op_exp(self):
        self.only(np.int8)
        if max(float(v.max()) for v in self.acts[-1].values) > 12 or self.acts[-1].scale > 0.08:
            raise Skip  # beyond int32 the reference is undefined
        x = self.acts[-1]
        self.emit("EXP", [x], self.out("exp", [np.exp(v) for v in x.values]), 2)

    def op_rsqrt(self):
        """On the result of a RELU: quantised values below the zero point are refused."""
        self.only(np.int8)
        x = self.source()
        top = max(max(float(v.max()) for v in x.values), 0.1)
        y = [np.clip(v, 0, None) for v in x.values]
        t = self.out("relu", y, fixed=(np.float32(top / 255 * self.rng.uniform(0.8, 2)), -128))
        self.emit("RELU", [x], t, 2)
        roots = [1 / np.sqrt(np.maximum(v, float(t.scale) / 2)) for v in t.values]
        high = max(float(v.max()) for v in roots) * self.rng.uniform(0.2, 1.2)
        self.emit("RSQRT", [t], self.out("rsqrt", roots, fixed=(np.float32(high / 255), -128)), 2)

    def op_gelu(self):
        self.only(np.int8, np.uint8)
        erf = np.vectorize(math.erf)
        approximate = self.chance(0.5)
        self.unary("GELU", lambda v: v * (1 + erf(v / math.sqrt(2))) / 2, 1, "GeluOptions", Approximate=approximate)

    def op_relus(self):
        """The activations by themselves, requantising."""
        op = self.pick(["RELU", "RELU6"] if self.wide else ["RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"])
        low, high = {"RELU": (0, np.inf), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1), "RELU_0_TO_1": (0, 1)}[op]
        self.unary(op, lambda v: np.clip(v, low, high), 2 if op in ("RELU", "RELU6") else 1)

    def op_hard_swish(self):
        self.only(np.int8, np.uint8)
        self.unary("HARD_SWISH", lambda v: v * np.clip(v + 3, 0, 6) / 6, 1, "HardSwishOptions")

    def op_l2_normalization(self):
        self.only(np.int8)
        if len(self.acts[-1].shape) > 4:
            raise Skip
        self.unary("L2_NORMALIZATION", lambda v: v / np.maximum(1e-6, np.sqrt((v * v).sum(-1, keepdims=True))), 2,
                   "L2NormOptions", fixed=(np.float32(1 / 128), 0))

    def op_log_softmax(self):
        self.only(np.int8, np.uint8)
        x = self.source()
        if len(x.shape) > 4:
            raise Skip
        y = [v - v.max(-1, keepdims=True) for v in x.values]
        y = [v - np.log(np.exp(v).sum(-1, keepdims=True)) for v in y]
        self.emit("LOG_SOFTMAX", [x], self.out("log_softmax", y, fixed=(np.float32(1 / 16), self.high)),
                  2 if self.dtype == np.int8 else 1, "LogSoftmaxOptions")

    # -- two operands ----------------------------------------------------------------------------------

    def op_prelu(self):
        self.only(np.int8, np.uint8)
        x = self.source()
        if len(x.shape) > 4:
            raise Skip
        shape = self.pick([x.shape[1:], (1,) * (len(x.shape) - 2) + x.shape[-1:], x.shape[-1:]])
        alpha = self.constant(shape)
        y = [np.where(v < 0, a * v, v) for v, a in zip(x.values, alpha.values)]
        self.emit("PRELU", [x, alpha], self.out("prelu", y), 1)

    def op_squared_difference(self):
        self.only(np.int8)
        a, b = self.operands(0.1)
        if max(len(a.shape), len(b.shape)) > 4:
            raise Skip
        y = [np.square(u - v) for u, v in zip(a.values, b.values)]
        self.emit("SQUARED_DIFFERENCE", [a, b], self.out("squared", y), 2, "SquaredDifferenceOptions")

    def op_extremum(self):
        """MAXIMUM or MINIMUM with every broadcast."""
        x = self.source()
        if len(x.shape) > 4:
            raise Skip
        shape = tuple(self.pick([1, n]) for n in x.shape)[int(self.rng.integers(len(x.shape))):]
        codes = self.code(shape)
        index = self.net.tensor(f"t{self.n_ops:02d}_const", shape, self.dtype, x.scale, x.zero, 0, codes)
        op, function = self.pick([("MAXIMUM", np.maximum), ("MINIMUM", np.minimum)])
        y = [function(v, (codes - x.zero) * float(x.scale)) for v in x.values]
        self.emit(op, [x, index], self.out(op.lower(), y, like=x), 2, "MaximumMinimumOptions")

    def op_batch_matmul(self):
        """Multiply a tensor by itself, transposed, or by a constant."""
        self.only(np.int8, np.int16)
        x = self.source()
        if not 2 <= len(x.shape) <= 4:
            raise Skip
        adj_x = self.chance(0.3)
        k = x.shape[-2] if adj_x else x.shape[-1]
        m = x.shape[-1] if adj_x else x.shape[-2]
        if self.chance(0.3):
            other, adj_y = x, not adj_x
            n = m
        else:
            n, adj_y = self.pick([1, 3, 8, 17]), self.chance(0.5)
            # with AdjX and a broadcast the oracle's second matrix is not the product (seed 1112 showed it)
            batch = x.shape[:-2] if adj_x else self.pick([x.shape[:-2], (1,) * (len(x.shape) - 2)])
            other = self.constant((*batch, n, k) if adj_y else (*batch, k, n))
        if np.prod(x.shape[:-2]) * m * n > LIMIT:
            raise Skip
        y = [np.matmul(np.swapaxes(u, -1, -2) if adj_x else u, np.swapaxes(v, -1, -2) if adj_y else v)
             for u, v in zip(x.values, other.values)]
        self.emit("BATCH_MATMUL", [x, other], self.out("matmul", y), 2, "BatchMatMulOptions", AdjX=adj_x, AdjY=adj_y)

    def op_fc_computed(self):
        """FULLY_CONNECTED whose weights are another activation of two dimensions."""
        self.only(np.int8)
        x = self.source()
        fit = [a for a in self.acts if len(a.shape) == 2 and a.shape[1] == x.shape[-1] and a is not x]
        if not fit:
            raise Skip
        w = self.pick(fit)
        m = int(np.prod(x.shape)) // x.shape[-1]
        if m * w.shape[0] > LIMIT:
            raise Skip
        bias = self.net.tensor(f"t{self.n_ops:02d}_b", (w.shape[0],), np.int32, np.float32(x.scale * w.scale),
                               data=self.rng.integers(-500, 500, w.shape[0]))
        y = [v.reshape(m, -1) @ u.T for v, u in zip(x.values, w.values)]
        self.emit("FULLY_CONNECTED", [x, w, bias], self.out("fc", y), 4, "FullyConnectedOptions")

    def op_lstm(self):
        """Over a tensor reshaped to [batch, steps, channels]; its state is afresh for each sample."""
        self.only(np.int8)
        x, shapes = self.source(), []
        for b in (1, 2, 3):
            shapes += [(b, t, x.values[0].size // (b * t)) for t in range(1, 25) if x.values[0].size % (b * t) == 0]
        shapes = [s for s in shapes if s[2] <= 64]
        if not shapes:
            raise Skip
        shape, major, cells = self.pick(shapes), self.chance(0.2), self.pick([1, 2, 7, 8, 16, 20])
        steps = self.out("steps", [v.reshape(shape) for v in x.values], like=x)
        self.emit("RESHAPE", [x, self.ints("shape", shape)], steps, 1, "ReshapeOptions", NewShape=list(shape))
        reach = max(float(np.abs(v).max()) for v in x.values) + 1e-3
        scales = [np.float32(self.rng.uniform(0.5, 6) / 127 / np.sqrt(shape[2]) / reach) for _ in range(4)]
        scales += [np.float32(self.rng.uniform(0.5, 4) / 127 / np.sqrt(cells)) for _ in range(4)]
        weights = [self.rng.integers(-127, 128, (cells, cells if k > 3 else shape[2])) for k in range(8)]
        biases = [self.rng.integers(-1500, 1500, cells) for _ in range(4)]
        real = [v * float(s) for v, s in zip(weights, scales)]
        y = [lstm(v, real, [v * float(s * x.scale) for v, s in zip(biases, scales)], major) for v in steps.values]
        t, n = self.out("lstm", y), f"t{self.n_ops:02d}_"
        # a converter writes a separate scale for the state of a reversed LSTM
        state = (t.scale, t.zero) if self.chance(0.7) else (np.float32(t.scale * 0.8), int(self.rng.integers(-128, 128)))
        batch = shape[1] if major else shape[0]
        h = self.net.tensor(n + "h", (batch, cells), np.int8, *state, variable=True)
        c = self.net.tensor(n + "c", (batch, cells), np.int16, 2.0 ** int(self.rng.integers(-15, -8)), variable=True)
        inside = state if self.chance(0.3) else (t.scale, t.zero)  # and of a bidirectional one's output
        hidden = self.net.tensor(n + "hidden", (0,), np.int8, *inside)
        inner = [self.net.tensor(n + "inner", (0,), np.float32) for _ in range(4)] + [hidden]
        w = [self.net.tensor(n + "w", v.shape, np.int8, s, data=v) for v, s in zip(weights, scales)]
        b = [self.net.tensor(n + "b", v.shape, np.int32, s * x.scale, data=v) for v, s in zip(biases, scales)]
        steps.read = True
        self.net.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [steps.index, *w, -1, -1, -1, *b, -1, -1, h, c, -1, -1, -1, -1],
                    [t.index], 1, "UnidirectionalSequenceLSTMOptions", TimeMajor=major, intermediates=inner,
                    FusedActivationFunction=tflite.ActivationFunctionType.TANH, CellClip=float(self.pick([0, 0, 10, 0.5])))
        self.n_ops += 1

    # -- convolutions ----------------------------------------------------------------------------------

    def op_transpose_conv(self):
        x = self.source(image=True)
        h, w, c = x.shape[1:]
        k, s = [self.pick([1, 2, 3, 4, 5]) for _ in "hw"], [self.pick([1, 2, 2, 3]) for _ in "hw"]
        same, oc = self.chance(0.5), self.pick([1, 3, 4, 8])
        out = [n * t if same else (n - 1) * t + q for n, t, q in zip((h, w), s, k)]
        if out[0] * out[1] * oc > LIMIT or h * w * k[0] * k[1] * c * oc > 600_000:
            raise Skip
        wi, bi, wf, bf = self.add_weights("tconv", (oc, *k, c), 0, x, self.chance(0.85))
        pads = [max(0, (math.ceil(o / t) - 1) * t + q - o) // 2 if same else 0 for o, t, q in zip(out, s, k)]
        y = []
        for v in x.values:
            full = np.zeros((1, (h - 1) * s[0] + k[0] + out[0], (w - 1) * s[1] + k[1] + out[1], oc))
            for ky in range(k[0]):
                for kx in range(k[1]):
                    full[:, ky:ky + h * s[0]:s[0], kx:kx + w * s[1]:s[1]][:, :h, :w] += v @ wf[:, ky, kx].T
            y.append(full[:, pads[0]:pads[0] + out[0], pads[1]:pads[1] + out[1]] + bf)
        t = self.out("tconv", y)
        self.emit("TRANSPOSE_CONV", [self.ints("shape", [1, *out, oc]), wi, x] + ([bi] if bi >= 0 else []), t, 3,
                  "TransposeConvOptions", Padding=tflite.Padding.SAME if same else tflite.Padding.VALID, StrideH=s[0],
                  StrideW=s[1])

    def op_grouped_conv(self):
        self.only(np.int8, np.int16)
        x = self.source(image=True)
        groups = [g for g in (2, 3, 4, 8) if x.shape[3] % g == 0]
        if not groups:
            raise Skip
        g = self.pick(groups)
        k, stride, dilation, same, out = self.window(x)
        oc, part = g * self.pick([1, 2, 3]), x.shape[3] // g
        if out[0] * out[1] * oc > LIMIT or out[0] * out[1] * oc * k[0] * k[1] * part > 600_000:
            raise Skip
        wi, bi, wf, bf = self.add_weights("gconv", (oc, *k, part), 0, x, self.chance(0.85), optional_bias=False)
        y = []
        for v in x.values:
            y.append(np.concatenate([fs.conv(v[..., i * part:(i + 1) * part], wf[i * oc // g:(i + 1) * oc // g], 0.0,
                                             stride, dilation, same) for i in range(g)], -1) + bf)
        self.emit("CONV_2D", [x, wi, bi], self.out("gconv", y), 6, "Conv2DOptions",
                  **self.window_fields(stride, dilation, same, "NONE"))

    def op_dilated(self):
        """SPACE_TO_BATCH_ND, a convolution without padding, BATCH_TO_SPACE_ND: a dilated convolution in disguise."""
        x = self.source(image=True)
        h, w, c = x.shape[1:]
        b, k = [self.pick([1, 2, 3]), self.pick([2, 3])], [self.pick([1, 2, 3]), self.pick([1, 2, 3])]
        pads = [[int(p), int((-(n + p)) % s)] for n, s, p in zip((h, w), b, self.rng.integers(0, 4, 2))]
        crops = [[int(self.rng.integers(p + 1)), int(self.rng.integers(e + 1))] for p, e in pads]
        padded = [h + sum(pads[0]), w + sum(pads[1])]
        part = [n // s for n, s in zip(padded, b)]
        inner = [n - q + 1 for n, q in zip(part, k)]
        out = [n * s - sum(q) for n, s, q in zip(inner, b, crops)]
        depthwise = self.chance(0.4)
        oc = c if depthwise else self.pick([1, 3, 8, 17])
        shape = (1, *k, c) if depthwise else (oc, *k, c)
        if min(inner) < 1 or min(out) < 1 or padded[0] * padded[1] * max(c, oc) * math.prod(k) * (
                1 if depthwise else c) > 600_000 or padded[0] * padded[1] * max(c, oc) > LIMIT:
            raise Skip
        wi, bi, wf, bf = self.add_weights("dil", shape, 3 if depthwise else 0, x, self.chance(0.85), optional_bias=False)
        act = self.fused()
        y = []
        for v in x.values:
            v = np.pad(v, [[0, 0], *pads, [0, 0]])
            v = fs.depthwise(v, wf, bf, 1, [1, 1], b, False) if depthwise else fs.conv(v, wf, bf, [1, 1], b, False)
            y.append(fs.activation(v[:, crops[0][0]:, crops[1][0]:][:, :out[0], :out[1]], act))
        scale, zero = self.range_scale(y)
        cut = self.net.tensor(f"t{self.n_ops:02d}_cut", (b[0] * b[1], *part, c), self.dtype, x.scale, x.zero)
        mid = self.net.tensor(f"t{self.n_ops:02d}_mid", (b[0] * b[1], *inner, oc), self.dtype, scale, zero)
        self.net.op("SPACE_TO_BATCH_ND", [x.index, self.ints("block", b), self.ints("pads", pads)], [cut], 2,
                    "SpaceToBatchNDOptions")
        fields = self.window_fields([1, 1], [1, 1], False, act)
        if depthwise:
            self.net.op("DEPTHWISE_CONV_2D", [cut, wi, bi], [mid], 3, "DepthwiseConv2DOptions", DepthMultiplier=1, **fields)
        else:
            self.net.op("CONV_2D", [cut, wi, bi], [mid], 3, "Conv2DOptions", **fields)
        x.read = True
        t = self.out("dilated", y, fixed=(scale, zero))
        self.net.op("BATCH_TO_SPACE_ND", [mid, self.ints("block", b), self.ints("crops", crops)], [t.index], 2,
                    "BatchToSpaceNDOptions")
        self.n_ops += 3

    def op_resize_bilinear(self):
        self.only(np.int8, np.uint8, np.int16)
        x = self.source(image=True)
        size = [int(self.rng.integers(1, 2 * n + 3)) for n in x.shape[1:3]]
        if self.chance(0.6):  # decoders: whole multiples
            size = [self.pick([1, 2, 2, 2, 3, 4, 8, 16]) * n for n in x.shape[1:3]]
        how = self.pick([(False, False), (True, False), (False, True)])
        if how[0] and self.chance(0.5):  # aligned corners that fall on pixels
            size = [self.pick([1, 2, 4, 8, 16]) * (n - 1) + 1 for n in x.shape[1:3]]
        if size[0] * size[1] * x.shape[3] > LIMIT:
            raise Skip
        y = [v[:, [0] * size[0]][:, :, [0] * size[1]] for v in x.values]  # its range will do
        self.emit("RESIZE_BILINEAR", [x, self.ints("size", size)], self.out("bilinear", y, like=x), 3,
                  "ResizeBilinearOptions", AlignCorners=how[0], HalfPixelCenters=how[1])

    # -- conditions --------------------------------------------------------------------------------------

    def flags(self, name, op, inputs, values, options, version=1):
        """An operator that gives bools; other operators do not read them."""
        index = self.net.tensor(f"t{self.n_ops:02d}_{name}", values[0].shape, np.bool_)
        for a in inputs:
            if not isinstance(a, int):
                a.read = True
        self.net.op(op, [a if isinstance(a, int) else a.index for a in inputs], [index], version, options)
        self.n_ops += 1
        return index, values

    def compared(self, x):
        """x next to another tensor or a constant, by one of the six relations."""
        op, function = self.pick(RELATIONS[::2] if self.wide else RELATIONS)
        if not self.wide and x.scale >= 1:
            raise Skip  # the reference shifts by a negative number of bits
        others = [a for a in self.acts if a.shape == x.shape and (a.scale == x.scale if self.wide else a.scale < 1)]
        if self.wide:
            other = self.pick([*others, self.constant(x.shape, x), self.constant(x.shape[-1:], x)])
        else:
            other = self.pick([*others, self.constant(x.shape), self.constant(x.shape[-1:])])
        pair = [x, other] if self.chance(0.5) else [other, x]
        return self.flags("flags", op, pair, [function(u, v) for u, v in zip(*(a.values for a in pair))],
                          "".join(w.capitalize() for w in op.split("_")) + "Options", 2)

    def op_select(self):
        """One or two comparisons, their logic, and x where the condition holds, else something of its scale."""
        x = self.source()
        if len(x.shape) > 4:
            raise Skip
        index, holds = self.compared(x)
        if self.chance(0.4):
            more, values = self.compared(x)
            op, function = self.pick([("LOGICAL_AND", np.logical_and), ("LOGICAL_OR", np.logical_or)])
            index, holds = self.flags("both", op, [index, more], [function(u, v) for u, v in zip(holds, values)],
                                      "Logical" + op[8:].capitalize() + "Options")
        if self.chance(0.3):
            index, holds = self.flags("not", "LOGICAL_NOT", [index], [~v for v in holds], "LogicalNotOptions")
        if self.chance(0.4):
            self.more_outputs.append(index)
        wide = self.chance(0.5)
        other = self.constant(x.shape if wide else self.pick([(1,), x.shape[-1:]]), x)
        pair = [x, other] if self.chance(0.5) else [other, x]
        y = [np.where(c, u, v) for c, u, v in zip(holds, *(a.values for a in pair))]
        op, options = self.pick([("SELECT", "SelectOptions"), ("SELECT_V2", "SelectV2Options")]) if wide else (
            "SELECT_V2", "SelectV2Options")
        self.emit(op, [index, *pair], self.out("select", y, like=x), 1, options)

    def op_top_k(self):
        """The largest, their places, and what a GATHER picks by them."""
        self.only(np.int8, np.uint8)
        x = self.source()
        if len(x.shape) > 4:
            raise Skip
        k = int(self.rng.integers(1, x.shape[-1] + 1))
        shape = x.shape[:-1] + (k,)
        y = [np.take_along_axis(v, np.argsort(-v, -1, kind="stable")[..., :k], -1) for v in x.values]
        t = self.out("top", y, like=x)
        index = self.net.tensor(f"t{self.n_ops:02d}_places", shape, np.int32)
        x.read = True
        self.net.op("TOPK_V2", [x.index, self.number("k", k)], [t.index, index], 2, "TopKV2Options")
        self.more_outputs.append(index)
        self.n_ops += 1
        if self.chance(0.5):
            self.moved("GATHER", x, [("picked", y)], [x, index], 2, "GatherOptions", Axis=len(shape) - 1,
                       BatchDims=len(shape) - 1)

    # -- reductions ------------------------------------------------------------------------------------

    def axes(self, x):
        n = len(x.shape)
        if n > 4:
            raise Skip
        axes = sorted({int(v) for v in self.rng.integers(0, n, self.pick([1, 1, 2, 3]))})
        return axes, [a - n if self.chance(0.3) else a for a in axes]

    def op_reduce(self):
        """MEAN over any axes, REDUCE_MAX, REDUCE_MIN; SUM of uint8 (of int8 the oracle's is undefined)."""
        x = self.source()
        axes, asked = self.axes(x)
        op, function = self.pick([("MEAN", np.mean), ("REDUCE_MAX", np.max), ("REDUCE_MIN", np.min), ("SUM", np.sum)])
        keep = self.chance(0.5)
        if len(axes) == len(x.shape) and not keep or op == "SUM" and self.dtype != np.uint8:
            raise Skip
        y = [function(v, tuple(axes), keepdims=keep) for v in x.values]
        t = self.out(op.lower(), y, like=x if op[0] == "R" else None)
        self.emit(op, [x, self.ints("axes", asked)], t, 2, "ReducerOptions", KeepDims=keep)

    def op_arg(self):
        """ARG_MAX or ARG_MIN: always an output of the graph, int32 or int64."""
        self.only(np.int8, np.uint8)
        x = self.source()
        if len(x.shape) > 4:
            raise Skip
        k, asked = self.axis(x)
        op, options = self.pick([("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")])
        dtype, code = self.pick([(np.int32, tflite.TensorType.INT32), (np.int64, tflite.TensorType.INT64)])
        shape = x.shape[:k] + x.shape[k + 1:]
        y = self.net.tensor(f"t{self.n_ops:02d}_arg", shape, dtype)
        self.net.op(op, [x.index, self.number("axis", asked)], [y], 2, options, OutputType=code)
        x.read = True
        self.more_outputs.append(y)
        self.n_ops += 1

    def op_leave(self):
        """DEQUANTIZE, or QUANTIZE from int16 to int8: always an output of the graph."""
        x = self.source()
        if self.wide and self.chance(0.5):
            low, high = min(v.min() for v in x.values), max(v.max() for v in x.values)
            # All values 0: a ratio that the oracle's 32 bits still hold.
            scale = np.float32(max(float(high - low) / 255 * self.rng.uniform(0.7, 1.3), float(x.scale) / 2**14))
            y = self.net.tensor(f"t{self.n_ops:02d}_int8", x.shape, np.int8, scale, int(self.rng.integers(-128, 128)))
            self.net.op("QUANTIZE", [x.index], [y], 2, "QuantizeOptions")
        else:
            y = self.net.tensor(f"t{self.n_ops:02d}_real", x.shape, np.float32)
            self.net.op("DEQUANTIZE", [x.index], [y], 3, "DequantizeOptions")
        x.read = True
        self.more_outputs.append(y)
        self.n_ops += 1

    def op_concat_scaled(self):
        """uint8 parts of different scales."""
        if self.dtype != np.uint8:
            raise Skip
        x = self.source()
        other = self.constant(x.shape)
        if x.values[0].size * 2 > LIMIT or len(x.shape) > 4:
            raise Skip
        k, asked = self.axis(x)
        y = [np.concatenate([u, v], k) for u, v in zip(x.values, other.values)]
        self.emit("CONCATENATION", [x, other], self.out("concat", y), 2, "ConcatenationOptions", Axis=asked)
