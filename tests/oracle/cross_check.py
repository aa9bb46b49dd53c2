"""Ask the newer runtimes for the answers of model folders and count where they differ from the goldens.

    cross_check.py FOLDER [FOLDER ...]     each with model.tflite, in_<k>.bin, out_<k>.bin, meta.json

Prints one line per difference and a sum per runtime. Exit status 1 if tflite-micro differs or neither runs.
LiteRT is expected to differ by a unit where a FULLY_CONNECTED rounds by float scale (NUMERICS.md), so it
does not count. Environment: requirements-new.txt.
"""

import argparse
import collections
import json
import pathlib
import sys

import numpy as np

ARENA_BYTES = 8 << 20


def litert(content, inputs, n_outputs):
    """One list of outputs per sample; LiteRT's reference kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    it = Interpreter(model_content=content, num_threads=1,
                     experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    for sample in zip(*inputs):
        for d, x in zip(it.get_input_details(), sample):
            it.set_tensor(d["index"], x)
        it.invoke()
        yield [it.get_tensor(d["index"]) for d in it.get_output_details()[:n_outputs]]


def tflm(content, inputs, n_outputs):
    """One list of outputs per sample; tflite-micro."""
    from tflite_micro.python.tflite_micro import runtime

    it = runtime.Interpreter.from_bytes(content, arena_size=ARENA_BYTES)
    for sample in zip(*inputs):
        for k, x in enumerate(sample):
            it.set_input(x, k)
        it.invoke()
        yield [it.get_output(k) for k in range(n_outputs)]


def tensors(folder, kind, entries):
    """All in_<k> or out_<k> of a folder as [n, *shape]."""
    return [np.fromfile(folder / f"{kind}_{k}.bin", e["dtype"]).reshape([-1, *e["shape"]])
            for k, e in enumerate(entries)]


def worst(run, folder):
    """Largest difference between a runtime's outputs and the goldens of a folder."""
    meta = json.loads((folder / "meta.json").read_text())
    goldens = tensors(folder, "out", meta["outputs"])
    answers = run((folder / "model.tflite").read_bytes(), tensors(folder, "in", meta["inputs"]), len(goldens))
    return max(int(np.abs(a.astype(int) - g[s].astype(int)).max())
               for s, outs in enumerate(answers) for a, g in zip(outs, goldens))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folders", nargs="+", type=pathlib.Path)
    args = ap.parse_args()
    count = {"litert": collections.Counter(), "tflm": collections.Counter()}
    for folder in args.folders:
        for run in (litert, tflm):
            try:
                diff = worst(run, folder)
            except Exception as e:  # report a runtime's refusal of any exception type
                count[run.__name__]["failed"] += 1
                print(f"{folder.name}: {run.__name__} failed: {str(e).splitlines()[0] if str(e) else repr(e)}")
                continue
            count[run.__name__]["differ" if diff else "same"] += 1
            if diff:
                print(f"{folder.name}: {run.__name__} differs by up to {diff}")
    print("; ".join(f"{k}: " + ", ".join(f"{n} {w}" for w, n in sorted(v.items())) for k, v in count.items()))
    return 1 if count["tflm"]["differ"] or not any(v["same"] + v["differ"] for v in count.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
