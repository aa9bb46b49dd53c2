"""Random networks through heddle, compared with the golden oracle byte by byte; a failure is made small.

    run_random.py --heddle build/heddle --count 100 [--seed 1] [--engine ref,func,c] [--hw tiny]
                  [--ops a,b] [--max-ops 20] [--types int8,uint8] [--keep DIR]

Engines: ref; func; rtl; c (func with --target=c); shuttle, loom, jacquard (on that one of targets/, by func) and
shuttle-rtl, ... (by RTL). A network that differs is cut to the shortest run of operators that still differs, on the
oracle's own values, and kept as DIR/seed_<n>/ with model.tflite, in_<k>.bin, out_<k>.bin. A network that the oracle
itself refuses, or that ends its process, is reported and another seed takes its place. Exit status 1 if any differs.
Environment: requirements-classic.txt.
"""

import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ENGINES = {"ref": ["--engine=ref"], "func": ["--engine=func"], "rtl": ["--engine=rtl"],
           "c": ["--engine=func", "--target=c"]}
for example in "shuttle", "loom", "jacquard":
    ENGINES[example] = ["--engine=func", f"--target={example},c"]
    ENGINES[example + "-rtl"] = ["--engine=rtl", f"--target={example},c"]
EQUAL, DIFFERS, NO_NETWORK = 0, 1, 2


def arguments(doc, keep):
    """Add the options common to all cases."""
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", type=lambda path: pathlib.Path(path).resolve(), default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=100)
    ap.add_argument("--hw", default="tiny")
    ap.add_argument("--keep", type=lambda path: pathlib.Path(path).resolve(), default=keep)
    return ap


def seeds(args, one):
    """Print what one(args, seed) returns other than "equal": "kind: text"; and the command that repeats a wrong one.
    Returns how many there are of each kind; "wrong" are those of no kind."""
    kinds, count = ("equal", "refused", "no network", "unjudged"), collections.Counter()
    for seed in range(args.seed, args.seed + args.count):
        said = one(args, seed)
        kind = said.split(":")[0]
        count[kind if kind in kinds else "wrong"] += 1
        if said not in kinds:
            print(f"seed {seed}: {said}", flush=True)
        if kind not in kinds:
            print(f"again: {sys.argv[0]} --heddle {args.heddle} --seed {seed} --count 1 --hw {args.hw}", flush=True)
    print(f"{pathlib.Path(sys.argv[0]).name}, seeds {args.seed} to {args.seed + args.count - 1}, {args.hw}: "
          + ", ".join(f"{count[k]} {k}" for k in ("equal", "wrong", "refused", "no network", "unjudged")), flush=True)
    return count


def ask(args, seed, model, content, inputs, outputs, ways):
    """heddle's message for a network in the first of `ways` that fails, else None. A way: options, and whether outputs
    are compared with `outputs` or with heddle's reference. The folder is kept then."""
    with tempfile.TemporaryDirectory() as tmp:
        folder, given = pathlib.Path(tmp), {"-i": [], "--expect": []}
        (folder / model).write_bytes(content)
        for flag, name, arrays in (("-i", "in", inputs), ("--expect", "out", outputs)):
            for k, x in enumerate(arrays):
                x.tofile(folder / f"{name}_{k}.bin")
                given[flag] += [flag, f"{name}_{k}.bin"]
        for how, judged in ways:
            cmd = [args.heddle, "run", model, "--engine=func", f"--hw={args.hw}", "-q", *given["-i"],
                   *(given["--expect"] if judged else []), *how]
            done = subprocess.run(cmd, capture_output=True, text=True, timeout=600, cwd=folder)
            if done.returncode != 0:
                kept = args.keep / f"seed_{seed}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept)
                said = (done.stderr.strip() or done.stdout.strip()).split("\n")[0]
                return f"{' '.join(how)}: exit {done.returncode}: {said}"
    return None


def answer(args, folder, engine):
    """None if heddle gives the goldens of `folder`, else what it said."""
    cmd = [args.heddle, "run", str(folder / "model.tflite"), f"--hw={args.hw}", "--reset-state", *ENGINES[engine]]
    for kind, flag in (("in", "-i"), ("out", "--expect")):
        k = 0
        while (folder / f"{kind}_{k}.bin").exists():
            cmd += [flag, str(folder / f"{kind}_{k}.bin")]
            k += 1
    done = subprocess.run(cmd, capture_output=True, text=True, timeout=600)
    return None if done.returncode == 0 else (done.stderr.strip() or f"exit {done.returncode}")


def write(folder, content, inputs):
    """A folder with a model, its inputs and the oracle's answers."""
    import make_goldens
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(content)
    for k, x in enumerate(inputs):
        x.tofile(folder / f"in_{k}.bin")
    for k, y in enumerate(make_goldens.run(make_goldens.open_model(content), inputs)):
        y.tofile(folder / f"out_{k}.bin")


def shrink(args, maker, folder, engine):
    """The shortest run of operators that still differs; its number of operators."""
    import make_goldens
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


def one(args, seed, names, types):
    """Seed `seed` on every engine."""
    import rand_tflite
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        try:
            _, maker = rand_tflite.make(folder, seed, names, args.max_ops, args.samples, types)
        except (RuntimeError, ValueError) as e:
            print(f"seed {seed}: not a network: {str(e).splitlines()[0]}", flush=True)
            return NO_NETWORK
        for engine in args.engine.split(","):
            why = answer(args, folder, engine)
            if why:
                print(f"seed {seed} on {engine} differs: {why}", flush=True)
                small = shrink(args, maker, args.keep / f"seed_{seed}", engine)
                print(f"seed {seed} on {engine}: {small}", flush=True)
                print(f"again: {sys.argv[0]} --heddle {args.heddle} --seed {seed} --count 1 --engine {engine} --hw {args.hw} "
                      f"--max-ops {args.max_ops} --samples {args.samples} --types {args.types}", flush=True)
                return DIFFERS
    return EQUAL


def apart(case):
    """The result of `case`, in a process of its own: the oracle aborts where a check of its own fails."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = case()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        print(f"  signal {-status} in the oracle: not a network", flush=True)
    return NO_NETWORK if status < 0 else status


def main():
    import rand_tflite
    ap = arguments(__doc__, "build/random_failures")
    ap.set_defaults(count=20)
    ap.add_argument("--engine", default="ref,func,c")
    ap.add_argument("--ops", default=",".join(rand_tflite.OPS))
    ap.add_argument("--max-ops", type=int, default=20)
    ap.add_argument("--samples", type=int, default=3)
    ap.add_argument("--types", default="int8,uint8")
    args = ap.parse_args()
    names, types = args.ops.split(","), [np.dtype(t).type for t in args.types.split(",")]
    tried, count = 0, {EQUAL: 0, DIFFERS: 0, NO_NETWORK: 0}

    while count[EQUAL] + count[DIFFERS] < args.count and count[NO_NETWORK] <= args.count:
        count[apart(lambda seed=args.seed + tried: one(args, seed, names, types))] += 1
        tried += 1
    print(f"seeds {args.seed} to {args.seed + tried - 1}, engines {args.engine}, {args.hw}: "
          f"{count[EQUAL]} equal, {count[DIFFERS]} not, {count[NO_NETWORK]} no network", flush=True)
    return 0 if count[EQUAL] == args.count else 1


if __name__ == "__main__":
    sys.exit(main())
