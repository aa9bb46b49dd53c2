"""cases.py - networks that call each host kernel at several sizes, in the IR's text form. `networks`
gives name, rounding and text of each; the sizes of `fit` and of `check` have nothing in common."""

import struct

BYTE = dict(scale=0.05, zero=3)
SIZES = {
    "fit": dict(
        vectors=(24, 97, 400), tables=(300, 1101), many=(24, 1100, 2500), rows=((3, 9), (2, 40), (5, 33), (9, 20)),
        images=((1, 5, 6, 4, 6), (1, 6, 11, 8, 16), (1, 4, 9, 3, 5), (2, 7, 5, 6, 9), (1, 9, 8, 16, 8)),
        matrices=((3, 5, 7), (4, 16, 6), (2, 33, 9), (6, 10, 12))),
    "check": dict(
        vectors=(61, 250), tables=(702,), many=(1700,), rows=((4, 17), (3, 57)),
        images=((1, 6, 7, 6, 10), (1, 8, 10, 12, 12)),
        matrices=((5, 9, 8), (3, 24, 11))),
}


class Net:
    """One network: tensors, operators, borders."""

    def __init__(self, name):
        self.name, self.lines, self.rows, self.n = name, [], [], 0
        self.inputs, self.outputs, self.shared = [], [], {}

    def tensor(self, kind, shape, role, name, scale=None, zero=0, **more):
        text = f"tensor {self.n} {kind} [{','.join(map(str, shape))}] {role} name=\"{name}{self.n}\""
        if isinstance(scale, tuple):
            text += f" scale=({','.join(map(repr, scale))}) axis=0 zero=({zero})"
        elif scale is not None:
            text += f" scale=({scale!r}) zero=({zero})"
        for key, value in more.items():
            text += f" {key}={value}"
        self.lines.append(text)
        self.n += 1
        return self.n - 1

    def x(self, kind, shape, name="x", scale=None, zero=0, again=0):
        """An input; the same one for equal arguments, as inputs are few."""
        key = (kind, tuple(shape), name, scale, zero, again)
        if key not in self.shared:
            self.shared[key] = self.tensor(kind, shape, "input", name, scale, zero)
            self.inputs.append(self.shared[key])
        return self.shared[key]

    def const(self, kind, shape, scale=None, zero=0, **data):
        return self.tensor(kind, shape, "const", "k", scale, zero, **(data or {"fill": 5}))

    def op(self, opcode, inputs, kind, shape, scale=None, zero=0, **attrs):
        out = self.tensor(kind, shape, "value", "y", scale, zero)
        self.outputs.append(out)
        row = len(self.rows)
        self.rows.append(f"row {row} name=\"{row:03d}_{opcode}\" op=\"{opcode.upper()}\" tensor=\"\" shape=\"\"")
        text = f"op {opcode} row={row} in=({','.join(map(str, inputs))}) out=({out})"
        for key, value in attrs.items():
            if value:
                text += f" {key}={value}"
        self.lines.append(text)
        return out

    def text(self):
        """Tensors come before the operators that use them."""
        border = f"border in=({','.join(map(str, self.inputs))}) out=({','.join(map(str, self.outputs))})"
        return "\n".join(["heddle-ir 1", f"graph name=\"{self.name}\"", *self.rows, *self.lines, border, ""])


def quant(kind):
    return {"i8": dict(scale=0.05, zero=3), "u8": dict(scale=0.05, zero=3), "i16": dict(scale=0.001, zero=0)}.get(kind, {})


ONE = 1065353216  # 1.0f


def window(k=3, s=1, p=1, d=0):
    a = dict(kernel_h=k, kernel_w=k, stride_h=s, stride_w=s, pad_top=p, pad_left=p, pad_bottom=p, pad_right=p)
    if d:
        a.update(dilation_h=d, dilation_w=d)
    return a


def out_size(n, k, s, p, d=1):
    return (n + 2 * p - (k - 1) * d - 1) // s + 1


# --- binary, unary, numbers ---

def pairs(shape):
    """Shapes of the two operands: equal, one value per row, one for each channel."""
    yield shape, shape
    yield shape, (1, shape[-1])
    yield shape, (shape[0], 1)


def binary(net, sizes, opcode, kind, to=None):
    for r, c in sizes["rows"]:
        for sa, sb in pairs((r, c)):
            if opcode == "prelu" and sb == sa:
                sb = (1, c)
            q = quant(kind)
            if opcode == "prelu" or (opcode == "div" and kind in ("i8", "i16")):  # no divisor of 0
                b = net.const(kind, sb, **q) if kind != "f32" else net.const(kind, sb, data="0000803e" * (sb[0] * sb[1]))
            else:
                b = net.x(kind, sb, "x", again=1, **q)
            out = {} if to else q
            net.op(opcode, (net.x(kind, sa, **q), b), to or kind, (r, c), **out)


def unary(net, sizes, opcode, kind, to=None, name="x", out=None, n_of="vectors", **attrs):
    for n in sizes[n_of]:
        net.op(opcode, (net.x(kind, (1, n), name, **quant(kind)),), to or kind, (1, n),
               **(quant(to or kind) if out is None else out), **attrs)


def by_rows(net, sizes, opcode, kind, out=None, **attrs):
    for r, c in sizes["rows"] + ((16, 64),):
        net.op(opcode, (net.x(kind, (r, c), **quant(kind)),), kind, (r, c), **(out or {}), **attrs)


# --- convolutions ---

def conv(net, sizes, kind, window_args, oc=None, groups=1):
    for b, h, w, c, o in sizes["images"]:
        k, s, p, d = window_args
        o, oh, ow = (oc or o), out_size(h, k, s, p, d), out_size(w, k, s, p, d)
        if c % groups or o % groups or oh < 1 or ow < 1:
            continue
        net.op("conv2d", (net.x(kind, (b, h, w, c), **quant(kind)),
                          *weights(net, kind, (o, k, k, c // groups), o)), kind, (b, oh, ow, o),
               **result(kind), **window(k, s, p, d))


def weights(net, kind, shape, oc):
    n = 1
    for d in shape:
        n *= d
    if kind == "f32":
        return net.const("f32", shape, data="0000803e" * n), net.const("f32", (oc,), data="0000803e" * oc)
    bias = ("i32", 0.05 * 0.01) if kind == "i8" else ("i64", 0.001 * 0.01)
    zeros = dict(values="(" + ",".join(["7"] * oc) + ")") if kind == "i8" else dict(fill=0)
    return net.const("i8", shape, 0.01, 0), net.const(bias[0], (oc,), bias[1], 0, **zeros)


def result(kind):
    return {"i8": dict(scale=0.7, zero=-4), "i16": dict(scale=0.02, zero=0)}.get(kind, {})


def depthwise(net, sizes, kind, window_args, multiplier=1):
    for b, h, w, c, _ in sizes["images"]:
        k, s, p, d = window_args
        oh, ow, o = out_size(h, k, s, p, d), out_size(w, k, s, p, d), c * multiplier
        net.op("depthwise_conv2d", (net.x(kind, (b, h, w, c), **quant(kind)), *weights(net, kind, (1, k, k, o), o)),
               kind, (b, oh, ow, o), multiplier=multiplier, **result(kind), **window(k, s, p, d))


def dense(net, sizes, kind):
    for m, k, o in sizes["matrices"] + ((1, 100, 10), (1, 65, 24), (1, 256, 64), (4, 72, 20)):
        net.op("fully_connected", (net.x(kind, (m, k), **quant(kind)), *weights(net, kind, (o, k), o)), kind, (m, o),
               **result(kind))


def transpose_conv(net, sizes, kind):
    for k, s in ((2, 2), (3, 2), (3, 1)):
        for b, h, w, c, o in sizes["images"][:3]:
            net.op("transpose_conv", (net.x(kind, (b, h, w, c), **quant(kind)), *weights(net, kind, (o, k, k, c), o)),
                   kind, (b, h * s, w * s, o), kernel_h=k, kernel_w=k, stride_h=s, stride_w=s, **result(kind))


def matmul(net, sizes, kind):
    for b in (1, 2):
        for m, k, n in sizes["matrices"]:
            for adj in (0, 1):
                q = quant(kind)
                net.op("batch_matmul", (net.x(kind, (b, m, k), **q), net.x(kind, (b, n, k) if adj else (b, k, n), again=1, **q)),
                       kind, (b, m, n), adj_b=adj, **result(kind))


# --- windows, reductions, sorting ---

def pool(net, sizes, opcode, kind):
    for k, s, p in ((2, 2, 0), (3, 1, 1), (4, 2, 1)):
        for b, h, w, c, _ in sizes["images"]:
            shape = (b, out_size(h, k, s, p), out_size(w, k, s, p), c)
            net.op(opcode, (net.x(kind, (b, h, w, c), **quant(kind)),), kind, shape, **quant(kind), **window(k, s, p))


def reduce(net, sizes, opcode, kind):
    for b, h, w, c, _ in sizes["images"]:
        for axes in (6, 8, 4, 10):
            shape = [1 if axes >> i & 1 else n for i, n in enumerate((b, h, w, c))]
            net.op(opcode, (net.x(kind, (b, h, w, c), **quant(kind)),), kind, shape, axis=axes, keep_dims=1, **quant(kind))


def along(net, sizes, opcode, kind, to=None, **attrs):
    for r, c in sizes["rows"] + ((16, 10),):
        for axis in (0, 1):
            shape = (r, c) if opcode == "cumsum" else ((1, c), (r, 1))[axis]
            net.op(opcode, (net.x(kind, (r, c), **quant(kind)),), to or kind, shape, axis=axis,
                   **({} if opcode == "cumsum" else dict(keep_dims=1)), **attrs)


def top_k(net, sizes, kind):
    for r, c in sizes["rows"] + ((16, 10),):
        for k in (1, 3):
            net.op("top_k", (net.x(kind, (r, c), **quant(kind)),), kind, (r, k), axis=1, **quant(kind))


# --- moves ---

def words(*v):
    return "(" + ",".join(map(str, v)) + ")"


def ints(net, shape, *v):
    return net.const("i32", shape, values=words(*v))


def moves(net, sizes, kind):
    q = quant(kind)
    for b, h, w, c, _ in sizes["images"]:
        x = net.x(kind, (b, h, w, c), **q)
        net.op("pad", (x, ints(net, (4, 2), 0, 0, 1, 1, 2, 1, 0, 0)), kind, (b, h + 2, w + 3, c), **q)
        net.op("pad", (x, ints(net, (4, 2), 0, 0, 0, 0, 0, 0, 1, 2)), kind, (b, h, w, c + 3), **q)
        net.op("transpose", (x, ints(net, (4,), 0, 2, 3, 1)), kind, (b, w, c, h), **q)
        net.op("transpose", (x, ints(net, (4,), 0, 2, 1, 3)), kind, (b, w, h, c), **q)
        net.op("slice", (x, ints(net, (4,), 0, 1, 1, 0)), kind, (b, h - 1, w - 2, c), **q)
        net.op("slice", (x, ints(net, (4,), 0, 0, 0, 0), ints(net, (4,), 1, 1, 2, 1)), kind, (b, h, (w + 1) // 2, c), **q)
        net.op("concatenation", (x, net.x(kind, (b, h, w, c), again=1, **q)), kind, (b, h, w, 2 * c), axis=3, **q)
        net.op("concatenation", (x, net.x(kind, (b, h, w, c), again=1, **q)), kind, (b, 2 * h, w, c), axis=1, **q)
        net.op("gather", (x, ints(net, (3,), 0, 2, 1)), kind, (b, 3, w, c), axis=1, **q)
        net.op("gather", (x, ints(net, (3,), 0, 2, 1)), kind, (b, h, w, 3), axis=3, **q)
        net.op("gather_nd", (net.x(kind, (h, w, c), **q), ints(net, (4, 2), 0, 0, 1, 1, 2, 2, 3, 3)), kind, (4, c), **q)
        net.op("gather_nd", (net.x(kind, (h, w, c), **q), ints(net, (3, 1), 0, 1, 2)), kind, (3, w, c), **q)
        net.op("update_slice", (x, net.x(kind, (b, 1, w, c), again=1, **q), ints(net, (4,), 0, 1, 0, 0)), kind, (b, h, w, c), **q)
        net.op("update_slice", (x, net.x(kind, (b, h, 1, c), again=1, **q), ints(net, (4,), 0, 0, 1, 0)), kind, (b, h, w, c), **q)
        net.op("select", (net.x("bool", (b, h, w, c)), x, net.x(kind, (b, h, w, c), again=1, **q)), kind, (b, h, w, c), **q)
        net.op("select", (net.x("bool", (b, h, w, 1)), x, net.x(kind, (b, 1, 1, c), again=1, **q)), kind, (b, h, w, c), **q)


def variables(net, sizes, kind):
    for n in sizes["vectors"]:
        v = net.tensor(kind, (1, n), "variable", "v", **quant(kind))
        net.op("read_variable", (v,), kind, (1, n), **quant(kind))


def resize(net, sizes, kind):
    for b, h, w, c, _ in sizes["images"]:
        for up in (2, 3):
            net.op("resize_bilinear", (net.x(kind, (b, h, w, c), **quant(kind)),), kind, (b, h * up, w * up, c), **quant(kind))


def interpolate(net, sizes, kind):
    for b, h, w, c, _ in sizes["images"]:
        for taps in (2, 4):
            n, real = 2 * h, kind == "f32"
            index = ints(net, (n, taps), *[(i + t) % h for i in range(n) for t in range(taps)])
            weight = net.const("f32" if real else "i16", (n, taps), **({} if real else dict(scale=0.0625, zero=0)),
                               data=("0000803e" if real else "0400") * (n * taps))
            q = {} if real else quant(kind)
            net.op("interpolate", (net.x(kind, (b, h, w, c), **q), index, weight), kind, (b, n, w, c), **q, axis=1)


def integers(net, sizes):
    for m, k, n in sizes["matrices"]:
        zeros = (net.x("i8", (1,), "z"), net.x("i8", (1,), "z", again=1))
        net.op("matmul_integer", (net.x("i8", (2, m, k)), net.x("i8", (2, k, n), again=1), *zeros), "i32", (2, m, n))
        for digits in (3, 4):
            taps = ints(net, (1, 1, n), *range(n))
            net.op("join_digits", (net.x("i8", (m, n * digits), scale=1, zero=0), zeros[0], taps), "i32", (m, n), digits=digits,
                   multiplier=n)
    for k, p in ((1, 0), (3, 1)):
        for b, h, w, c, o in sizes["images"]:
            net.op("conv_integer", (net.x("i8", (b, h, w, c)), net.x("i8", (o, k, k, c), again=1), *zeros), "i32",
                   (b, h, w, o), **window(k, 1, p, 1))


def dynamic(net, sizes):
    """Float32 activations of int8 weights, their sums scaled."""
    for shape in [s[:4] for s in sizes["images"]] + list(sizes["rows"]):
        n, c = shape[0], shape[-1]
        x, scales = net.x("f32", shape), net.x("f32", (n, 3))
        made = net.op("row_scales", (x,), "f32", (n, 3), asymmetric=1)
        net.op("quantize_rows", (x, made), "i8", shape, 1, 0)
        for first in (0, 1):
            net.op("scale_sums", (net.x("i32", shape), scales, net.const("f32", (c,), data="0000003f" * c),
                                  net.const("f32", (c,), data="0000003f" * c)), "f32", shape, channels_first=first, activation=1)


def lstm(net, sizes):
    for steps, inputs, cells in ((3, 5, 4), (2, 12, 9), (4, 6, 16), (3, 20, 7)) if sizes is SIZES["fit"] else ((3, 10, 8), (2, 16, 14)):
        h = net.tensor("i8", (1, cells), "variable", "h", 1 / 128, 0)
        c = net.tensor("i16", (1, cells), "variable", "c", 2.0 ** -11, 0)
        bias = ints(net, (8, cells), *[11] * (8 * cells))
        net.op("lstm", (net.x("i8", (1, steps, inputs), scale=0.02, zero=0), net.const("i8", (4, cells, inputs), (0.01,) * 4, 0),
                        net.const("i8", (4, cells, cells), (0.01,) * 4, 0), bias, h, c), "i8", (1, steps, cells), 1 / 128, 0, axis=1)


def svdf(net, sizes):
    for inputs, units, rank, steps in ((5, 4, 1, 3), (12, 9, 2, 5), (6, 16, 1, 8), (20, 7, 2, 10)) if sizes is SIZES["fit"] else ((10, 8, 2, 6), (16, 5, 1, 12)):
        filters = units * rank
        state = net.tensor("i16", (1, filters * steps), "variable", "s", 0.001, 0)
        net.op("svdf", (net.x("i8", (1, inputs), **quant("i8")), net.const("i8", (filters, inputs), 0.01, 0),
                        net.const("i16", (filters, steps), 0.0001, 0), ints(net, (units,), *[11] * units), state),
               "i8", (1, units), 0.05, 3)


def detection(net, sizes):
    """No two boxes overlap fully, so every detection is found."""
    for boxes, classes, most in ((20, 2, 4), (50, 6, 10), (90, 3, 5), (35, 12, 8)) if sizes is SIZES["fit"] else ((30, 5, 6), (70, 8, 7)):
        parameters = struct.pack("<6f", 10, 10, 5, 5, -100, 1).hex()
        net.op("detection", (net.x("f32", (1, boxes, 4)), net.x("f32", (1, boxes, classes)),
                             net.const("f32", (boxes, 4), data="0000003f" * (4 * boxes)), net.const("f32", (6,), data=parameters)),
               "f32", (1, 6 * most + 1), classes=classes, classes_each=1)


# --- the list ---

def int8(net, s):
    for args in ((3, 1, 1, 1), (3, 2, 1, 1), (5, 1, 2, 1)):
        conv(net, s, "i8", args)
    conv(net, s, "i8", (1, 1, 0, 1))
    conv(net, s, "i8", (1, 2, 0, 1))
    conv(net, s, "i8", (3, 1, 2, 2))
    odd = ((1, 6, 8, 1, 8), (1, 5, 6, 3, 24), (1, 7, 9, 5, 16), (1, 12, 16, 3, 8))  # windows are copied
    deep = ((1, 3, 5, 24, 8), (1, 4, 4, 32, 64), (1, 5, 5, 64, 24), (1, 2, 2, 48, 5))
    if s is SIZES["check"]:
        odd, deep = ((1, 9, 11, 3, 16), (1, 6, 7, 7, 8)), ((1, 4, 5, 40, 16), (1, 8, 8, 16, 32))
    conv(net, dict(images=odd), "i8", (3, 1, 1, 1))
    conv(net, dict(images=odd), "i8", (3, 2, 1, 1))
    conv(net, dict(images=deep), "i8", (1, 1, 0, 1))
    dense(net, s, "i8")


def int8_depthwise(net, s):
    for args in ((3, 1, 1, 1), (3, 2, 1, 1), (5, 1, 2, 1)):
        depthwise(net, s, "i8", args)
        depthwise(net, s, "i8", args, 2)


def int8_rest(net, s):
    for op in ("add", "sub", "mul", "maximum", "minimum", "prelu", "squared_difference"):
        binary(net, s, op, "i8")
    for op in ("average_pool_2d", "max_pool_2d"):
        pool(net, s, op, "i8")
    for op in ("mean", "reduce_max", "reduce_min"):
        reduce(net, s, op, "i8")


def int8_more(net, s):
    by_rows(net, s, "softmax", "i8", dict(scale=1 / 256, zero=-128), beta_bits=ONE)
    by_rows(net, s, "log_softmax", "i8", dict(scale=1 / 16, zero=127))
    by_rows(net, s, "l2_normalization", "i8", dict(scale=1 / 128, zero=0))
    unary(net, s, "logistic", "i8", out=dict(scale=1 / 256, zero=-128))
    unary(net, s, "quantize", "i8", "i8", out=dict(scale=0.07, zero=-9))
    unary(net, s, "quantize", "u8", "i8", out=dict(BYTE, zero=BYTE["zero"] - 128))
    unary(net, s, "quantize", "f32", "i8", out=dict(scale=0.03, zero=-9))
    unary(net, s, "dequantize", "i8", "f32")
    unary(net, s, "dequantize", "i8", "f32", n_of="tables")
    transpose_conv(net, s, "i8")
    matmul(net, s, "i8")
    resize(net, s, "i8")
    for op in ("arg_max", "arg_min"):
        along(net, s, op, "i8", "i32")
    integers(net, s)
    lstm(net, s)
    top_k(net, s, "i8")


def numbers(net, s):
    for kind in ("i32", "i64"):
        for op in ("add", "sub", "mul", "div", "floor_div", "floor_mod", "maximum", "minimum", "squared_difference"):
            binary(net, s, op, kind)
    for kind in ("i8", "i32", "i64", "f32"):
        binary(net, s, "less", kind, "bool")
    binary(net, s, "logical_and", "bool", "bool")
    unary(net, s, "logical_not", "bool")
    for a in ("i32", "i64", "f32", "bool"):
        for b in ("i32", "i64", "f32", "bool"):
            if a != b:
                unary(net, s, "cast", a, b)


def narrow_numbers(net, s):
    """CAST of 8 and 16 bits, what computes in uint8, SVDF, detections."""
    for a in ("i8", "i16", "i32", "i64", "f32", "bool"):
        for b in ("i8", "i16", "i32", "i64", "f32", "bool"):
            if a != b and {a, b} & {"i8", "i16"}:
                unary(net, s, "cast", a, b)
    resize(net, s, "u8")
    svdf(net, s)
    detection(net, s)


def wide(net, s):
    """Quotients and products of quantised values, sums of integers, SOFTMAX and QUANTIZE into int16."""
    for kind in ("i8", "i16"):
        binary(net, s, "div", kind)
        reduce(net, s, "reduce_prod", kind)
    for kind in ("i32", "i64"):
        reduce(net, s, "sum", kind)
        along(net, s, "cumsum", kind)
        for op in ("bitwise_and", "bitwise_or", "bitwise_xor", "right_shift"):
            binary(net, s, op, kind)
    for r, c in s["rows"] + ((16, 64),):
        net.op("softmax", (net.x("i8", (r, c), **quant("i8")),), "i16", (r, c), scale=1 / 65536, zero=-32768, beta_bits=ONE)
    unary(net, s, "quantize", "i8", "i16", out=dict(scale=0.001, zero=0))
    interpolate(net, s, "i8")


def int16(net, s):
    conv(net, s, "i16", (3, 1, 1, 1))
    conv(net, s, "i16", (1, 1, 0, 1))
    depthwise(net, s, "i16", (3, 1, 1, 1))
    depthwise(net, s, "i16", (3, 2, 1, 1), 2)
    dense(net, s, "i16")
    transpose_conv(net, s, "i16")
    matmul(net, s, "i16")
    for op in ("add", "sub", "mul", "maximum", "minimum"):
        binary(net, s, op, "i16")
    for op in ("average_pool_2d", "max_pool_2d"):
        pool(net, s, op, "i16")
    for op in ("mean", "reduce_max", "reduce_min"):
        reduce(net, s, op, "i16")
    resize(net, s, "i16")


def int16_bytes(net, s):
    """Products of int16 that an accelerator makes as products of bytes."""
    for r, c in s["rows"]:
        for high in (0, 1):
            net.op("byte_of", (net.x("i16", (r, c), **quant("i16")),), "i8", (r, c), scale=1, zero=0 if high else -128, high=high)
        for n in (c | 1, 4 * c):  # bytes, and whole words
            net.op("halves", (net.x("i16", (1, r, n), **quant("i16")),), "i8", (1, r, 2, n), scale=1, zero=0)
            net.op("halves", (net.x("i8", (1, r, 2, n), scale=1, zero=0),), "i16", (1, r, n), **quant("i16"))
        for n in (3, 4):
            digits = [net.x("i8", (r, c * n), again=k, scale=1, zero=0) for k in (0, 1)]
            net.op("join_wide", digits, "i16", (r, c), scale=0.001, multiplier=c, clamp="(-32768,32767)",
                   scale_m="(1073741824)", scale_e="(-7)")


def int16_unary(net, s):
    unary(net, s, "leaky_relu", "i16", alpha_bits=1045220557)
    unary(net, s, "logistic", "i16", out=dict(scale=1 / 32768, zero=0))
    unary(net, s, "tanh", "i16", out=dict(scale=1 / 32768, zero=0))
    by_rows(net, s, "softmax", "i16", dict(scale=1 / 32768, zero=0), beta_bits=ONE)
    unary(net, s, "dequantize", "i16", "f32")
    # One value in 100 is so near a tie that it is divided: many values, for their share.
    unary(net, s, "quantize", "f32", "i16", n_of="many", out=dict(scale=0.001, zero=0))
    unary(net, s, "quantize", "i16", "i8", out=dict(scale=0.3, zero=2))
    unary(net, s, "quantize", "i8", "i16", out=dict(scale=0.001, zero=0))


def float_conv(net, s):
    conv(net, s, "f32", (3, 1, 1, 1))
    conv(net, s, "f32", (1, 1, 0, 1))
    dense(net, s, "f32")


def float_conv_more(net, s):
    depthwise(net, s, "f32", (3, 1, 1, 1))
    depthwise(net, s, "f32", (3, 2, 1, 1), 2)
    transpose_conv(net, s, "f32")
    matmul(net, s, "f32")
    interpolate(net, s, "f32")


def float_rest(net, s):
    for op in ("add", "sub", "mul", "div", "floor_div", "floor_mod", "maximum", "minimum", "prelu", "squared_difference"):
        binary(net, s, op, "f32")
    binary(net, s, "pow", "f32")
    for op in ("average_pool_2d", "max_pool_2d"):
        pool(net, s, op, "f32")
    for op in ("mean", "sum", "reduce_max", "reduce_min", "reduce_prod"):
        reduce(net, s, op, "f32")


def float_unary(net, s):
    for op in ("relu6", "logistic", "tanh", "exp", "hard_swish", "abs", "neg", "sign", "sin", "cos", "erf", "round",
               "floor", "ceil", "elu", "gelu"):
        unary(net, s, op, "f32")
    unary(net, s, "gelu", "f32", approximate=1)
    unary(net, s, "leaky_relu", "f32", alpha_bits=1045220557)
    unary(net, s, "hard_sigmoid", "f32", alpha_bits=1045220557, beta_bits=1056964608)
    for op in ("sqrt", "log", "rsqrt"):
        unary(net, s, op, "f32", name="pos")
    by_rows(net, s, "softmax", "f32", beta_bits=ONE)
    by_rows(net, s, "log_softmax", "f32")
    by_rows(net, s, "l2_normalization", "f32")
    along(net, s, "cumsum", "f32")
    for op in ("arg_max", "arg_min"):
        along(net, s, op, "f32", "i32")
    top_k(net, s, "f32")


def moved(net, s):
    moves(net, s, "i8")
    moves(net, s, "f32")
    variables(net, s, "i8")


def onnx(net, s):
    conv(net, s, "i8", (3, 1, 1, 1))
    conv(net, s, "i8", (1, 1, 0, 1))
    depthwise(net, s, "i8", (3, 1, 1, 1))
    dense(net, s, "i8")
    matmul(net, s, "i8")
    for op in ("add", "sub", "mul"):
        binary(net, s, op, "i8")
    pool(net, s, "average_pool_2d", "i8")
    reduce(net, s, "mean", "i8")
    by_rows(net, s, "softmax", "i8", dict(scale=1 / 256, zero=-128), beta_bits=ONE)
    unary(net, s, "quantize", "f32", "i8", out=dict(scale=0.03, zero=-9))


def qlinear(net, s):
    for op in ("add", "mul"):
        for r, c in s["rows"]:
            net.op(op, (net.x("i8", (r, c), **quant("i8")), net.x("i8", (r, c), again=1, **quant("i8"))), "i8", (r, c),
                   **quant("i8"), qlinear=1)


def litert(net, s):
    dense(net, s, "i8")


NETWORKS = ((int8, ""), (int8_depthwise, ""), (int8_rest, ""), (int8_more, ""), (numbers, ""), (narrow_numbers, ""), (wide, ""), (int16, ""),
            (int16_bytes, ""), (int16_unary, ""), (float_conv, ""), (float_conv_more, ""), (dynamic, ""), (float_rest, ""), (float_unary, ""), (moved, ""),
            (onnx, "onnx"), (qlinear, "onnx"), (litert, "litert"))


def networks(which):
    """Name, rounding and text of every network, with the sizes of `which`: fit or check."""
    for make, rounding in NETWORKS:
        net = Net(make.__name__)
        make(net, SIZES[which])
        yield make.__name__, rounding, net.text()
