"""Networks at 224x224 as int8 TFLite files with seeded weights, run by the oracle and by heddle.

    CLASSIC/bin/python large_tflite.py --out build/large [--net resnet50] [--heddle build/heddle -- --engine=rtl]

MobileNetV1 1.0, MobileNetV2 1.0 and ResNet-50 v1.5 (stride 2 in the 3x3) in the operators that a converter
writes. Each goes into a folder with model.tflite, in_0.bin, out_0.bin (tflite-runtime on BUILTIN_REF) as
tests/models has them. With --heddle each is run there; what follows `--` goes to `heddle run`. The exit
status is 1 if an answer differs or a bar (cycles at sys16) is missed.

Weights are uniform int8 per channel, nothing is trained: the scales are such that activations spread over
their range, so that a wrong byte shows. They follow from the fan-in alone: with E[x^2] of the real input and
n products, a scale of the weights makes the standard deviation of a sum what is asked for.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np
import tflite

import make_goldens
from tflite_writer import Net

RELU6 = 6 / 255  # scale of 0..6, zero point -128
WEIGHT_RMS = 127 / np.sqrt(3)
BARS = {"mobilenet_v1": 2_600_000, "mobilenet_v2": 1_500_000, "resnet50": 17_600_000}


class Act:
    """An activation: its tensor, shape, quantisation, and the mean square of its real values (guessed)."""

    def __init__(self, index, shape, scale, zero, square):
        self.index, self.shape, self.scale, self.zero, self.square = index, tuple(shape), scale, zero, square


class Builder:
    def __init__(self, name, seed):
        self.net = Net(f"{name}, seeded weights")
        self.rng = np.random.default_rng(seed)
        self.n = 0

    def act(self, shape, scale, zero, square):
        self.n += 1
        return Act(self.net.tensor(f"a{self.n}", shape, np.int8, scale, zero), shape, np.float32(scale), zero, square)

    def image(self):
        return self.act((1, 224, 224, 3), 1 / 64, 0, 4 / 3)

    def constants(self, x, shape, axis, fan_in, deviation):
        """Weights and bias whose sums over x have the standard deviation `deviation`."""
        n = shape[axis]
        data = self.rng.integers(-127, 128, shape, dtype=np.int8)
        wanted = deviation / (np.sqrt(fan_in * x.square) * WEIGHT_RMS)
        scales = (wanted * self.rng.uniform(0.7, 1.3, n)).astype(np.float32)
        bias = np.round(self.rng.normal(0, 0.2 * deviation, n) / (scales * x.scale)).astype(np.int32)
        w = self.net.tensor(f"w{self.n}", shape, np.int8, scales, 0, axis, data)
        return [x.index, w, self.net.tensor(f"b{self.n}", (n,), np.int32, scales * x.scale, 0, 0, bias)]

    @staticmethod
    def fields(stride, padding, activation):
        return dict(StrideH=stride, StrideW=stride, Padding=getattr(tflite.Padding, padding),
                    FusedActivationFunction=getattr(tflite.ActivationFunctionType, activation))

    def output(self, shape, activation):
        """Sums of deviation 2: 0..6 after an activation, else symmetric."""
        if activation == "NONE":
            return self.act(shape, 6 / 127, 0, 4)
        return self.act(shape, RELU6, -128, 2)

    def conv(self, x, channels, kernel, stride=1, activation="RELU6", padding="SAME"):
        h, w = [(v + stride - 1) // stride if padding == "SAME" else (v - kernel) // stride + 1 for v in x.shape[1:3]]
        y = self.output((1, h, w, channels), activation)
        ins = self.constants(x, (channels, kernel, kernel, x.shape[3]), 0, kernel * kernel * x.shape[3], 2)
        self.net.op("CONV_2D", ins, [y.index], 3, "Conv2DOptions", DilationHFactor=1, DilationWFactor=1,
                    **self.fields(stride, padding, activation))
        return y

    def depthwise(self, x, stride=1):
        h, w = [(v + stride - 1) // stride for v in x.shape[1:3]]
        y = self.output((1, h, w, x.shape[3]), "RELU6")
        ins = self.constants(x, (1, 3, 3, x.shape[3]), 3, 9, 2)
        self.net.op("DEPTHWISE_CONV_2D", ins, [y.index], 3, "DepthwiseConv2DOptions", DepthMultiplier=1,
                    DilationHFactor=1, DilationWFactor=1, **self.fields(stride, "SAME", "RELU6"))
        return y

    def add(self, x, y, activation="NONE"):
        z = self.act(x.shape, 8 / 127 if activation == "NONE" else 8 / 255, 0 if activation == "NONE" else -128,
                     x.square + y.square if activation == "NONE" else 0.5 * (x.square + y.square))
        self.net.op("ADD", [x.index, y.index], [z.index], 2, "AddOptions",
                    FusedActivationFunction=getattr(tflite.ActivationFunctionType, activation))
        return z

    def max_pool(self, x):
        h, w = [(v + 1) // 2 for v in x.shape[1:3]]
        y = self.act((1, h, w, x.shape[3]), x.scale, x.zero, 1.5 * x.square)
        self.net.op("MAX_POOL_2D", [x.index], [y.index], 2, "Pool2DOptions", FilterHeight=3, FilterWidth=3,
                    **self.fields(2, "SAME", "NONE"))
        return y

    def pad(self, x, n):
        y = self.act((1, x.shape[1] + 2 * n, x.shape[2] + 2 * n, x.shape[3]), x.scale, x.zero, x.square)
        amounts = self.net.tensor("paddings", (4, 2), np.int32, data=[[0, 0], [n, n], [n, n], [0, 0]])
        self.net.op("PAD", [x.index, amounts], [y.index], 2, "PadOptions")
        return y

    def classify(self, x, n):
        """Add a mean over the image, a dense layer and a softmax."""
        y = self.act((1, x.shape[3]), 2 / 255, -128, 0.5)
        axes = self.net.tensor("axes", (2,), np.int32, data=[1, 2])
        self.net.op("MEAN", [x.index, axes], [y.index], 2, "ReducerOptions", KeepDims=False)
        z = self.act((1, n), 12 / 127, 0, 4)
        self.net.op("FULLY_CONNECTED", self.constants(y, (n, x.shape[3]), 0, x.shape[3], 3), [z.index], 5,
                    "FullyConnectedOptions")
        p = self.act((1, n), 1 / 256, -128, 0)
        self.net.op("SOFTMAX", [z.index], [p.index], 2, "SoftmaxOptions", Beta=1.0)
        return p, z


def mobilenet_v1(b):
    x = image = b.image()
    x = b.conv(x, 32, 3, 2)
    for channels, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + \
            [(1024, 2), (1024, 1)]:
        x = b.conv(b.depthwise(x, stride), channels, 1)
    return image, x


def mobilenet_v2(b):
    x = image = b.image()
    x = b.conv(x, 32, 3, 2)
    for expansion, channels, repeats, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeats):
            stride = first if i == 0 else 1
            y = b.conv(x, expansion * x.shape[3], 1) if expansion > 1 else x
            y = b.conv(b.depthwise(y, stride), channels, 1, activation="NONE")
            x = b.add(x, y) if x.shape == y.shape else y
    return image, b.conv(x, 1280, 1)


def resnet50(b):
    x = image = b.image()
    x = b.max_pool(b.conv(b.pad(x, 3), 64, 7, 2, "RELU", "VALID"))
    for width, blocks, first in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for i in range(blocks):
            stride = first if i == 0 else 1
            y = b.conv(b.conv(x, width, 1, 1, "RELU"), width, 3, stride, "RELU")
            y = b.conv(y, 4 * width, 1, 1, "NONE")
            x = b.add(y, b.conv(x, 4 * width, 1, stride, "NONE") if i == 0 else x, "RELU")
    return image, x


def deep(b):
    """Make 2,000 operators at 28x28, to measure what grows with their number."""
    x = image = b.image()
    x = b.conv(b.conv(x, 24, 3, 4), 24, 1, 2, "NONE")
    for _ in range((2000 - 5) // 4):
        x = b.add(x, b.conv(b.depthwise(b.conv(x, 48, 1)), 24, 1, activation="NONE"))
        x.square = 4  # of a sum whose scale stays
    return image, x


NETS = {"mobilenet_v1": mobilenet_v1, "mobilenet_v2": mobilenet_v2, "resnet50": resnet50, "deep": deep}


def make(name, seed, out):
    """Writes the folder, unless it is there; the scores (before softmax) must spread."""
    folder = out / f"{name}-{seed}"
    if (folder / "out_0.bin").exists():
        return folder
    b = Builder(name, seed)
    image, x = NETS[name](b)
    answer, scores = b.classify(x, 1000)
    content = b.net.finish([image.index], [answer.index, scores.index])
    sample = b.rng.integers(-128, 128, image.shape, dtype=np.int8)
    results = make_goldens.run(make_goldens.open_model(content), [sample[None]])
    deviation, railed = results[1].std(), np.mean(np.abs(results[1].astype(int)) > 126)
    print(f"{name}: {len(content)} bytes, scores deviate by {deviation:.1f}, {railed:.1%} at a limit", flush=True)
    if deviation < 8 or railed > 0.2:
        raise SystemExit(f"{name}: the scores do not spread; errors would not show")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(content)
    sample.tofile(folder / "in_0.bin")
    for k, r in enumerate(results):
        r.tofile(folder / f"out_{k}.bin.part")
        (folder / f"out_{k}.bin.part").rename(folder / f"out_{k}.bin")
    return folder


def compile_seconds(heddle, folder):
    """Estimate of one core, for sys16."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([heddle, "compile", folder / "model.tflite", "-o", folder / "emitted"], check=True,
                   stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def run(heddle, folder, name, options):
    """True if the answer is right and, at sys16 on the RTL, within the bar."""
    stats = folder / "stats.json"
    start = time.monotonic()
    done = subprocess.run([heddle, "run", folder / "model.tflite", "-i", folder / "in_0.bin", "--expect", folder,
                           "--stats", stats, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.monotonic() - start
    if done.returncode != 0:
        print(f"{name}: exit {done.returncode}: {done.stderr.strip()}")
        return False
    s = json.loads(stats.read_text())
    bar = BARS.get(name) if s["hw"]["name"] == "sys16" and s["cycles"] is not None else None
    print(f"{name} {s['hw']['name']} {s['engine']}: {s['verdict']}, {s['cycles']} cycles" +
          (f" of at most {bar}" if bar else "") + f", utilisation {s['utilisation']:.1%}, {wall:.1f} s, "
          f"compiled in {compile_seconds(heddle, folder):.1f} s of CPU", flush=True)
    return s["verdict"] == "match" and (bar is None or s["cycles"] <= bar)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--net", choices=sorted(NETS), action="append")
    p.add_argument("--heddle")
    p.add_argument("options", nargs="*", help="of heddle run, after --")
    a = p.parse_args()
    good = True
    for name in a.net or NETS:
        folder = make(name, a.seed, a.out)
        if a.heddle:
            good &= run(a.heddle, folder, name, a.options)
    sys.exit(not good)


if __name__ == "__main__":
    main()
