"""Make one small network for each operator that rand_tflite.py does not draw, with every code as input.

    unary_tflite.py --seed S --out DIR [--count K] [--ops RELU,uRELU6,...]

Writes DIR/<k>_<op>/{model.tflite, in_0.bin, out_0.bin}: K networks, the operators in turn; a leading
`u` means uint8. Environment: requirements-classic.txt. The answers are the classic oracle's.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import make_goldens  # noqa: E402
import tflite_writer  # noqa: E402

OPTIONS = {"LEAKY_RELU": "LeakyReluOptions", "QUANTIZE": "QuantizeOptions", "HARD_SWISH": "HardSwishOptions",
           "SOFTMAX": "SoftmaxOptions", "MAXIMUM": "MaximumMinimumOptions", "MINIMUM": "MaximumMinimumOptions",
           "SLICE": "SliceOptions"}
VERSION_1 = ("RELU_N1_TO_1", "HARD_SWISH", "LOGISTIC", "TANH")
KINDS = ["RELU", "RELU6", "RELU_N1_TO_1", "HARD_SWISH", "LEAKY_RELU", "QUANTIZE", "LOGISTIC", "TANH", "MAXIMUM",
         "MINIMUM", "SLICE", "SOFTMAX", "uSOFTMAX", "uRELU6", "uLEAKY_RELU", "uLOGISTIC", "uTANH", "uHARD_SWISH",
         "uQUANTIZE"]


def scale(rng, low, high):
    return float(np.float32(2.0 ** rng.uniform(low, high)))


def output_quantisation(rng, op, low, s_in, z_in):
    """Scale and zero point of the output: fixed by the format, the input's, or drawn."""
    if op in ("LOGISTIC", "SOFTMAX"):
        return 1 / 256, low
    if op == "TANH":
        return 1 / 128, low + 128
    if op in ("MAXIMUM", "MINIMUM", "SLICE"):
        return s_in, z_in
    if op in ("RELU", "RELU6", "RELU_N1_TO_1", "HARD_SWISH"):
        return float(np.float32(s_in * 2.0 ** rng.uniform(-2, 1))), int(rng.integers(low, low + 256))
    return scale(rng, -7, 0), int(rng.integers(low, low + 256))


def build(rng, kind):
    """A network and its samples."""
    op, kind_type, low = kind.lstrip("u"), (np.uint8 if kind[0] == "u" else np.int8), (0 if kind[0] == "u" else -128)
    net, fields, shape, extra = tflite_writer.Net("heddle unary_tflite"), {}, (1, 256), []
    s_in, z_in = scale(rng, -7, 0), int(rng.integers(low, low + 256))
    samples = [np.arange(low, low + 256).astype(kind_type).reshape(shape)]
    if op == "SOFTMAX":
        shape, s_in = (int(rng.integers(1, 4)), int(rng.integers(1, 512))), scale(rng, -8, 2)
        fields["Beta"] = float(rng.choice([0.5, 1.0, 2.0]))
        samples = [rng.integers(low, low + 256, shape).astype(kind_type) for _ in range(3)]
        samples.append(rng.integers(low + 100, low + 110, shape).astype(kind_type))
    if op == "LEAKY_RELU":
        fields["Alpha"] = float(np.float32(rng.uniform(0.01, 0.9)))
    x, out_shape = net.tensor("x", shape, kind_type, s_in, z_in), shape
    if op in ("MAXIMUM", "MINIMUM"):
        extra = [net.tensor("c", (1, 1), kind_type, s_in, z_in, data=rng.integers(low, low + 256, (1, 1)))]
    if op == "SLICE":
        out_shape = (1, 219)
        extra = [net.tensor("begin", (2,), np.int32, data=np.array([0, 37])),
                 net.tensor("size", (2,), np.int32, data=np.array([1, -1]))]
    y = net.tensor("y", out_shape, kind_type, *output_quantisation(rng, op, low, s_in, z_in))
    net.op(op, [x] + extra, [y], version=1 if op in VERSION_1 else 2, options=OPTIONS.get(op), **fields)
    return net.finish([x], [y]), samples


def answers(content, samples):
    it = make_goldens.open_model(content)
    outputs = []
    for sample in samples:
        it.set_tensor(it.get_input_details()[0]["index"], sample)
        it.invoke()
        outputs.append(it.get_tensor(it.get_output_details()[0]["index"]).tobytes())
    return b"".join(outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=len(KINDS))
    parser.add_argument("--ops", default=",".join(KINDS))
    args = parser.parse_args()
    rng, kinds = np.random.default_rng(args.seed), args.ops.split(",")
    for k in range(args.count):
        kind = kinds[k % len(kinds)]
        folder = args.out / f"{k:02d}_{kind.lower()}"
        folder.mkdir(parents=True, exist_ok=True)
        content, samples = build(rng, kind)
        (folder / "model.tflite").write_bytes(content)
        (folder / "in_0.bin").write_bytes(b"".join(s.tobytes() for s in samples))
        (folder / "out_0.bin").write_bytes(answers(content, samples))


if __name__ == "__main__":
    main()
