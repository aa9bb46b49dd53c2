"""Make a network with state: a window over the last three frames of a stream, and a counter-like mix.

    state_tflite.py --out DIR

Writes DIR/model.tflite, in_0.bin, out_0.bin (state carried from sample to sample) and out_reset_0.bin (every
sample from the initial state). Environment: requirements-classic.txt.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import make_goldens  # noqa: E402
import tflite_writer  # noqa: E402

Q = dict(scale=0.05, zero=-3)


def build(rng):
    net, init = tflite_writer.Net("heddle state_tflite"), tflite_writer.Net()
    first = rng.integers(-128, 128, (1, 2, 8)).astype(np.int8)
    handle = init.tensor("init/handle", (1,), "resource")
    value = init.tensor("init/value", first.shape, np.int8, data=first, **Q)
    init.op("VAR_HANDLE", [], [handle], 1, "VarHandleOptions", Container="", SharedName="frames")
    init.op("ASSIGN_VARIABLE", [handle, value], [])

    x = net.tensor("x", (1, 1, 8), np.int8, **Q)
    h = net.tensor("handle", (1,), "resource")
    old, window = net.tensor("old", (1, 2, 8), np.int8, **Q), net.tensor("window", (1, 3, 8), np.int8, **Q)
    new = net.tensor("new", (1, 2, 8), np.int8, **Q)
    again = net.tensor("again", (1, 2, 8), np.int8, **Q)
    y, z = net.tensor("y", (1, 5), np.int8, 0.4, 7), net.tensor("z", (1, 2, 8), np.int8, 0.1, 0)
    w = net.tensor("w", (5, 24), np.int8, 0.02, 0, data=rng.integers(-127, 128, (5, 24)))
    b = net.tensor("b", (5,), np.int32, 0.001, 0, data=rng.integers(-500, 500, 5))
    begin, size = (net.tensor(n, (3,), np.int32, data=np.array(v)) for n, v in
                   (("begin", [0, 1, 0]), ("size", [1, 2, 8])))
    net.op("CALL_ONCE", [], [], 1, "CallOnceOptions", InitSubgraphIndex=1)
    net.op("VAR_HANDLE", [], [h], 1, "VarHandleOptions", Container="", SharedName="frames")
    net.op("READ_VARIABLE", [h], [old])
    net.op("CONCATENATION", [old, x], [window], 2, "ConcatenationOptions", Axis=1)
    net.op("SLICE", [window, begin, size], [new], 2, "SliceOptions")
    net.op("ASSIGN_VARIABLE", [h, new], [])
    net.op("READ_VARIABLE", [h], [again])
    net.op("FULLY_CONNECTED", [window, w, b], [y], 4, "FullyConnectedOptions")
    net.op("ADD", [old, again], [z], 2, "AddOptions")
    return net.finish([x], [y, z], [(init, [], [])])


def answers(content, frames, fresh):
    it = make_goldens.open_model(content)
    rows = []
    for frame in frames:
        if fresh:
            it = make_goldens.open_model(content)
        it.set_tensor(it.get_input_details()[0]["index"], frame)
        it.invoke()
        rows.append([it.get_tensor(d["index"]) for d in it.get_output_details()])
    return [np.stack(column) for column in zip(*rows)]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", type=pathlib.Path, required=True)
    args = ap.parse_args()
    rng = np.random.default_rng(1)
    content, frames = build(rng), rng.integers(-128, 128, (6, 1, 1, 8)).astype(np.int8)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "model.tflite").write_bytes(content)
    frames.tofile(args.out / "in_0.bin")
    for name, fresh in (("out", False), ("out_reset", True)):
        for k, y in enumerate(answers(content, frames, fresh)):
            y.tofile(args.out / f"{name}_{k}.bin")


if __name__ == "__main__":
    main()
