"""Random TFLite_Detection_PostProcess operators (fast NMS) against the golden oracle.

    detection_tflite.py --heddle build/heddle [--seed 1] [--count 20] [--engine ref,func]
    detection_tflite.py --keep DIR --seed N     one network as a folder of tests/reference/models

Box encodings and scores are int8 or uint8 with DEQUANTIZE after them, or float32. The oracle does not write beyond the
last detection: where there are fewer than possible, the networks are not used. Exit status 1 if a byte
differs. Environment: requirements-classic.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from flatbuffers import flexbuffers

import make_goldens
import tflite_writer

DTYPES = [np.int8, np.uint8, np.float32]


def options(rng, most, per_box, classes):
    return flexbuffers.Dumps({
        "max_detections": most, "max_classes_per_detection": per_box, "num_classes": classes,
        "nms_score_threshold": float(np.float32(rng.choice([1e-8, 0.1]))),
        "nms_iou_threshold": float(np.float32(rng.choice([0.3, 0.5, 0.6, 1.0]))), "y_scale": 10.0, "x_scale": 10.0,
        "h_scale": 5.0, "w_scale": 5.0, "use_regular_nms": False, "detections_per_class": 100})


def source(net, rng, name, shape, kind, low, high):
    """A float32 tensor: an input, or dequantised from one; the input's number and its values."""
    if kind == np.float32:
        x = net.tensor(name, shape, np.float32)
        return x, x, rng.uniform(low, high, shape).astype(np.float32)
    info = np.iinfo(kind)
    scale = float(np.float32((high - low) / 255))
    x = net.tensor(name, shape, kind, scale, int(np.clip(round(info.min - low / scale), info.min, info.max)))
    y = net.tensor(name + "_real", shape, np.float32)
    net.op("DEQUANTIZE", [x], [y], 2, "DequantizeOptions")
    return x, y, rng.integers(info.min, info.max + 1, shape).astype(kind)


def network(seed):
    """Return the file and its inputs."""
    rng = np.random.default_rng(seed)
    net = tflite_writer.Net("heddle detection_tflite")
    boxes, classes, background = int(rng.integers(20, 80)), int(rng.integers(1, 7)), int(rng.integers(2))
    per_box, most = int(rng.integers(1, 3)), int(rng.integers(1, 12))
    per_box = min(per_box, classes)
    kind = DTYPES[rng.integers(3)]
    anchors = rng.uniform(0.05, 0.95, (boxes, 4))
    anchors[:, 2:] = rng.uniform(0.05, 0.4, (boxes, 2))
    ends = [source(net, rng, "boxes", (1, boxes, 4), kind, -6, 6),
            source(net, rng, "scores", (1, boxes, classes + background), kind, 0, 1)]
    anchor = net.tensor("anchors", (boxes, 4), np.float32, data=anchors)
    n = most * per_box
    y = [net.tensor(f"y{k}", () if seed % 2 else s, np.float32) for k, s in enumerate([(1, n, 4), (1, n), (1, n), (1,)])]
    net.op("CUSTOM:TFLite_Detection_PostProcess", [ends[0][1], ends[1][1], anchor], y, 1,
           custom=bytes(options(rng, most, per_box, classes)))
    return net.finish([e[0] for e in ends], y), [e[2] for e in ends], most


def write(folder, seed):
    """Return False if there are fewer detections than the outputs hold."""
    folder.mkdir(parents=True, exist_ok=True)
    content, values, most = network(seed)
    answers = make_goldens.run(make_goldens.open_model(content), [v[None] for v in values])
    if answers[3].ravel()[0] != most:
        return False
    (folder / "model.tflite").write_bytes(content)
    for k, v in enumerate(values):
        v.tofile(folder / f"in_{k}.bin")
    for k, v in enumerate(answers):
        v.tofile(folder / f"out_{k}.bin")
    return True


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=20)
    ap.add_argument("--engine", default="ref,func")
    ap.add_argument("--keep", type=pathlib.Path)
    args = ap.parse_args()
    if args.keep:
        return not write(args.keep, args.seed)
    failed = passed_over = 0
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        for seed in range(args.seed, args.seed + args.count):
            if not write(folder, seed):
                passed_over += 1
                continue
            files = [w for k in range(2) for w in ("-i", str(folder / f"in_{k}.bin"))]
            files += [w for k in range(4) for w in ("--expect", str(folder / f"out_{k}.bin"))]
            for engine in args.engine.split(","):
                done = subprocess.run([args.heddle, "run", str(folder / "model.tflite"), f"--engine={engine}", *files],
                                      capture_output=True, text=True)
                if done.returncode:
                    print(f"again: {sys.argv[0]} --heddle {args.heddle} --seed {seed} --count 1 --engine {engine}: "
                          f"{done.stderr.strip()}", flush=True)
                    failed += 1
                    break
    tried = args.count - passed_over
    print(f"seeds {args.seed} to {args.seed + args.count - 1}, engines {args.engine}: {tried - failed} of {tried} equal")
    return failed != 0 or tried == 0


if __name__ == "__main__":
    sys.exit(main())
