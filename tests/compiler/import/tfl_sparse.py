"""tfl_sparse.py FOLDER - a TFLite file whose sparse constant [2, 4] is added to x, in the FlatBuffer or after it, and damaged ones."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "oracle" / "tosa"))
from tosa_writer import Table, flatbuffer  # noqa: E402

INT32_VECTOR, INT4, ADD, DENSIFY = 1, 17, 0, 124


def level(which):
    if isinstance(which, int):
        return Table({0: ("u8", 0), 1: which})
    return Table({0: ("u8", 1)} | {k: v for i, part in enumerate(which) for k, v in
                                   ((2 + 2 * i, ("u8", INT32_VECTOR)), (3 + 2 * i, Table({0: part})))})


def model(order=(0, 1, 2), block=(1,), levels=(2, ([0, 1, 3], [1, 0, 1]), 2), values=6, shape=(2, 4), kind=0, more={}, at=None):
    sparsity = Table({0: list(order), 1: list(block), 2: [level(v) for v in levels]})
    shape = list(shape)
    tensors = [Table({0: shape, 1: ("u8", 0), 2: 0, 3: "x"}),
               Table({0: shape, 1: ("u8", kind), 2: 1, 3: "w", 6: sparsity} | more),
               Table({0: shape, 1: ("u8", 0), 2: 0, 3: "dense"}), Table({0: shape, 1: ("u8", 0), 2: 0, 3: "y"})]
    ops = [Table({0: 0, 1: [1], 2: [2]}), Table({0: 1, 1: [0, 2], 2: [3], 3: ("u8", 11), 4: Table({})})]
    data = struct.pack(f"<{values}f", *range(1, values + 1))
    stored = Table({0: data}) if at is None else Table({1: ("u64", at), 2: ("u64", len(data))})
    return flatbuffer(Table({0: 3, 1: [Table({0: ("u8", c), 3: c}) for c in (DENSIFY, ADD)],
                             2: [Table({0: tensors, 1: [0], 2: [3], 3: ops})], 4: [Table({0: b""}), stored]}),
                      b"TFL3") + (data if at else b"")


after = len(model(at=2)) - 24  # of the FlatBuffer alone
for name, content in {
        "right": model(),
        "after": model(at=after),
        "beyond": model(at=after + 1),
        "levels": model(levels=(2, 4)),
        "twice": model(order=(0, 0, 2)),
        "block": model(levels=(2, ([0, 1, 3], [1, 0, 1]), 3)),
        "segments": model(levels=(2, ([0, 3], [1, 0, 1]), 2)),
        "back": model(levels=(2, ([0, 2, 1], [1, 0, 1]), 2)),
        "index": model(levels=(2, ([0, 1, 3], [1, 0, 2]), 2)),
        "size": model(levels=(3, ([0, 1, 3], [1, 0, 1]), 2)),
        "nodes": model(order=(0, 1), block=(), levels=(([0, 5000], [0] * 5000), 1 << 20), shape=(1, 1 << 20)),
        "values": model(values=5),
        "details": model(more={4: Table({4: ("u8", 1), 5: Table({})})}),
        "int4": model(kind=INT4)}.items():
    (pathlib.Path(sys.argv[1]) / f"{name}.tflite").write_bytes(content)
