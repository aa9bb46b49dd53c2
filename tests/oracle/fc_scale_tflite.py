"""FULLY_CONNECTED with one scale, round and arbitrary ones, int8 and uint8, against LiteRT with --fc-scale=litert, byte for byte.

    fc_scale_tflite.py --heddle build/heddle
    fc_scale_tflite.py --write tests/e2e/answers/fc_scale_round

Round scales make sums whose result is half-way between two values: there every rounding of the factor shows. Exit status 1 if a
value differs, 77 without LiteRT. Environment: requirements-new.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    from tflite_writer import Net
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

WEIGHTS = [0.01, 0.02, 0.05, 0.1, 0.0123, 0.0077, 0.0031, 0.0099, 0.125]
ROWS, DEPTH, UNITS = 64, 20, 80


def network(rng, dtype, scale, weights):
    net = Net("fc_scale")
    low = np.iinfo(dtype).min
    x = net.tensor("x", (ROWS, DEPTH), dtype, scale=scale, zero=low + 128)
    w = net.tensor("w", (UNITS, DEPTH), dtype, scale=weights, zero=low + 128, data=rng.integers(-20, 21, (UNITS, DEPTH)) + low + 128)
    b = net.tensor("b", (UNITS,), np.int32, scale=np.float32(scale) * np.float32(weights), data=rng.integers(-50, 51, UNITS))
    y = net.tensor("y", (ROWS, UNITS), dtype, scale=scale, zero=low + 128)
    net.op("FULLY_CONNECTED", [x, w, b], [y], version=4, options="FullyConnectedOptions")
    return net.finish([x], [y]), (rng.integers(-100, 101, (ROWS, DEPTH)) + low + 128).astype(dtype)


def litert(content, x):
    it = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    it.set_tensor(it.get_input_details()[0]["index"], x)
    it.invoke()
    return it.get_tensor(it.get_output_details()[0]["index"])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--write", type=pathlib.Path, help="only write one network with round scales as a folder for tests")
    args = ap.parse_args()
    if args.write:
        content, x = network(np.random.default_rng(1), np.int8, 0.05, 0.02)
        args.write.mkdir(parents=True, exist_ok=True)
        (args.write / "model.tflite").write_bytes(content)
        x.tofile(args.write / "in_0.bin")
        litert(content, x).tofile(args.write / "out_litert_0.bin")
        return 0
    rng, n, bad = np.random.default_rng(7), 0, 0
    for dtype in (np.int8, np.uint8):
        for scale in (0.05, 0.0371):
            for weights in WEIGHTS:
                content, x = network(rng, dtype, scale, weights)
                want = litert(content, x)
                with tempfile.TemporaryDirectory() as tmp:
                    folder = pathlib.Path(tmp)
                    (folder / "model.tflite").write_bytes(content)
                    x.tofile(folder / "x.bin")
                    done = subprocess.run([args.heddle, "run", folder / "model.tflite", "-i", folder / "x.bin", "--engine=func",
                                           "--target=c", "--fc-scale=litert", "-o", folder / "out"], capture_output=True, text=True)
                    if done.returncode != 0:
                        print(done.stderr.strip()[:300])
                        return 1
                    got = np.fromfile(folder / "out" / "out_0.bin", dtype).reshape(want.shape)
                differ = int(np.count_nonzero(got != want))
                n, bad = n + want.size, bad + differ
                if differ:
                    print(f"{np.dtype(dtype)}, scale {scale}, weights {weights}: {differ} of {want.size} differ")
    print(f"{bad} of {n} values differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
