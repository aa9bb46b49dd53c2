"""Random ONNX networks of broadcasts: operators of two operands, each operand with any of its dimensions 1 or absent.

    broadcast_onnx.py --heddle build/heddle [--seed 1] [--count 100] [--hw tiny] [--keep DIR]

One to three operators of int8 or uint8, 1 to 5 dimensions, batches included: QDQ Add, Sub, Mul, Max, Min, comparisons, and
QLinearAdd, QLinearMul of com.microsoft. Either operand is an input, a constant or an earlier result. One network in eight
has scales far apart, one constant in ten is all zero with the scale 1 that quantisers give it. With --target=c
--onnx-rounding=onnx the answers must be ONNX Runtime's, byte for byte; with the accelerator, whose rounding is TFLite's,
those of heddle's reference. Nothing is refused, no check of the compiler fails. A network that differs is kept in DIR.
Exit status 1 if one does. Environment: requirements-new.txt.
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import rand_onnx

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import run_random  # noqa: E402

QDQ = ("Add", "Sub", "Mul", "Max", "Min", "Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual")
QLINEAR = ("QLinearAdd", "QLinearMul")
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17)


class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.dtype = np.dtype((np.int8, np.uint8)[self.rng.integers(2)])
        self.low = np.iinfo(self.dtype).min
        self.wild = self.rng.random() < 1 / 8
        self.nodes, self.constants, self.inputs, self.codes, self.values, self.outputs, self.names = [], [], [], [], [], [], []

    def name(self, what):
        self.names.append(what)
        return f"{what}{len(self.names)}"

    def const(self, what, v):
        name = self.name(what)
        self.constants.append(numpy_helper.from_array(np.asarray(v), name))
        return name

    def node(self, op, inputs, domain=""):
        y = self.name(op)
        self.nodes.append(helper.make_node(op, inputs, [y], domain=domain))
        return y

    def quant(self):
        span = (-7, 4) if self.wild else (-2.5, -0.9)
        return np.float32(10 ** self.rng.uniform(*span)), self.dtype.type(self.rng.integers(256) + self.low)

    def params(self, v):
        return [self.const("s", v[2][0]), self.const("z", v[2][1])]

    def operand(self, shape, constant):
        """Return a constant or an input: name, shape, quantisation."""
        quant = self.quant()
        if constant:
            zeros = self.rng.random() < 0.1
            quant = (np.float32(1), self.dtype.type(0)) if zeros else quant
            data = np.full(shape, quant[1]) if zeros else self.rng.integers(256, size=shape) + self.low
            return self.const("c", data.astype(self.dtype)), shape, quant
        name = self.name("x")
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(self.dtype), shape))
        self.codes.append((self.rng.integers(256, size=shape) + self.low).astype(self.dtype))
        return name, shape, quant

    def narrowed(self, shape):
        """Return `shape` with some dimensions broadcast; leading ones may be absent."""
        kept = [n if self.rng.random() < 0.6 else 1 for n in shape]
        while len(kept) > 1 and kept[0] == 1 and self.rng.random() < 0.5:
            kept.pop(0)
        return tuple(kept)

    def shape(self, of=()):
        """Return up to 5 dimensions to which `of` is broadcast."""
        rank = int(self.rng.choice([1, 2, 3, 4, 4, 4, 5]))
        for _ in range(50):
            dim = [int(self.rng.choice(SIZES)) for _ in range(max(rank, len(of)))]
            for i, n in enumerate(reversed(of), 1):
                dim[-i] = n if n > 1 else dim[-i]
            if np.prod(dim) <= 4096:
                return tuple(dim)
        return of or (1,)

    def op(self):
        first = self.values[-1] if self.values and self.rng.random() < 0.8 else None
        shape = self.shape(first[1] if first else ())
        a = first or self.operand(self.narrowed(shape), False)
        b = self.operand(self.narrowed(shape), self.rng.random() < 0.5)
        a, b = (a, b) if self.rng.random() < 0.5 else (b, a)
        out = np.broadcast_shapes(a[1], b[1])
        op = str(self.rng.choice(QDQ + QLINEAR))
        if op in QLINEAR:
            quant = self.out_quant(op[7:], a[2], b[2], tame=True)  # beyond int32 the runtime's results are undefined
            y = self.node(op, [a[0], *self.params(a), b[0], *self.params(b), self.const("s", quant[0]), self.const("z", quant[1])],
                          "com.microsoft")
        else:
            real = self.node(op, [self.node("DequantizeLinear", [v[0], *self.params(v)]) for v in (a, b)])
            if op not in QDQ[:5]:
                self.outputs.append(helper.make_tensor_value_info(real, TensorProto.BOOL, out))
                return
            quant = self.out_quant(op, a[2], b[2])
            y = self.node("QuantizeLinear", [real, self.const("s", quant[0]), self.const("z", quant[1])])
        self.values.append((y, out, quant))
        self.outputs.append(helper.make_tensor_value_info(y, helper.np_dtype_to_tensor_dtype(self.dtype), out))

    def out_quant(self, op, a, b, tame=False):
        if self.wild and not tame:
            return self.quant()
        reach = a[0] * b[0] * 8000 if op == "Mul" else 150 * max(a[0], b[0])
        return np.float32(reach / 127 * self.rng.uniform(0.3, 1.2)), self.dtype.type(self.rng.integers(256) + self.low)

    def make(self):
        for _ in range(int(self.rng.integers(1, 4))):
            self.op()
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 8
        return model


def one(args, seed):
    maker = Maker(seed)
    model = maker.make()
    try:
        want = rand_onnx.session(model).run(None, {i.name: x for i, x in zip(maker.inputs, maker.codes)})
    except rand_onnx.NOT_THERE:
        want = None
    why = run_random.ask(args, seed, "model.onnx", model.SerializeToString(), maker.codes, want or [],
                         [(["--target=c", "--onnx-rounding=onnx"], True), ([], False)])
    if why:
        return f"{' '.join(n.op_type for n in model.graph.node if not n.op_type.endswith('izeLinear'))} {why}"
    return "unjudged" if want is None else "equal"


def main():
    args = run_random.arguments(__doc__, "build/broadcast-onnx").parse_args()
    return run_random.seeds(args, one)["wrong"] != 0


if __name__ == "__main__":
    sys.exit(main())
