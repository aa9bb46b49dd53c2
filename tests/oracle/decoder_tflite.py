"""Make a decoder's step: one token attends to a cache of keys and values that is the network's state.

    decoder_tflite.py --out DIR [--form window|update] [--heads H] [--depth D] [--window W] [--tokens N] [--seed S]

window: the cache slides, CONCATENATION and STRIDED_SLICE; so does a mask of the places that have no token yet.
update: DYNAMIC_UPDATE_SLICE puts the token at its position, an int32 input, which also picks the mask's row.
Writes DIR/model.tflite, in_<k>.bin and out_0.bin of N tokens with the state carried from one to the next.
Environment: requirements-classic.txt.
"""

import argparse
import pathlib

import numpy as np

import make_goldens
import tflite_writer

X, KEY, VALUE = dict(scale=0.05, zero=-3), dict(scale=0.024, zero=4), dict(scale=0.2, zero=-2)
SCORE, PROBABILITY, MASK = dict(scale=0.15, zero=30), dict(scale=1 / 256, zero=-128), dict(scale=0.1, zero=127)


class Step:
    """One decoder layer for one token under construction."""

    def __init__(self, rng, form, heads, depth, window):
        self.rng, self.form, self.heads, self.depth, self.window = rng, form, heads, depth, window
        self.net, self.init = tflite_writer.Net("heddle decoder_tflite"), tflite_writer.Net()

    def ints(self, name, values):
        return self.net.tensor(name, np.shape(values), np.int32, data=values)

    def make(self, op, name, inputs, shape, q, version=1, options=None, **fields):
        """Append an operator; returns its int8 output."""
        y = self.net.tensor(name, shape, np.int8, **q)
        self.net.op(op, inputs, [y], version, options, **fields)
        return y

    def dense(self, name, x, n_in, n_out, w_scale, x_scale, q, act=0):
        w = self.net.tensor(f"{name}_w", (n_out, n_in), np.int8, w_scale, 0, data=self.rng.integers(-127, 128, (n_out, n_in)))
        b = self.net.tensor(f"{name}_b", (n_out,), np.int32, w_scale * x_scale, 0, data=self.rng.integers(-500, 500, n_out))
        return self.make("FULLY_CONNECTED", name, [x, w, b], (1, 1, n_out), q, 4, "FullyConnectedOptions",
                         KeepNumDims=True, FusedActivationFunction=act)

    def state(self, name, shape, q, code):
        """A variable whose first value is `code` everywhere: its handle and what it holds."""
        handle, value = self.init.tensor(f"init/{name}/handle", (1,), "resource"), self.init.tensor(
            f"init/{name}", shape, np.int8, data=np.full(shape, code), **q)
        self.init.op("VAR_HANDLE", [], [handle], 1, "VarHandleOptions", Container="", SharedName=name)
        self.init.op("ASSIGN_VARIABLE", [handle, value], [])
        handle = self.net.tensor(f"{name}/handle", (1,), "resource")
        self.net.op("VAR_HANDLE", [], [handle], 1, "VarHandleOptions", Container="", SharedName=name)
        return handle, self.make("READ_VARIABLE", f"{name}/old", [handle], shape, q)

    def appended(self, name, new, shape, axis, q, code):
        """The state `name` of `shape` with `new` at its end along `axis`, the oldest gone."""
        handle, old = self.state(name, shape, q, code)
        longer = [n + (i == axis) for i, n in enumerate(shape)]
        both = self.make("CONCATENATION", f"{name}/longer", [old, new], longer, q, 2, "ConcatenationOptions", Axis=axis)
        bounds = [self.ints(f"{name}/{part}", v) for part, v in
                  (("begin", [int(i == axis) for i in range(4)]), ("end", longer), ("steps", [1] * 4))]
        now = self.make("STRIDED_SLICE", f"{name}/now", [both, *bounds], shape, q, 2, "StridedSliceOptions")
        self.net.op("ASSIGN_VARIABLE", [handle, now], [])
        return now

    def updated(self, name, new, shape, q, start):
        """The state `name` of `shape` with `new` at `start`."""
        handle, old = self.state(name, shape, q, q["zero"])
        now = self.make("DYNAMIC_UPDATE_SLICE", f"{name}/now", [old, new, start], shape, q)
        self.net.op("ASSIGN_VARIABLE", [handle, now], [])
        return now

    def row(self, name, x, q):
        """[1,1,H*D] as [1,H,1,D]."""
        shape = (1, self.heads, 1, self.depth)
        return self.make("RESHAPE", name, [x, self.ints(f"{name}/shape", shape)], shape, q, 1, "ReshapeOptions")

    def caches(self, key, value, inputs):
        """Keys, values and the mask of the window."""
        cache, mask = (1, self.heads, self.window, self.depth), (1, 1, 1, self.window)
        if self.form == "window":
            zero = self.net.tensor("seen", (1, 1, 1, 1), np.int8, data=[[[[127]]]], **MASK)
            return (self.appended("keys", key, cache, 2, KEY, KEY["zero"]),
                    self.appended("values", value, cache, 2, VALUE, VALUE["zero"]),
                    self.appended("mask", zero, mask, 3, MASK, -128))
        position = self.net.tensor("position", (1,), np.int32)
        inputs.append(position)
        start = self.net.tensor("start", (4,), np.int32)
        self.net.op("CONCATENATION", [self.ints("before", [0, 0]), position, self.ints("after", [0])], [start], 2,
                    "ConcatenationOptions", Axis=0)
        rows = np.where(np.tri(self.window, dtype=bool), 127, -128)
        table = self.net.tensor("masks", rows.shape, np.int8, data=rows, **MASK)
        row = self.make("GATHER", "mask/row", [table, position], (1, self.window), MASK, 2, "GatherOptions", Axis=0)
        return (self.updated("keys", key, cache, KEY, start), self.updated("values", value, cache, VALUE, start),
                self.make("RESHAPE", "mask/now", [row, self.ints("mask/shape", mask)], mask, MASK, 1, "ReshapeOptions"))

    def build(self):
        n, net = self.heads * self.depth, self.net
        x = net.tensor("x", (1, 1, n), np.int8, **X)
        inputs, scores = [x], (1, self.heads, 1, self.window)
        net.op("CALL_ONCE", [], [], 1, "CallOnceOptions", InitSubgraphIndex=1)
        query, key, value = (self.row(f"{name}/row", self.dense(name, x, n, n, s, X["scale"], q), q) for name, s, q in
                             (("query", 6e-4, KEY), ("key", 6e-4, KEY), ("value", 5e-3, VALUE)))
        keys, values, mask = self.caches(key, value, inputs)
        score = self.make("BATCH_MATMUL", "score", [query, keys], scores, SCORE, 2, "BatchMatMulOptions", AdjY=True)
        score = self.make("ADD", "masked", [score, mask], scores, SCORE, 2, "AddOptions")
        p = self.make("SOFTMAX", "probability", [score], scores, PROBABILITY, 2, "SoftmaxOptions", Beta=1.0)
        seen = self.make("BATCH_MATMUL", "context", [p, values], (1, self.heads, 1, self.depth), VALUE, 2,
                         "BatchMatMulOptions")
        seen = self.make("RESHAPE", "context/row", [seen, self.ints("context/shape", (1, 1, n))], (1, 1, n), VALUE, 1,
                         "ReshapeOptions")
        seen = self.dense("out", seen, n, n, 1e-3, VALUE["scale"], X)
        x = self.make("ADD", "attended", [x, seen], (1, 1, n), X, 2, "AddOptions")
        wide = self.dense("up", x, n, 2 * n, 5e-3, X["scale"], dict(scale=0.08, zero=-128), act=1)
        x = self.make("ADD", "y", [x, self.dense("down", wide, 2 * n, n, 3e-4, 0.08, X)], (1, 1, n), X, 2, "AddOptions")
        return net.finish(inputs, [x], [(self.init, [], [])])


def answers(content, arrays):
    it = make_goldens.open_model(content)
    details, rows = it.get_input_details(), []
    for token in zip(*arrays):
        for d, v in zip(details, token):
            it.set_tensor(d["index"], v)
        it.invoke()
        rows.append([it.get_tensor(d["index"]).copy() for d in it.get_output_details()])
    return [np.stack(column) for column in zip(*rows)]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", type=pathlib.Path, required=True)
    ap.add_argument("--form", choices=("window", "update"), default="window")
    ap.add_argument("--heads", type=int, default=2)
    ap.add_argument("--depth", type=int, default=16)
    ap.add_argument("--window", type=int, default=16)
    ap.add_argument("--tokens", type=int, default=32)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    rng = np.random.default_rng(args.seed)
    content = Step(rng, args.form, args.heads, args.depth, args.window).build()
    arrays = [rng.integers(-128, 128, (args.tokens, 1, 1, args.heads * args.depth)).astype(np.int8)]
    if args.form == "update":
        arrays.append(np.minimum(np.arange(args.tokens, dtype=np.int32), args.window - 1)[:, None])
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "model.tflite").write_bytes(content)
    for k, values in enumerate(arrays):
        values.tofile(args.out / f"in_{k}.bin")
    answers(content, arrays)[0].tofile(args.out / "out_0.bin")


if __name__ == "__main__":
    main()
