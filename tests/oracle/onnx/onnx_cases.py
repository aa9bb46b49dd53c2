#!/usr/bin/env python3
"""Run the onnx package's own cases of single operators through heddle, and compare with the values they expect.
  onnx_cases.py [--heddle PROGRAM] [--engine ref|c] [--part I/N] [--least RIGHT]
A case is right, wrong or refused; a wrong one fails, and so do fewer right ones than --least. int64 inputs next to
others (axes, shapes, indices) become constants, as in networks. Training, strings, sequences, complex values: left out."""
import argparse
import collections
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

warnings.filterwarnings("ignore")
import onnx.backend.test.case.node as node  # noqa: E402

LEFT_OUT = ("training", "adagrad", "adam", "momentum", "gradient", "nllloss", "sce_", "dropout", "image_decoder",
            "tfidf", "strnorm", "string", "regex", "bernoulli", "random", "label_encoder", "sequence", "optional", "loop",
            "scan", "if_")
NO_TYPES = {onnx.TensorProto.STRING, onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128}


def array(x):
    return numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else np.asarray(x)


def write_case(case, folder):
    """model.onnx and the inputs' files; the arguments that name them."""
    inputs, _ = case.data_sets[0]
    data, values = [array(x) for x in inputs], list(case.model.graph.input)
    keep = [k for k, x in enumerate(data) if x.dtype != np.int64 or len(data) == 1] or list(range(len(data)))
    model, args = onnx.ModelProto(), []
    model.CopyFrom(case.model)
    del model.graph.input[:]
    for k, x in enumerate(data):
        if k in keep:
            model.graph.input.append(values[k])
            np.save(f"{folder}/in{k}.npy", x)
            args += ["-i", f"{folder}/in{k}.npy"]
        else:
            model.graph.initializer.append(numpy_helper.from_array(x, values[k].name))
    onnx.save(model, f"{folder}/model.onnx")
    return args


def difference(case, folder):
    outputs = case.data_sets[0][1]
    for i, x in enumerate(map(array, outputs)):
        raw = open(f"{folder}/o/out_{i}.bin", "rb").read()
        if len(raw) != x.nbytes:
            return f"output {i}: {len(raw)} bytes, expected {x.nbytes}"
        y = np.frombuffer(raw, x.dtype).reshape(x.shape)
        if x.dtype.kind == "f":
            same = np.allclose(y, x, rtol=max(case.rtol, 1e-3), atol=max(case.atol, 1e-5), equal_nan=True)
        else:
            same = np.array_equal(y, x)
        if not same:
            return f"output {i}: {np.ravel(y)[:4]}, expected {np.ravel(x)[:4]}"
    return ""


def run_case(case, o, folder):
    args = write_case(case, folder)
    engine = ["--engine=ref"] if o.engine == "ref" else ["--engine=func", "--target=c"]
    r = subprocess.run([o.heddle, "run", f"{folder}/model.onnx", *args, "-o", f"{folder}/o", "--onnx-rounding=onnx",
                        *engine], capture_output=True, text=True, errors="replace", timeout=300)
    if r.returncode in (2, 3):
        return "refused", ""
    if r.returncode != 0:
        return "wrong", f"exit {r.returncode}: {r.stderr.strip()[-200:]}"
    why = difference(case, folder)
    return ("wrong" if why else "right"), why


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", default="build/heddle")
    p.add_argument("--engine", choices=("ref", "c"), default="ref")
    p.add_argument("--part", default="0/1")
    p.add_argument("--least", type=int, default=0)
    o = p.parse_args()
    part, parts = map(int, o.part.split("/"))
    count, at = collections.Counter(), 0
    for case in node.collect_testcases(None):
        values = list(case.model.graph.input) + list(case.model.graph.output)
        if any(t in case.name for t in LEFT_OUT) or any(
                not v.type.HasField("tensor_type") or v.type.tensor_type.elem_type in NO_TYPES for v in values):
            continue
        at += 1
        if at % parts != part:
            continue
        with tempfile.TemporaryDirectory() as folder:
            result, why = run_case(case, o, folder)
        count[result] += 1
        if result == "wrong":
            print(f"{case.name}: {why}")
    print(f"onnx_cases: {o.engine}, {at} cases of onnx {onnx.__version__}, part {o.part}:",
          ", ".join(f"{n} {k}" for k, n in sorted(count.items())))
    sys.exit(count["wrong"] > 0 or count["right"] < o.least)


if __name__ == "__main__":
    main()
