"""How often ONNX Runtime's answers to a quantised network and heddle's differ, by the options of both.

    ort_options.py --heddle build/heddle [--images 200] [--seed 1]

Makes a small network with ONNX Runtime's own static quantisation (QDQ, int8, weights per channel:
convolution, depthwise one, HardSwish, residual Add, average pool, dense, softmax), runs the images with the
optimiser on and off, and in heddle with --onnx-rounding=tflite and onnx, each on the functional model or
emitted C that the rounding has. Prints the table of docs/ONNX.md: images of which some output differs,
and by how many steps at most. Exit status 1 if the pair that is to be equal (optimiser off, rounding onnx)
differs, 77 without onnxruntime. Environment: requirements-new.txt.
"""

import argparse
import logging
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

ort.set_default_logger_severity(4)
logging.disable(logging.WARNING)
SHAPE = (1, 3, 20, 20)


def network(rng):
    """The float32 network, opset 17."""
    inits, nodes = [], []

    def const(*shape, scale):
        inits.append(numpy_helper.from_array(rng.normal(0, scale, shape).astype(np.float32), f"w{len(inits)}"))
        return inits[-1].name

    def node(op, *ins, **attrs):
        out = f"{op.lower()}{len(nodes)}"
        nodes.append(helper.make_node(op, list(ins), [out], name=out, **attrs))
        return out

    a = node("Relu", node("Conv", "x", const(16, 3, 3, 3, scale=0.3), const(16, scale=0.1), pads=[1, 1, 1, 1]))
    b = node("Conv", a, const(16, 1, 3, 3, scale=0.4), const(16, scale=0.1), pads=[1, 1, 1, 1], group=16)
    c = node("Add", a, node("HardSwish", b))
    d = node("Relu", node("Conv", c, const(24, 16, 1, 1, scale=0.3), const(24, scale=0.1), strides=[2, 2]))
    e = node("Flatten", node("GlobalAveragePool", d))
    y = node("Softmax", node("Gemm", e, const(24, 7, scale=0.5), const(7, scale=0.2)))
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, (1, 7))], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


class Images(CalibrationDataReader):
    def __init__(self, images):
        self.left = iter(images)

    def get_next(self):
        x = next(self.left, None)
        return None if x is None else {"x": x[None]}


def runtime(path, images, level):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"x": x[None]})[0] for x in images])


def heddle(args, path, images, rounding, out):
    images.tofile(out / "x.bin")
    more = ["--target=c"] if rounding == "onnx" else ["--engine=func"]
    done = subprocess.run([args.heddle, "run", path, "-i", out / "x.bin", f"--onnx-rounding={rounding}", "-o", out / rounding, *more],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"heddle, rounding {rounding}: {done.stderr.strip()}")
    return np.fromfile(next((out / rounding).glob("out*0.bin")), np.float32).reshape(len(images), -1)


def output_scale(path):
    """Return the output's quantisation step: the scale of the DequantizeLinear that makes it."""
    graph = onnx.load(path).graph
    last = next(n for n in graph.node if graph.output[0].name in n.output)
    return float(numpy_helper.to_array(next(i for i in graph.initializer if i.name == last.input[1])))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--images", type=int, default=200)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    rng = np.random.default_rng(args.seed)
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        onnx.save(network(rng), tmp / "float.onnx")
        images = rng.normal(0, 1, (args.images, *SHAPE[1:])).astype(np.float32)
        quantize_static(str(tmp / "float.onnx"), str(tmp / "net.onnx"), Images(images[:32]), quant_format=QuantFormat.QDQ,
                        per_channel=True, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)
        step = output_scale(tmp / "net.onnx")
        answers = {"ORT, default": runtime(tmp / "net.onnx", images, ort.GraphOptimizationLevel.ORT_ENABLE_ALL),
                   "ORT, optimiser off": runtime(tmp / "net.onnx", images, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)}
        ours = {r: heddle(args, tmp / "net.onnx", images, r, tmp) for r in ("tflite", "onnx")}
    print(f"onnxruntime {ort.__version__}; images of {args.images} with an output that differs (largest difference in steps)")
    print("| heddle | " + " | ".join(answers) + " |\n|---|" + "---|" * len(answers))
    for name, mine in [*((f"`--onnx-rounding={r}`", v) for r, v in ours.items()), ("(ORT, default, itself)", answers["ORT, default"])]:
        cells = []
        for theirs in answers.values():
            steps = np.rint(np.abs(mine - theirs) / step)
            cells.append(f"{int(np.any(mine != theirs, axis=1).sum())} ({int(steps.max())})")
        print(f"| {name} | " + " | ".join(cells) + " |")
    return 1 if np.any(ours["onnx"] != answers["ORT, optimiser off"]) else 0


if __name__ == "__main__":
    sys.exit(main())
