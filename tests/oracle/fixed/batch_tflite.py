"""Make a network over a batch of three: convolution, depthwise, pools, ADD, FULLY_CONNECTED, SOFTMAX.

    batch_tflite.py --out DIR

Writes DIR/model.tflite, in_0.bin, out_<k>.bin. Environment: requirements-classic.txt.
"""

import argparse
import pathlib
import sys

import numpy as np
import tflite

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import make_goldens  # noqa: E402
from tflite_writer import Net  # noqa: E402

SAME = tflite.Padding.SAME


def build(rng):
    net = Net("heddle batch of three")

    def weights(name, shape, axis, scale):
        w = net.tensor(name, shape, np.int8, scale, 0, axis, rng.integers(-127, 128, shape))
        b = net.tensor(name + "_b", (shape[axis],), np.int32, 0.001, 0, data=rng.integers(-500, 500, shape[axis]))
        return [w, b]

    def act(name, shape, scale, zero):
        return net.tensor(name, shape, np.int8, scale, zero)

    x, c = act("x", (3, 7, 5, 4), 0.05, -3), act("c", (3, 7, 5, 6), 0.1, 4)
    net.op("CONV_2D", [x, *weights("w", (6, 3, 3, 4), 0, [0.01, 0.012, 0.02, 0.008, 0.01, 0.02])], [c], 3,
           "Conv2DOptions", Padding=SAME, StrideH=1, StrideW=1)
    d = act("d", (3, 4, 3, 12), 0.2, -9)
    net.op("DEPTHWISE_CONV_2D", [c, *weights("dw", (1, 3, 3, 12), 3, 0.02)], [d], 3, "DepthwiseConv2DOptions",
           Padding=SAME, StrideH=2, StrideW=2, DepthMultiplier=2)
    p, m, s = act("p", (3, 2, 2, 12), 0.2, -9), act("m", (3, 2, 2, 12), 0.2, -9), act("s", (3, 2, 2, 12), 0.3, 0)
    for op, y, kernel in (("AVERAGE_POOL_2D", p, (3, 2)), ("MAX_POOL_2D", m, (2, 3))):
        net.op(op, [d], [y], 2, "Pool2DOptions", Padding=SAME, StrideH=2, StrideW=2, FilterHeight=kernel[0],
               FilterWidth=kernel[1])
    net.op("ADD", [p, m], [s], 2, "AddOptions")
    f, q = act("f", (3, 5), 0.5, 1), act("q", (3, 5), 1 / 256, -128)
    net.op("FULLY_CONNECTED", [s, *weights("fw", (5, 48), 0, 0.02)], [f], 4, "FullyConnectedOptions")
    net.op("SOFTMAX", [f], [q], 2, "SoftmaxOptions", Beta=1.0)
    return net.finish([x], [c, d, s, q])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", type=pathlib.Path, required=True)
    args = ap.parse_args()
    rng = np.random.default_rng(5)
    content, samples = build(rng), rng.integers(-128, 128, (2, 3, 7, 5, 4)).astype(np.int8)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "model.tflite").write_bytes(content)
    samples.tofile(args.out / "in_0.bin")
    for k, y in enumerate(make_goldens.run(make_goldens.open_model(content), [samples])):
        y.tofile(args.out / f"out_{k}.bin")


if __name__ == "__main__":
    main()
