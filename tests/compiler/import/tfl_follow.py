"""tfl_follow.py FOLDER - TFLite files of one float32 operator each, whose input is x: SLICE, SPLIT, SQUEEZE, TILE;
and a RESHAPE of open sizes, of whose result the file has 1 row."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "oracle" / "tosa"))
from tosa_writer import Table, flatbuffer  # noqa: E402

INT32 = 2
SPLIT_OPTIONS, SPLIT_KIND = Table({0: 2}), 35


def model(code, x, outputs, constants, first=False, options=None, signature=()):
    """`first`: the constant is input 0; `signature`: x's, -1 where it is open."""
    tensors = [Table({0: x, 1: ("u8", 0), 2: 0, 3: "x"} | ({7: list(signature)} if signature else {}))]
    tensors += [Table({0: y, 1: ("u8", 0), 2: 0, 3: f"y{i}"}) for i, y in enumerate(outputs)]
    tensors += [Table({0: [len(c)] if len(c) > 1 else [1], 1: ("u8", INT32), 2: i + 1, 3: f"c{i}"})
                for i, c in enumerate(constants)]
    c = [1 + len(outputs) + i for i in range(len(constants))]
    op = {0: 0, 1: [*c, 0] if first else [0, *c], 2: [1 + i for i in range(len(outputs))]}
    if options:
        op |= {3: ("u8", options[0]), 4: options[1]}
    graph = Table({0: tensors, 1: [0], 2: op[2], 3: [Table(op)]})
    buffers = [Table({0: b""})] + [Table({0: struct.pack(f"<{len(c)}i", *c)}) for c in constants]
    return flatbuffer(Table({0: 3, 1: [Table({0: ("u8", code), 3: code})], 2: [graph], 4: buffers}), b"TFL3")


folder = pathlib.Path(sys.argv[1])
for name, content in {
        "slice": model(65, [4, 4], [[2, 4]], [[2, 0], [-1, 4]]),
        "split": model(49, [4, 4], [[2, 4], [2, 4]], [[0]], True, (SPLIT_KIND, SPLIT_OPTIONS)),
        "squeeze": model(43, [1, 4], [[4]], []),
        "squeeze_first": model(43, [1, 4, 1], [[4, 1]], [], options=(30, Table({0: [0]}))),
        "open": model(22, [1, 4, 3], [[1, 3]], [[-1, 3]], signature=(-1, 4, 3)),
        "tile": model(69, [4], [[8]], [[2]])}.items():
    (folder / f"{name}.tflite").write_bytes(content)
