"""Resize and Upsample to the nearest cell against ONNX Runtime: 45 pairs of sizes in each mode.

    resize_onnx.py --heddle build/heddle

Every coordinate_transformation_mode with every nearest_mode (20, 12 of them in the specification since opset 11), sizes or
scales; opset 10, which has neither; a network holds the 45 nodes of one combination. The four pairs at the front have ties
that float32 misses. The input counts up, so that an answer is the list of cells. Exit status 1 if one node
differs, 77 without onnxruntime. Environment: requirements-new.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

ort.set_default_logger_severity(4)
COORDINATES = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
LENGTH = 64


def pairs():
    """Sizes before and after."""
    rng = np.random.default_rng(540)
    return [(20, 6), (14, 4), (26, 4), (30, 9)] + [(int(a), int(b)) for a, b in rng.integers(1, LENGTH + 1, (41, 2))]


def network(opset, by_scale, attributes):
    nodes, inits, outs = [], [numpy_helper.from_array(np.array([v], np.int64), f"n{v}") for v in range(LENGTH + 1)], []
    for k, (before, after) in enumerate(pairs()):
        scale = np.float32(after) / np.float32(before)
        sizes = np.array([1, 1, 1, scale], np.float32) if by_scale else np.array([1, 1, 1, after], np.int64)
        inits.append(numpy_helper.from_array(sizes, f"s{k}"))
        nodes.append(helper.make_node("Slice", ["x", "n0", f"n{before}", "n3"], [f"x{k}"]))
        ins = [f"x{k}", f"s{k}"] if opset < 11 else [f"x{k}", "", f"s{k}"] if by_scale else [f"x{k}", "", "", f"s{k}"]
        nodes.append(helper.make_node("Resize", ins, [f"y{k}"], mode="nearest", **attributes))
        outs.append(onnx.ValueInfoProto(name=f"y{k}"))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 1, 1, LENGTH))
    model = helper.make_model(helper.make_graph(nodes, "resize", [x], outs, inits), opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model


def differing(heddle, model, folder):
    """Number of nodes whose answers differ; None where the runtime refuses."""
    x = np.arange(LENGTH, dtype=np.float32).reshape(1, 1, 1, LENGTH)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    want = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    onnx.save(model, folder / "model.onnx")
    x.tofile(folder / "x.bin")
    done = subprocess.run([heddle, "run", folder / "model.onnx", "-i", folder / "x.bin", "--engine=func", "-o", folder / "out"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr.strip()[:300])
        return [len(want)]
    got = [np.fromfile(folder / "out" / f"out_{k}.bin", np.float32) for k in range(len(want))]
    return [f"{before} to {after}" for (before, after), a, b in zip(pairs(), got, want) if not np.array_equal(a, b.ravel())]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    args = ap.parse_args()
    cases = [(19, s, {"coordinate_transformation_mode": c, "nearest_mode": n}) for s in (False, True) for c in COORDINATES for n in NEAREST]
    cases.append((10, True, {}))
    total = bad = 0
    for opset, by_scale, attributes in cases:
        with tempfile.TemporaryDirectory() as tmp:
            wrong = differing(args.heddle, network(opset, by_scale, attributes), pathlib.Path(tmp))
        total += len(pairs())
        bad += len(wrong)
        if wrong:
            print(f"opset {opset}, {'scales' if by_scale else 'sizes'}, {' '.join(attributes.values())}: {len(wrong)} differ: {wrong[:5]}")
    print(f"{bad} of {total} nodes differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
