"""IF, WHILE and STABLEHLO_COMPOSITE of TFLite files against LiteRT: the files of tests/compiler/import/tfl_flow.py, random inputs.

    flow_tflite.py --heddle build/heddle [--seed 1]

A runtime that lacks STABLEHLO_COMPOSITE leaves that file out. Exit status 1 if a byte differs. Environment:
requirements-classic.txt or requirements-new.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
except ImportError:
    from tflite_runtime.interpreter import Interpreter, OpResolverType

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "compiler" / "import"))
import tfl_flow  # noqa: E402


def inputs(it, rng):
    for d in it.get_input_details():
        x = rng.integers(2, size=d["shape"]) if d["dtype"] == np.bool_ else rng.normal(0, 1.5, d["shape"])
        yield d["index"], x.astype(d["dtype"])


def compare(heddle, folder, name, rng):
    """None: the runtime does not take the file."""
    try:
        it = Interpreter(str(folder / f"{name}.tflite"), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        it.allocate_tensors()
    except (RuntimeError, ValueError):
        return None
    arguments = []
    for k, (index, x) in enumerate(inputs(it, rng)):
        it.set_tensor(index, x)
        x.tofile(folder / f"in_{k}.bin")
        arguments += ["-i", f"in_{k}.bin"]
    it.invoke()
    for k, d in enumerate(it.get_output_details()):
        it.get_tensor(d["index"]).tofile(folder / f"out_{k}.bin")
        arguments += ["--expect", f"out_{k}.bin"]
    done = subprocess.run([heddle, "run", f"{name}.tflite", "--engine=func", "-q", *arguments], capture_output=True,
                          text=True, cwd=folder)
    if done.returncode:
        print(f"{name}: exit {done.returncode}: {done.stderr.strip()}")
    return done.returncode == 0


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", type=lambda p: pathlib.Path(p).resolve(), default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    rng, results = np.random.default_rng(args.seed), []
    with tempfile.TemporaryDirectory() as tmp:
        tfl_flow.write(tmp)
        for name in ("loop", "rows", "branch", "branch_open", "composite"):
            results.append(compare(args.heddle, pathlib.Path(tmp), name, rng))
    taken = [r for r in results if r is not None]
    print(f"flow: {sum(taken)} of {len(taken)} equal")
    return not taken or not all(taken)


if __name__ == "__main__":
    sys.exit(main())
