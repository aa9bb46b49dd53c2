"""Random SOFTMAX of int8 and uint8 against the golden oracle: rows of 1 to 4,096 values, any scale and beta.

    softmax_tflite.py --heddle build/heddle [--seed 1] [--count 40] [--engine ref,func] [--hw sys16,...]

A RELU reads the probabilities, so that the accelerator keeps both. Half of the rows are random; others have some values
near the largest and many far below it, or one value in all places (fewer than 512: there the oracle's own shift exceeds
31, docs/NUMERICS.md). Exit status 1 if a byte differs or an operator is left on the host; what fails prints how to
repeat it. Environment: requirements-classic.txt.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import make_goldens
import tflite_writer

LONGEST, MOST_VALUES, UNDEFINED = 4096, 20000, 512


def codes(rng, rows, n, low):
    """Values of one input, [rows, n]."""
    form = int(rng.integers(4))
    if form < 2:
        x = rng.integers(low, low + 256, (rows, n))
    elif form == 2:
        top = int(rng.integers(low, low + 256))
        x = np.clip(np.where(rng.random((rows, n)) < 0.05, top - rng.integers(0, 4, (rows, n)), low), low, low + 255)
    else:
        x = np.broadcast_to(rng.integers(low, low + 256, (rows, 1)), (rows, n))
    return x


def network(seed):
    """The file and three inputs for which the oracle is defined."""
    rng = np.random.default_rng(seed)
    dtype, low = [(np.int8, -128), (np.uint8, 0)][int(rng.integers(2))]
    n = int(rng.integers(1, LONGEST + 1)) if rng.random() < 0.5 else int(rng.integers(1, 300))
    shape = (int(rng.integers(1, 2 + MOST_VALUES // n)), n)
    beta = float(rng.choice([0.5, 1.0, 1.0, 2.7]))
    scale = float(np.float32(2.0 ** rng.uniform(-8, 2)))
    xs = []
    while len(xs) < 3:
        x = codes(rng, *shape, low)
        sums = np.exp((x - x.max(1, keepdims=True)) * scale * beta).sum(1)
        if sums.max() < UNDEFINED - 2:  # the oracle's integers differ from these floats by less
            xs.append(x.astype(dtype))
        elif len(xs) == 0:
            scale *= 2
    net = tflite_writer.Net("heddle softmax_tflite")
    t = [net.tensor("x", shape, dtype, scale, int(rng.integers(low, low + 256))),
         net.tensor("p", shape, dtype, 1 / 256, low),
         net.tensor("y", shape, dtype, float(np.float32(2.0 ** rng.uniform(-10, -8))), low)]
    net.op("SOFTMAX", [t[0]], [t[1]], 2, "SoftmaxOptions", Beta=beta)
    net.op("RELU", [t[1]], [t[2]], 2)
    return net.finish([t[0]], [t[2]]), xs


def write(folder, content, xs):
    it = make_goldens.open_model(content)
    answers = []
    for x in xs:
        it.set_tensor(it.get_input_details()[0]["index"], x)
        it.invoke()
        answers.append(it.get_tensor(it.get_output_details()[0]["index"]))
    (folder / "model.tflite").write_bytes(content)
    np.stack(xs).tofile(folder / "in.bin")
    np.stack(answers).tofile(folder / "out.bin")


def fault(heddle, folder, engine, hw):
    """The mistake, or None."""
    done = subprocess.run([heddle, "run", folder / "model.tflite", f"--engine={engine}", f"--hw={hw}", "-q", "-i",
                           folder / "in.bin", "--expect", folder / "out.bin", "--stats", folder / "stats.json"],
                          capture_output=True, text=True)
    if done.returncode:
        return done.stdout.strip() + done.stderr.strip()
    if engine in ("func", "rtl"):
        for layer in json.loads((folder / "stats.json").read_text())["layers"]:
            if layer["target"] != "systolic":
                return f"{layer['op']} is on {layer['target']}: {layer['reason']}"
    return None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=40)
    ap.add_argument("--engine", default="ref,func")
    ap.add_argument("--hw", default="sys8,sys16,sys32", help="in turns, by seed; tiny has no softmax")
    args = ap.parse_args()
    failed, configs = 0, args.hw.split(",")
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        for seed in range(args.seed, args.seed + args.count):
            write(folder, *network(seed))
            for engine in args.engine.split(","):
                hw = configs[seed % len(configs)]
                why = fault(args.heddle, folder, engine, hw)
                if why:
                    print(f"again: {sys.argv[0]} --heddle {args.heddle} --seed {seed} --count 1 --engine {engine} "
                          f"--hw {hw}: {why}", flush=True)
                    failed += 1
                    break
    print(f"seeds {args.seed} to {args.seed + args.count - 1}, engines {args.engine}, {args.hw}: "
          f"{args.count - failed} of {args.count} equal")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
