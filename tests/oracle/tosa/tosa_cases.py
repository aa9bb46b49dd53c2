#!/usr/bin/env python3
"""Each operator of TOSA that heddle imports, against TOSA's reference model (PyPI tosa-tools): integers bit for bit,
float32 within 2e-5 of the largest magnitude. Random inputs from --seed, on the engines given."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import tosa_reference_model

from tosa_writer import DOUBLE, SINGLE, TYPES, Net

BIG = (1 << 31) - 1
NUMPY = dict(BOOL="?", INT8="i1", INT16="<i2", INT32="<i4", FP32="<f4")
CASES = {}


def case(fn):
    CASES[fn.__name__] = fn
    return fn


def ints(rng, shape, low=-128, high=128):
    return rng.integers(low, high, shape)


def conv(net, rng, op, x, weights, shape, zero=0, weight_zero=0, kind="INT8", bias=None, **fields):
    floats = kind == "FP32"
    channels = shape[3]
    make = (lambda s, *r: rng.normal(size=s)) if floats else (lambda s, *r: ints(rng, s, *r))
    return net.op(op, [x, net.const(make(weights, -127, 128), kind),
                       net.const(make(bias or channels, -5000, 5000), "FP32" if floats else "INT32"),
                       net.const([zero], kind), net.const([weight_zero], kind)], shape, "FP32" if floats else "INT32",
                  acc_type=TYPES["FP32" if floats else "INT32"], **fields)


WIN = dict(pad=[1, 1, 1, 1], stride=[1, 1], dilation=[1, 1])


@case
def conv2d(net, rng):
    x = net.input("x", (1, 7, 9, 5), "INT8")
    y = conv(net, rng, "CONV2D", x, (8, 3, 3, 5), (1, 4, 5, 8), 7, pad=[1, 1, 1, 1], stride=[2, 2], dilation=[1, 1])
    y = net.rescale(y, ints(rng, 8, 1 << 30, BIG), ints(rng, 8, 38, 41), 0, -9, "INT8")
    return [net.op("CLAMP", [y], (1, 4, 5, 8), "INT8", min_val=b"\xf7", max_val=b"\x55")]


@case
def conv2d_alone(net, rng):  # no RESCALE; one bias for all channels; weights with a zero point
    x = net.input("x", (1, 6, 6, 3), "INT8")
    return [conv(net, rng, "CONV2D", x, (4, 3, 3, 3), (1, 6, 6, 4), -4, 3, bias=1, **WIN)]


@case
def conv2d_single(net, rng):  # SINGLE_ROUND beyond 31: by itself, on the host
    x = net.input("x", (1, 6, 6, 3), "INT8")
    y = conv(net, rng, "CONV2D", x, (4, 1, 1, 3), (1, 6, 6, 4), pad=[0] * 4, stride=[1, 1], dilation=[1, 1])
    return [net.rescale(y, ints(rng, 4, 1 << 30, BIG), [37, 38, 39, 40], 0, 5, "INT8", SINGLE)]


@case
def conv2d_twice(net, rng, rounding=SINGLE):  # --tosa-rounding=double; constants and bounds with zeros after them, as serialisers write
    x = net.input("x", (1, 6, 7, 3), "INT8")
    y = conv(net, rng, "CONV2D", x, (4, 3, 3, 3), (1, 6, 7, 4), 5, pad=[1, 1, 1, 1], stride=[1, 1], dilation=[1, 1])
    zero = next(t for t in net.tensors if t[0] == net.ops[-1][3][4])
    zero[3] += bytes(3)
    y = net.rescale(y, ints(rng, 4, 1 << 30, BIG), [37, 38, 39, 40], 0, 5, "INT8", rounding)
    return [net.op("CLAMP", [y], (1, 6, 7, 4), "INT8", min_val=b"\x03" + bytes(7), max_val=b"\x14" + bytes(7))]


@case
def conv2d_float(net, rng):
    x = net.input("x", (1, 6, 6, 3), "FP32")
    return [conv(net, rng, "CONV2D", x, (4, 3, 3, 3), (1, 6, 6, 4), kind="FP32", **WIN)]


@case
def depthwise(net, rng):
    x = net.input("x", (1, 8, 8, 6), "INT8")
    y = conv(net, rng, "DEPTHWISE_CONV2D", x, (3, 3, 6, 2), (1, 8, 8, 12), -7, **WIN)
    return [net.rescale(y, ints(rng, 12, 1 << 30, BIG), ints(rng, 12, 37, 40), 0, 3, "INT8")]


@case
def depthwise_alone(net, rng):
    x = net.input("x", (1, 8, 8, 6), "INT8")
    return [conv(net, rng, "DEPTHWISE_CONV2D", x, (3, 3, 6, 1), (1, 8, 8, 6), -7, **WIN)]


@case
def depthwise_float(net, rng):
    x = net.input("x", (1, 8, 8, 6), "FP32")
    return [conv(net, rng, "DEPTHWISE_CONV2D", x, (3, 3, 6, 2), (1, 8, 8, 12), kind="FP32", **WIN)]


@case
def transpose_conv(net, rng):
    x = net.input("x", (1, 5, 4, 3), "INT8")
    return [conv(net, rng, "TRANSPOSE_CONV2D", x, (4, 3, 3, 3), (1, 10, 8, 4), 5, 0, out_pad=[0, -1, -1, 0],
                 stride=[2, 2])]


@case
def transpose_conv_added(net, rng):  # rows and columns before the first; one bias for all channels
    x = net.input("x", (1, 5, 4, 3), "INT8")
    return [conv(net, rng, "TRANSPOSE_CONV2D", x, (4, 3, 3, 3), (1, 12, 10, 4), 5, 0, out_pad=[1, 0, 2, -1], stride=[2, 2], bias=1)]


@case
def transpose_conv_float(net, rng):
    x = net.input("x", (1, 5, 4, 3), "FP32")
    return [conv(net, rng, "TRANSPOSE_CONV2D", x, (4, 3, 3, 3), (1, 11, 9, 4), kind="FP32", out_pad=[0, 0, 0, 0],
                 stride=[2, 2])]


@case
def matmul(net, rng):
    a, b = net.input("a", (2, 5, 8), "INT8"), net.input("b", (2, 8, 6), "INT8")
    y = net.op("MATMUL", [a, b, net.const([3], "INT8"), net.const([-2], "INT8")], (2, 5, 6), "INT32")
    return [net.rescale(y, 1414812756, 38, 0, 4, "INT8")]


@case
def matmul_alone(net, rng):
    a, b = net.input("a", (2, 5, 8), "INT8"), net.input("b", (2, 8, 6), "INT8")
    return [net.op("MATMUL", [a, b, net.const([3], "INT8"), net.const([-2], "INT8")], (2, 5, 6), "INT32")]


@case
def matmul_float(net, rng):
    a, b = net.input("a", (1, 5, 8), "FP32"), net.input("b", (1, 8, 6), "FP32")
    return [net.op("MATMUL", [a, b, net.const([0.0], "FP32"), net.const([0.0], "FP32")], (1, 5, 6), "FP32")]


def pooled(op, kind, zero=0, **fields):
    def made(net, rng):
        x = net.input("x", (1, 7, 8, 5), kind)
        zeros = [net.const([zero], kind)] * 2 if op == "AVG_POOL2D" else []
        more = {"acc_type": TYPES["FP32" if kind == "FP32" else "INT32"]} if zeros else {}
        return [net.op(op, [x] + zeros, (1, 4, 4, 5), kind, kernel=[3, 2], stride=[2, 2], pad=[1, 1, 0, 0], **more)]
    return made


for name, made in (("average", pooled("AVG_POOL2D", "INT8")), ("average_low", pooled("AVG_POOL2D", "INT8", -128)),
                   ("average_zero", pooled("AVG_POOL2D", "INT8", 5)), ("average_float", pooled("AVG_POOL2D", "FP32")),
                   ("most", pooled("MAX_POOL2D", "INT8")), ("most_float", pooled("MAX_POOL2D", "FP32"))):
    CASES[name] = made


def sums(op, headroom=20):
    def made(net, rng):
        a, b = net.input("a", (1, 6, 6, 8), "INT8"), net.input("b", (1, 6, 6, 8), "INT8")
        if op == "MUL":
            up = [net.rescale(v, 1 << 30, 30, z, 0, "INT32") for v, z in ((a, 3), (b, -4))]
            y = net.op("MUL", up + [net.const([0], "INT8")], (1, 6, 6, 8), "INT32")
            return [net.rescale(y, 1503829145, 37, 0, -3, "INT8")]
        up = [net.rescale(a, 1 << 30, 31 - headroom, 3, 0, "INT32"),
              net.rescale(net.rescale(b, 1 << 30, 30 - headroom, -4, 0, "INT32"), 1717986918, 32, 0, 0, "INT32")]
        y = net.op(op, up, (1, 6, 6, 8), "INT32")
        return [net.rescale(y, 1503829145, 30 + headroom, 0, -3, "INT8")]
    return made


for op in ("ADD", "SUB", "MUL"):
    CASES[f"{op.lower()}_quantised"] = sums(op)
CASES["add_nearly"] = sums("ADD", 6)


@case
def add_near(net, rng):  # of an ExecuTorch ResNet-18: the IR's formula needs another multiplier
    a, b = (net.input(n, (1, 16, 16, 8), "INT8") for n in "ab")
    up = [net.rescale(b, 1373453903, 12, 0, 0, "INT32"), net.rescale(a, 1 << 30, 11, 5, 0, "INT32")]
    return [net.rescale(net.op("ADD", up, (1, 16, 16, 8), "INT32"), 1161726842, 49, 0, -41, "INT8")]


@case
def mean(net, rng):
    y = net.rescale(net.input("x", (1, 6, 7, 8), "INT8"), 1 << 30, 30, -11, 0, "INT32")
    y = net.op("REDUCE_SUM", [y], (1, 1, 7, 8), "INT32", axis=1)
    y = net.op("REDUCE_SUM", [y], (1, 1, 1, 8), "INT32", axis=2)
    y = net.op("RESHAPE", [y, net.shape([1, 8])], (1, 8), "INT32")
    return [net.rescale(y, 987654321, 35, 0, 2, "INT8")]


@case
def rescales(net, rng):
    x = net.input("x", (1, 4, 4, 6), "INT8")
    wide = net.rescale(x, ints(rng, 6, 1 << 30, BIG), ints(rng, 6, 14, 20), 12, 0, "INT32")
    return [net.rescale(x, 1288490189, 31, 5, -4, "INT8"), net.rescale(x, 1288490189, 33, 5, -4, "INT8", SINGLE), wide,
            net.rescale(wide, 1288490189, 40, 0, 0, "INT16"), net.rescale(x, 1 << 30, 30, -128, 0, "INT8", SINGLE,
                                                                        output_unsigned=False),
            net.rescale(net.rescale(x, 1 << 30, 30, 0, 0, "INT32"), 17000, 14, 0, 9, "INT8", SINGLE, scale32=False)]


@case
def unsigned(net, rng):
    x = net.input("x", (1, 4, 4, 6), "INT8")
    y = net.rescale(x, 1 << 30, 30, -128, 0, "INT8", SINGLE, input_unsigned=True)
    return [y, net.rescale(y, 1 << 30, 30, 0, -128, "INT8", SINGLE, output_unsigned=True)]


@case
def table(net, rng):
    x, w = net.input("x", (2, 50), "INT8"), net.input("w", (2, 500), "INT16")
    return [net.op("TABLE", [x, net.const(ints(rng, 256), "INT8")], (2, 50), "INT8"),
            net.op("TABLE", [w, net.const(np.cumsum(ints(rng, 513, -50, 60)), "INT16")], (2, 500), "INT32")]


@case
def clamps(net, rng):
    x, h, f = net.input("x", (2, 50), "INT8"), net.input("h", (2, 50), "INT16"), net.input("f", (2, 50), "FP32")
    return [net.op("CLAMP", [x], (2, 50), "INT8", min_val=b"\xe0", max_val=b"\x30"),
            net.op("CLAMP", [h], (2, 50), "INT16", min_val=b"\x00\xe0", max_val=b"\x00\x30"),
            net.op("CLAMP", [f], (2, 50), "FP32", min_val=np.float32(-0.5).tobytes(), max_val=np.float32(1).tobytes(),
                   nan_mode=1)]


@case
def integers(net, rng):
    a, b = net.input("a", (3, 40), "INT32"), net.input("b", (1, 40), "INT32")
    c, h = net.input("c", (3, 40), "INT8"), net.input("h", (3, 40), "INT16")
    small = net.op("BITWISE_AND", [b, net.const([[31]], "INT32")], (1, 40), "INT32")
    low = net.op("ARITHMETIC_RIGHT_SHIFT", [a, net.const([[4]], "INT32")], (3, 40), "INT32", round=False)
    out = [net.op("ADD", [low, small], (3, 40), "INT32"), net.op("SUB", [low, small], (3, 40), "INT32"), small, low]
    for op in ("BITWISE_OR", "BITWISE_XOR"):
        out += [net.op(op, [a, b], (3, 40), "INT32"), net.op(op, [c, c], (3, 40), "INT8")]
    for op in ("MAXIMUM", "MINIMUM"):
        out.append(net.op(op, [a, b], (3, 40), "INT32"))
    for op in ("EQUAL", "GREATER", "GREATER_EQUAL"):
        out.append(net.op(op, [a, b], (3, 40), "BOOL"))
    one = net.op("MAXIMUM", [small, net.const([[1]], "INT32")], (1, 40), "INT32")
    out += [net.op("INTDIV", [a, one], (3, 40), "INT32"), net.op("CLZ", [a], (3, 40), "INT32"),
            net.op("ABS", [low], (3, 40), "INT32"), net.op("BITWISE_NOT", [a], (3, 40), "INT32"),
            net.op("BITWISE_NOT", [h], (3, 40), "INT16"), net.op("LOGICAL_LEFT_SHIFT", [a, small], (3, 40), "INT32"),
            net.op("LOGICAL_RIGHT_SHIFT", [a, small], (3, 40), "INT32"),
            net.op("ARITHMETIC_RIGHT_SHIFT", [a, small], (3, 40), "INT32", round=True),
            net.op("LOGICAL_RIGHT_SHIFT", [c, net.const([[3]], "INT8")], (3, 40), "INT8"),
            net.op("MUL", [c, net.const([[-3]], "INT8"), net.const([0], "INT8")], (3, 40), "INT32"),
            net.op("MUL", [h, h, net.const([0], "INT8")], (3, 40), "INT32"),
            net.op("MUL", [low, net.const([[12345]], "INT32"), net.const([20], "INT8")], (3, 40), "INT32")]
    for x, kind in ((c, "INT8"), (h, "INT16"), (low, "INT32")):
        zero = net.const([5 if kind == "INT8" else 0], kind)
        out.append(net.op("NEGATE", [x, zero, zero], (3, 40), kind))
    for x, kind in ((c, "INT8"), (h, "INT16"), (a, "INT32")):
        out += [net.op("CAST", [x], (3, 40), to) for to in ("INT8", "INT16", "INT32", "FP32", "BOOL") if to != kind]
    out += [net.op("REDUCE_SUM", [low], (3, 1), "INT32", axis=1)]
    for x, kind in ((c, "INT8"), (h, "INT16"), (a, "INT32")):
        out += [net.op(op, [x], (1, 40), kind, axis=0) for op in ("REDUCE_MAX", "REDUCE_MIN")]
    return out + [net.op("ARGMAX", [x], (3,), "INT32", axis=1) for x in (c, h)]


@case
def booleans(net, rng):
    a, b = net.input("a", (3, 40), "BOOL"), net.input("b", (3, 40), "BOOL")
    x, y = net.input("x", (3, 40), "INT8"), net.input("y", (1, 40), "INT8")
    out = [net.op(op, [a, b], (3, 40), "BOOL") for op in ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_XOR")]
    out += [net.op("LOGICAL_NOT", [a], (3, 40), "BOOL"), net.op("SELECT", [a, x, y], (3, 40), "INT8"),
            net.op("CAST", [a], (3, 40), "INT32"), net.op("CAST", [a], (3, 40), "INT8")]
    return out + [net.op(op, [a], (3, 1), "BOOL", axis=1) for op in ("REDUCE_ALL", "REDUCE_ANY")]


@case
def floats(net, rng):
    x, y = net.input("x", (3, 40), "FP32"), net.input("y", (1, 40), "FP32")
    size = net.op("ABS", [x], (3, 40), "FP32")
    out = [net.op(op, [x], (3, 40), "FP32") for op in
           ("ERF", "SIGMOID", "TANH", "CEIL", "COS", "EXP", "FLOOR", "SIN", "RECIPROCAL")]
    out += [net.op(op, [size], (3, 40), "FP32") for op in ("LOG", "RSQRT")]
    out += [net.op(op, [x, y], (3, 40), "FP32") for op in ("ADD", "SUB")]
    out += [net.op(op, [x, y], (3, 40), "FP32") for op in ("MAXIMUM", "MINIMUM")]
    zero = net.const([0.0], "FP32")
    out += [net.op("POW", [size, y], (3, 40), "FP32"), net.op("NEGATE", [x, zero, zero], (3, 40), "FP32"),
            net.op("MUL", [x, y, net.const([0], "INT8")], (3, 40), "FP32"), net.op("EQUAL", [x, y], (3, 40), "BOOL"),
            net.op("GREATER", [x, y], (3, 40), "BOOL"), net.op("ARGMAX", [x], (40,), "INT32", axis=0)]
    out += [net.op("CAST", [x], (3, 40), kind) for kind in ("INT8", "INT16", "INT32")]
    out += [net.op(op, [x], (3, 1), "FP32", axis=1) for op in ("REDUCE_SUM", "REDUCE_PRODUCT")]
    return out + [net.op(op, [x], (3, 1), "FP32", axis=1) for op in ("REDUCE_MAX", "REDUCE_MIN")]


def moves(kind):
    def made(net, rng):
        x = net.input("x", (2, 3, 4, 5), kind)
        fill = net.const([5], kind)
        out = [net.op("CONCAT", [x, x], (2, 3, 8, 5), kind, axis=2), net.op("REVERSE", [x], (2, 3, 4, 5), kind, axis=2),
               net.op("PAD", [x, net.shape([0, 0, 1, 2, 0, 1, 3, 0]), fill], (2, 6, 5, 8), kind),
               net.op("RESHAPE", [x, net.shape([6, 20])], (6, 20), kind),
               net.op("SLICE", [x, net.shape([1, 0, 2, 1]), net.shape([1, 2, 2, 3])], (1, 2, 2, 3), kind),
               net.op("TILE", [x, net.shape([1, 2, 1, 3])], (2, 6, 4, 15), kind),
               net.op("TRANSPOSE", [x], (5, 2, 4, 3), kind, perms=[3, 0, 2, 1]),
               net.op("IDENTITY", [x], (2, 3, 4, 5), kind)]
        if kind == "BOOL":
            return out  # GATHER has no such type
        values = net.op("RESHAPE", [x, net.shape([2, 12, 5])], (2, 12, 5), kind)
        return out + [net.op("GATHER", [values, net.const(ints(rng, (2, 7), 0, 12), "INT32")], (2, 7, 5), kind)]
    return made


for kind in ("INT8", "INT16", "INT32", "FP32", "BOOL"):
    CASES[f"moves_{kind.lower()}"] = moves(kind)


def along(kind):
    """Reductions and ARGMAX along each dimension; SELECT, whose condition or operands are broadcast."""
    def made(net, rng):
        x, c = net.input("x", (2, 3, 4, 5), kind), net.input("c", (2, 1, 4, 1), "BOOL")
        one = net.op("SLICE", [x, net.shape([1, 0, 0, 0]), net.shape([1, 3, 1, 5])], (1, 3, 1, 5), kind)
        out = [net.op("SELECT", [c, x, one], (2, 3, 4, 5), kind), net.op("SELECT", [c, one, x], (2, 3, 4, 5), kind)]
        reductions = ["REDUCE_ALL", "REDUCE_ANY"] if kind == "BOOL" else ["REDUCE_MAX", "REDUCE_MIN"]
        sums = {"FP32": ["REDUCE_SUM", "REDUCE_PRODUCT"], "INT32": ["REDUCE_SUM"]}.get(kind, [])
        if kind == "INT32":
            x = net.op("ARITHMETIC_RIGHT_SHIFT", [x, net.const([[[[8]]]], "INT32")], (2, 3, 4, 5), kind, round=False)
        for axis in range(4):
            shape = [2, 3, 4, 5]
            shape[axis] = 1
            out += [net.op(op, [x], tuple(shape), kind, axis=axis) for op in reductions + sums]
            if kind not in ("BOOL", "INT32"):
                out.append(net.op("ARGMAX", [x], tuple(v for i, v in enumerate((2, 3, 4, 5)) if i != axis), "INT32", axis=axis))
        return out
    return made


for kind in ("INT8", "INT16", "INT32", "FP32", "BOOL"):
    CASES[f"along_{kind.lower()}"] = along(kind)


def bits(kind):
    def made(net, rng):
        a, b = net.input("a", (3, 40), kind), net.input("b", (1, 40), kind)
        size = int(kind[3:])
        n = net.op("BITWISE_AND", [b, net.const([[size - 1]], kind)], (1, 40), kind)
        out = [net.op(op, [a, b], (3, 40), kind) for op in ("BITWISE_AND", "BITWISE_OR", "BITWISE_XOR")]
        out += [net.op(op, [a, n], (3, 40), kind) for op in ("LOGICAL_LEFT_SHIFT", "LOGICAL_RIGHT_SHIFT")]
        out += [net.op("ARITHMETIC_RIGHT_SHIFT", [a, n], (3, 40), kind, round=False), net.op("BITWISE_NOT", [a], (3, 40), kind)]
        return out
    return made


for kind in ("INT8", "INT16", "INT32"):
    CASES[f"bits_{kind.lower()}"] = bits(kind)
CASES["most_int16"] = pooled("MAX_POOL2D", "INT16")


@case
def compares_float(net, rng):
    x, y = net.input("x", (3, 1, 40), "FP32"), net.input("y", (1, 7, 40), "FP32")
    out = [net.op(op, [x, y], (3, 7, 40), "BOOL") for op in ("EQUAL", "GREATER", "GREATER_EQUAL")]
    return out + [net.op(op, [x, y], (3, 7, 40), "FP32") for op in ("ADD", "SUB", "MAXIMUM", "MINIMUM")]


@case
def convolutions(net, rng):  # windows of random sizes
    out, x = [], net.input("x", (1, 11, 13, 4), "INT8")
    for _ in range(6):
        kernel, stride, dilation = (rng.integers(1, top, 2) for top in (4, 3, 3))
        before, left = [], [11, 13]
        for i in range(2):
            span = dilation[i] * (kernel[i] - 1) + 1
            first, last = rng.integers(0, span + 1, 2) % span
            last += -(left[i] + first + last - span) % stride[i]
            before += [int(first), int(last)]
            left[i] = int(left[i] + first + last - span) // int(stride[i]) + 1
        how = dict(pad=before, stride=[int(v) for v in stride], dilation=[int(v) for v in dilation])
        out += [conv(net, rng, "CONV2D", x, (3, *kernel.tolist(), 4), (1, *left, 3), -5, **how),
                conv(net, rng, "DEPTHWISE_CONV2D", x, (*kernel.tolist(), 4, 2), (1, *left, 8), 9, **how)]
    return out


@case
def rescales_int16(net, rng):
    x = net.input("x", (1, 4, 4, 6), "INT16")
    return [net.rescale(x, 1288490189, 31, 0, 0, "INT16"), net.rescale(x, 1288490189, 38, 0, -7, "INT8"),
            net.rescale(x, ints(rng, 6, 1 << 30, BIG), ints(rng, 6, 20, 30), 0, 0, "INT32"),
            net.rescale(x, ints(rng, 6, 1 << 14, (1 << 15) - 1), ints(rng, 6, 14, 20), 0, 0, "INT16", SINGLE, scale32=False)]


def resized(kind, mode):
    def made(net, rng):
        x = net.input("x", (1, 5, 6, 3), kind)
        scale, offset, border = [4, 2, 6, 2], [-1, 0], [1, 2]
        shape = [1] + [((n - 1) * s[0] - o + b) // s[1] + 1
                       for n, s, o, b in zip((5, 6), (scale[:2], scale[2:]), offset, border)] + [3]
        return [net.op("RESIZE", [x, net.shape(scale), net.shape(offset), net.shape(border)], shape,
                       "INT32" if kind == "INT8" and mode == 2 else kind, mode=mode)]
    return made


for kind in ("INT8", "FP32"):
    for number, mode in ((1, "nearest"), (2, "bilinear")):
        CASES[f"resize_{mode}_{kind.lower()}"] = resized(kind, number)


def random_input(rng, kind, shape):
    if kind == "FP32":
        return rng.normal(size=shape).astype(np.float32)
    if kind == "BOOL":
        return rng.integers(0, 2, shape).astype(bool)
    info = np.iinfo(NUMPY[kind])
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(NUMPY[kind])


def reference(folder, content, inputs):
    """The reference model's outputs, from a process of its own: it aborts where it refuses."""
    log = folder / "reference.log"
    if os.fork() == 0:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        answer, status = tosa_reference_model.run(content, inputs)
        if status == tosa_reference_model.GraphStatus.TOSA_VALID:
            np.savez(folder / "reference.npz", *answer)
        os._exit(status != tosa_reference_model.GraphStatus.TOSA_VALID)
    if os.wait()[1] != 0:
        sys.exit(f"the reference model refuses: {[v for v in log.read_text().split(chr(10)) if 'WARNING' not in v][:4]}")
    with np.load(folder / "reference.npz") as file:
        return [file[name] for name in file.files]


def run(heddle, folder, name, content, inputs, expected, engine, more=()):
    """Run `heddle`; what differs, or an empty string."""
    model, out = folder / f"{name}.tosa", folder / "out"
    model.write_bytes(content)
    command = [heddle, "run", model, "--engine", engine, "-q", "-o", out, *more]
    for i, x in enumerate(inputs):
        x.tofile(folder / f"in{i}.bin")
        command += ["-i", folder / f"in{i}.bin"]
    p = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if p.returncode != 0 or not re.search("verdict: (match|unchecked)", p.stdout):
        return f"exit {p.returncode}: {p.stdout[:400]}{p.stderr[:400]}"
    for i, want in enumerate(expected):
        found = np.fromfile(out / f"out_{i}.bin", want.dtype).reshape(want.shape)
        bound = 2e-5 * np.abs(want).max() if want.dtype == np.float32 else 0
        apart = np.abs(found.astype(np.float64) - want.astype(np.float64))
        if apart.max() > bound:
            at = np.unravel_index(apart.argmax(), apart.shape)
            return f"output {i}: {np.count_nonzero(apart > bound)} differ, at {at} expected {want[at]}, found {found[at]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heddle", default="build/heddle")
    parser.add_argument("--engine", nargs="+", default=["ref", "func"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the files")
    parser.add_argument("--golden", type=pathlib.Path, help="write each case with its inputs and outputs to a folder of this one")
    parser.add_argument("case", nargs="*", default=[])
    o = parser.parse_args()
    wrong = count = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = o.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in o.case or CASES:
            rng, net = np.random.default_rng(o.seed), Net()
            outputs = CASES[name](net, rng)
            content, asked, more = net.finish(outputs), None, []
            if name == "conv2d_twice":
                other, more = Net(), ["--tosa-rounding=double"]
                asked = other.finish(CASES[name](other, np.random.default_rng(o.seed), DOUBLE))
            inputs = [random_input(rng, net.kinds[x], net.sizes[x]) for x in net.inputs]
            answer = reference(folder, asked or content, inputs)
            expected = [np.asarray(y).astype(NUMPY[net.kinds[t]]) for y, t in zip(answer, outputs)]
            if o.golden:
                (o.golden / name).mkdir(parents=True, exist_ok=True)
                (o.golden / name / "net.tosa").write_bytes(content)
                for kind, arrays in (("in", inputs), ("out", expected)):
                    for i, v in enumerate(arrays):
                        v.tofile(o.golden / name / f"{kind}_{i}.bin")
            for engine in o.engine:
                count += 1
                found = run(o.heddle, folder, name, content, inputs, expected, engine, more)
                if found:
                    wrong += 1
                    print(f"{name}, engine {engine}: {found}")
    print(f"tosa: {len(o.case or CASES)} cases on {len(o.engine)} engines, seed {o.seed}: "
          f"{count - wrong} equal to TOSA's reference model, {wrong} not")
    sys.exit(wrong != 0)


main()
