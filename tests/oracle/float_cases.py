"""Shared by float_onnx.py and float_tflite.py: running their cases and holding heddle's answers to a runtime's."""

import argparse
import pathlib
import subprocess
import tempfile

import numpy as np

TOLERANCE = 2e-5  # of the largest magnitude: 100 times what float32 rounds


def run_heddle(command, folder, wants, step, tolerance=TOLERANCE):
    """Run `command`, which writes out_K.bin into `folder`; hold each output to wants[K].

    An element may differ by step(dtype), a float by `tolerance` of the largest magnitude more. Returns why
    they differ, or None.
    """
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1] if done.stderr else f"exit {done.returncode}"
    for k, want in enumerate(wants):
        got = np.fromfile(folder / f"out_{k}.bin", want.dtype)
        if got.size != want.size:
            return f"output {k}: {got.size} elements, expected {want.size}"
        error = float(np.max(np.abs(got.astype(np.float64) - want.ravel()), initial=0))
        bound = step(want.dtype)
        if want.dtype == np.float32:
            bound += tolerance * max(1.0, float(np.max(np.abs(want), initial=0)))
        if not error <= bound:
            return f"output {k}: differs by {error}, at most {bound}"
    return None


def main(cases, run_case):
    """Command line of both: run_case(heddle, name, folder) states why a case fails, or None. Exit status."""
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", default="build/heddle")
    p.add_argument("--case")
    p.add_argument("--keep")
    args = p.parse_args()
    bad = 0
    names = [args.case] if args.case else list(cases)
    with tempfile.TemporaryDirectory() as t:
        folder = pathlib.Path(args.keep or t)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            why = run_case(args.heddle, name, folder)
            bad += why is not None
            if why:
                print(f"{name}: {why}")
    print(f"{len(names)} cases, {bad} differ")
    return 1 if bad else 0
