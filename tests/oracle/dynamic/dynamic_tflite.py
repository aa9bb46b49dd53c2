"""Random layers of float32 activations and int8 weights (TFLite's dynamic range) against LiteRT's reference kernels.

    dynamic_tflite.py --heddle build/heddle [--seed 1] [--count 40] [--engine ref,func,c]
    dynamic_tflite.py --keep DIR --seed N      one network as a folder of tests/reference/models

FULLY_CONNECTED, CONV_2D, DEPTHWISE_CONV_2D, BATCH_MATMUL, one or two of them in a row; three samples each, one of them all zeros. Exit
status 1 if a byte differs, 77 without LiteRT. Environment: requirements-new.txt: tflite-runtime 2.14 has no scales for
each channel of FULLY_CONNECTED, and subtracts in double where LiteRT does in float32.
"""

import json
import pathlib
import subprocess
import sys

try:
    import numpy as np
    import tflite
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    from tflite_writer import Net, answers, run_seeds
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

F = np.float32
SAMPLES = 3


class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.net = Net("heddle dynamic_tflite")

    def size(self, most):
        return int(self.rng.integers(1, most + 1))

    def chance(self, p):
        return self.rng.random() < p

    def weights(self, shape, axis, one):
        """An int8 constant, one scale or one for each channel along `axis`."""
        data = self.rng.integers(-127, 128, shape) if self.chance(0.9) else self.rng.integers(0, 2, shape)
        scales = self.rng.uniform(0.5, 2, 1 if one else shape[axis]) * 10 ** self.rng.uniform(-4, 1)
        return self.net.tensor(f"w{len(self.net.tensors)}", shape, np.int8, scales.astype(F), axis=axis, data=data)

    def bias(self, n, always=False):
        if not always and self.chance(0.3):
            return -1
        data = self.rng.normal(size=n) * 10 ** self.rng.uniform(-3, 3) * (self.rng.random(n) < 0.8) + 0.0  # LiteRT adds -0 to nothing where all of x is 0
        return self.net.tensor(f"b{len(self.net.tensors)}", (n,), F, data=data.astype(F))

    def add(self, name, inputs, shape, version, options, **fields):
        y = self.net.tensor(f"y{len(self.net.tensors)}", shape, F)
        self.net.op(name, inputs, [y], version, options, FusedActivationFunction=int(self.rng.integers(4)), **fields)
        return y, shape

    def dense(self, x, shape):
        k, n = shape[-1], self.size(40)
        keep = self.chance(0.5)
        if not keep and self.chance(0.3):  # rows that are not the innermost dimension
            k *= shape[-2] if len(shape) > 1 else 1
        rows = int(np.prod(shape)) // k
        keep = keep and k == shape[-1]
        return self.add("FULLY_CONNECTED", [x, self.weights((n, k), 0, self.chance(0.5)), self.bias(n)],
                        (*shape[:-1], n) if keep else (rows, n), 12, "FullyConnectedOptions", KeepNumDims=keep,
                        AsymmetricQuantizeInputs=self.chance(0.7))

    def matmul(self, x, shape):
        k, n, adjoint = shape[-1], self.size(40), self.chance(0.5)
        y, shape = self.net.tensor(f"y{len(self.net.tensors)}", (*shape[:-1], n), F), (*shape[:-1], n)
        self.net.op("BATCH_MATMUL", [x, self.weights((n, k) if adjoint else (k, n), 0, True)], [y], 4, "BatchMatMulOptions",
                    AdjY=adjoint, AsymmetricQuantizeInputs=self.chance(0.5))
        return y, shape

    def window(self, x, shape, depthwise):
        n, h, w, c = shape
        kh, kw = min(self.size(5), h), min(self.size(5), w)
        sh, sw, dh, dw = 1, 1, 1, 1
        if self.chance(0.2):
            dh, dw = self.size(3), self.size(3)
        else:
            sh, sw = self.size(3), self.size(3)
        same = self.chance(0.6)
        eh, ew = (kh - 1) * dh + 1, (kw - 1) * dw + 1
        if not same and (eh > h or ew > w):
            same = True
        oc = c * self.size(3) if depthwise else self.size(40)
        oh, ow = (-(-h // sh), -(-w // sw)) if same else ((h - eh) // sh + 1, (w - ew) // sw + 1)
        fields = dict(Padding=tflite.Padding.SAME if same else tflite.Padding.VALID, StrideH=sh, StrideW=sw, DilationHFactor=dh,
                      DilationWFactor=dw)
        if depthwise:
            return self.add("DEPTHWISE_CONV_2D", [x, self.weights((1, kh, kw, oc), 3, oc == 1), self.bias(oc, True)],
                            (n, oh, ow, oc), 6, "DepthwiseConv2DOptions", DepthMultiplier=oc // c, **fields)
        return self.add("CONV_2D", [x, self.weights((oc, kh, kw, c), 0, self.chance(0.3)), self.bias(oc, True)],
                        (n, oh, ow, oc), 5, "Conv2DOptions", **fields)

    def lookup(self):
        """Rows of an int8 table."""
        n, size, k = self.size(12), self.size(30), self.size(40)
        x, y = self.net.tensor("x", (n,), np.int32), self.net.tensor("rows", (n, k), F)
        self.net.op("EMBEDDING_LOOKUP", [x, self.weights((size, k), 0, True)], [y], 3)
        return x, y, (n, k), self.rng.integers(0, size, (SAMPLES, n)).astype(np.int32)

    def network(self):
        """The file, samples of its input, the shape of its output."""
        if self.chance(0.1):
            x, y, shape, samples = self.lookup()
            y, shape = self.dense(y, shape)
            return self.net.finish([x], [y]), samples, shape
        image = self.chance(0.6)
        shape = (self.size(3) if self.chance(0.3) else 1, self.size(12), self.size(12), self.size(20)) if image else \
            tuple(self.size(12) for _ in range(self.size(3))) + (self.size(300 if self.chance(0.2) else 40),)
        x, first = self.net.tensor("x", shape, F), shape
        y = x
        for _ in range(self.size(2)):
            y, shape = (self.window(y, shape, self.chance(0.5)) if len(shape) == 4 else
                        self.matmul(y, shape) if len(shape) == 3 and self.chance(0.3) else self.dense(y, shape))
        if len(shape) == 4 and self.chance(0.3):
            y, shape = self.dense(y, shape)
        return self.net.finish([x], [y]), self.samples(first), shape

    def samples(self, shape):
        """The largest value in turn anywhere, positive alone, negative alone; rows of zeros among them."""
        x = self.rng.normal(size=(SAMPLES, *shape)) * 10 ** self.rng.uniform(-4, 4)
        sign = int(self.rng.integers(4))
        x = np.abs(x) * (1 if sign == 1 else -1) if sign in (1, 2) else x
        x[-1] = 0
        if self.chance(0.2):
            x[0, 0] = 0
        return x.astype(F)


def write(folder, seed):
    folder.mkdir(parents=True, exist_ok=True)
    content, samples, shape = Maker(seed).network()
    outs = []
    for x in samples:
        it = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        outs.append(answers(it, [x])[0])
        assert outs[-1].shape == tuple(shape), (outs[-1].shape, shape)
    (folder / "model.tflite").write_bytes(content)
    samples.tofile(folder / "in_0.bin")
    np.stack(outs).tofile(folder / "out_0.bin")
    (folder / "meta.json").write_text(json.dumps({
        "inputs": [{"dtype": str(samples.dtype), "shape": list(samples.shape[1:])}],
        "outputs": [{"dtype": "float32", "shape": list(shape)}]}, indent=1) + "\n")


def differs(heddle, folder, engine):
    """Why heddle's bytes are others, or None."""
    how = ["--target=c"] if engine == "c" else [f"--engine={engine}"]
    done = subprocess.run([heddle, "run", str(folder / "model.tflite"), *how, "-i", str(folder / "in_0.bin"), "-o", str(folder / "got")],
                          capture_output=True, text=True)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()}"
    got, want = ((folder / f).read_bytes() for f in ("got/out_0.bin", "out_0.bin"))
    if got == want:
        return None
    a, b = np.frombuffer(got, F), np.frombuffer(want, F)
    at = int(np.argmax(a.view(np.int32) != b.view(np.int32)))
    return f"value {at}: expected {b[at]}, found {a[at]}"


if __name__ == "__main__":
    sys.exit(run_seeds(__doc__, write, differs, 40, "ref,func,c"))
