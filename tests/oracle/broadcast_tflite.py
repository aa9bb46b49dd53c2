"""Random networks of broadcasts: operators of two operands, each operand with any of its dimensions 1 or absent.

    broadcast_tflite.py --heddle build/heddle [--seed 1] [--count 100] [--hw tiny] [--keep DIR]

One to three operators of int8 or uint8 (ADD, SUB, MUL, MAXIMUM, MINIMUM, SQUARED_DIFFERENCE, comparisons), 1 to 5
dimensions, batches included; either operand is an input, a constant or an earlier result. One network in eight has
scales so far apart that rounding rules end. Answers with and without the accelerator (func, and --target=c) must be the
golden oracle's. Where the oracle refuses, heddle's own reference is the judge (unjudged). Nothing is refused, no check of the
compiler fails. A network that differs is kept in DIR. Exit status 1 if one does. Environment: requirements-classic.txt.
"""

import os
import sys
import tempfile

import numpy as np

import make_goldens
import run_random
from tflite_writer import Net

SAME_SCALE = ("MAXIMUM", "MINIMUM")
COMPARE = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
OPTIONS = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "MAXIMUM": "MaximumMinimumOptions",
           "MINIMUM": "MaximumMinimumOptions", "SQUARED_DIFFERENCE": "SquaredDifferenceOptions", "EQUAL": "EqualOptions",
           "NOT_EQUAL": "NotEqualOptions", "LESS": "LessOptions", "LESS_EQUAL": "LessEqualOptions",
           "GREATER": "GreaterOptions", "GREATER_EQUAL": "GreaterEqualOptions"}
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17)


class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.dtype = (np.int8, np.int8, np.uint8)[self.rng.integers(3)]
        self.low = np.iinfo(self.dtype).min
        self.wild = self.rng.random() < 1 / 8
        self.net = Net(f"broadcast_tflite seed {seed}")
        self.inputs, self.codes, self.values, self.outputs = [], [], [], []
        self.undefined = False  # undefined in the oracle: it compares only scales below 1, and its left shifts end at 30

    def scale(self):
        span = (-9, 5) if self.wild else (-2.5, -0.9)
        return np.float32(10 ** self.rng.uniform(*span))

    def tensor(self, shape, quant, data=None):
        n = self.net.tensor(f"t{len(self.net.tensors)}", shape, self.dtype, *quant, data=data)
        return n, tuple(shape), quant

    def quant(self):
        return self.scale(), int(self.rng.integers(256)) + self.low

    def operand(self, shape, quant, constant):
        """Make a constant, sometimes all zero, or an input."""
        if constant:
            data = np.full(shape, quant[1]) if self.rng.random() < 0.1 else self.rng.integers(256, size=shape) + self.low
            return self.tensor(shape, quant, data)
        t = self.tensor(shape, quant)
        self.inputs.append(t[0])
        self.codes.append((self.rng.integers(256, size=(2, *shape)) + self.low).astype(self.dtype))
        return t

    def narrowed(self, shape):
        """`shape` with dimensions that are broadcast; leading ones may be absent."""
        kept = [n if self.rng.random() < 0.6 else 1 for n in shape]
        while len(kept) > 1 and kept[0] == 1 and self.rng.random() < 0.5:
            kept.pop(0)
        return tuple(kept)

    def shape(self, of=None):
        """Up to 5 dimensions; one that `of` is broadcast to."""
        rank = int(self.rng.choice([1, 2, 3, 4, 4, 4, 5]))
        while True:
            dim = [int(self.rng.choice(SIZES)) for _ in range(max(rank, len(of or ())))]
            for i, n in enumerate(reversed(of or ()), 1):
                dim[-i] = n if n > 1 else dim[-i]
            if np.prod(dim) <= 4096:
                return tuple(dim)
            if of and self.rng.random() < 0.2:
                return of

    def op(self):
        name = str(self.rng.choice(list(OPTIONS)))
        first = self.values[-1] if self.values and self.rng.random() < 0.8 else None
        shape = self.shape(first[1] if first else None)
        if name in COMPARE or name in ("SQUARED_DIFFERENCE",) + SAME_SCALE:
            shape = shape if len(shape) < 5 else shape[-4:] if not first else first[1]  # the oracle's kernels support four dimensions
        if len(shape) > 4 and len(first[1] if first else ()) > 4 and name not in ("ADD", "SUB", "MUL"):
            name = "ADD"
        a = first or self.operand(self.narrowed(shape), self.quant(), self.rng.random() < 0.15)
        quant = a[2] if name in SAME_SCALE else self.quant()
        constant = self.rng.random() < 0.4 and (first is not None or a[0] in self.inputs)
        b = self.operand(self.narrowed(shape), quant, constant)
        a, b = (a, b) if self.rng.random() < 0.5 else (b, a)
        out = np.broadcast_shapes(a[1], b[1])
        if name in COMPARE:
            y = self.net.tensor(f"t{len(self.net.tensors)}", out, np.bool_), out, None
            self.undefined |= max(a[2][0], b[2][0]) >= 1
        else:
            y = self.tensor(out, quant if name in SAME_SCALE else self.out_quant(name, a[2], b[2]))
            self.values.append(y)
            self.undefined |= name == "MUL" and float(a[2][0]) * b[2][0] / y[2][0] >= 2.0**30
        fused = {} if name not in ("ADD", "SUB", "MUL") else {"FusedActivationFunction": int(self.rng.choice([0, 0, 1, 3]))}
        self.net.op(name, [a[0], b[0]], [y[0]], 2 if name not in ("SQUARED_DIFFERENCE",) + COMPARE[2:] else 1, OPTIONS[name], **fused)
        self.outputs.append(y[0])

    def out_quant(self, name, a, b):
        if self.wild and name != "SQUARED_DIFFERENCE":  # which the oracle ends and heddle refuses beyond 2^30
            return self.quant()
        reach = {"MUL": a[0] * b[0] * 8000, "SQUARED_DIFFERENCE": max(a[0], b[0]) ** 2 * 10000}.get(name, 150 * max(a[0], b[0]))
        return np.float32(reach / 127 * self.rng.uniform(0.3, 1.2)), int(self.rng.integers(256)) + self.low

    def make(self):
        for _ in range(int(self.rng.integers(1, 4))):
            self.op()
        return self.net.finish(self.inputs, self.outputs)


def answers(content, codes):
    """Return the oracle's outputs; None if it refuses or crashes."""
    with tempfile.TemporaryDirectory() as tmp:
        child = os.fork()
        if child == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                np.savez(f"{tmp}/y.npz", *make_goldens.run(make_goldens.open_model(content), codes))
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(child, 0)[1] != 0:
            return None
        y = np.load(f"{tmp}/y.npz")
        return [y[f"arr_{k}"] for k in range(len(y.files))]


def one(args, seed):
    maker = Maker(seed)
    content = maker.make()
    want = None if maker.undefined else answers(content, maker.codes)
    why = run_random.ask(args, seed, "model.tflite", content, maker.codes, want or [], [([], True), (["--target=c"], True)])
    if why:
        return f"{' '.join(o[0] for o in maker.net.ops)} {why}"
    return "unjudged" if want is None else "equal"


def main():
    args = run_random.arguments(__doc__, "build/broadcast-tflite").parse_args()
    return run_random.seeds(args, one)["wrong"] != 0


if __name__ == "__main__":
    sys.exit(main())
