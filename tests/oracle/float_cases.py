"""What float_onnx.py and float_tflite.py share: running their cases and holding heddle's answers to a runtime's."""

import argparse
import functools
import multiprocessing
import pathlib
import subprocess
import tempfile
import zlib

import numpy as np

TOLERANCE = 2e-5  # of the largest magnitude: 100 times what float32 rounds


def run_heddle(command, folder, wants, step):
    """Run `command`, which writes out_K.bin into `folder`; hold each output to wants[K].

    An element may differ by step(dtype), a float by TOLERANCE of the largest magnitude more. Returns why
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
            bound += TOLERANCE * max(1.0, float(np.max(np.abs(want), initial=0)))
        if not error <= bound:
            return f"output {k}: differs by {error}, at most {bound}"
    return None


def from_own_seed(run_case, rng, heddle, folder, name):
    """A case's data are its own: the same alone, and in any order."""
    rng.bit_generator.state = np.random.default_rng(zlib.crc32(name.encode())).bit_generator.state
    return run_case(heddle, name, folder)


def main(cases, run_case, rng):
    """Command line of both: run_case(heddle, name, folder), which draws from rng, states why a case fails, or None; as
    many at a time as there are processors. Exit status."""
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", default="build/heddle")
    p.add_argument("--case")
    p.add_argument("--keep")
    args = p.parse_args()
    bad = 0
    names = [args.case] if args.case else list(cases)
    with tempfile.TemporaryDirectory() as t, multiprocessing.get_context("fork").Pool() as pool:
        folder = pathlib.Path(args.keep or t)
        folder.mkdir(parents=True, exist_ok=True)
        one = functools.partial(from_own_seed, run_case, rng, args.heddle, folder)
        for name, why in zip(names, pool.imap(one, names)):
            bad += why is not None
            if why:
                print(f"{name}: {why}")
    print(f"{len(names)} cases, {bad} differ")
    return 1 if bad else 0
