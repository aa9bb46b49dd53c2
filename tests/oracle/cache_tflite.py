"""Make a network with caches that are updated in place: rows of a cache, and of each head's part of one.

    cache_tflite.py --out DIR [--seed S]

A token of two rows goes to the place `start`, three numbers, in a cache of seven rows; the sum of what it was and is
is the first output. A token of each head goes to `position` of another one. Half of the places are outside and go to
the nearest inside. No row of 12 bytes begins where a bus word does.
Writes DIR/model.tflite, in_K.bin, out_K.bin, 24 tokens, state carried from one to the next. Environment:
requirements-classic.txt.
"""

import argparse
import pathlib

import numpy as np

import decoder_tflite
import tflite_writer

Q, SUM = dict(scale=0.05, zero=-3), dict(scale=0.1, zero=1)
ROWS, HEADS, DEPTH, TOKENS = 7, 3, 12, 24


def variable(net, init, name, shape, data):
    """Return a new variable's handle, and its value before."""
    first = init.tensor(f"init/{name}/handle", (1,), "resource")
    init.op("VAR_HANDLE", [], [first], 1, "VarHandleOptions", Container="", SharedName=name)
    init.op("ASSIGN_VARIABLE", [first, init.tensor(f"init/{name}", shape, np.int8, data=data, **Q)], [])
    handle, old = net.tensor(f"{name}/handle", (1,), "resource"), net.tensor(f"{name}/old", shape, np.int8, **Q)
    net.op("VAR_HANDLE", [], [handle], 1, "VarHandleOptions", Container="", SharedName=name)
    net.op("READ_VARIABLE", [handle], [old])
    return handle, old


def update(net, name, handle, old, shape, part, start):
    now = net.tensor(f"{name}/now", shape, np.int8, **Q)
    net.op("DYNAMIC_UPDATE_SLICE", [old, part, start], [now])
    net.op("ASSIGN_VARIABLE", [handle, now], [])
    return now


def build(rng):
    net, init = tflite_writer.Net("heddle cache_tflite"), tflite_writer.Net()
    rows, heads = (1, ROWS, DEPTH), (1, HEADS, ROWS, DEPTH)
    x, start = net.tensor("x", (1, 2, DEPTH), np.int8, **Q), net.tensor("start", (3,), np.int32)
    token, position = net.tensor("token", (1, HEADS, 1, DEPTH), np.int8, **Q), net.tensor("position", (1,), np.int32)
    y, z = net.tensor("y", rows, np.int8, **SUM), net.tensor("z", heads, np.int8, **SUM)
    net.op("CALL_ONCE", [], [], 1, "CallOnceOptions", InitSubgraphIndex=1)
    handle, old = variable(net, init, "rows", rows, rng.integers(-128, 128, rows).astype(np.int8))
    now = update(net, "rows", handle, old, rows, x, start)
    net.op("ADD", [old, now], [y], 2, "AddOptions")
    handle, old = variable(net, init, "heads", heads, rng.integers(-128, 128, heads).astype(np.int8))
    place = net.tensor("place", (4,), np.int32)
    before, after = (net.tensor(n, (len(v),), np.int32, data=np.array(v, np.int32)) for n, v in
                     (("before", [0, 5]), ("after", [0])))
    net.op("CONCATENATION", [before, position, after], [place], 2, "ConcatenationOptions", Axis=0)
    now = update(net, "heads", handle, old, heads, token, place)
    net.op("ADD", [now, now], [z], 2, "AddOptions")
    return net.finish([x, start, token, position], [y, z], [(init, [], [])])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", type=pathlib.Path, required=True)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    rng = np.random.default_rng(args.seed)
    content = build(rng)
    start, position = rng.integers(-9, 2 * ROWS + 9, (2, TOKENS, 1)).astype(np.int32)
    start[::2] %= ROWS
    position[1::2] %= ROWS
    arrays = [rng.integers(-128, 128, (TOKENS, 1, 2, DEPTH)).astype(np.int8),
              np.concatenate([np.full_like(start, -1), start, np.full_like(start, 2)], 1),
              rng.integers(-128, 128, (TOKENS, 1, HEADS, 1, DEPTH)).astype(np.int8), position]
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "model.tflite").write_bytes(content)
    for k, values in enumerate(arrays):
        values.tofile(args.out / f"in_{k}.bin")
    for k, values in enumerate(decoder_tflite.answers(content, arrays)):
        values.tofile(args.out / f"out_{k}.bin")


if __name__ == "__main__":
    main()
