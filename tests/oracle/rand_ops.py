"""Operators of rand_tflite.py beyond convolutions, pools and sums: one method op_* draws and appends one."""

import numpy as np
import tflite


class Skip(Exception):
    """The operator drawn does not fit the tensor drawn; draw again."""


LIMIT = 6144  # elements of one activation tensor


class Ops:
    """Mixed into rand_tflite.Maker."""

    def moved(self, op, x, outs, inputs, version=1, options=None, **fields):
        """Append an operator that moves bytes: `outs` is a list of (name, values), quantised like x."""
        if sum(v[0].size for _, v in outs) > LIMIT or any(v[0].size == 0 or v[0].ndim > 6 for _, v in outs):
            raise Skip
        acts = [self.out(name, values, like=x) for name, values in outs]
        x.read = True
        self.net.op(op, [i.index if hasattr(i, "index") and not isinstance(i, int) else i for i in inputs],
                    [a.index for a in acts], version, options, **fields)
        self.n_ops += 1
        return acts

    def number(self, name, value):
        return self.net.tensor(f"t{self.n_ops:02d}_{name}", (), np.int32, data=np.int32(value))

    def axis(self, x):
        """An axis of x, sometimes counted from the end."""
        k = int(self.rng.integers(len(x.shape)))
        return k, k - len(x.shape) if self.chance(0.3) else k

    # -- parts of a tensor ---------------------------------------------------------------------------

    def op_split(self):
        x = self.source()
        k, asked = self.axis(x)
        n = self.pick([n for n in (1, 2, 3, 4, 5) if x.shape[k] % n == 0])
        parts = zip(*(np.split(v, n, k) for v in x.values))
        self.moved("SPLIT", x, [(f"split{i}", p) for i, p in enumerate(parts)], [self.number("axis", asked), x], 2,
                   "SplitOptions", NumSplits=n)

    def op_split_v(self):
        x = self.source()
        k, asked = self.axis(x)
        cuts = sorted(set(int(v) for v in self.rng.integers(1, x.shape[k] + 1, 3)) - {x.shape[k]})
        sizes = np.diff([0, *cuts, x.shape[k]]).tolist()
        if self.chance(0.3):
            sizes[int(self.rng.integers(len(sizes)))] = -1
        elif self.chance(0.2):  # as Keras' GRU has it
            sizes, cuts = [*sizes, 0], [*cuts, x.shape[k]]
        parts = zip(*(np.split(v, cuts, k) for v in x.values))
        self.moved("SPLIT_V", x, [(f"split{i}", p) for i, p in enumerate(parts)],
                   [x, self.ints("sizes", sizes), self.number("axis", asked)], 2, "SplitVOptions",
                   NumSplits=len(sizes))

    def op_unpack(self):
        x = self.source()
        k, asked = self.axis(x)
        if x.shape[k] > 6 or len(x.shape) < 2:
            raise Skip
        parts = zip(*([np.take(v, i, k) for i in range(x.shape[k])] for v in x.values))
        self.moved("UNPACK", x, [(f"unpack{i}", p) for i, p in enumerate(parts)], [x], 2, "UnpackOptions",
                   Num=x.shape[k], Axis=asked)

    def op_pack(self):
        x = self.source()
        if len(x.shape) > 4:
            raise Skip
        k = int(self.rng.integers(len(x.shape) + 1))
        others = [a for a in self.acts if a.shape == x.shape and (a.scale, a.zero) == (x.scale, x.zero)]
        parts = [x] + [self.pick(others) for _ in range(int(self.rng.integers(0, 3)))]
        for p in parts:
            p.read = True
        self.moved("PACK", x, [("pack", [np.stack(v, k) for v in zip(*(p.values for p in parts))])], parts, 2,
                   "PackOptions", ValuesCount=len(parts), Axis=k - len(x.shape) - 1 if self.chance(0.3) else k)

    def op_strided_slice(self):
        """Every mask, steps below 0, bounds beyond the end."""
        x = self.source()
        begin, end, step, masks, index = [], [], [], [0] * 5, []
        ellipsis = int(self.rng.integers(len(x.shape) + 1)) if self.chance(0.15) else -1
        k = 0
        while k < len(x.shape):
            i = len(begin)
            if i == ellipsis:
                skip = int(self.rng.integers(0, len(x.shape) - k + 1))
                masks[2] |= 1 << i
                begin, end, step = begin + [0], end + [0], step + [1]
                index.append(Ellipsis)
                k += skip
                continue
            n = x.shape[k]
            if self.chance(0.1) and len(x.shape) < 5 and None not in index:
                masks[3] |= 1 << i
                begin, end, step = begin + [0], end + [1], step + [1]
                index.append(None)
                continue
            s = self.pick([1, 1, 1, 2, 3, -1, -2])
            b, e = int(self.rng.integers(-n, n)), int(self.rng.integers(-n - 2, n + 3))
            no_b, no_e = self.chance(0.4), self.chance(0.4)
            if self.chance(0.15):
                masks[4] |= 1 << i
                index.append(b % n)
                s, e = 1, (b % n) + 1
                b = b % n
            else:
                index.append(slice(None if no_b else b, None if no_e else e, s))
                masks[0] |= no_b << i
                masks[1] |= no_e << i
            begin, end, step = begin + [b], end + [e], step + [s]
            k += 1
        y = [v[tuple(index)] for v in x.values]
        if y[0].ndim == 0 or masks[2] and (masks[3] or masks[4]):  # the oracle counts masks wrong around an ellipsis
            raise Skip
        self.moved("STRIDED_SLICE", x, [("slice", y)],
                   [x, self.ints("begin", begin), self.ints("end", end), self.ints("steps", step)], 2,
                   "StridedSliceOptions", BeginMask=masks[0], EndMask=masks[1], EllipsisMask=masks[2],
                   NewAxisMask=masks[3], ShrinkAxisMask=masks[4])

    def op_slice(self):
        x = self.source()
        begin = [int(self.rng.integers(n)) for n in x.shape]
        size = [int(self.rng.integers(1, n - b + 1)) for n, b in zip(x.shape, begin)]
        y = [v[tuple(slice(b, b + s) for b, s in zip(begin, size))] for v in x.values]
        asked = [-1 if b + s == n and self.chance(0.5) else s for b, s, n in zip(begin, size, x.shape)]
        self.moved("SLICE", x, [("slice", y)], [x, self.ints("begin", begin), self.ints("size", asked)], 2,
                   "SliceOptions")

    def op_dynamic_update_slice(self):
        """The start may also be outside the tensor."""
        self.only(np.int8)
        x = self.source()
        part = [int(self.rng.integers(1, n + 1)) for n in x.shape]
        start = [int(self.rng.integers(-1, n - s + 2)) for n, s in zip(x.shape, part)]
        new = self.rng.integers(-128, 128, part).astype(np.int8)
        place = tuple(slice(b, b + s) for b, s in ((min(max(b, 0), n - s), s) for b, n, s in zip(start, x.shape, part)))
        y = [v.copy() for v in x.values]
        for v in y:
            v[place] = (new.astype(float) - x.zero) * float(x.scale)
        constant = self.net.tensor(f"t{self.n_ops:02d}_part", part, np.int8, x.scale, x.zero, data=new)
        self.moved("DYNAMIC_UPDATE_SLICE", x, [("updated", y)], [x, constant, self.ints("start", start)])

    def op_gather(self):
        x = self.source()
        k, asked = self.axis(x)
        index = self.rng.integers(0, x.shape[k], self.pick([(1,), (2,), (5,), (2, 2)]))
        self.moved("GATHER", x, [("gather", [np.take(v, index, k) for v in x.values])], [x, self.ints("index", index)],
                   2, "GatherOptions", Axis=asked)

    def op_tile(self):
        self.only(np.int8, np.uint8)
        x = self.source()
        times = [self.pick([1, 1, 2, 3]) for _ in x.shape]
        if np.prod(x.shape) * np.prod(times) > LIMIT:
            raise Skip
        self.moved("TILE", x, [("tile", [np.tile(v, times) for v in x.values])], [x, self.ints("times", times)], 2,
                   "TileOptions")

    def op_reverse(self):
        x = self.source()
        k, asked = self.axis(x)
        y = [np.flip(v, k) for v in x.values]
        if self.wide or self.chance(0.7):
            self.moved("REVERSE_V2", x, [("reverse", y)], [x, self.ints("axis", [k])], 2, "ReverseV2Options")
            return
        by = np.float32(self.rng.uniform(0.7, 1.4))  # a converter may give the same bytes another scale
        t = self.out("reverse", [v * by for v in y], fixed=(np.float32(x.scale * by), x.zero))
        self.emit("REVERSE_V2", [x, self.ints("axis", [k])], t, 2, "ReverseV2Options")

    def op_dims(self):
        """EXPAND_DIMS, or SQUEEZE where there is a 1."""
        x = self.source()
        ones = [i for i, n in enumerate(x.shape) if n == 1]
        if ones and len(x.shape) > 1 and self.chance(0.5):
            k = self.pick(ones)
            self.moved("SQUEEZE", x, [("squeeze", [v.squeeze(k) for v in x.values])], [x], 1, "SqueezeOptions",
                       SqueezeDims=[k])
            return
        if len(x.shape) > 4:
            raise Skip
        k = int(self.rng.integers(len(x.shape) + 1))
        self.moved("EXPAND_DIMS", x, [("expand", [np.expand_dims(v, k) for v in x.values])],
                   [x, self.number("axis", k)], 1, "ExpandDimsOptions")

    # -- space, depth and batch ----------------------------------------------------------------------

    def op_space_to_depth(self):
        self.only(np.int8, np.uint8)
        x = self.source(image=True)
        b = self.pick([2, 2, 3])
        _, h, w, c = x.shape
        if h % b == 0 and w % b == 0:
            y = [v.reshape(1, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(1, h // b, w // b, -1)
                 for v in x.values]
            self.moved("SPACE_TO_DEPTH", x, [("s2d", y)], [x], 2, "SpaceToDepthOptions", BlockSize=b)
        elif c % (b * b) == 0:
            y = [v.reshape(1, h, w, b, b, c // b // b).transpose(0, 1, 3, 2, 4, 5).reshape(1, h * b, w * b, -1)
                 for v in x.values]
            self.moved("DEPTH_TO_SPACE", x, [("d2s", y)], [x], 1, "DepthToSpaceOptions", BlockSize=b)
        else:
            raise Skip

    def op_space_to_batch(self):
        """To the batch and, after some other operators may have read it, back."""
        x = self.source(image=True)
        b = [self.pick([1, 2, 3]), self.pick([1, 2])]
        _, h, w, c = x.shape
        pads = [[int(p), int((-(n + p)) % k)] for n, k, p in zip((h, w), b, self.rng.integers(0, 3, 2))]
        H, W = h + sum(pads[0]), w + sum(pads[1])
        cut = [v.reshape(1, H // b[0], b[0], W // b[1], b[1], c).transpose(2, 4, 0, 1, 3, 5)
               .reshape(b[0] * b[1], H // b[0], W // b[1], c)
               for v in (np.pad(v, [[0, 0], *pads, [0, 0]]) for v in x.values)]
        t, = self.moved("SPACE_TO_BATCH_ND", x, [("s2b", cut)], [x, self.ints("block", b), self.ints("pads", pads)], 2,
                        "SpaceToBatchNDOptions")
        y = [np.pad(v, [[0, 0], *pads, [0, 0]])[:, pads[0][0]:H - pads[0][1], pads[1][0]:W - pads[1][1]]
             for v in x.values]
        self.moved("BATCH_TO_SPACE_ND", t, [("b2s", y)], [t, self.ints("block", b), self.ints("crops", pads)], 2,
                   "BatchToSpaceNDOptions")

    # -- pads and sizes ------------------------------------------------------------------------------

    def op_padv2(self):
        x = self.source()
        pads = [[int(self.rng.integers(0, 3)), int(self.rng.integers(0, 3))] for _ in x.shape]
        if len(x.shape) > 4:
            raise Skip
        code = int(self.code())
        value = self.net.tensor(f"t{self.n_ops:02d}_value", (1,), self.dtype, x.scale, x.zero, 0, np.array([code]))
        y = [np.pad(v, pads, constant_values=(code - x.zero) * float(x.scale)) for v in x.values]
        self.moved("PADV2", x, [("padv2", y)], [x, self.ints("pads", pads), value], 2, "PadV2Options")

    def op_mirror_pad(self):
        x = self.source()
        reflect = self.chance(0.5)
        most = [min(3, n - reflect) for n in x.shape]
        pads = [[int(self.rng.integers(0, m + 1)), int(self.rng.integers(0, m + 1))] for m in most]
        y = [np.pad(v, pads, mode="reflect" if reflect else "symmetric") for v in x.values]
        self.moved("MIRROR_PAD", x, [("mirror", y)], [x, self.ints("pads", pads)], 2, "MirrorPadOptions",
                   Mode=0 if reflect else 1)

    def op_resize_nearest(self):
        x = self.source(image=True)
        size = [int(self.rng.integers(1, 2 * n + 3)) for n in x.shape[1:3]]
        how = self.pick([(False, False), (True, False), (False, True)])
        y = [v[:, [0] * size[0]][:, :, [0] * size[1]] for v in x.values]  # its range will do
        self.moved("RESIZE_NEAREST_NEIGHBOR", x, [("nearest", y)], [x, self.ints("size", size)], 3,
                   "ResizeNearestNeighborOptions", AlignCorners=how[0], HalfPixelCenters=how[1])
