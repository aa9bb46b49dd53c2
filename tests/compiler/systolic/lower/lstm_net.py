#!/usr/bin/env python3
"""lstm_net.py SEED [KEY=NUMBER...] - print a random LSTM of int8 as text. Keys replace what is drawn: cells, inputs, steps,
batch, axis, state (the exponent of its scale), x_parts, h_parts, reset. Recurrent sums often exceed an int16."""
import random
import sys

seed = int(sys.argv[1])
r = random.Random(seed)
size = {"cells": r.choice([1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 31, 32, 40, 64]),
        "inputs": r.choice([1, 2, 3, 7, 15, 16, 17, 33, 64, 100, 257]), "steps": r.choice([1, 2, 3, 5, 9, 20]),
        "batch": 1, "axis": r.choice([0, 1]), "state": r.choice([-13, -12, -11, -11, -10, -9]), "x_parts": 1, "h_parts": 1, "reset": 0}
size.update((k, int(v)) for k, v in (a.split("=") for a in sys.argv[2:]))
cells, inputs, steps, batch = size["cells"], size["inputs"], size["steps"], size["batch"]
of_x, of_h = inputs * size["x_parts"], cells * size["h_parts"]
most = r.choice([127, 127, 40, 10])
zero_x, zero_h = r.randint(-128, 127), r.randint(-128, 127)
scale_h = 2.0 ** -7 * r.choice([1, 0.9, 1.003921568])


def scale(low, high):
    return f"{2.0 ** r.randint(low, high) * r.uniform(0.6, 1.4):.9g}"


def tensor(number, kind, dims, role, name, rest, n_bytes=0, limit=127):
    print(f'tensor {number} {kind} [{",".join(map(str, dims))}] {role} name="{name}" {rest}')
    for at in range(0, n_bytes, 48):
        print("  data=" + "".join(f"{r.randint(-limit, limit) & 255:02x}" for _ in range(min(48, n_bytes - at))))


def of_gates():
    return f"scale=({','.join(scale(-9, -4) for _ in range(4))}) axis=0 zero=(0)"


def sequence(n):
    return [batch, steps, n] if size["axis"] == 1 else [steps, batch, n]


print("heddle-ir 1")
print('graph name="lstm"')
print('row 0 name="00_lstm" op="UNIDIRECTIONAL_SEQUENCE_LSTM" tensor="y" shape="" macs=0')
tensor(0, "i8", sequence(inputs), "input", "x", f"scale=({scale(-8, -3)}) zero=({zero_x})")
tensor(1, "i8", [4, cells, of_x], "const", "w", of_gates(), 4 * cells * of_x, most)
tensor(2, "i8", [4, cells, of_h], "const", "r", of_gates(), 4 * cells * of_h, most)
bias = ",".join(str(r.randint(-200000, 200000)) for _ in range(8 * cells))
tensor(3, "i32", [8, cells], "const", "b", f"values=({bias})")
tensor(4, "i8", [batch, cells], "variable", "h", f"scale=({scale_h:.9g}) zero=({zero_h})", batch * cells)
tensor(5, "i16", [batch, cells], "variable", "c", f"scale=({2.0 ** size['state']:.12g}) zero=(0)", 2 * batch * cells)
tensor(6, "i8", sequence(cells), "value", "y", f"scale=({scale_h:.9g}) zero=({zero_h})")
clip = r.choice(["", "", " clip_high_bits=1092616192", " clip_high_bits=1065353216"])
print(f"op lstm row=0 in=(0,1,2,3,4,5) out=(6) axis={size['axis']}{clip}{' reset=1' * size['reset']}")
print("border in=(0) out=(6)")
