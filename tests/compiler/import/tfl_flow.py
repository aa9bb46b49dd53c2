"""tfl_flow.py FOLDER - TFLite files with subgraphs that operators run, of x float32 [4]:
loop: WHILE three times x * x + i; loop_open: the same, as often as an input says; rows: a recurrence over the rows of x
[3,4], which go into a result; branch: IF of a constant condition;
branch_open: IF of an input; composite: STABLEHLO_COMPOSITE; loop_shape: a body whose input has another shape."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "oracle" / "tosa"))
from tosa_writer import Table, flatbuffer  # noqa: E402

F32, I32, BOOL = 0, 2, 6
CODES = dict(ADD=0, FLOOR=8, MUL=18, CAST=53, LESS=58, NEG=59, SLICE=65, PACK=83, IF=118, WHILE=119,
             DYNAMIC_UPDATE_SLICE=151, STABLEHLO_COMPOSITE=206)
OPTIONS = dict(ADD=11, MUL=21, PACK=59, IF=92, WHILE=93)


class Graph:
    """Tensors are (type, shape, buffer); operators read and write their numbers."""

    def __init__(self):
        self.tensors, self.ops = [], []

    def tensor(self, kind, shape, buffer=0):
        name = f"t{len(self.tensors)}"
        self.tensors.append(Table({0: shape, 1: ("u8", kind), 2: buffer, 3: name}))
        return len(self.tensors) - 1

    def op(self, name, inputs, outputs, options=None):
        fields = {0: list(CODES).index(name), 1: inputs, 2: outputs}
        if name in OPTIONS:
            fields |= {3: ("u8", OPTIONS[name]), 4: Table(options or {})}
        elif options:
            fields |= {11: ("u8", 21), 12: Table(options)}
        self.ops.append(Table(fields))

    def table(self, inputs, outputs):
        return Table({0: self.tensors, 1: inputs, 2: outputs, 3: self.ops})


# Numbers of the buffers: 0 none, then 0, 1, 3 as int32, true, (1, 4), and zeros of two sizes.
BUFFERS = [b"", struct.pack("<i", 0), struct.pack("<i", 1), struct.pack("<i", 3), b"\1", struct.pack("<2i", 1, 4), bytes(16),
           bytes(48)]
NO_ATTRIBUTES = b"\0\0\1\0\0$\1"  # a FlexBuffers map
ZERO, ONE, THREE, TRUE, ROW, FEW, ZEROS = 1, 2, 3, 4, 5, 6, 7


def one(name):
    g = Graph()
    x, y = g.tensor(F32, [4]), g.tensor(F32, [4])
    g.op(name, [x], [y])
    return g.table([x], [y])


def condition(size):
    g = Graph()
    i, x, end, y = g.tensor(I32, []), g.tensor(F32, [size]), g.tensor(I32, []), g.tensor(BOOL, [])
    g.op("LESS", [i, end], [y])
    return g.table([i, x, end], [y])


def body(size):
    g = Graph()
    i, x, end, k = g.tensor(I32, []), g.tensor(F32, [size]), g.tensor(I32, []), g.tensor(I32, [], ONE)
    j, real, square, y = g.tensor(I32, []), g.tensor(F32, []), g.tensor(F32, [size]), g.tensor(F32, [size])
    g.op("CAST", [i], [real])
    g.op("MUL", [x, x], [square])
    g.op("ADD", [square, real], [y])
    g.op("ADD", [i, k], [j])
    return g.table([i, x, end], [j, y, end])


def loop(known, size=4):
    g = Graph()
    x, i, end = g.tensor(F32, [4]), g.tensor(I32, [], ZERO), g.tensor(I32, [], THREE if known else 0)
    j, y, last = g.tensor(I32, []), g.tensor(F32, [4]), g.tensor(I32, [])
    g.op("WHILE", [i, x, end], [j, y, last], {0: 1, 1: 2})
    return [g.table([x] if known else [x, end], [y, j]), condition(size), body(size)]


def rows():
    g = Graph()
    names = dict(x=[3, 4], i=[], h=[1, 4], y=[3, 4], j=[], last=[1, 4], result=[3, 4], same=[3, 4])
    t = {n: g.tensor(I32 if n in "ij" else F32, s, {"i": ZERO, "h": FEW, "y": ZEROS}.get(n, 0)) for n, s in names.items()}
    g.op("WHILE", [t[n] for n in "ihyx"], [t[n] for n in ("j", "last", "result", "same")], {0: 1, 1: 2})
    c = Graph()
    i, h, y, x, n, more = (c.tensor(I32, []), c.tensor(F32, [1, 4]), c.tensor(F32, [3, 4]), c.tensor(F32, [3, 4]),
                           c.tensor(I32, [], THREE), c.tensor(BOOL, []))
    c.op("LESS", [i, n], [more])
    b = Graph()
    i, h, y, x = b.tensor(I32, []), b.tensor(F32, [1, 4]), b.tensor(F32, [3, 4]), b.tensor(F32, [3, 4])
    zero, one_, size, at, row, sum_, turned, out, j = (
        b.tensor(I32, [], ZERO), b.tensor(I32, [], ONE), b.tensor(I32, [2], ROW), b.tensor(I32, [2]),
        *(b.tensor(F32, [1, 4]) for _ in range(3)), b.tensor(F32, [3, 4]), b.tensor(I32, []))
    b.op("PACK", [i, zero], [at], {0: 2})
    b.op("SLICE", [x, at, size], [row])
    b.op("ADD", [row, h], [sum_])
    b.op("NEG", [sum_], [turned])
    b.op("DYNAMIC_UPDATE_SLICE", [y, turned, at], [out])
    b.op("ADD", [i, one_], [j])
    return [g.table([t["x"]], [t["result"], t["last"]]), c.table([0, 1, 2, 3], [more]),
            b.table([i, h, y, x], [j, turned, out, x])]


def branch(known):
    g = Graph()
    x, c, y = g.tensor(F32, [4]), g.tensor(BOOL, [1], TRUE if known else 0), g.tensor(F32, [4])
    g.op("IF", [c, x], [y], {0: 1, 1: 2})
    return [g.table([x] if known else [x, c], [y]), one("NEG"), one("FLOOR")]


def composite(kind=0):
    """kind: of options that the operator does not carry."""
    g = Graph()
    x, y = g.tensor(F32, [4]), g.tensor(F32, [4])
    g.op("STABLEHLO_COMPOSITE", [x], [y], {0: "a.floor", 1: 1, 2: NO_ATTRIBUTES})
    if kind:
        g.ops[0][3] = ("u8", kind)
    return [g.table([x], [y]), one("FLOOR")]


def bad():
    """Files to refuse, by name."""
    main, cond, inside = loop(True)
    good = Graph()
    x, y, c = good.tensor(F32, [4]), good.tensor(F32, [4]), good.tensor(F32, [1])
    good.op("IF", [c, x], [y], {0: 1, 1: 2})
    itself = Graph()
    a, b = itself.tensor(F32, [4]), itself.tensor(F32, [4])
    itself.op("STABLEHLO_COMPOSITE", [a], [b], {0: "itself", 1: 1, 2: NO_ATTRIBUTES})
    endless = Graph()
    i, v, end, yes = endless.tensor(I32, []), endless.tensor(F32, [4]), endless.tensor(I32, []), endless.tensor(BOOL, [1], TRUE)
    idle = Table({0: endless.tensors, 1: [i, v, end], 2: [yes]})
    twice = Table({**inside, 1: [0, 0, 2]})
    absent = Table({**one("NEG"), 3: []})
    return dict(loop_far=[main, cond], loop_few=[main, cond, one("NEG")], loop_twice=[main, cond, twice],
                loop_endless=[main, idle, inside], branch_absent=[branch(True)[0], absent, one("NEG")],
                branch_real=[good.table([x, c], [y]), one("NEG"), one("FLOOR")],
                composite_options=composite(11), composite_itself=[composite()[0], itself.table([a], [b])])


def write(folder):
    files = dict(**bad(), loop=loop(True), loop_open=loop(False), loop_shape=loop(True, 5), branch=branch(True), rows=rows(),
                 branch_open=branch(False), composite=composite())
    for name, graphs in files.items():
        codes = [Table({0: ("u8", min(c, 127)), 3: c}) for c in CODES.values() if c < 206 or name.startswith("composite")]
        model = Table({0: 3, 1: codes, 2: graphs, 4: [Table({0: b}) for b in BUFFERS]})
        (pathlib.Path(folder) / f"{name}.tflite").write_bytes(flatbuffer(model, b"TFL3"))


if __name__ == "__main__":
    write(sys.argv[1])
