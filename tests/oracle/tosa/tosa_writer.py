"""Write a TOSA 1.0 file operator by operator, with the standard library alone.

    net = Net()
    x = net.input("x", (1, 8, 8, 3), "INT8")
    y = net.op("RESHAPE", [x, net.shape([1, 192])], (1, 192), "INT8")
    content = net.finish([y])

A FlatBuffer is written from its root on: a table, then what it refers to.
"""

import struct

TYPES = dict(BOOL=1, INT4=2, INT8=3, INT16=4, INT32=5, INT48=6, FP32=7, FP16=8, BF16=9, SHAPE=10, INT64=17)
FORMATS = dict(BOOL="?", INT4="b", INT8="b", INT16="h", INT32="i", INT64="q", FP32="f", FP16="e", BF16="h")
OPS = """UNKNOWN ARGMAX AVG_POOL2D CONV2D CONV3D DEPTHWISE_CONV2D FFT2D MATMUL MAX_POOL2D RFFT2D TRANSPOSE_CONV2D CLAMP
ERF SIGMOID TANH ADD ARITHMETIC_RIGHT_SHIFT BITWISE_AND BITWISE_OR BITWISE_XOR INTDIV LOGICAL_AND LOGICAL_LEFT_SHIFT
LOGICAL_RIGHT_SHIFT LOGICAL_OR LOGICAL_XOR MAXIMUM MINIMUM MUL POW SUB TABLE ABS BITWISE_NOT CEIL CLZ COS EXP FLOOR LOG
LOGICAL_NOT NEGATE RECIPROCAL RSQRT SIN SELECT EQUAL GREATER GREATER_EQUAL REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN
REDUCE_PRODUCT REDUCE_SUM CONCAT PAD RESHAPE REVERSE SLICE TILE TRANSPOSE GATHER SCATTER RESIZE CAST RESCALE CONST
IDENTITY CUSTOM COND_IF WHILE_LOOP VARIABLE VARIABLE_WRITE VARIABLE_READ CONST_SHAPE""".split()
WINDOW = ["pad", "stride", "dilation", "local_bound", "acc_type"]
FIELDS = dict(ARGMAX=["axis", "nan_mode"], AVG_POOL2D=["kernel", "stride", "pad", "acc_type"], CONV2D=WINDOW,
              DEPTHWISE_CONV2D=WINDOW, MAX_POOL2D=["kernel", "stride", "pad", "nan_mode"],
              TRANSPOSE_CONV2D=["out_pad", "stride", "local_bound", "acc_type"], CLAMP=["min_val", "max_val", "nan_mode"],
              ARITHMETIC_RIGHT_SHIFT=["round"], MAXIMUM=["nan_mode"], MINIMUM=["nan_mode"], REDUCE_ALL=["axis"],
              REDUCE_ANY=["axis"], REDUCE_MAX=["axis", "nan_mode"], REDUCE_MIN=["axis", "nan_mode"],
              REDUCE_PRODUCT=["axis"], REDUCE_SUM=["axis"], CONCAT=["axis"], REVERSE=["axis"], TRANSPOSE=["perms"],
              RESIZE=["mode"], RESCALE=["scale32", "rounding_mode", "per_channel", "input_unsigned", "output_unsigned"])
SINGLE, INEXACT, DOUBLE = 1, 2, 3  # rounding_mode


class Table(dict):
    """Fields by number: int (32 bits), bool, ("u8", n), ("u64", n), str, bytes, a list of int, str or Table, or a Table."""


class _File:
    def __init__(self):
        self.data = bytearray()

    def align(self, n, after=0):
        while (len(self.data) + after) % n:
            self.data.append(0)

    def patch(self, at, to):
        struct.pack_into("<I", self.data, at, to - at)

    def table(self, t):
        """Write a table and what it refers to; its place."""
        sizes, fields = {"u8": 1, "u64": 8}, sorted(t.items())
        n = max(t, default=-1) + 1
        self.align(2)
        vtable = len(self.data)
        self.data += bytes(4 + 2 * n)
        self.align(4)
        start = len(self.data)
        self.data += struct.pack("<i", start - vtable)
        refers = []
        for number, value in fields:
            size = 1 if isinstance(value, bool) else sizes[value[0]] if isinstance(value, tuple) else 4
            self.align(size)
            struct.pack_into("<H", self.data, vtable + 4 + 2 * number, len(self.data) - start)
            if isinstance(value, bool):
                self.data.append(value)
            elif isinstance(value, tuple):
                self.data += value[1].to_bytes(size, "little")
            elif isinstance(value, int):
                self.data += struct.pack("<I", value & 0xffffffff)
            else:
                refers.append((len(self.data), value))
                self.data += bytes(4)
        struct.pack_into("<HH", self.data, vtable, 4 + 2 * n, len(self.data) - start)
        for at, value in refers:
            self.patch(at, self.value(value))
        return start

    def value(self, v):
        if isinstance(v, Table):
            return self.table(v)
        if isinstance(v, (str, bytes)):
            content = v.encode() if isinstance(v, str) else v
            self.align(8 if isinstance(v, bytes) else 4, after=4)
            start = len(self.data)
            self.data += struct.pack("<I", len(content)) + content + (b"\0" if isinstance(v, str) else b"")
            return start
        self.align(4)
        start = len(self.data)
        self.data += struct.pack("<I", len(v))
        if all(isinstance(x, int) for x in v):
            self.data += struct.pack(f"<{len(v)}i", *v)
            return start
        self.data += bytes(4 * len(v))
        for i, x in enumerate(v):
            self.patch(start + 4 + 4 * i, self.value(x))
        return start


def flatbuffer(root, identifier=b"TOSA"):
    f = _File()
    f.data += bytes(4) + identifier
    f.patch(0, f.table(root))
    return bytes(f.data)


class Net:
    """One block under construction; tensors are known by their names."""

    def __init__(self, version=(1, 0, 0)):
        self.version = Table({0: version[0], 1: version[1], 2: version[2], 3: False})
        self.tensors, self.shapes, self.ops, self.inputs, self.kinds, self.sizes = [], [], [], [], {}, {}

    def tensor(self, name, shape, kind, data=None, **more):
        t = Table({0: name, 1: [int(v) for v in shape], 2: TYPES[kind]})
        if data is not None:
            t[3] = data
        t.update({dict(variable=4, is_unranked=5, offset=7)[k]: v for k, v in more.items()})
        self.tensors.append(t)
        self.kinds[name], self.sizes[name] = kind, tuple(int(v) for v in shape)
        return name

    def input(self, name, shape, kind):
        self.inputs.append(name)
        return self.tensor(name, shape, kind)

    def const(self, value, kind, name=None):
        """value: nested lists, or an array of numpy"""
        value = value.tolist() if hasattr(value, "tolist") else value
        name, shape, flat = name or f"const{len(self.tensors)}", [], value
        while isinstance(value, (list, tuple)):
            shape.append(len(value))
            value = value[0]
        for _ in shape[1:]:
            flat = [v for part in flat for v in part]
        flat = flat if shape else [flat]
        data = (b"".join(int(v).to_bytes(8, "little", signed=True)[:6] for v in flat) if kind == "INT48"
                else struct.pack(f"<{len(flat)}{FORMATS[kind]}", *flat))
        self.tensor(name, shape, kind, data)
        self.ops.append(Table({0: OPS.index("CONST"), 3: [], 4: [name]}))
        return name

    def shape(self, value):
        name = f"shape{len(self.shapes)}"
        self.shapes.append(Table({0: name, 1: len(value), 2: struct.pack(f"<{len(value)}q", *value)}))
        self.ops.append(Table({0: OPS.index("CONST_SHAPE"), 3: [], 4: [name]}))
        return name

    def op(self, op, inputs, shape, kind, name=None, **fields):
        """Add an operator with one output; fields are the attribute's."""
        name = self.tensor(name or f"t{len(self.tensors)}", shape, kind)
        if "nan_mode" in FIELDS.get(op, []):
            fields = {"nan_mode": 1, **fields}
        attribute = Table({FIELDS[op].index(k): [int(x) for x in v] if isinstance(v, (list, tuple)) else v
                           for k, v in fields.items() if k != "extra"})
        attribute.update(fields.get("extra", {}))
        code = OPS.index(op)
        self.ops.append(Table({0: code, 1: ("u8", code), 2: attribute, 3: list(inputs), 4: [name]}))
        return name

    def finish(self, outputs):
        block = Table({0: "main", 1: self.ops, 2: self.tensors, 3: self.inputs, 4: list(outputs), 5: self.shapes})
        return flatbuffer(Table({0: self.version, 1: [Table({0: "main", 1: [block]})]}))

    # --- shorthands ---

    def rescale(self, x, multiplier, shift, in_zero, out_zero, kind, rounding=DOUBLE, name=None, scale32=True, **flags):
        """RESCALE with one multiplier, or one for each of the last dimension's."""
        many, zero_kind = hasattr(multiplier, "__len__"), self.kinds[x]
        one = (lambda v: v) if many else (lambda v: [int(v)])
        return self.op("RESCALE", [x, self.const(one(multiplier), "INT32" if scale32 else "INT16"),
                                   self.const(one(shift), "INT8"), self.const([in_zero], zero_kind),
                                   self.const([out_zero], kind)], self.sizes[x], kind, name, scale32=scale32,
                       rounding_mode=rounding, per_channel=many, **flags)
