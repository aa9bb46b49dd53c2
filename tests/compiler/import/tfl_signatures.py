"""tfl_signatures.py FILE [SUBGRAPH] - a TFLite file of two subgraphs: signature `negate` is NEG, `floor` is FLOOR. Its
signature `floor` names subgraph 1, or SUBGRAPH. The input's size is open in the first, and 4 in the second."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "oracle" / "tosa"))
from tosa_writer import Table, flatbuffer  # noqa: E402

CODES = (59, 8)  # NEG, FLOOR


def subgraph(code):
    tensors = [Table({0: [4], 1: ("u8", 0), 2: 0, 3: name, 7: [4 if code else -1]}) for name in ("x", "y")]
    return Table({0: tensors, 1: [0], 2: [1], 3: [Table({0: code, 1: [0], 2: [1]})]})


where = int(sys.argv[2]) if len(sys.argv) > 2 else 1
model = Table({0: 3, 1: [Table({0: ("u8", c), 3: c}) for c in CODES], 2: [subgraph(0), subgraph(1)], 4: [Table({0: b""})],
               7: [Table({2: "negate", 4: 0}), Table({2: "floor", 4: where})]})
pathlib.Path(sys.argv[1]).write_bytes(flatbuffer(model, b"TFL3"))
