"""Random networks through heddle, compared with the golden oracle byte by byte; a failure is made small.

    run_random.py --heddle build/heddle --count 100 [--seed 1] [--engine ref,func,c] [--hw tiny]
                  [--ops a,b] [--max-ops 20] [--types int8,uint8] [--keep DIR]

Engines: ref; func; rtl; c (func with --target=c). A network that differs is cut to the shortest run of
operators that still differs, on the oracle's own values, and kept as DIR/seed_<n>/ with model.tflite,
in_<k>.bin, out_<k>.bin. Exit status 1 if any differs. What the oracle itself refuses is told and not counted. Environment: requirements-classic.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import make_goldens
import rand_tflite

ENGINES = {"ref": ["--engine=ref"], "func": ["--engine=func"], "rtl": ["--engine=rtl"],
           "c": ["--engine=func", "--target=c"]}


def answer(args, folder, engine):
    """None if heddle gives the goldens of `folder`, else what it said."""
    cmd = [args.heddle, "run", str(folder / "model.tflite"), f"--hw={args.hw}", *ENGINES[engine]]
    for kind, flag in (("in", "-i"), ("out", "--expect")):
        k = 0
        while (folder / f"{kind}_{k}.bin").exists():
            cmd += [flag, str(folder / f"{kind}_{k}.bin")]
            k += 1
    done = subprocess.run(cmd, capture_output=True, text=True, timeout=600)
    return None if done.returncode == 0 else (done.stderr.strip() or f"exit {done.returncode}")


def write(folder, content, inputs):
    """A folder with a model, its inputs and the oracle's answers."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(content)
    for k, x in enumerate(inputs):
        x.tofile(folder / f"in_{k}.bin")
    for k, y in enumerate(make_goldens.run(make_goldens.open_model(content), inputs)):
        y.tofile(folder / f"out_{k}.bin")


def shrink(args, maker, folder, engine):
    """The shortest run of operators that still differs; its number of operators."""
    net, (inputs, _) = maker.net, maker.borders
    made = [t for op in net.ops for t in op[3]]
    whole = make_goldens.open_model(make_goldens.with_outputs(net.finish(inputs, made), made))
    value = dict(zip(made, make_goldens.run(whole, maker.input_codes)))
    value.update(zip(inputs, maker.input_codes))
    for size in range(1, len(net.ops) + 1):
        for first in range(len(net.ops) - size + 1):
            part, ins, outs = net.window(first, first + size)
            if not ins:
                continue
            with tempfile.TemporaryDirectory() as tmp:
                trial = pathlib.Path(tmp)
                write(trial, part.finish(ins, outs), [value[t] for t in ins])
                why = answer(args, trial, engine)
            if why:
                write(folder, part.finish(ins, outs), [value[t] for t in ins])
                return f"{' '.join(op[0] for op in part.ops)}: {why}"
    return "only the whole differs"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=20)
    ap.add_argument("--engine", default="ref,func,c")
    ap.add_argument("--hw", default="tiny")
    ap.add_argument("--ops", default=",".join(rand_tflite.OPS))
    ap.add_argument("--max-ops", type=int, default=20)
    ap.add_argument("--samples", type=int, default=3)
    ap.add_argument("--types", default="int8,uint8")
    ap.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/random_failures"))
    args = ap.parse_args()
    names, types = args.ops.split(","), [np.dtype(t).type for t in args.types.split(",")]
    n_wrong = n_refused = 0

    for seed in range(args.seed, args.seed + args.count):
        with tempfile.TemporaryDirectory() as tmp:
            folder = pathlib.Path(tmp)
            try:
                _, maker = rand_tflite.make(folder, seed, names, args.max_ops, args.samples, types)
            except (RuntimeError, ValueError) as e:
                print(f"seed {seed}: not a network: {str(e).splitlines()[0]}", flush=True)
                n_refused += 1
                continue
            for engine in args.engine.split(","):
                why = answer(args, folder, engine)
                if why:
                    n_wrong += 1
                    small = shrink(args, maker, args.keep / f"seed_{seed}", engine)
                    print(f"seed {seed} on {engine}: {small}", flush=True)
                    break
    print(f"seeds {args.seed} to {args.seed + args.count - 1}, engines {args.engine}, {args.hw}: "
          f"{args.count - n_wrong - n_refused} equal, {n_wrong} not, {n_refused} no network", flush=True)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
