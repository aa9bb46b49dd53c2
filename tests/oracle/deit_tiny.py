"""A whole DeiT-tiny encoder in int8 with random weights, by TensorFlow's converter: 197 tokens of 192, 12 blocks of 3
heads, hidden 768, GELU.

    deit_tiny.py FILE.tflite [--blocks 12] [--seed S] [--check build/heddle] [--hw sys16] [--most CYCLES]

With --check heddle runs it on the RTL with one random input; the answer must be that of TensorFlow's reference kernels,
byte for byte, in at most --most cycles. Prints the time that compiling takes, and busy cycles by kind of operator next
to the dense limit: MACs over multipliers. Environment: tests/models/requirements-train.txt.
"""

import argparse
import collections
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "models"))
try:
    import numpy as np
    import tflite_export as ex
    from blocks import Attention, Norm, lay
    from tflite_export import tf
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

TOKENS, WIDTH, HEADS, HIDDEN = 197, 192, 3, 768
CALIBRATION_INPUTS = 4


def encoder(blocks):
    inp = x = tf.keras.Input((TOKENS, WIDTH))
    for _ in range(blocks):
        x = lay.Add()([x, Attention(HEADS)(Norm()(x))])
        y = lay.Dense(HIDDEN, activation=tf.nn.gelu)(Norm()(x))
        x = lay.Add()([x, lay.Dense(WIDTH)(y)])
    return tf.keras.Model(inp, Norm()(x))


def answer(content, codes):
    """The reference kernels' output for one int8 input."""
    it = tf.lite.Interpreter(model_content=content,
                             experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    it.set_tensor(it.get_input_details()[0]["index"], codes)
    it.invoke()
    return it.get_tensor(it.get_output_details()[0]["index"])


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def by_kind(stats):
    """MACs, ARRAY's and VECTOR's busy cycles of all layers with one operator."""
    kinds = collections.defaultdict(lambda: [0, 0, 0])
    for layer in stats["layers"]:
        for i, field in enumerate(("macs", "array_cycles", "vector_cycles")):
            kinds[layer["op"]][i] += layer.get(field) or 0
    return {kind: v for kind, v in kinds.items() if any(v)}


def check(heddle, path, hw, most, seed):
    content = path.read_bytes()
    scale, zero = ex.describe(content)[2]["quantization"]
    x = np.random.default_rng(seed + 1).normal(0, 1, (1, TOKENS, WIDTH))
    codes = np.clip(np.rint(x / scale) + zero, -128, 127).astype(np.int8)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        codes.tofile(folder / "in.bin")
        answer(content, codes).tofile(folder / "out.bin")
        compiling = user_seconds([heddle, "compile", path, f"--hw={hw}", "-o", folder / "net.tar"])
        subprocess.run([heddle, "run", path, f"--hw={hw}", "--engine=func", "-q", "-i", folder / "in.bin", "--expect",
                        folder / "out.bin"], check=True)
        start = time.monotonic()
        done = subprocess.run([heddle, "run", path, f"--hw={hw}", "-i", folder / "in.bin", "--expect", folder / "out.bin",
                               "--stats", folder / "stats.json", "-o", folder / "run"], capture_output=True, text=True)
        wall = time.monotonic() - start
        if done.returncode:
            sys.exit(f"exit {done.returncode}: {done.stdout}{done.stderr}")
        stats = json.loads((folder / "stats.json").read_text())
    print(done.stdout.splitlines()[0])
    n = stats["hw"]["rows"] * stats["hw"]["cols"]
    print(f"compiled in {compiling:.1f} s of CPU; run in {wall:.1f} s with compiling; {stats['cycles']:.0f} cycles on {hw}, "
          f"{stats['host_cycles']:.0f} on the host, {stats['crossings']} crossings")
    print(f"{'operator':24}{'MACs':>14}{f'MACs/{n}':>12}{'array busy':>12}{'vector busy':>13}")
    for kind, (macs, array, vector) in sorted(by_kind(stats).items(), key=lambda item: -item[1][1] - item[1][2]):
        print(f"{kind:24}{macs:14}{macs // n:12}{array:12.0f}{vector:13.0f}")
    if stats["cycles"] > most:
        sys.exit(f"{stats['cycles']} cycles, expected at most {most}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("file", type=pathlib.Path)
    ap.add_argument("--blocks", type=int, default=12)
    ap.add_argument("--seed", type=int, default=5)
    ap.add_argument("--check", metavar="HEDDLE")
    ap.add_argument("--hw", default="sys16")
    ap.add_argument("--most", type=float, default=float("inf"), metavar="CYCLES")
    args = ap.parse_args()
    ex.seed_everything(args.seed)
    rng = np.random.default_rng(args.seed)
    args.file.write_bytes(ex.to_int8(encoder(args.blocks), rng.normal(0, 1, (CALIBRATION_INPUTS, TOKENS, WIDTH))))
    if args.check:
        check(args.check, args.file, args.hw, args.most, args.seed)


if __name__ == "__main__":
    main()
