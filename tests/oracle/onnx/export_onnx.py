"""TFLite networks of tests/models that heddle wrote as ONNX (inspect --format=onnx), on ONNX Runtime without its optimiser.

    export_onnx.py [--heddle build/heddle] [NETWORK ...]

ONNX Runtime's answers are heddle's in ONNX's rounding, byte for byte; after a softmax at most 1 value in 100, by at most
two steps. With TFLite's rounding heddle gives the TFLite oracle's bytes (tests/app/quantise/test_export.sh). Exit status 1
otherwise. Environment: requirements-new.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import tflite

MODELS = pathlib.Path(__file__).parents[2] / "models"
NETWORKS = ("digits", "autoencoder_own", "resnet8_own", "dscnn_own", "mobilenet025_own")


def border(graph, index):
    q = graph.Tensors(index).Quantization()
    return np.float32(q.Scale(0)), int(q.ZeroPoint(0))


def differences(heddle, name, folder):
    """Return heddle's answer less ONNX Runtime's, in steps of the output, by value."""
    graph = tflite.Model.GetRootAs((MODELS / name / "model.tflite").read_bytes(), 0).Subgraphs(0)
    scale, zero = border(graph, graph.Inputs(0))
    net, given = folder / "net.onnx", folder / "x.bin"
    subprocess.run([heddle, "inspect", name, "--format=onnx", "-o", net], check=True, stdout=subprocess.DEVNULL)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(net), options)
    first = session.get_inputs()[0]
    xs = (np.fromfile(MODELS / name / "in_0.bin", np.int8).astype(np.float32) - zero) * scale
    xs.astype(np.float32).tofile(given)
    ys = np.stack([session.run(None, {first.name: x})[0] for x in xs.astype(np.float32).reshape([-1, *first.shape])])
    subprocess.run([heddle, "run", net, "--engine=ref", "--onnx-rounding=onnx", "-q", "-i", given, "-o", folder / "o"],
                   check=True, capture_output=True)
    found = np.fromfile(folder / "o" / "out_0.bin", np.float32)
    return np.rint((found - ys.ravel()) / border(graph, graph.Outputs(0))[0]).astype(int)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", type=lambda p: pathlib.Path(p).resolve(), default="build/heddle")
    ap.add_argument("networks", nargs="*", default=NETWORKS)
    args = ap.parse_args()
    failed = 0
    for name in args.networks or NETWORKS:
        with tempfile.TemporaryDirectory() as tmp:
            off = abs(differences(args.heddle, name, pathlib.Path(tmp)))
        print(f"{name}: {np.sum(off == 0)} of {off.size} values equal, at most {off.max()} steps off")
        failed += bool(off.max() > 2 or np.mean(off > 0) > 0.01)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
