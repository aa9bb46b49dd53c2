"""Layers that exceed the limits of tests/compiler/emit/toy, as one network of independent layers.

    part_layers.py SEED COUNT >net.ir      COUNT random ones
    part_layers.py each >net.ir            one for each dimension, with padding, strides, dilation, scales per channel

Writes the number of layers that exceed a limit to stderr.
"""

import random
import sys

rng = random.Random(0)
lines, rows, ops, ins, outs, over = [], [], [], [], [], 0


def hexes(n):
    data = bytes(rng.randrange(256) for _ in range(n)).hex()
    return " ".join(f"data={data[i:i + 128]}" for i in range(0, len(data), 128))


def tensor(kind, dims, role, scale, zero=0, tail="", axis=None):
    scales = scale if isinstance(scale, list) else [scale]
    axes = f" axis={axis}" if axis is not None else ""
    lines.append(f'tensor {len(lines)} {kind} [{",".join(map(str, dims))}] {role} name="t{len(lines)}" '
                 f'scale=({",".join(f"{s:.9g}" for s in scales)}){axes} zero=({zero}) {tail}')
    return len(lines) - 1


def layer(op, in_ids, dims, attrs="", scale=0.05, zero=0, beyond=True):
    global over
    y = tensor("i8", dims, "value", scale, zero)
    rows.append(f'row {len(rows)} name="{len(rows):03}_{op}" op="{op.upper()}" tensor="" shape="{"x".join(map(str, dims))}"')
    ops.append(f'op {op} row={len(rows) - 1} in=({",".join(map(str, in_ids))}) out=({y}) {attrs}')
    outs.append(y)
    over += bool(beyond)


def x_of(dims, scale=0.1, zero=0):
    ins.append(tensor("i8", dims, "input", scale, zero))
    return ins[-1]


def scales_of(n, per_channel, low=0.002, high=0.02):
    return [rng.uniform(low, high) for _ in range(n)] if per_channel else rng.uniform(low, high)


def weights(dims, axis, oc, per_channel, x_scale):
    """Weights and their bias."""
    n = 1
    for d in dims:
        n *= d
    scale = scales_of(oc, per_channel)
    w = tensor("i8", dims, "const", scale, 0, hexes(n), axis if per_channel else None)
    products = [s * x_scale for s in scale] if per_channel else scale * x_scale
    values = ",".join(str(rng.randrange(-3000, 3000)) for _ in range(oc))
    return [w, tensor("i32", [oc], "const", products, 0, f"values=({values})", 0 if per_channel else None)]


def window(h, w, k, s, d, pad):
    """Attributes and output size; pad: top, left, bottom, right."""
    oh = (h + pad[0] + pad[2] - (k[0] - 1) * d[0] - 1) // s[0] + 1
    ow = (w + pad[1] + pad[3] - (k[1] - 1) * d[1] - 1) // s[1] + 1
    text = (f"kernel_h={k[0]} kernel_w={k[1]} stride_h={s[0]} stride_w={s[1]} pad_top={pad[0]} pad_left={pad[1]} "
            f"pad_bottom={pad[2]} pad_right={pad[3]} activation={rng.randrange(3)}")
    return oh, ow, text


def conv(h, w, c, oc, k, s, d, pad, per_channel, n=1):
    oh, ow, text = window(h, w, k, s, d, pad)
    if oh < 1 or ow < 1:
        return
    x = x_of([n, h, w, c], 0.1, rng.randrange(-20, 20))
    over_limit = (n > 1 or w > 14 or c > 12 or oc > 10 or h * w * c > 600 or k[0] * k[1] * c * oc > 500 or oh * ow * oc > 400)
    layer("conv2d", [x] + weights([oc, k[0], k[1], c], 0, oc, per_channel, 0.1), [n, oh, ow, oc],
          f"{text} dilation_h={d[0]} dilation_w={d[1]}", scales_of(1, False, 0.05, 0.5), rng.randrange(-20, 20), over_limit)


def depthwise(h, w, c, m, k, s, d, pad, per_channel):
    oh, ow, text = window(h, w, k, s, d, pad)
    if oh < 1 or ow < 1 or c == 1:
        return
    x = x_of([1, h, w, c], 0.1, rng.randrange(-20, 20))
    layer("depthwise_conv2d", [x] + weights([1, k[0], k[1], c * m], 3, c * m, per_channel, 0.1), [1, oh, ow, c * m],
          f"{text} dilation_h={d[0]} dilation_w={d[1]} multiplier={m}", scales_of(1, False, 0.02, 0.2), rng.randrange(-20, 20),
          c > 6 or h > 9 or h * w * c > 300)


def dense(rows_, k, oc, per_channel):
    x = x_of([rows_, k], 0.1, rng.randrange(-20, 20))
    layer("fully_connected", [x] + weights([oc, k], 0, oc, per_channel, 0.1), [rows_, oc], f"activation={rng.randrange(3)}",
          scales_of(1, False, 0.05, 0.5), rng.randrange(-20, 20), rows_ > 2 or k > 32 or oc > 6 or k * oc > 128)


def pool(op, h, w, c, k, s, pad):
    oh, ow, text = window(h, w, k, s, (1, 1), pad)
    if oh < 1 or ow < 1 or pad[0] >= k[0] or pad[1] >= k[1] or pad[2] >= k[0] or pad[3] >= k[1]:
        return
    beyond = h * w * c > 250 or (ow > 4 if op == "average_pool_2d" else c > 5)
    layer(op, [x_of([1, h, w, c])], [1, oh, ow, c], text, 0.1, 0, beyond)


def two(op, dims):
    n = dims[0] * dims[1] * dims[2] * dims[3]
    layer(op, [x_of(dims, 0.1, 3), x_of(dims, 0.07, -5)], dims, "", 0.12, 1, n > 100 if op == "add" else dims[3] > 4 or dims[2] > 5)


def others(dims):
    n = dims[0] * dims[1] * dims[2] * dims[3]
    which = rng.choice(["logistic", "softmax", "mean", "mean_flat"])
    if which == "logistic":
        layer("logistic", [x_of(dims)], dims, "", 1 / 256, -128, n > 64)
    elif which == "softmax":
        layer("softmax", [x_of(dims)], dims, "beta_bits=1065353216", 1 / 256, -128, dims[2] > 3)
    else:
        keep = which == "mean"
        layer("mean", [x_of([1] + dims[1:])], [1, 1, 1, dims[3]] if keep else [1, dims[3]],
              f"axis=6 keep_dims={int(keep)}", 0.1, 0, dims[1] * dims[2] * dims[3] > 200)


def size(low, high):
    return rng.randint(low, high)


def draw():
    k, s = (size(1, 4), size(1, 4)), (size(1, 3), size(1, 3))
    d = (size(1, 2), size(1, 2)) if rng.random() < 0.3 else (1, 1)
    reach = [(k[i] - 1) * d[i] for i in (0, 1)]
    pad = tuple(size(0, reach[i % 2]) for i in range(4)) if rng.random() < 0.7 else (0,) * 4
    per_channel = rng.random() < 0.6
    kind = rng.randrange(10)
    if kind < 4:
        conv(size(1, 20), size(1, 20), size(1, 20), size(1, 20), k, s, d, pad, per_channel, rng.choice([1, 1, 1, 2]))
    elif kind < 6:
        depthwise(size(1, 16), size(1, 12), size(2, 12), size(1, 2), k, s, d, pad, per_channel)
    elif kind < 7:
        dense(size(1, 5), size(8, 80), size(2, 16), per_channel)
    elif kind < 8:
        pool(rng.choice(["average_pool_2d", "max_pool_2d"]), size(2, 16), size(2, 12), size(1, 10), k, s, pad)
    elif kind < 9:
        two(rng.choice(["add", "mul"]), [size(1, 2), size(1, 9), size(1, 9), size(1, 9)])
    else:
        others([size(1, 2), size(1, 9), size(1, 9), size(1, 9)])


def each():
    one, none = (1, 1), (0, 0, 0, 0)
    conv(40, 6, 4, 3, (3, 3), one, one, (1, 1, 1, 1), True)          # rows
    conv(41, 6, 4, 3, (3, 2), (2, 1), (2, 1), (2, 0, 1, 1), True)    # rows, stride, dilation, uneven padding
    conv(2, 50, 4, 3, (2, 3), (1, 2), (1, 2), (1, 2, 0, 2), False)   # columns
    conv(4, 4, 8, 30, (3, 3), one, one, (1, 1, 1, 1), True)          # output channels
    conv(4, 4, 50, 2, (2, 2), one, one, (1, 1, 0, 0), True)          # input channels
    conv(3, 4, 8, 4, one, one, one, none, True, 3)                   # images
    conv(18, 15, 14, 12, (3, 3), (2, 2), one, (1, 1, 1, 1), True)    # all of them
    depthwise(30, 5, 4, 1, (3, 3), (2, 1), one, (1, 1, 1, 1), True)  # rows
    depthwise(4, 4, 14, 2, (3, 3), one, (1, 2), (1, 2, 1, 2), True)  # channels, several outputs each
    dense(1, 20, 40, True)
    dense(9, 16, 6, False)
    dense(3, 100, 7, True)
    pool("average_pool_2d", 12, 12, 5, (3, 3), (2, 2), (1, 1, 1, 1))
    pool("max_pool_2d", 12, 12, 11, (2, 3), (1, 2), (1, 0, 0, 2))
    two("add", [2, 5, 6, 7])
    two("mul", [1, 3, 13, 9])
    for _ in range(8):
        others([2, 7, 8, 9])


if sys.argv[1] == "each":
    each()
else:
    rng.seed(int(sys.argv[1]))
    while over < int(sys.argv[2]):
        draw()
print('heddle-ir 1 graph name="cut"')
print("\n".join(rows + lines + ops))
print(f'border in=({",".join(map(str, ins))}) out=({",".join(map(str, outs))})')
print(over, file=sys.stderr)
