"""Sparse constants of TFLite files against the golden oracle: random orders, blocks and levels.

    sparse_tflite.py --heddle build/heddle [--seed 1] [--count 20] [--write FILE]

DENSIFY makes a random constant dense, and ADD reads it; a FULLY_CONNECTED reads a sparse matrix itself. float32 and int8;
zeros are left out of some dimensions. Exit status 1 if a byte differs. Environment: requirements-classic.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import make_goldens
import tflite_writer


def stored(dense, order, block, sizes, listed):
    """Levels and stored values. `sizes`: of each block; `listed`: by level, whether zeros are left out."""
    rank = dense.ndim
    inner = {}  # dimension -> (number, size) of the block that divides it
    for k, of in enumerate(block):
        inner[of] = (rank + k, sizes[k])
    shape, axes = [], []
    for i, n in enumerate(dense.shape):
        shape += [n // inner[i][1], inner[i][1]] if i in inner else [n]
        axes += [i, inner[i][0]] if i in inner else [i]
    nodes, levels = [dense.reshape(shape).transpose([axes.index(k) for k in order])], []
    for is_listed in listed:
        if not is_listed:
            levels.append(int(nodes[0].shape[0]) if nodes else 1)
            nodes = [part for node in nodes for part in node]
            continue
        first, index, below = [0], [], []
        for node in nodes:
            index += (kept := [i for i in range(len(node)) if np.any(node[i])])
            below += [node[i] for i in kept]
            first.append(len(index))
        nodes = below
        levels.append((first, index))
    return levels, np.array(nodes, dense.dtype)


def constant(net, rng, name, shape, dtype, blocks, quant):
    """A sparse constant; its blocks are of the last dimensions."""
    rank = len(shape)
    dense = np.where(rng.random(shape) < 0.3, rng.integers(-100, 100, shape), 0).astype(dtype)
    dense.flat[0] = 7  # no level is empty
    block = sorted(rng.choice(rank, blocks, replace=False).tolist())
    sizes = [int(rng.choice([s for s in (1, 2, 3, 4) if shape[of] % s == 0])) for of in block]
    order = [*rng.permutation(rank).tolist(), *range(rank, rank + blocks)]
    listed = [bool(rng.integers(2)) for _ in range(rank)] + [False] * blocks
    levels, values = stored(dense, order, block, sizes, listed)
    return net.tensor(name, shape, dtype, *quant, data=values, sparse=(order, block, levels))


def network(seed):
    rng = np.random.default_rng(seed)
    dtype = [np.float32, np.int8][int(rng.integers(2))]
    quant = (0.05, 0) if dtype == np.int8 else ()
    net = tflite_writer.Net("heddle sparse_tflite")
    if dtype == np.float32 and seed % 3 == 0:  # of FULLY_CONNECTED the oracle's own kernel reads this form alone
        rows, columns = int(rng.integers(1, 9)), int(rng.integers(1, 9))
        w = np.where(rng.random((rows, columns)) < 0.4, rng.integers(-9, 9, (rows, columns)), 0).astype(np.float32)
        w.flat[0] = 1
        levels, values = stored(w, [0, 1], [], [], [False, True])
        t = [net.tensor("x", (2, columns), dtype),
             net.tensor("w", w.shape, dtype, data=values, sparse=([0, 1], [], levels)), net.tensor("y", (2, rows), dtype)]
        net.op("FULLY_CONNECTED", [t[0], t[1], -1], [t[2]], 8, "FullyConnectedOptions")
        return net.finish([t[0]], [t[2]])
    shape = tuple(int(v) for v in rng.choice([2, 3, 4, 6, 8], int(rng.integers(1, 5))))
    w = constant(net, rng, "w", shape, dtype, int(rng.integers(0, len(shape) + 1)), quant)
    x, dense, y = (net.tensor(n, shape, dtype, *quant) for n in ("x", "dense", "y"))
    net.op("DENSIFY", [w], [dense], 1)
    net.op("ADD", [x, dense], [y], 2, "AddOptions")
    return net.finish([x], [y])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", type=lambda p: pathlib.Path(p).resolve(), default="build/heddle")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=20)
    ap.add_argument("--write", type=pathlib.Path, help="write the network of --seed, its input and answer into a folder")
    args = ap.parse_args()
    failed = 0
    args.count = 1 if args.write else args.count
    for seed in range(args.seed, args.seed + args.count):
        with tempfile.TemporaryDirectory() as tmp:
            folder = args.write or pathlib.Path(tmp)
            folder.mkdir(exist_ok=True, parents=True)
            content = network(seed)
            (folder / "model.tflite").write_bytes(content)
            it = make_goldens.open_model(content)
            d, rng = it.get_input_details()[0], np.random.default_rng(seed)
            x = rng.integers(-100, 100, [1, *d["shape"]]).astype(d["dtype"])
            x.tofile(folder / "in_0.bin")
            make_goldens.run(it, [x])[0].tofile(folder / "out_0.bin")
            done = subprocess.run([args.heddle.resolve(), "run", "model.tflite", "--engine=ref", "-q", "-i", "in_0.bin",
                                   "--expect", "out_0.bin"], capture_output=True, text=True, cwd=folder)
        if done.returncode:
            failed += 1
            print(f"again: {sys.argv[0]} --seed {seed} --count 1: exit {done.returncode}: {done.stderr.strip()}")
    print(f"sparse: {args.count - failed} of {args.count} equal")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
