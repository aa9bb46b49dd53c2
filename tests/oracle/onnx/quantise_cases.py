"""`heddle quantise` on the networks of float_onnx.py: what it writes says what the network says.

    quantise_cases.py [--heddle build/heddle] [--case NAME]

Each float32 network is written with all layers float: ONNX Runtime's answer to that file is within 100 dB of its answer
to the original, other types are equal. Then quantised: ONNX Runtime and heddle run that file. Networks that are
quantised already, and operators that have no ONNX form there, are refused with their message. Exit status 1 if
anything else happens, 77 without onnxruntime.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime as ort

    from float_onnx import CASES
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

REFUSED = r"is quantised already: tensor|cannot be written as ONNX by heddle"


def answers(path, feeds):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def same(want, got):
    if want.shape != got.shape or want.dtype != got.dtype:
        return False
    if want.dtype != np.float32:
        return bool((want == got).all())
    noise = np.nansum((want.astype(np.float64) - got) ** 2)
    return noise <= 1e-10 * max(np.nansum(want.astype(np.float64) ** 2), 1e-10)


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def try_case(heddle, name, d):
    """Why it fails, "" if it is refused rightly, None if all is well."""
    net, outputs = CASES[name]()
    onnx.save(net.model(outputs), d / "net.onnx")
    feeds = dict(net.inputs)
    np.savez(d / "x.npz", **feeds)
    quantise = [heddle, "quantise", str(d / "net.onnx"), "-i", str(d / "x.npz"), "-o"]
    done = run(quantise + [str(d / "float.onnx"), "--keep-float=*"])
    if done.returncode:
        return "" if done.returncode == 3 and re.search(REFUSED, done.stderr) else done.stderr.strip()
    for k, (want, got) in enumerate(zip(answers(d / "net.onnx", feeds), answers(d / "float.onnx", feeds), strict=True)):
        if not same(np.asarray(want), np.asarray(got)):
            return f"output {k} of the float file differs"
    done = run(quantise + [str(d / "int8.onnx")])
    if done.returncode:
        return done.stderr.strip()
    answers(d / "int8.onnx", feeds)
    done = run([heddle, "run", str(d / "int8.onnx"), "--engine=func", "--no-search", "-q", "-i", str(d / "x.npz")])
    return done.stderr.strip() or done.stdout if done.returncode else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", default="build/heddle")
    p.add_argument("--case")
    args = p.parse_args()
    names = [args.case] if args.case else list(CASES)
    bad = refused = 0
    with tempfile.TemporaryDirectory() as d:
        for name in names:
            why = try_case(args.heddle, name, pathlib.Path(d))
            refused += why == ""
            if why:
                bad += 1
                print(f"{name}: {why}")
    print(f"{len(names)} networks, {refused} refused, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
