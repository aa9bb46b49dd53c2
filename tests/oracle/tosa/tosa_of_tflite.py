#!/usr/bin/env python3
"""Write a TFLite network of convolutions, FULLY_CONNECTED, ADD, pools and RESHAPE as TOSA, with the same arithmetic in
explicit RESCALEs (docs/NUMERICS.md); a SOFTMAX at the end is left out.

    tosa_of_tflite.py model.tflite net.tosa [--tflite net.tflite]    # the TFLite file that ends there too
"""

import argparse
import math
import pathlib
import struct

import numpy as np
import tflite

from tosa_writer import TYPES, Net

NAMES = {v: k for k, v in vars(tflite.BuiltinOperator).items() if isinstance(v, int)}
KINDS = {tflite.TensorType.INT8: "INT8", tflite.TensorType.INT32: "INT32"}


def fixed_point(real):
    """multiplier, shift of RESCALE"""
    f, e = math.frexp(real)
    m = round(f * (1 << 31))
    return (m // 2, 30 - e) if m == 1 << 31 else (m, 31 - e)


class Converter:
    def __init__(self, data):
        self.model = tflite.Model.GetRootAsModel(data, 0)
        self.graph = self.model.Subgraphs(0)
        self.net = Net()
        self.name = {}

    def tensor(self, i):
        return self.graph.Tensors(i)

    def shape(self, i):
        return tuple(int(v) for v in self.tensor(i).ShapeAsNumpy())

    def scale(self, i):
        return self.tensor(i).Quantization().ScaleAsNumpy().astype(np.float32)

    def zero(self, i):
        return int(self.tensor(i).Quantization().ZeroPoint(0))

    def data(self, i):
        kind = np.int8 if self.tensor(i).Type() == tflite.TensorType.INT8 else np.int32
        return np.frombuffer(self.model.Buffers(self.tensor(i).Buffer()).DataAsNumpy().tobytes(), kind).reshape(self.shape(i))

    def const(self, value, kind="INT8"):
        return self.net.const(np.atleast_1d(value), kind)

    def clamp(self, y, out, activation):
        low, high = {0: (-128, 127), 1: (self.zero(out), 127),
                     3: (self.zero(out), self.zero(out) + round(float(np.float32(6) / self.scale(out)[0])))}[activation]
        if (low, high) == (-128, 127):
            return y
        return self.net.op("CLAMP", [y], self.net.sizes[y], "INT8", min_val=struct.pack("b", low),
                           max_val=struct.pack("b", min(high, 127)))

    def sums(self, op, options, x, ins, out, shape, weights, code, same, stride, dilation, scales):
        kernel = weights.shape[0:2] if code == "DEPTHWISE_CONV2D" else weights.shape[1:3]
        pad = []
        for n, o, k, s, d in zip(self.net.sizes[x][1:3], shape[1:3], kernel, stride, dilation):
            total = max((o - 1) * s + (k - 1) * d + 1 - n, 0) if same else 0
            pad += [total // 2, total - total // 2]
            if not same:  # windows end before the image does: TOSA asks for an exact fit
                rest = n - ((o - 1) * s + (k - 1) * d + 1)
                assert rest == 0, "VALID with rest"
        if same:
            for i, (n, o, k, s, d) in enumerate(zip(self.net.sizes[x][1:3], shape[1:3], kernel, stride, dilation)):
                over = n + pad[2 * i] + pad[2 * i + 1] - ((o - 1) * s + (k - 1) * d + 1)
                if over:  # a stride leaves a rest
                    keep = [v - (over if j == i + 1 else 0) for j, v in enumerate(self.net.sizes[x])]
                    x = self.net.op("SLICE", [x, self.net.shape([0] * 4), self.net.shape(keep)], keep, "INT8")
        acc = self.net.op(code, [x, self.const(weights), self.const(self.data(ins[2]), "INT32"),
                                 self.const(self.zero(ins[0])), self.const(0)], shape, "INT32", pad=pad,
                          stride=list(stride), dilation=list(dilation), acc_type=TYPES["INT32"])
        m, s = zip(*(fixed_point(v) for v in scales))
        m, s = (m, s) if len(m) > 1 else (m[0], s[0])
        return self.clamp(self.net.rescale(acc, m, s, 0, self.zero(out), "INT8"), out, options.FusedActivationFunction())

    def conv_scales(self, ins, out):
        return [float(self.scale(ins[0])[0]) * float(w) / float(self.scale(out)[0]) for w in self.scale(ins[1])]

    def CONV_2D(self, op, ins, out):
        o = tflite.Conv2DOptions()
        o.Init(op.BuiltinOptions().Bytes, op.BuiltinOptions().Pos)
        return self.sums(op, o, self.name[ins[0]], ins, out, self.shape(out), self.data(ins[1]), "CONV2D", o.Padding() == 0,
                         (o.StrideH(), o.StrideW()), (o.DilationHFactor(), o.DilationWFactor()), self.conv_scales(ins, out))

    def DEPTHWISE_CONV_2D(self, op, ins, out):
        o = tflite.DepthwiseConv2DOptions()
        o.Init(op.BuiltinOptions().Bytes, op.BuiltinOptions().Pos)
        w, channels = self.data(ins[1]), self.shape(ins[0])[3]
        w = w.reshape(w.shape[1], w.shape[2], channels, w.shape[3] // channels)
        return self.sums(op, o, self.name[ins[0]], ins, out, self.shape(out), w, "DEPTHWISE_CONV2D", o.Padding() == 0,
                         (o.StrideH(), o.StrideW()), (o.DilationHFactor(), o.DilationWFactor()), self.conv_scales(ins, out))

    def FULLY_CONNECTED(self, op, ins, out):
        o = tflite.FullyConnectedOptions()
        o.Init(op.BuiltinOptions().Bytes, op.BuiltinOptions().Pos)
        w = self.data(ins[1])
        rows = (int(np.prod(self.shape(ins[0]))) // w.shape[1], 1, 1, w.shape[1])
        x = self.net.op("RESHAPE", [self.name[ins[0]], self.net.shape(rows)], rows, "INT8")
        scale = float(self.scale(ins[0])[0] * self.scale(ins[1])[0]) / float(self.scale(out)[0])
        y = self.sums(op, o, x, ins, out, rows[:3] + (w.shape[0],), w.reshape(w.shape[0], 1, 1, -1), "CONV2D", False, (1, 1),
                      (1, 1), [scale])
        return self.net.op("RESHAPE", [y, self.net.shape(self.shape(out))], self.shape(out), "INT8")

    def ADD(self, op, ins, out):
        o = tflite.AddOptions()
        o.Init(op.BuiltinOptions().Bytes, op.BuiltinOptions().Pos)
        s = [float(self.scale(i)[0]) for i in ins]
        twice, up = 2 * max(s), []
        for i in range(2):  # 20 bits up, then the rounding of a product by itself
            x = self.net.rescale(self.name[ins[i]], 1 << 30, 10, self.zero(ins[i]), 0, "INT32")
            up.append(self.net.rescale(x, *fixed_point(s[i] / twice), 0, 0, "INT32"))
        y = self.net.op("ADD", up, self.shape(out), "INT32")
        y = self.net.rescale(y, *fixed_point(twice / ((1 << 20) * float(self.scale(out)[0]))), 0, self.zero(out), "INT8")
        return self.clamp(y, out, o.FusedActivationFunction())

    def AVERAGE_POOL_2D(self, op, ins, out):  # TFLite averages the quantised values: zero points of 0
        o = tflite.Pool2DOptions()
        o.Init(op.BuiltinOptions().Bytes, op.BuiltinOptions().Pos)
        kernel = [o.FilterHeight(), o.FilterWidth()]
        assert o.Padding() == 1 and [o.StrideH(), o.StrideW()] == kernel or self.shape(ins[0])[1:3] == tuple(kernel)
        y = self.net.op("AVG_POOL2D", [self.name[ins[0]], self.const(0), self.const(0)], self.shape(out), "INT8",
                        kernel=kernel, stride=[o.StrideH(), o.StrideW()], pad=[0] * 4, acc_type=TYPES["INT32"])
        return self.clamp(y, out, o.FusedActivationFunction())

    def RESHAPE(self, op, ins, out):
        return self.net.op("RESHAPE", [self.name[ins[0]], self.net.shape(self.shape(out))], self.shape(out), "INT8")

    def run(self):
        for i in range(self.graph.InputsLength()):
            k = self.graph.Inputs(i)
            self.name[k] = self.net.input(f"in{i}", self.shape(k), KINDS[self.tensor(k).Type()])
        last = None
        for i in range(self.graph.OperatorsLength()):
            op = self.graph.Operators(i)
            code = self.model.OperatorCodes(op.OpcodeIndex())
            name = NAMES[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
            if name == "SOFTMAX" and i == self.graph.OperatorsLength() - 1:
                break
            last = op.Outputs(0)
            self.name[last] = getattr(self, name)(op, [op.Inputs(k) for k in range(op.InputsLength())], last)
        return self.net.finish([self.name[last]]), last


def ended_at(data, tensor):
    """The TFLite file with `tensor` as its output."""
    data = bytearray(data)
    graph = tflite.Model.GetRootAsModel(data, 0).Subgraphs(0)
    struct.pack_into("<i", data, graph._tab.Vector(graph._tab.Offset(8)), tensor)
    return bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tflite", type=pathlib.Path)
    o = parser.parse_args()
    data = o.model.read_bytes()
    content, last = Converter(data).run()
    o.out.write_bytes(content)
    if o.tflite:
        o.tflite.write_bytes(ended_at(data, last))


if __name__ == "__main__":
    main()
