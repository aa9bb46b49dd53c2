#!/usr/bin/env python3
"""vela.py GRAPH OPERATORS [--ATTRIBUTE=VALUE ...]: which operators of a network Ethos-U takes, at how many cycles.

GRAPH is heddle's text form of the legalised network (compiler/ir/IR.md), OPERATORS the numbers of those that target.json
lets through, "0,1,5". Each run of neighbours among them becomes a .tflite file of its own, which goes through Vela. Printed
is one line per operator, "NUMBER takes CYCLES" or "NUMBER refuses REASON"; "error REASON" where nothing can be said.

A table (lut) is written as a LOGISTIC, of which Vela makes a table as well; padding that TFLite cannot express as a
PAD, whose
cycles count for the operator.
"""
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def stop(reason):
    print(f"error {reason}")
    sys.exit(0)


def find_vela():
    """The vela program; this one again with the Python next to it, which has the schema."""
    vela = shutil.which(os.environ.get("VELA", "vela"))
    if not vela:
        stop("Vela not found (PyPI ethos-u-vela); put vela on PATH, or name it by $VELA")
    python = pathlib.Path(vela).parent / "python"
    try:
        import ethosu.vela.tflite  # noqa: F401, pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        if os.environ.get("HEDDLE_VELA_AGAIN") or not python.exists():
            stop(f"{vela}: no Python next to it that has ethosu.vela")
        os.environ["HEDDLE_VELA_AGAIN"] = "1"
        os.execv(python, [python, *sys.argv])
    return vela


# --- heddle's text ---

def numbers(text, kind=int):
    return [kind(v) for v in text.split(",") if v and v != "-"]


def read_graph(path):
    """([tensor], [operator], outputs); constants as bytes."""
    tensors, ops, outputs = [], [], []
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        plain = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
        item = dict(re.findall(r"(\w+)=\(?([^ ()]*)\)?", plain))
        if plain.startswith("tensor "):
            kind, shape, role = re.match(r"tensor \d+ (\w+) \[([\d,]*)\] (\w+)", plain).groups()
            tensors.append({"type": kind, "shape": numbers(shape), "role": role, "data": b"",
                            "scale": numbers(item.get("scale", ""), float), "zero": numbers(item.get("zero", ""))})
            add_data(tensors[-1], item)
        elif line.startswith("  data="):
            tensors[-1]["data"] += bytes.fromhex(line[7:])
        elif plain.startswith("op "):
            ids = [-1 if v == "-" else int(v) for v in item.pop("in", "").split(",") if v]
            ops.append({"name": plain.split()[1], "in": ids, "out": numbers(item.pop("out", "")),
                        "attr": {k: int(v) for k, v in item.items() if re.fullmatch(r"-?\d+", v)}})
        elif plain.startswith("border "):
            outputs = numbers(item["out"])
    return tensors, ops, outputs


def add_data(t, item):
    n = 1
    for v in t["shape"]:
        n *= v
    if "values" in item:
        t["data"] = b"".join(v.to_bytes(4, "little", signed=True) for v in numbers(item["values"]))
    elif "fill" in item:
        t["data"] = bytes([int(item["fill"]) & 255]) * n * (4 if t["type"] == "i32" else 1)


def turned(data, rows, columns):
    """[rows, columns] bytes to [columns, rows]."""
    return b"".join(data[c::columns] for c in range(columns)) if rows > 1 else data


# --- a region as a TFLite file ---

class File:
    """One subgraph; tables by the schema that Vela brings."""

    def __init__(self):
        import flatbuffers  # pylint: disable=import-outside-toplevel
        self.b = flatbuffers.Builder(1 << 16)
        self.buffers, self.tensors, self.codes, self.ops = [b""], [], [], []

    def table(self, name, **fields):
        module = __import__(f"ethosu.vela.tflite.{name}", fromlist=["x"])
        made = {k: self.vector(v) if isinstance(v, (list, bytes, tuple)) else self.b.CreateString(v) if isinstance(v, str)
                else v for k, v in fields.items()}
        getattr(module, f"{name}Start")(self.b)
        for k, v in made.items():
            getattr(module, f"{name}Add{k}")(self.b, v)
        return getattr(module, f"{name}End")(self.b)

    def vector(self, v):
        """bytes; a list of tables' places, floats or int32; a tuple of int64."""
        if isinstance(v, bytes):
            return self.b.CreateByteVector(v)
        size = 8 if isinstance(v, tuple) else 4
        self.b.StartVector(size, len(v), size)
        for one in reversed(v):
            if isinstance(v, tuple):
                self.b.PrependInt64(one)
            elif isinstance(one, float):
                self.b.PrependFloat32(one)
            elif isinstance(one, Place):
                self.b.PrependUOffsetTRelative(one)
            else:
                self.b.PrependInt32(one)
        return self.b.EndVector()

    def tensor(self, name, kind, shape, scale, zero, data=b"", axis=0):
        buffer = 0
        if data:
            buffer = len(self.buffers)
            self.buffers.append(data)
        types = {"i8": 9, "i32": 2, "i16": 7, "u8": 3}
        quant = self.table("QuantizationParameters", Scale=scale, ZeroPoint=tuple(zero * (len(scale) // len(zero or [0]) or 1)),
                           QuantizedDimension=axis) if scale else None
        fields = {"Shape": shape, "Type": types[kind], "Buffer": buffer, "Name": name}
        if quant is not None:
            fields["Quantization"] = quant
        self.tensors.append(Place(self.table("Tensor", **fields)))
        return len(self.tensors) - 1

    def op(self, builtin, inputs, outputs, options=None, **fields):
        operators = __import__("ethosu.vela.tflite.BuiltinOperator", fromlist=["x"]).BuiltinOperator
        unions = __import__("ethosu.vela.tflite.BuiltinOptions", fromlist=["x"]).BuiltinOptions
        code = getattr(operators, builtin)
        if code not in self.codes:
            self.codes.append(code)
        more = {"BuiltinOptionsType": getattr(unions, options), "BuiltinOptions": self.table(options, **fields)} if options else {}
        self.ops.append(Place(self.table("Operator", OpcodeIndex=self.codes.index(code), Inputs=inputs, Outputs=outputs, **more)))

    def finish(self, inputs, outputs):
        graph = self.table("SubGraph", Tensors=self.tensors, Inputs=inputs, Outputs=outputs, Operators=self.ops, Name="region")
        codes = [Place(self.table("OperatorCode", DeprecatedBuiltinCode=min(c, 127), BuiltinCode=c, Version=1)) for c in self.codes]
        buffers = [Place(self.table("Buffer", **({"Data": d} if d else {}))) for d in self.buffers]
        model = self.table("Model", Version=3, OperatorCodes=codes, Subgraphs=[Place(graph)], Buffers=buffers)
        self.b.Finish(model, b"TFL3")
        return bytes(self.b.Output())


class Place(int):
    """Where a table is in the file."""


POOLS = {"average_pool_2d": "AVERAGE_POOL_2D", "max_pool_2d": "MAX_POOL_2D"}
PAIRS = {"add": "ADD", "sub": "SUB", "mul": "MUL", "maximum": "MAXIMUM", "minimum": "MINIMUM"}


class Region:
    """Operators first to last - 1 as a file."""

    def __init__(self, tensors, ops, first, last):
        self.t, self.f, self.id, self.name, self.softmax = tensors, File(), {}, {}, {}
        for i in range(first, last):
            self.add(i, ops[i])
        made = {o for op in ops[first:last] for o in op["out"]}
        read = {v for k, op in enumerate(ops) if not first <= k < last for v in op["in"]}
        inside = {v for op in ops[first:last] for v in op["in"]}
        self.inputs = [self.id[v] for v in sorted(inside - made) if v >= 0 and tensors[v]["role"] != "const" and v in self.id]
        self.outputs = [self.id[v] for v in sorted(made) if v in read or v not in inside]

    def use(self, v, name, **changes):
        """The tensor's number in the file."""
        t = {**self.t[v], **changes}
        if v not in self.id:
            self.id[v] = self.f.tensor(name, t["type"], t["shape"], t["scale"], t["zero"], t["data"], changes.get("axis", 0))
            self.name[self.id[v]] = name
        return self.id[v]

    def pads(self, op, name, x, size, kernel):
        """(x, padding): 0 SAME, 1 VALID; what neither is becomes a PAD."""
        a = op["attr"]
        sides, same = [], True
        for n, k, s, d, before, after in (("h", kernel[0], "stride_h", "dilation_h", "pad_top", "pad_bottom"),
                                          ("w", kernel[1], "stride_w", "dilation_w", "pad_left", "pad_right")):
            have, step = size["hw".index(n)], a.get(s, 1)
            total = max(0, (-(-have // step) - 1) * step + (k - 1) * a.get(d, 1) + 1 - have)
            sides.append((a.get(before, 0), a.get(after, 0)))
            same = same and sides[-1] == (total // 2, total - total // 2)
        if sides == [(0, 0), (0, 0)]:
            return x, 1
        if same:
            return x, 0
        t = self.t[op["in"][0]]
        shape = [t["shape"][0], size[0] + sum(sides[0]), size[1] + sum(sides[1]), t["shape"][3]]
        amounts = b"".join(v.to_bytes(4, "little") for pair in ((0, 0), *sides, (0, 0)) for v in pair)
        p = self.f.tensor(f"{name}_pads", "i32", [4, 2], [], [], amounts)
        y = self.f.tensor(f"{name}_pad", "i8", shape, t["scale"], t["zero"])
        self.f.op("PAD", [x, p], [y], "PadOptions")
        return y, 1

    def weighted(self, name, op, a, x, y):
        w = self.t[op["in"][1]]
        rows, oc = len(w["data"]) // w["shape"][-1], w["shape"][-1]
        bias = self.use(op["in"][2], f"{name}_bias", scale=[self.t[op["in"][0]]["scale"][0] * s for s in w["scale"]],
                        zero=[0]) if len(op["in"]) > 2 and op["in"][2] >= 0 else -1
        if op["name"] == "fully_connected":
            k = self.use(op["in"][1], f"{name}_w", shape=[oc, rows], data=turned(w["data"], rows, oc))
            self.f.op("FULLY_CONNECTED", [x, k, bias], [y], "FullyConnectedOptions", FusedActivationFunction=a.get("activation", 0))
            return
        window = {"StrideH": a["stride_h"], "StrideW": a["stride_w"], "DilationHFactor": a.get("dilation_h", 1),
                  "DilationWFactor": a.get("dilation_w", 1), "FusedActivationFunction": a.get("activation", 0)}
        x, window["Padding"] = self.pads(op, name, x, self.t[op["in"][0]]["shape"][1:3], (a["kernel_h"], a["kernel_w"]))
        if op["name"] == "depthwise_conv2d":
            k = self.use(op["in"][1], f"{name}_w", axis=3)
            self.f.op("DEPTHWISE_CONV_2D", [x, k, bias], [y], "DepthwiseConv2DOptions",
                      DepthMultiplier=a.get("multiplier", 1), **window)
            return
        k = self.use(op["in"][1], f"{name}_w", shape=[oc, *w["shape"][:3]], data=turned(w["data"], rows, oc))
        self.f.op("CONV_2D", [x, k, bias], [y], "Conv2DOptions", **window)

    def shaped(self, v, name, shape):
        """Operand v, by a RESHAPE where its shape is another: heddle has none that moves nothing."""
        x, t = self.use(v, f"in{v}"), self.t[v]
        count = lambda dims: 1 if not dims else dims[0] * count(dims[1:])
        if t["shape"] == shape or count(t["shape"]) != count(shape):
            return x
        y = self.f.tensor(name, t["type"], shape, t["scale"], t["zero"])
        self.name[y] = name
        self.f.op("RESHAPE", [x], [y], "ReshapeOptions", NewShape=shape)
        return y

    def add(self, i, op):
        name, a, kind, shape = f"op{i}", op["attr"], op["name"], self.t[op["out"][0]]["shape"]
        alike = kind in PAIRS or kind in ("softmax", "lut")
        x = self.shaped(op["in"][0], f"{name}_x", shape) if alike else self.use(op["in"][0], f"in{op['in'][0]}")
        y = self.use(op["out"][0], name)
        if kind in ("conv2d", "depthwise_conv2d", "fully_connected"):
            self.weighted(name, op, a, x, y)
        elif kind in POOLS:
            x, padding = self.pads(op, name, x, self.t[op["in"][0]]["shape"][1:3], (a["kernel_h"], a["kernel_w"]))
            self.f.op(POOLS[kind], [x], [y], "Pool2DOptions", Padding=padding, StrideH=a["stride_h"], StrideW=a["stride_w"],
                      FilterHeight=a["kernel_h"], FilterWidth=a["kernel_w"], FusedActivationFunction=a.get("activation", 0))
        elif kind in PAIRS:
            options = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions"}.get(PAIRS[kind], "MaximumMinimumOptions")
            self.f.op(PAIRS[kind], [x, self.shaped(op["in"][1], f"{name}_x2", shape)], [y], options,
                      **({"FusedActivationFunction": a.get("activation", 0)} if options != "MaximumMinimumOptions" else {}))
        elif kind == "softmax":
            self.softmax[self.name[x]] = i
            self.f.op("SOFTMAX", [x], [y], "SoftmaxOptions", Beta=1.0)
        elif kind == "reshape":
            self.f.op("RESHAPE", [x], [y], "ReshapeOptions", NewShape=shape)
        else:
            self.f.op("LOGISTIC", [x], [y])

    def bytes(self):
        return self.f.finish(self.inputs, self.outputs)


# --- Vela ---

def ask(vela, region, settings):
    """({operator: cycles}, {operator: reason}) of one region. Vela names the operators of a SOFTMAX by its input."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "region.tflite"
        model.write_bytes(region.bytes())
        run = subprocess.run([vela, model, "--output-dir", folder, "--optimise=Performance", "--verbose-performance",
                              *settings], capture_output=True, text=True, check=False)
        tables = list(pathlib.Path(folder).glob("*per-layer*.csv"))
        if run.returncode or not tables:
            lines = (run.stdout + run.stderr).strip().splitlines() or ["no output"]
            stop("Vela: " + ([line for line in lines if "Error" in line] or lines)[-1][:200])
        cycles = {}
        with open(tables[0], encoding="utf-8") as file:
            for line in csv.DictReader(file):
                of, part = re.match(r"op(\d+)(?:_|$)", line["Name"]), re.match(r"(\w+?)_softmax_", line["Name"])
                i = region.softmax.get(part[1]) if part else int(of[1]) if of else None
                if i is not None and line["Target"] == "NPU":
                    cycles[i] = cycles.get(i, 0) + int(float(line["Op Cycles"]))
    reasons, at = {}, None
    for line in (run.stdout + run.stderr).splitlines():
        warning = re.search(r"'op(\d+)\w*'? is not supported on the NPU", line)
        at = int(warning[1]) if warning else at if line.startswith(" ") else None
        if at is not None:
            reasons.setdefault(at, "Vela places it on the CPU")
            if line.startswith(" - "):
                reasons[at] = "Vela: " + line[3:].strip().replace(";", ",")
    return cycles, reasons


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    vela = find_vela()
    tensors, ops, _ = read_graph(sys.argv[1])
    wanted = set(numbers(sys.argv[2]))
    settings = []
    for word in sys.argv[3:]:
        name, value = word[2:].split("=", 1)
        if value:
            settings.append(f"--{name.replace('_', '-')}={value}")
    first = 0
    while first < len(ops):
        last = first
        while last < len(ops) and (last in wanted or (ops[last]["name"] == "reshape" and last > first)):
            last += 1
        while last > first and last - 1 not in wanted:
            last -= 1
        if last > first:
            cycles, reasons = ask(vela, Region(tensors, ops, first, last), settings)
            for i in range(first, last):
                if i in wanted and i in cycles and i not in reasons:
                    print(f"{i} takes {cycles[i]}")
                elif i in wanted:
                    print(f"{i} refuses {reasons.get(i, 'Vela reports no cycles for it')}")
        first = max(last, first + 1)


if __name__ == "__main__":
    main()
