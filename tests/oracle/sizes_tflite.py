"""--input-shapes of TFLite files against the golden oracle, which resizes its inputs: random networks, and files.

    sizes_tflite.py --heddle build/heddle [--seed 1] [--count 40] [FILE ...]

Each network gets other sizes for one of its inputs' dimensions. If the oracle takes them, heddle's bytes are the
oracle's, or heddle refuses with a text that names --input-shapes or the operator; if the oracle refuses them, heddle
does. Exit status 1 otherwise; what fails prints how to repeat it. Environment: requirements-classic.txt.
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import make_goldens
import rand_tflite


def shapes(rng, content):
    """Other sizes of the inputs, by name: the batch, or a height and width."""
    sizes = {d["name"]: [int(v) for v in d["shape"]] for d in make_goldens.open_model(content).get_input_details()}
    for shape in sizes.values():
        if len(shape) == 4 and rng.random() < 0.6:
            shape[1] += int(rng.integers(0, 6))
            shape[2] += int(rng.integers(0, 6))
        else:
            shape[0] += int(rng.integers(1, 3))
    return sizes


def oracle(content, sizes, rng):
    """Inputs and outputs of the resized network; None if the oracle refuses it."""
    it = make_goldens.open_model(content)
    try:
        for d in it.get_input_details():
            it.resize_tensor_input(d["index"], sizes[d["name"]])
        it.allocate_tensors()
        xs = []
        for d in it.get_input_details():
            kind = np.dtype(d["dtype"])
            limit = np.iinfo(kind) if kind.kind in "iu" else None
            x = rng.integers(limit.min, limit.max, d["shape"], endpoint=True) if limit else rng.normal(size=d["shape"])
            xs.append(x.astype(kind))
            it.set_tensor(d["index"], xs[-1])
        it.invoke()
        return xs, [it.get_tensor(d["index"]) for d in it.get_output_details()]
    except (RuntimeError, ValueError):
        return None


def judge(heddle, folder, content, seed):
    """(kind, text)"""
    rng = np.random.default_rng(seed)
    sizes = shapes(rng, content)
    answer = oracle(content, sizes, rng)
    (folder / "m.tflite").write_bytes(content)
    command = [heddle, "run", "m.tflite", "--engine=ref", "-q",
               "--input-shapes=" + ",".join(f"{n}:[{','.join(map(str, s))}]" for n, s in sizes.items())]
    for flag, name, arrays in (("-i", "in", answer[0] if answer else []), ("--expect", "out", answer[1] if answer else [])):
        for k, a in enumerate(arrays):
            a.tofile(folder / f"{name}_{k}.bin")
            command += [flag, f"{name}_{k}.bin"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    said = done.stderr.strip().split("\n")[0]
    if done.returncode == 0:
        return ("equal", "") if answer else ("wrong", "the oracle refuses it")
    if done.returncode in (2, 3):
        return "refused" if answer else "both refuse", said
    return "wrong", f"{' '.join(map(str, command))}: exit {done.returncode}: {said}"


def networks(args):
    for path in args.files:
        yield str(path), args.seed, path.read_bytes()
    for seed in range(args.seed, args.seed + args.count):
        with tempfile.TemporaryDirectory() as tmp:
            try:
                rand_tflite.make(pathlib.Path(tmp), seed, rand_tflite.OPS, 6, 1, (np.int8, np.uint8))
                yield f"seed {seed}", seed, (pathlib.Path(tmp) / "model.tflite").read_bytes()
            except (RuntimeError, ValueError):
                continue


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", type=lambda p: pathlib.Path(p).resolve(), default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=40)
    ap.add_argument("--show", action="store_true", help="print the refusals")
    ap.add_argument("files", nargs="*", type=pathlib.Path)
    args = ap.parse_args()
    count = collections.Counter()
    for name, seed, content in networks(args):
        with tempfile.TemporaryDirectory() as tmp:
            kind, text = judge(args.heddle.resolve(), pathlib.Path(tmp), content, seed)
        count[kind] += 1
        if kind == "wrong" or args.show and text:
            print(f"{name}: {kind}: {text}", flush=True)
    print("sizes:", ", ".join(f"{n} {kind}" for kind, n in count.items()))
    return count["wrong"] != 0 or count["equal"] == 0


if __name__ == "__main__":
    sys.exit(main())
