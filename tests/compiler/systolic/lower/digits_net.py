#!/usr/bin/env python3
"""digits_net.py SEED - print a random product whose sums stay int32, or one of int16 activations, as text: a matrix product or
a convolution, which the array makes as digits."""
import random
import sys

seed = int(sys.argv[1])
r = random.Random(seed)
deep, outputs = r.choice([3, 9, 16, 33, 64, 100]), r.choice([1, 4, 7, 16, 17, 24, 48, 65])
most = r.choice([2, 20, 127])  # small weights need fewer digits
kind = seed % 4  # 0, 1: matmul_integer, conv_integer; 2, 3: fully_connected, conv2d of int16


def tensor(number, of, dims, role, name, rest, n=None):
    print(f'tensor {number} {of} [{",".join(map(str, dims))}] {role} name="{name}" {rest}')
    for at in range(0, n or 0, 48):
        print("  data=" + "".join(f"{r.randint(-most, most) & 255:02x}" for _ in range(min(48, n - at))))


def window():
    pads = " ".join(f"pad_{side}={r.randint(0, 1)}" for side in ("top", "left", "bottom", "right"))
    return f"kernel_h={k} kernel_w={k} stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 {pads}"


def sized(text):
    pad = dict(word.split("=") for word in text.split())
    return h + int(pad["pad_top"]) + int(pad["pad_bottom"]) - k + 1, w + int(pad["pad_left"]) + int(pad["pad_right"]) - k + 1


print("heddle-ir 1")
print('graph name="digits"')
print('row 0 name="00_product" op="product" tensor="y" shape="" macs=0')
rows, k, h, w = r.choice([1, 2, 5, 20]), r.choice([1, 2, 3]), r.randint(3, 9), r.randint(3, 9)
attributes = window()
oh, ow = sized(attributes)
dense = kind % 2 == 0
x = [1, rows, deep] if dense else [1, h, w, deep]
y = [1, rows, outputs] if dense else [1, oh, ow, outputs]
weights = ([deep, outputs] if kind == 0 else [outputs, deep]) if dense else [outputs, k, k, deep]
n = deep * outputs * (1 if dense else k * k)
if kind < 2:
    tensor(0, "i8", x, "input", "x", "scale=(1) zero=(-128)")
    tensor(1, "i8", weights, "const", "w", "scale=(1) zero=(0)", n)
    tensor(2, "i8", [], "input", "z", "scale=(1) zero=(-128)")
    tensor(3, "i8", [], "const", "zero", f"scale=(1) zero=(0) data={r.randint(0, 9):02x}")
    tensor(4, "i32", y, "value", "y", "")
    print(f"op matmul_integer row=0 in=(0,1,2,3) out=(4)" if dense else f"op conv_integer row=0 in=(0,1,2,3) out=(4) {attributes}")
    print("border in=(0,2) out=(4)")
else:
    tensor(0, "i16", x, "input", "x", "scale=(0.001) zero=(0)")
    tensor(1, "i8", weights, "const", "w", "scale=(0.01) zero=(0)", n)
    tensor(2, "i16", y, "value", "y", "scale=(0.01) zero=(0)")
    print("op fully_connected row=0 in=(0,1) out=(2)" if dense else f"op conv2d row=0 in=(0,1) out=(2) {attributes}")
    print("border in=(0) out=(2)")
