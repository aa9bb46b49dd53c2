"""Random networks of operators that move bytes or take one operand, on every kind of source: inputs, variables,
constants, what the host makes, what another device makes. Against the golden oracle, byte by byte.

    views_tflite.py --heddle build/heddle --count 100 [--seed 1] [--engine func] [--hw tiny] [--keep DIR]

A network has 1 to 3 inputs, up to 2 variables, 2 to 12 operators, 1 to 3 outputs, and 3 frames with state. All
tensors have one scale, so that parts of different origin meet in CONCATENATION and PACK. Which operators the host,
one accelerator or the other has is drawn, too (--offload). An rtl run has a memory with stalls. Seed and options
give the same network and the same run; one that differs is kept as DIR/seed_<n>. Exit status 1 if any differs or
ends in an error other than a refusal. Environment: requirements-classic.txt.
"""

import collections
import re
import shutil
import subprocess
import sys

import numpy as np

import make_goldens
import run_random
import tflite_writer

Q = dict(scale=0.05, zero=-3)
TABLES = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}  # what the format fixes
MOST = 1024  # elements of a tensor
FRAMES = 3

Value = collections.namedtuple("Value", "index shape")


class Skip(Exception):
    """The operator does not fit what is there."""


class Maker:
    """One network. A method op_* adds one operator, a few for a table of another scale."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.net, self.init = tflite_writer.Net("heddle views_tflite"), tflite_writer.Net()
        self.values, self.inputs, self.floats, self.variables, self.read = [], [], [], [], set()

    # -- drawing ---------------------------------------------------------------------------------

    def pick(self, of):
        return of[int(self.rng.integers(len(of)))]

    def chance(self, p):
        return self.rng.random() < p

    def source(self):
        v = self.pick(self.values[-4:] if self.chance(0.6) else self.values)
        self.read.add(v.index)
        return v

    def codes(self, shape):
        return self.rng.integers(-128, 128, shape).astype(np.int8)

    def add(self, shape, scale=Q["scale"], zero=Q["zero"]):
        if not shape or np.prod(shape) > MOST or len(shape) > 5:
            raise Skip
        return Value(self.net.tensor(f"t{len(self.net.tensors)}", shape, np.int8, scale, zero), tuple(shape))

    def emit(self, op, inputs, outputs, version=2, options=None, **fields):
        inputs = [getattr(i, "index", i) for i in inputs]
        self.net.op(op, inputs, [v.index for v in outputs], version, options, **fields)
        self.values += outputs

    def ints(self, data):
        data = np.array(data, np.int32)
        return self.net.tensor(f"c{len(self.net.tensors)}", data.shape, np.int32, data=data)

    def axis(self, x):
        return int(self.rng.integers(len(x.shape)))

    # -- sources ---------------------------------------------------------------------------------

    def shape(self):
        return self.pick([(1, 4, 4, 8), (1, 4, 4, 8), (1, 2, 6, 4), (1, 8, 1, 8), (1, 4, 16), (1, 32), (1, 3, 5, 3),
                          (1, 6, 4, 16)])

    def add_input(self):
        x = self.add(self.shape() if not self.inputs or self.chance(0.5) else self.inputs[0].shape)
        given = x
        if self.chance(0.3):  # float32 for the caller
            given = Value(self.net.tensor(f"f{len(self.net.tensors)}", x.shape, np.float32), x.shape)
            self.floats.append((given, x))
        self.inputs.append(given)
        self.values.append(x)

    def add_variable(self):
        shape, name = self.pick(self.inputs).shape, f"v{len(self.variables)}"
        handle = self.net.tensor(name, (1,), "resource")
        self.variables.append((name, handle, shape))
        at = self.init.tensor(name, (1,), "resource")
        value = self.init.tensor(f"{name}_0", shape, np.int8, data=self.codes(shape), **Q)
        self.init.op("VAR_HANDLE", [], [at], 1, "VarHandleOptions", Container="", SharedName=name)
        self.init.op("ASSIGN_VARIABLE", [at, value], [])

    def op_constant(self):
        shape = self.source().shape
        index = self.net.tensor(f"k{len(self.net.tensors)}", shape, np.int8, data=self.codes(shape), **Q)
        self.values.append(Value(index, shape))
        raise Skip  # no operator yet

    def op_read(self):
        if not self.variables:
            raise Skip
        _, handle, shape = self.pick(self.variables)
        self.emit("READ_VARIABLE", [handle], [self.add(shape)], 1)

    def op_assign(self):
        x = self.source()
        to = [v for v in self.variables if v[2] == x.shape]
        if not to:
            raise Skip
        self.net.op("ASSIGN_VARIABLE", [self.pick(to)[1], x.index], [], 1)

    # -- movers ----------------------------------------------------------------------------------

    def op_slice(self):
        x = self.source()
        begin = [int(self.rng.integers(n)) if self.chance(0.5) else 0 for n in x.shape]
        size = [int(self.rng.integers(1, n - b + 1)) if self.chance(0.5) else n - b for n, b in zip(x.shape, begin)]
        self.emit("SLICE", [x, self.ints(begin), self.ints(size)], [self.add(size)], 2, "SliceOptions")

    def op_strided_slice(self):
        x = self.source()
        k = self.axis(x)
        step = self.pick([2, 2, 3, -1])
        n = len(range(x.shape[k]))
        begin, end, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
        steps[k] = step
        size = list(x.shape)
        size[k] = -(-n // abs(step))
        mask = 1 << k if step < 0 else 0
        self.emit("STRIDED_SLICE", [x, self.ints(begin), self.ints(end), self.ints(steps)], [self.add(size)], 2,
                  "StridedSliceOptions", BeginMask=mask, EndMask=mask)

    def op_split(self):
        x = self.source()
        k = self.axis(x)
        n = self.pick([n for n in (1, 2, 3, 4) if x.shape[k] % n == 0])
        size = list(x.shape)
        size[k] //= n
        parts = [self.add(size) for _ in range(n)]
        self.emit("SPLIT", [self.ints(k), x], parts, 2, "SplitOptions", NumSplits=n)
        if self.chance(0.7):  # together again, some of them
            self.join("CONCATENATION", parts[self.pick([0, 0, 1]) if n > 1 else 0:], k)

    def op_unpack(self):
        x = self.source()
        k = self.axis(x)
        if x.shape[k] > 6 or len(x.shape) < 2:
            raise Skip
        parts = [self.add(x.shape[:k] + x.shape[k + 1:]) for _ in range(x.shape[k])]
        self.emit("UNPACK", [x], parts, 2, "UnpackOptions", Num=x.shape[k], Axis=k)
        if self.chance(0.7):
            self.join("PACK", parts, k)

    def join(self, op, parts, k):
        shape = list(parts[0].shape)
        if op == "PACK":
            shape.insert(k, len(parts))
        else:
            shape[k] = sum(p.shape[k] for p in parts)
        y = self.add(shape)
        self.read |= {p.index for p in parts}
        if op == "PACK":
            self.emit(op, parts, [y], 2, "PackOptions", ValuesCount=len(parts), Axis=k)
        else:
            self.emit(op, parts, [y], 2, "ConcatenationOptions", Axis=k)

    def op_concat(self):
        x = self.source()
        k = self.axis(x)
        like = [v for v in self.values if len(v.shape) == len(x.shape) and
                all(i == k or p == q for i, (p, q) in enumerate(zip(v.shape, x.shape)))]
        self.join("CONCATENATION", [self.pick(like) for _ in range(self.pick([2, 2, 3]))], k)

    def op_pack(self):
        x = self.source()
        if len(x.shape) > 3:
            raise Skip
        like = [v for v in self.values if v.shape == x.shape]
        parts = [self.pick(like) for _ in range(self.pick([1, 2, 3]))]
        self.join("PACK", parts, int(self.rng.integers(len(x.shape) + 1)))

    def op_reshape(self):
        x = self.source()
        n = int(np.prod(x.shape))
        c = self.pick([c for c in (1, 2, 4, 8, 16, x.shape[-1], n) if n % c == 0])
        w = self.pick([w for w in (1, 2, 4) if n // c % w == 0])
        shape = self.pick([(1, n), (1, n // c, c), (1, n // c // w, w, c), (1, n // c, 1, c)])
        self.emit("RESHAPE", [x, self.ints(shape)], [self.add(shape)], 1, "ReshapeOptions", NewShape=list(shape))

    def op_transpose(self):
        x = self.source()
        perm = [0, *(1 + int(p) for p in self.rng.permutation(len(x.shape) - 1))]
        self.emit("TRANSPOSE", [x, self.ints(perm)], [self.add([x.shape[p] for p in perm])], 2, "TransposeOptions")

    def op_pad(self):
        x = self.source()
        pads = [[0, 0]] + [[self.pick([0, 0, 1, 2]), self.pick([0, 0, 1])] for _ in x.shape[1:]]
        if len(pads) > 4:
            raise Skip
        y = self.add([n + a + b for n, (a, b) in zip(x.shape, pads)])
        self.emit("PAD", [x, self.ints(pads)], [y], 2, "PadOptions")

    def op_reverse(self):
        x = self.source()
        self.emit("REVERSE_V2", [x, self.ints([self.axis(x)])], [self.add(x.shape)], 2, "ReverseV2Options")

    def op_gather(self):
        x = self.source()
        k = self.axis(x)
        index = self.rng.integers(0, x.shape[k], self.pick([1, 2, 4]))
        self.emit("GATHER", [x, self.ints(index)], [self.add(x.shape[:k] + index.shape + x.shape[k + 1:])], 2,
                  "GatherOptions", Axis=k)

    def op_space_to_depth(self):
        x = self.source()
        if len(x.shape) != 4 or x.shape[1] % 2 or x.shape[2] % 2:
            raise Skip
        n, h, w, c = x.shape
        self.emit("SPACE_TO_DEPTH", [x], [self.add((n, h // 2, w // 2, 4 * c))], 2, "SpaceToDepthOptions", BlockSize=2)

    # -- one operand -----------------------------------------------------------------------------

    def unary(self, op, version=2, options=None, **fields):
        x = self.source()
        scale, zero = TABLES.get(op, (Q["scale"], Q["zero"]))
        y = self.add(x.shape, scale, zero)
        self.net.op(op, [x.index], [y.index], version, options, **fields)
        if op in TABLES:
            z = self.add(x.shape)
            self.net.op("QUANTIZE", [y.index], [z.index], 2, "QuantizeOptions")
            y = z
        self.values.append(y)

    def op_table(self):
        op = self.pick(["RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU", "ABS"])
        fields = dict(options="LeakyReluOptions", Alpha=0.25) if op == "LEAKY_RELU" else {}
        self.unary(op, 1 if op in ("RELU_N1_TO_1", "LOGISTIC", "TANH", "HARD_SWISH") else 2, **fields)

    def op_conv(self):
        x = self.source()
        if len(x.shape) != 4:
            raise Skip
        k, n = self.pick([1, 1, 3]), self.pick([x.shape[3], 4, 8, 12])
        w = self.net.tensor(f"w{len(self.net.tensors)}", (n, k, k, x.shape[3]), np.int8, 0.02, 0,
                            data=self.rng.integers(-127, 128, (n, k, k, x.shape[3])))
        b = self.net.tensor(f"b{len(self.net.tensors)}", (n,), np.int32, float(np.float32(0.05) * np.float32(0.02)), 0,
                            data=self.rng.integers(-500, 500, n))
        self.emit("CONV_2D", [x, w, b], [self.add((*x.shape[:3], n))], 3, "Conv2DOptions", StrideH=1, StrideW=1,
                  DilationHFactor=1, DilationWFactor=1)

    def op_maxpool(self):
        x = self.source()
        if len(x.shape) != 4 or x.shape[1] < 2 or x.shape[2] < 2:
            raise Skip
        n, h, w, c = x.shape
        self.emit("MAX_POOL_2D", [x], [self.add((n, h // 2, w // 2, c))], 2, "Pool2DOptions", Padding=1,
                  StrideH=2, StrideW=2, FilterHeight=2, FilterWidth=2)

    def op_add(self):
        x = self.source()
        y = self.pick([v for v in self.values if v.shape == x.shape])
        self.read.add(y.index)
        self.emit("ADD", [x, y], [self.add(x.shape)], 2, "AddOptions", PotScaleInt16=True)

    # -- the whole -------------------------------------------------------------------------------

    def build(self):
        for _ in range(self.pick([1, 1, 2, 3])):
            self.add_input()
        for _ in range(self.pick([0, 1, 1, 2])):
            self.add_variable()
        if self.variables:
            self.net.op("CALL_ONCE", [], [], 1, "CallOnceOptions", InitSubgraphIndex=1)
        for name, handle, _ in self.variables:
            self.net.op("VAR_HANDLE", [], [handle], 1, "VarHandleOptions", Container="", SharedName=name)
        for given, x in self.floats:
            self.net.op("QUANTIZE", [given.index], [x.index], 1, "QuantizeOptions")
        first = len(self.net.ops)
        names = [n for n in dir(self) if n.startswith("op_")] + ["op_read", "op_assign", "op_concat", "op_slice"]
        n_ops = int(self.rng.integers(2, 13))
        for _ in range(200):
            if len(self.net.ops) >= first + n_ops:
                break
            try:
                getattr(self, self.pick(names))()
            except Skip:
                pass
        made = {t for op in self.net.ops[first:] for t in op[3]}
        if not made:
            raise ValueError("no operator fits")
        ends = [v for v in self.values if v.index in made and v.index not in self.read]
        outputs = [self.pick(ends or [v for v in self.values if v.index in made])]
        for _ in range(self.pick([0, 1, 2])):  # any tensor, also an input or a constant
            outputs.append(self.pick(self.values if self.chance(0.3) else [v for v in self.values if v.index in made]))
        outputs = {v.index: v for v in outputs}.values()
        self.outputs = [self.real(v) if self.chance(0.3) else v.index for v in outputs]
        self.n_ops = len(self.net.ops)
        more = [(self.init, [], [])] if self.variables else []
        return self.net.finish([v.index for v in self.inputs], self.outputs, more)

    def real(self, v):
        """The output v, dequantised for the caller."""
        t = self.net.tensor(f"r{len(self.net.tensors)}", v.shape, np.float32)
        self.net.op("DEQUANTIZE", [v.index], [t], 1, "DequantizeOptions")
        return t

    def samples(self):
        floats = [given.index for given, _ in self.floats]
        return [self.reals((FRAMES, *v.shape)) if v.index in floats else self.codes((FRAMES, *v.shape))
                for v in self.inputs]

    def reals(self, shape):
        """Floats of all bytes and a little beyond, half of them next to a half step."""
        steps = self.rng.uniform(-140, 140, shape) - Q["zero"]
        ties = (np.floor(steps) + 0.5) * (1 + self.rng.integers(-2, 3, shape) * 2.0**-24)
        return (np.where(self.rng.random(shape) < 0.5, ties, steps) * Q["scale"]).astype(np.float32)


def answers(content, samples):
    """Outputs of frame after frame, the state carried on."""
    it, rows = make_goldens.open_model(content), []
    for frame in zip(*samples):
        for d, x in zip(it.get_input_details(), frame):
            it.set_tensor(d["index"], x)
        it.invoke()
        rows.append([it.get_tensor(d["index"]).copy() for d in it.get_output_details()])
    return [np.stack(column) for column in zip(*rows)]


def places(maker, hw):
    """Options that give some operators to the host or the other accelerator."""
    rng, kind = maker.rng, maker.pick(["one", "host", "host", "two"])
    if kind == "one":
        return []
    options = ["--target=systolic,c"]
    if kind == "two":
        options = ["--target=systolic:a,systolic:b,c", f"--target-a-hw={hw}", f"--target-b-hw={hw}"]
    targets = ["", "=a", "=b"] if kind == "two" else [""]
    for k in range(maker.n_ops):
        if rng.random() < 0.35:
            options.append(f"--offload={k:02d}_*{targets[int(rng.integers(len(targets)))]}")
    return options


def run(cmd, folder):
    """Runs the command without offloads of what computes nothing, or what that target does not take; what came, and
    the command."""
    while True:
        done = subprocess.run(cmd, capture_output=True, text=True, timeout=900, check=False, cwd=folder)
        gone = re.search(r"--offload: (?:no operator ')?(\d\d)_(?:\*'|\w+ cannot go)", done.stderr)
        if done.returncode != 2 or not gone:
            return done, cmd
        cmd = [word for word in cmd if not word.startswith(f"--offload={gone[1]}_")]


def one(args, seed):
    """Equal, no network or refused; else what is wrong."""
    maker = Maker(seed)
    try:
        content = maker.build()
        samples = maker.samples()
        right = answers(content, samples)
    except (RuntimeError, ValueError) as e:
        return f"no network: {str(e).splitlines()[0]}"
    folder = args.keep / f"seed_{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "model.tflite").write_bytes(content)
    cmd = [str(args.heddle), "run", str(folder / "model.tflite"), f"--engine={args.engine}", f"--hw={args.hw}", "-q",
           *(places(maker, args.hw) if args.places else [])]
    if args.engine == "rtl":
        cmd += ["--stall-seed", str(seed % 1000 + 1)] if args.stalls else []
    for flag, name, arrays in (("-i", "in", samples), ("--expect", "out", right)):
        for k, x in enumerate(arrays):
            x.tofile(folder / f"{name}_{k}.bin")
            cmd += [flag, str(folder / f"{name}_{k}.bin")]
    done, cmd = run(cmd, folder)
    if done.returncode in (0, 3):
        shutil.rmtree(folder)
        return f"refused: {done.stderr.strip()}" if done.returncode else "equal"
    (folder / "command").write_text(" ".join(cmd) + "\n")
    return f"exit {done.returncode}: {done.stderr.strip()}\n  {' '.join(cmd)}"


def main():
    ap = run_random.arguments(__doc__, "build/views_failures")
    ap.add_argument("--engine", default="func")
    ap.add_argument("--no-places", dest="places", action="store_false", help="all targets as heddle chooses")
    ap.add_argument("--no-stalls", dest="stalls", action="store_false", help="rtl: a memory without stalls")
    count = run_random.seeds(ap.parse_args(), one)
    return 1 if count["wrong"] or not count["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
