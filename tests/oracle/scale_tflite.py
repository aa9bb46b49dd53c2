"""Scale arithmetic of every requantising operator at random scales, on every 8-bit value, against the oracle.

    scale_tflite.py --heddle build/heddle [--seed N] [--count 1000] [--ops RELU,uRELU,wRELU,...] [--engine ref]
    scale_tflite.py --keep DIR      the pairs of PINNED as a folder of tests/reference/models

COUNT pairs of scales an operator (a leading `u`: uint8, `w`: int16), 50 to a network, each with a separate input:
all values in order (int16: 2,048 random ones). Prints for each operator how many scales and values were compared
and how many differ; a scale that the oracle or heddle refuses is counted apart. The first case that differs is printed. Exit
status 1 if a value differs. Environment: requirements-classic.txt.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tflite

import make_goldens
import tflite_writer

TYPES = {"": (np.int8, -128, 127), "u": (np.uint8, 0, 255), "w": (np.int16, -32768, 32767)}
BATCH = 50
OPTIONS = {"LEAKY_RELU": "LeakyReluOptions", "QUANTIZE": "QuantizeOptions", "HARD_SWISH": "HardSwishOptions",
           "SOFTMAX": "SoftmaxOptions", "LOG_SOFTMAX": "LogSoftmaxOptions", "GELU": "GeluOptions", "ABS": "AbsOptions",
           "EXP": "ExpOptions", "SQUARED_DIFFERENCE": "SquaredDifferenceOptions", "ADD": "AddOptions", "SUB": "SubOptions",
           "MUL": "MulOptions", "CONCATENATION": "ConcatenationOptions", "MEAN": "ReducerOptions",
           "FULLY_CONNECTED": "FullyConnectedOptions", "CONV_2D": "Conv2DOptions",
           "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions", "TRANSPOSE_CONV": "TransposeConvOptions", "RSQRT": None,
           "BATCH_MATMUL": "BatchMatMulOptions", "L2_NORMALIZATION": "L2NormOptions", "DEQUANTIZE": "DequantizeOptions",
           "LESS": "LessOptions"}
VERSION_1 = ("RELU_N1_TO_1", "RELU_0_TO_1", "HARD_SWISH", "LOGISTIC", "TANH", "PRELU", "GELU", "CONCATENATION")
NARROW = ["LOGISTIC", "TANH", "LEAKY_RELU", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "HARD_SWISH", "PRELU",
          "GELU", "SOFTMAX", "LOG_SOFTMAX", "QUANTIZE", "DEQUANTIZE", "ADD", "SUB", "MUL", "MEAN", "FULLY_CONNECTED", "CONV_2D",
          "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "LESS", "FROM_FLOAT"]
KINDS = (NARROW + ["ABS", "EXP", "RSQRT", "SQUARED_DIFFERENCE", "L2_NORMALIZATION", "BATCH_MATMUL", "TO_UINT8"] +
         ["u" + k for k in NARROW] + ["uCONCATENATION", "uTO_INT8"] +
         ["w" + k for k in ("LOGISTIC", "TANH", "LEAKY_RELU", "RELU", "RELU6", "ABS", "SOFTMAX", "QUANTIZE", "TO_INT8",
                            "DEQUANTIZE", "ADD", "SUB", "MUL", "MEAN", "FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D",
                            "TRANSPOSE_CONV", "BATCH_MATMUL", "FROM_FLOAT")])


# Cases that were wrong before: operator, scale and zero point in and out (int8).
PINNED = [("RSQRT", 0.00522050355, -128, 0.00472645322, -128),  # multiplier in float32
          ("LOGISTIC", 0.00148259208, -69, 1 / 256, -128),  # a tie in float32
          ("HARD_SWISH", 0.001, 10, 0.6, -3),  # the output's shift leaves 16 bits
          ("wSOFTMAX", 0.000108606117, 0, 1 / 32768, 0),  # both tables in units of 1/32768
          ("LOG_SOFTMAX", 0.0779323503, 127, 1 / 16, 127)]  # fixed point, where float32 has a tie


class Case:
    """One operator with scales of its own: its tensors in `net`, and the input's values."""

    def __init__(self, net, rng, kind, name):
        self.net, self.rng, self.name = net, rng, name
        prefix = kind[0] if kind[0] in "uw" else ""
        self.op, (self.dtype, self.low, self.high) = kind[len(prefix):], TYPES[prefix]
        self.wide = self.dtype == np.int16
        self.s_in, self.z_in = self.scale(-10, 2) if not self.wide else self.scale(-16, -4), self.zero()
        self.values = (rng.integers(self.low, self.high + 1, 2048) if self.wide else
                       np.arange(self.low, self.high + 1)).astype(self.dtype)
        self.shape = (1, len(self.values))
        getattr(self, "make_" + self.op.lower(), self.make_plain)()

    def scale(self, low, high):
        return float(np.float32(2.0 ** self.rng.uniform(low, high)))

    def near(self, base, low=-4, high=4):
        return float(np.float32(base * 2.0 ** self.rng.uniform(low, high)))

    def zero(self):
        return 0 if self.wide else int(self.rng.choice([self.low, self.high, int(self.rng.integers(self.low, self.high + 1))]))

    def emit(self, extra, s_out, z_out, shape=None, dtype=None, op=None, first=True, **fields):
        net, dtype = self.net, dtype or self.dtype
        self.x = net.tensor("x" + self.name, self.values.shape if self.values.ndim > 1 else self.shape, self.dtype,
                            self.s_in if self.dtype != np.float32 else None, self.z_in)
        self.y = net.tensor("y" + self.name, shape or self.shape, dtype,
                            None if dtype in (np.float32, np.bool_) else s_out, z_out)
        op = op or self.op
        inputs = [self.x] + extra if first else extra + [self.x]
        version = 1 if op in VERSION_1 else 2
        if self.wide and op in ("ADD", "SUB", "FULLY_CONNECTED", "CONV_2D", "MUL"):
            version = 4
        net.op(op, inputs, [self.y], version, OPTIONS.get(op), **fields)
        self.detail = f"{op} {np.dtype(self.dtype).name} s_in {self.s_in:.9g} z_in {self.z_in} s_out {s_out:.9g} z_out {z_out}"

    def const(self, shape, s, z, dtype=None, data=None):
        dtype = dtype or self.dtype
        info = np.iinfo(dtype)
        if data is None:
            data = self.rng.integers(info.min, info.max + 1, shape)
        return self.net.tensor("c" + self.name, shape, dtype, s, z, data=np.asarray(data, dtype).reshape(shape))

    # -- unary ----------------------------------------------------------------------------------------

    def make_plain(self):
        ratio = (-6.9, 12) if self.op == "HARD_SWISH" else (-6, 6)
        self.emit([], self.near(self.s_in, *ratio), self.zero())

    def make_leaky_relu(self):
        self.emit([], self.near(self.s_in), self.zero(), Alpha=float(np.float32(self.rng.uniform(0.001, 1.5))))

    def make_logistic(self):
        if self.wide:
            self.s_in = self.scale(-15, -9)
        self.emit([], 1 / 32768 if self.wide else 1 / 256, self.low if not self.wide else 0)

    def make_tanh(self):
        if self.wide:
            self.s_in = self.scale(-15, -9)
        self.emit([], 1 / 32768 if self.wide else 1 / 128, self.low + 128 if not self.wide else 0)

    def make_gelu(self):
        self.emit([], self.near(self.s_in, -3, 3), self.zero(), Approximate=bool(self.rng.integers(2)))

    def make_exp(self):
        self.s_in = self.scale(-10, -5)
        top = np.exp((127 - self.z_in) * self.s_in)
        self.emit([], self.near(top / 255, -1, 3), self.zero())

    def make_rsqrt(self):
        self.z_in = self.low
        self.emit([], self.near(1 / np.sqrt(self.s_in * self.rng.integers(1, 255)) / 255, -2, 3), self.zero())

    def make_softmax(self):
        if self.wide:
            self.s_in = self.scale(-14, -10)
        self.emit([], 1 / 32768 if self.wide else 1 / 256, self.low if not self.wide else 0,
                  Beta=float(self.rng.choice([0.5, 1.0, 1.7])))

    def make_log_softmax(self):
        self.s_in = self.scale(-8, 0)
        self.emit([], 1 / 16, self.high)

    def make_l2_normalization(self):
        self.emit([], 1 / 128, 0)

    def make_dequantize(self):
        self.emit([], 0.0, 0, dtype=np.float32)

    def make_to_uint8(self):
        self.emit([], self.near(self.s_in, -6, 6), int(self.rng.integers(256)), dtype=np.uint8, op="QUANTIZE")

    def make_to_int8(self):
        self.emit([], self.near(self.s_in, -6, 10 if self.wide else 6), int(self.rng.integers(-128, 128)), dtype=np.int8,
                  op="QUANTIZE")

    def make_from_float(self):
        dtype, s = self.dtype, self.near(1 / 64, -6, 4)
        self.dtype = np.float32
        self.values = (self.rng.normal(0, 1, 512) * s * (8000 if self.wide else 70)).astype(np.float32)
        half = self.rng.integers(self.low, self.high, 512) + 0.5
        self.values[::2] = (half[::2] * s).astype(np.float32)
        self.shape = (1, 512)
        self.emit([], s, self.zero(), dtype=dtype, op="QUANTIZE")

    # -- two operands ---------------------------------------------------------------------------------

    def make_prelu(self):
        self.values = self.values.reshape(1, 1, 1, -1)
        self.shape = self.values.shape
        alpha = self.const((1, 1, len(self.values.ravel())), self.scale(-10, -6), self.zero())
        self.emit([alpha], self.near(self.s_in), self.zero())

    def make_add(self):
        s = self.near(self.s_in)
        self.emit([self.const(self.shape, s, self.zero())], self.near(max(s, self.s_in), -4, 3), self.zero(),
                  **({"PotScaleInt16": False} if self.wide else {}))

    make_sub = make_add

    def make_mul(self):
        s = self.scale(-10, 0)
        self.emit([self.const(self.shape, s, self.zero())], self.near(s * self.s_in * (8192 if self.wide else 64)),
                  self.zero())

    def make_squared_difference(self):
        s = self.near(self.s_in)
        self.emit([self.const(self.shape, s, self.zero())], self.near(max(s, self.s_in) ** 2 * 128), self.zero())

    def make_less(self):
        self.s_in = min(self.s_in, 0.99)
        s = min(self.near(self.s_in, -2, 2), 0.99)
        self.emit([self.const(self.shape, s, self.zero())], 0, 0, dtype=np.bool_)

    def make_concatenation(self):
        s_out = self.near(self.s_in, -2, 4)
        other = self.const(self.shape, self.near(s_out, -2, 2), self.zero())
        self.emit([other], s_out, self.zero(), shape=(1, 2 * self.shape[1]), Axis=1)

    # -- sums -----------------------------------------------------------------------------------------

    def make_mean(self):
        n = int(self.rng.integers(1, 9))
        self.values = self.rng.choice(self.values, (1, 64, n)).astype(self.dtype)
        axes = self.net.tensor("a" + self.name, (1,), np.int32, data=[2])
        self.emit([axes], self.near(self.s_in, -2, 2), self.zero(), shape=(1, 64), KeepDims=False)

    def weights(self, shape, axis, per_channel):
        n = shape[axis]
        s = [self.scale(-12, -2) for _ in range(n)] if per_channel else self.scale(-12, -2)
        dtype = np.int8 if self.wide else self.dtype
        low = -127 if dtype == np.int8 else 0
        z = self.zero() if dtype == np.uint8 else 0
        data = self.rng.integers(low, low + 255, shape)
        w = self.net.tensor("w" + self.name, shape, dtype, s, z, axis, data.astype(dtype))
        first = np.atleast_1d(s)
        b = self.net.tensor("b" + self.name, (n,), np.int64 if self.wide else np.int32,
                            [float(np.float32(self.s_in) * np.float32(v)) for v in first] if per_channel else
                            float(np.float32(self.s_in) * np.float32(s)), 0, data=self.rng.integers(-2000, 2000, n))
        return w, b, float(np.median(first)) * self.s_in

    def window(self, depth):
        self.values = self.rng.choice(self.values, (1, 8, 8, depth)).astype(self.dtype)
        if self.wide:
            self.values //= 4

    def make_conv_2d(self):
        self.window(2)
        w, b, s = self.weights((8, 2, 2, 2), 0, self.dtype != np.uint8)
        self.emit([w, b], self.near(s * (40000 if self.wide else 200), -3, 3), self.zero(), shape=(1, 7, 7, 8), Padding=1, StrideH=1, StrideW=1)

    def make_depthwise_conv_2d(self):
        self.window(8)
        w, b, s = self.weights((1, 2, 2, 8), 3, self.dtype != np.uint8)
        self.emit([w, b], self.near(s * (40000 if self.wide else 200), -3, 3), self.zero(), shape=(1, 7, 7, 8), Padding=1, StrideH=1,
                  StrideW=1, DepthMultiplier=1)

    def make_fully_connected(self):
        self.values = self.rng.choice(self.values, (16, 8)).astype(self.dtype)
        w, b, s = self.weights((8, 8), 0, False)
        self.emit([w, b], self.near(s * (40000 if self.wide else 200), -3, 3), self.zero(), shape=(16, 8))

    def make_transpose_conv(self):
        self.window(2)
        w, b, s = self.weights((8, 2, 2, 2), 0, self.dtype != np.uint8)
        size = self.net.tensor("s" + self.name, (4,), np.int32, data=[1, 9, 9, 8])
        self.transposed(size, w, b, self.near(s * (40000 if self.wide else 200), -3, 3))

    def transposed(self, size, w, b, s_out):
        self.x = self.net.tensor("x" + self.name, self.values.shape, self.dtype, self.s_in, self.z_in)
        self.y = self.net.tensor("y" + self.name, (1, 9, 9, 8), self.dtype, s_out, self.zero())
        self.net.op("TRANSPOSE_CONV", [size, w, self.x, b], [self.y], 3, "TransposeConvOptions", Padding=1, StrideH=1, StrideW=1)
        self.detail = f"TRANSPOSE_CONV s_in {self.s_in:.9g} s_out {s_out:.9g}"

    def make_batch_matmul(self):
        self.values = self.rng.choice(self.values, (16, 8)).astype(self.dtype)
        s = self.scale(-12, -2)
        other = self.const((8, 8), s, self.zero())
        self.emit([other], self.near(s * self.s_in * (3e7 if self.wide else 2e4), -3, 3), self.zero(), shape=(16, 8))


def keep(folder):
    """PINNED as one network with its inputs and the oracle's answers."""
    net, x, y, inputs = tflite_writer.Net("heddle scale_tflite"), [], [], []
    for k, (kind, s_in, z_in, s_out, z_out) in enumerate(PINNED):
        op, (dtype, low, high) = kind.lstrip("w"), TYPES["w" if kind[0] == "w" else ""]
        x.append(net.tensor(f"x{k}", (1, 256), dtype, s_in, z_in))
        y.append(net.tensor(f"y{k}", (1, 256), dtype, s_out, z_out))
        net.op(op, x[-1:], y[-1:], 1 if op in VERSION_1 else 2, OPTIONS.get(op),
               **({"Beta": 1.0} if op == "SOFTMAX" else {}))
        inputs.append(np.linspace(low, high, 256).astype(dtype).reshape(1, 1, 256))
    folder.mkdir(parents=True, exist_ok=True)
    content = net.finish(x, y)
    (folder / "model.tflite").write_bytes(content)
    for k, v in enumerate(inputs):
        v.tofile(folder / f"in_{k}.bin")
    for k, v in enumerate(make_goldens.run(make_goldens.open_model(content), inputs)):
        v.tofile(folder / f"out_{k}.bin")


def compare(args, cases, net, folder):
    """Number of values, wrong ones, words of the first; None if the network does not run on both."""
    content = net.finish([c.x for c in cases], [c.y for c in cases])
    it = make_goldens.open_model(content)
    for detail, case in zip(it.get_input_details(), cases):
        it.set_tensor(detail["index"], case.values.reshape(detail["shape"]))
    it.invoke()
    right = [it.get_tensor(d["index"]) for d in it.get_output_details()]
    (folder / "model.tflite").write_bytes(content)
    command = [args.heddle, "run", str(folder / "model.tflite"), "--engine=" + args.engine, "-o", str(folder / "out")]
    if args.target:
        command.append("--target=" + args.target)
    for k, case in enumerate(cases):
        case.values.tofile(folder / f"in_{k}.bin")
        command += ["-i", str(folder / f"in_{k}.bin")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    total, wrong, words = 0, 0, ""
    for k, (case, y) in enumerate(zip(cases, right)):
        mine = np.fromfile(folder / "out" / f"out_{k}.bin", y.dtype).reshape(y.shape)
        bad = np.flatnonzero((mine != y).ravel())
        total, wrong = total + y.size, wrong + len(bad)
        if len(bad) and not words:
            i = bad[0]
            words = (f"{case.detail}: {len(bad)} of {y.size}; element {i}, input {case.values.ravel()[min(i, case.values.size - 1)]}: "
                     f"oracle {y.ravel()[i]}, heddle {mine.ravel()[i]}")
    return total, wrong, words


def apart(function):
    """The result of `function`, from a separate process: a check of the oracle may end it. None then."""
    sys.stdout.flush()
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            os.write(there, repr(function()).encode())
        except BaseException as e:  # noqa: the parent reports it
            os.write(there, repr((0, 0, str(e))).encode())
        os._exit(0)
    os.close(there)
    said = b"".join(iter(lambda: os.read(here, 65536), b""))
    os.close(here)
    os.waitpid(child, 0)
    return eval(said.decode()) if said else (0, 0, "the oracle ended its process")


def trial(args, kind, first, n, folder):
    """Cases first .. first+n-1; those that one side refuses are halved until each is by itself."""
    def run():
        net, cases = tflite_writer.Net("heddle scale_tflite"), []
        for k in range(first, first + n):
            rng = np.random.default_rng([args.seed, KINDS.index(kind), k])
            cases.append(Case(net, rng, kind, str(k)))
        return compare(args, cases, net, folder)

    total, wrong, words = apart(run)
    if total:
        return total, wrong, words, 0
    if n == 1:
        return 0, 0, "", 1
    a, b = trial(args, kind, first, n // 2, folder), trial(args, kind, first + n // 2, n - n // 2, folder)
    return a[0] + b[0], a[1] + b[1], a[2] or b[2], a[3] + b[3]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--ops", default=",".join(KINDS))
    ap.add_argument("--engine", default="ref")
    ap.add_argument("--target")
    ap.add_argument("--keep", type=pathlib.Path)
    args = ap.parse_args()
    if args.keep:
        return keep(args.keep)
    failed = 0
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory() as tmp:
        for kind in args.ops.split(","):
            total = wrong = refused = 0
            words = ""
            for first in range(0, args.count, BATCH):
                n = min(BATCH, args.count - first)
                t, w, s, r = trial(args, kind, first, n, pathlib.Path(tmp))
                total, wrong, words, refused = total + t, wrong + w, words or s, refused + r
            print(f"{kind}: {args.count - refused} scales, {total} values, {wrong} differ, {refused} refused"
                  + (f"; {words}" if words else ""), flush=True)
            failed += wrong != 0 or total == 0
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
