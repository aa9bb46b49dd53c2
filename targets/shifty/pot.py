"""A quantised network with power-of-two scales: what a unit that only shifts can compute.

    build/heddle inspect resnet8_own --dump-ir ir && python3 targets/shifty/pot.py ir/00_import.ir pot.ir

In and out: heddle's text form (compiler/ir/IR.md), the graph as imported. Activations get the next power of two
above their scale, so that nothing is clipped; weights of convolutions and dense layers one power of two for the
tensor, and their quantised values are rounded anew; biases follow. Quantised values of inputs stay as they are: their scale becomes the
nearest power of two. Windows of averages become the largest powers of two within."""

import math
import re
import sys


def up(scale):
    return 2.0 ** math.ceil(math.log2(scale) - 1e-9)


def numbers(line, key):
    found = re.search(rf" {key}=\(([^)]*)\)", line)
    return [float(v) for v in found.group(1).split(",")] if found else []


def written(key, values):
    return f" {key}=({','.join(f'{v:.9g}' for v in values)})"


def put(line, key, values):
    return re.sub(rf" {key}=\([^)]*\)", lambda _: written(key, values), line)


class Tensor:
    def __init__(self, line):
        self.line, self.data = line, b""
        self.scale, self.zero = numbers(line, "scale"), numbers(line, "zero")
        self.old = self.scale

    def activation(self):
        """Power of two; the zero point where the old range still fits."""
        if len(self.scale) != 1:
            return
        s = self.scale[0]
        new = 2.0 ** round(math.log2(s)) if " input " in self.line else up(s)
        low = s * (-128 - self.zero[0])
        zero = self.zero[0] if " input " in self.line else max(-128, min(127, round(-128 - low / new)))
        self.scale, self.line = [new], put(put(self.line, "scale", [new]), "zero", [zero])

    def weights(self, depthwise):
        """One power of two for all channels: the outermost dimension, of a depthwise one the innermost."""
        codes = [b - 256 if b > 127 else b for b in self.data]
        n = len(codes) // len(self.scale)
        real = [c * self.scale[i % len(self.scale) if depthwise else i // n] for i, c in enumerate(codes)]
        new = up(max(map(abs, real)) / 127)
        self.data = bytes(round(r / new) & 255 for r in real)
        line = put(put(self.line, "scale", [new]), "zero", [0])
        self.scale, self.line = [new], re.sub(r" axis=\d+", "", line)

    def bias(self, x, w):
        """Quantised values times what the products' scale became smaller by."""
        old = [x.old[0] * s for s in w.old]
        new = [x.scale[0] * s for s in w.scale]
        codes = numbers(self.line, "values")
        self.line = put(self.line, "values", [round(c * old[i % len(old)] / new[i % len(new)])
                                              for i, c in enumerate(codes)])

    def text(self):
        rows = [self.data[i:i + 48].hex() for i in range(0, len(self.data), 48)]
        return "\n".join([self.line] + [f"  data={row}" for row in rows])


def window(line):
    """An average over 2^n values."""
    return re.sub(r"(kernel_[hw])=(\d+)", lambda m: f"{m[1]}={1 << int(m[2]).bit_length() - 1}", line)


def convert(text):
    lines, tensors = [], {}
    for line in text.splitlines():
        if line.startswith("tensor"):
            lines.append(Tensor(line))
            tensors[int(line.split()[1])] = lines[-1]
        elif line.strip().startswith("data="):
            lines[-1].data += bytes.fromhex(line.strip()[5:])
        else:
            lines.append(line)
    for t in tensors.values():
        if " i8 " in t.line and " const " not in t.line:
            t.activation()
    for line in lines:
        if not isinstance(line, str) or not line.startswith("op "):
            continue
        ins = [int(i) for i in re.search(r" in=\(([^)]*)\)", line).group(1).split(",") if i.isdigit()]
        if line.split()[1] not in ("conv2d", "fully_connected", "depthwise_conv2d"):
            continue
        tensors[ins[1]].weights(line.startswith("op depthwise"))
        if len(ins) > 2:
            tensors[ins[2]].bias(tensors[ins[0]], tensors[ins[1]])
    lines = [l.text() if isinstance(l, Tensor) else window(l) if l.startswith("op average_pool_2d") else l for l in lines]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="ascii") as ir:
        changed = convert(ir.read())
    with open(sys.argv[2], "w", encoding="ascii") as ir:
        ir.write(changed)
