"""Functions, If, Loop, Scan and Einsum of ONNX, movers of integers and bools, against ONNX Runtime.

    onnx_inline.py --heddle build/heddle      every model on ref, func and emitted C
    onnx_inline.py --write FOLDER             writes them as tests/compiler/import/onnx/inline

Models of REFUSED are not run: expected.txt of the folder has heddle's words. Environment: requirements-new.txt.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import parser
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

HEAD = '<ir_version: 8, opset_import: ["" : 17, "l" : 1]> '
MOVES = """g (TYPE[2,3,4] x) => (TYPE[3] a, TYPE[6,4] b, TYPE[2,2,4] c, TYPE[4,3,2] d, TYPE[4,3,4] e, TYPE[2,1,4] f,
    TYPE[2,6,4] h, TYPE[1,2,3,4] k, TYPE[2,12] l, TYPE[2,2,3,4] o)
  <int64 zero={0}, int64[2] sh={6,4}, int64[1] b1={1}, int64[1] e1={3}, int64[1] ax={1}, int64[2] sp={1,2},
   int64[3] rep={1,2,1}, int64[1] un={0}, int64[4] ex={2,2,3,4}, int64 two={2}> {
  a1 = Gather<axis=0>(x, zero) a = Gather<axis=1>(a1, two) b = Reshape(x, sh) c = Slice(x, b1, e1, ax)
  d = Transpose<perm=[2,1,0]>(x) e = Concat<axis=0>(x, x) f, f2 = Split<axis=1>(x, sp) h = Tile(x, rep)
  k = Unsqueeze(x, un) l = Flatten(x) o = Expand(x, ex) }"""
EINSUM = [("bij,bjk->bik", "2,3,4", "2,4,5"), ("ij,jk", "3,4", "4,5"), ("ij->ji", "3,4"), ("ij->i", "3,4"),
          ("i,j->ij", "3", "4"), ("bhqd,bhkd->bhqk", "2,2,3,4", "2,2,5,4"), ("...ij,...jk->...ik", "2,3,4", "2,4,5"),
          ("ij,jk,kl->il", "2,3", "3,4", "4,5"), ("ij,ij->", "3,4", "3,4"), ("bqhd,bkhd->bhqk", "2,3,2,4", "2,5,2,4"),
          ("ijk,ik->ij", "2,3,4", "2,4"), ("ij,kl->ijkl", "2,3", "4,5"), ("bi,bj->b", "2,3", "2,4")]


def einsum(equation, *shapes):
    """The network of one Einsum. Integers are exact, whatever the order of the sums."""
    zeros = [np.zeros([int(n) for n in shape.split(",")]) for shape in shapes]
    y = ",".join(map(str, np.einsum(equation, *zeros).shape))
    names = ", ".join(f"f{i}" for i in range(len(shapes)))
    body = " ".join(f"f{i} = Cast<to=1>(x{i})" for i in range(len(shapes)))
    return (f"g ({', '.join(f'int8[{s}] x{i}' for i, s in enumerate(shapes))}) => (float{f'[{y}]' if y else ''} y) "
            f'{{ {body} y = Einsum<equation="{equation}">({names}) }}')


NEWER = '<ir_version: 10, opset_import: ["" : 21]> '
OLDER = '<ir_version: 8, opset_import: ["" : 11]> '
DEPTH_OPTIONS = "<group=2, strides=[2,1,1], dilations=[1,1,2], pads=[1,0,1,0,1,1]>"


def depths(body, outputs, more=""):
    """A convolution of three dimensions in two groups."""
    w = ",".join(str(v) for v in np.random.default_rng(3).integers(-90, 90, 96))
    return (NEWER + f"g (int8[1,4,4,5,6] x) => ({outputs}) <float s={{0.05}}, int8 z={{-3}}, float t={{0.5}}, int8 o={{5}}, "
            f"int8[4,2,2,3,2] w={{{w}}}, float[4] ws={{0.01,0.02,0.03,0.015}}, int8[4] wz={{0,0,0,0}}{more}> {{ {body} }}"
            ).replace("OPTIONS", DEPTH_OPTIONS)


def integers(seed, n, most=90):
    return "{" + ",".join(str(v) for v in np.random.default_rng(seed).integers(-most, most, n)) + "}"


def numbers(seed, n, low, high):
    return "{" + ",".join(f"{v:.4f}" for v in np.random.default_rng(seed).uniform(low, high, n)) + "}"


def powers(seed, n, low, high):
    """Scales with which float32's sums are exact in any order."""
    return "{" + ",".join(str(2.0 ** k) for k in np.random.default_rng(seed).integers(low, high, n)) + "}"


def uneven(seed, channels, terms, last=False):
    """Weights of which each channel has a great one and small ones, in 2^-16: their sums are exact in float32 in any order."""
    rng = np.random.default_rng(seed)
    w = rng.integers(-40, 41, (channels, terms))
    w[range(channels), rng.integers(0, terms, channels)] = (127 * 2 ** 9) * rng.choice([-1, 1], channels)
    return "{" + ",".join(f"{v / 65536:.16f}" for v in (w.T if last else w).flatten()) + "}"


def single(seed, terms, channels):
    """Weights of which each channel has one: each sum is one product, rounded once."""
    rng = np.random.default_rng(seed)
    w = np.zeros((terms, channels))
    w[rng.integers(0, terms, channels), range(channels)] = rng.uniform(-1, 1, channels)
    return "{" + ",".join(f"{v:.7f}" for v in w.flatten()) + "}"


# Quantised values of fewer bits, as Brevitas exports them: a Clip between QuantizeLinear and DequantizeLinear.
FEW_BITS = f"""g (float[3,6] x, uint8[2,6] u) => (int8[3,5] y, uint8[2,6] v, float[3,5] r)
    <float s={{0.25}}, int8 z={{0}}, int8 l={{-8}}, int8 h={{7}}, int8[6,5] w={integers(5, 30, 20)}, int8 wl={{-7}}, int8 wh={{7}},
     float[5] ws={powers(6, 5, -4, -1)}, int8[5] wz={{0,0,0,0,0}}, float t={{0.3}}, uint8 uz={{3}}, uint8 uh={{15}}> {{
    q = QuantizeLinear(x, s, z) c = Clip(q, l, h) f = DequantizeLinear(c, s, z) k = Clip(w, wl, wh)
    kf = DequantizeLinear<axis=1>(k, ws, wz) r = MatMul(f, kf) m = Relu(r) qm = QuantizeLinear(m, t, z) y = Clip(qm, l, h)
    uf = DequantizeLinear(u, t, uz) a = Add(uf, uf) qa = QuantizeLinear(a, t, uz) v = Clip(qa, , uh) }}"""
# Products of quantised values whose results stay float32.
FLOAT_PRODUCTS = f"""g (int8[1,8,5,6] x, uint8[2,3,8] u) => (float[1,6,5,6] a, float[2,3,5] b, float[6,5] c, float[1,8,3,4] d, float[48,48] e)
    <float s={{0.0078125}}, int8 z={{-3}}, int8[6,4,3,3] w={integers(1, 216)}, float[6] ws={powers(2, 6, -10, -6)}, int8[6] wz={{0,0,0,0,0,0}},
     float[6] wb={powers(3, 6, -3, 1)}, float us={{0.015625}}, uint8 uz={{100}}, int8[8,5] g={integers(4, 40)}, float gs={{0.00390625}}, int8 gz={{4}},
     float[5] gb={powers(5, 5, -3, 1)}, float low={{-0.5}}, float high={{0.75}}, int64[2] sh={{6,8}}, int8[5,8] h={integers(6, 40)},
     int8[8,1,3,3] k={integers(7, 72)}, float[8] ks={powers(8, 8, -10, -6)}, int8[8] kz={{0,0,0,0,0,0,0,0}}, float vs={{0.83}}, int64[2] row={{48,1}}> {{
    f = DequantizeLinear(x, s, z) wf = DequantizeLinear<axis=0>(w, ws, wz) a1 = Conv<group=2, pads=[1,1,1,1]>(f, wf, wb) a = Relu(a1)
    uf = DequantizeLinear(u, us, uz) gf = DequantizeLinear(g, gs, gz) b1 = MatMul(uf, gf) b2 = Add(b1, gb) b = Clip(b2, low, high)
    flat = Reshape(uf, sh) hf = DequantizeLinear(h, gs, gz) c = Gemm<alpha=0.5, transB=1>(flat, hf, gb)
    kf = DequantizeLinear<axis=0>(k, ks, kz) d = Conv<group=8>(f, kf)
    vf = Mul(uf, vs) vr = Reshape(vf, row) vt = Transpose(vr) e = MatMul(vr, vt) }}"""
# Products of quantised values by float32 weights; the last depthwise one has too few terms for digits.
FLOAT_WEIGHTS = f"""g (uint8[1,8,5,6] x, uint8[2,3,24] u) => (float[1,6,4,5] a, float[2,3,5] b, float[6,5] c, float[1,8,3,4] d, uint8[1,6,4,5] e,
     float[1,8,1,2] f, float[2,3,5] p)
    <float s={{0.0078125}}, uint8 z={{128}}, float[6,4,2,2] w={uneven(1, 6, 16)}, float[6] wb={{0.5,-0.25,0,0.125,-0.5,0.25}}, float us={{0.015625}},
     uint8 uz={{120}}, float[24,5] g={uneven(2, 5, 24, True)}, float[5] gb={{0.5,-0.25,0,0.125,-0.5}}, float low={{-0.5}}, float high={{0.75}},
     int64[2] sh={{6,24}}, float[5,24] h={uneven(3, 5, 24)}, float[8,1,3,3] k={uneven(4, 8, 9)}, float[8,1,5,5] l={uneven(5, 8, 25)},
     float t={{0.00390625}}, float vs={{0.83}}, float[24,5] r={single(6, 24, 5)}> {{
    xf = DequantizeLinear(x, s, z) a1 = Conv<group=2>(xf, w, wb) a = Relu(a1) uf = DequantizeLinear(u, us, uz)
    b1 = MatMul(uf, g) b2 = Add(b1, gb) b = Clip(b2, low, high) flat = Reshape(uf, sh) c = Gemm<alpha=0.5, transB=1>(flat, h, gb)
    d = Conv<group=8>(xf, k) e1 = Conv<group=2>(xf, w, wb) e = QuantizeLinear(e1, t, z) f = Conv<group=8>(xf, l)
    vf = Mul(uf, vs) p = MatMul(vf, r) }}"""
# Constant matrices with leading dimensions of 1, and Einsum's products, which are moved before QuantizeLinear.
MATRICES = NEWER + f"""g (int8[1,3,4,5,6] x, uint8[2,5,7] u) => (int8[1,4,5,6] a, uint8[2,5,3] b, int8[1,2,5,4] c, int8[2,3,5] d, uint8[2,5,3] e, int8[1,4,5,3,2] h)
    <float s={{0.05}}, int8 z={{-3}}, float us={{0.04}}, uint8 uz={{120}}, float[3,6,6] k={integers(1, 108, 9)}, float at={{2.5}}, int8[1,7,3] w={integers(2, 21)},
     float ws={{0.01}}, int8 wz={{0}}, float bt={{0.02}}, float[1,1,7,4] l={integers(3, 28, 9)}, float ct={{1.5}}, int64[4] four={{1,2,5,7}}, float[3] ds={{0.01,0.02,0.015}},
     int8[3] dz={{0,0,0}}, float[2,7,3] m={numbers(4, 42, -2, 2)}, float et={{0.1}}, float[3,4,6,2] n={numbers(5, 144, -2, 2)}> {{
    f = DequantizeLinear(x, s, z) a1 = Einsum<equation="nkctv,kvw->nctw">(f, k) a2 = Relu(a1) a = QuantizeLinear(a2, at, z)
    g1 = DequantizeLinear(u, us, uz) v = DequantizeLinear(w, ws, wz) b1 = MatMul(g1, v) b = QuantizeLinear(b1, bt, uz)
    r = Reshape(g1, four) c1 = MatMul(r, l) c = QuantizeLinear(c1, ct, z)
    g2 = DequantizeLinear<axis=2>(w, ds, dz) d1 = Einsum<equation="bij,ajk->bki">(g1, g2) d = QuantizeLinear(d1, bt, z)
    e1 = MatMul(g1, m) e = QuantizeLinear(e1, et, uz) h1 = Einsum<equation="nkctv,kcvw->nctkw">(f, n) h = QuantizeLinear(h1, et, z) }}"""
# Normalisations and a transposed convolution of volumes.
VOLUMES = NEWER + f"""g (int8[1,4,3,6,5] x) => (int8[1,4,3,6,5] a, int8[1,4,3,6,5] b, int8[1,3,6,18,10] c)
    <float s={{0.0625}}, int8 z={{-3}}, float t={{0.0625}}, float[4] g={{1,0.5,-1.5,2}}, float[4] h={{0.25,-0.5,0,1}}, int8[4,3,2,3,2] w={integers(1, 144)},
     float ws={{0.0078125}}, int8 wz={{0}}, float[3] k={{0.5,-1,2}}> {{
    f = DequantizeLinear(x, s, z) a1 = InstanceNormalization(f, g, h) a = QuantizeLinear(a1, t, z)
    b1 = GroupNormalization<num_groups=2>(f, g, h) b = QuantizeLinear(b1, t, z)
    v = DequantizeLinear(w, ws, wz) c1 = ConvTranspose<strides=[2,3,2]>(f, v, k) c = QuantizeLinear(c1, t, z) }}"""
# Means of sums along other axes.
SUMS = NEWER + """g (int8[1,2,6,5,4] x) => (int8[1,6,1,1] a, int8[5,4] b, int8[1,1,6,1,1] c) <float s={0.0625}, int8 z={-3}, int64[1] one={1}, int64[2] image={2,3},
    int64[2] two={0,1}, int64[1] first={0}, int64[2] last={3,4}, float t={0.0625}, float bt={0.25}> {
    f = DequantizeLinear(x, s, z) a1 = ReduceSum<keepdims=0>(f, one) a2 = ReduceMean(a1, image) a = QuantizeLinear(a2, t, z)
    b1 = ReduceSum<keepdims=0>(f, two) b2 = ReduceMean<keepdims=0>(b1, first) b = QuantizeLinear(b2, bt, z)
    c1 = ReduceSum(f, one) c2 = ReduceMean(c1, last) c = QuantizeLinear(c2, t, z) }"""
# Sums of constants, along either axis, each way, of floats and integers.
SUMS_OF_CONSTANTS = """g (int8[2,3] x) => (float[2,3] a, float[2,3] b, float[2,3] c, float[2,3] d)
  <float[2,3] f={0.5,1.25,-3,7,0.125,2}, int64[2,3] i={1,2,3,40,50,60}, int64 zero={0}, int32 last={-1}> {
  y = Cast<to=1>(x) fa = CumSum(f, zero) a = Mul(y, fa) fb = CumSum<reverse=1>(f, last) b = Mul(y, fb)
  ic = CumSum<exclusive=1>(i, last) fc = Cast<to=1>(ic) c = Mul(y, fc)
  id = CumSum<exclusive=1,reverse=1>(i, zero) fd = Cast<to=1>(id) d = Mul(y, fd) }"""
# Choices by masks of a sequence: numbers, -128, another number, values, and values in float32.
MASKS = NEWER + f"""g (bool[1,1,1,6] m, int8[1,2,5,6] x, int8[1,2,5,1] v) => (int8[1,1,5,6] a, int8[1,2,5,6] b, int8[1,2,5,6] c, int8[1,2,5,6] d, int8[1,2,5,6] e)
    <bool[1,1,5,6] causal={{1,0,0,0,0,0, 1,1,0,0,0,0, 1,1,1,0,0,0, 1,1,1,1,0,0, 1,1,1,1,1,0}}, bool[1,1,5,1] all={{1,1,1,1,1}}, float s={{0.0625}}, int8 z={{-3}},
     float nought={{0}}, float low={{-10000}}, float ls={{40}}, int8 lz={{127}}, float t={{0.125}}, float two={{2}}, int64[4] size={{1,1,5,6}}> {{
    both = And(causal, m) a1 = Where(both, nought, low) a = QuantizeLinear(a1, ls, lz) f = DequantizeLinear(x, s, z) g = DequantizeLinear(v, s, z)
    every = And(all, m) b1 = Where(every, f, low) b = QuantizeLinear(b1, s, z) no = Not(m) either = Or(no, causal) c1 = Where(either, two, f)
    c = QuantizeLinear(c1, t, z) wide = Expand(no, size) d1 = Where(wide, g, f) d = QuantizeLinear(d1, s, z)
    masks = DequantizeLinear(a, ls, lz) e1 = Add(masks, f) e = QuantizeLinear(e1, ls, lz) }}"""
# Waiting results times one number, as AMD's Quark exports averages.
FACTORS = f"""g (int8[1,8,6,6] x, int8[1,8,6,6] u) => (int8[1,8,1,1] a, int8[1,4,6,6] b, int8[1,8,6,6] c, int8[1,8] d, int8[1,8,1,1] e)
    <float s={{0.05}}, int8 z={{-3}}, float us={{0.04}}, int8[4,8,1,1] w={integers(1, 32)}, float ws={{0.01}}, int8 wz={{0}}, float t={{0.01}},
     int8 o={{5}}, float p={{1.0045}}, float one={{1}}, float three={{3}}, float[1] few={{0.7}}, float less={{-0.5}}, float bt={{0.02}}, float ct={{0.06}}> {{
    g = DequantizeLinear(x, s, z) h = DequantizeLinear(u, us, o) a1 = GlobalAveragePool(g) a2 = Mul(a1, p) a = QuantizeLinear(a2, t, o)
    wf = DequantizeLinear(w, ws, wz) b1 = Conv(g, wf) b2 = Relu(b1) b3 = Div(b2, three) b = QuantizeLinear(b3, bt, o)
    c1 = Add(g, h) c2 = Mul(few, c1) c = QuantizeLinear(c2, ct, o)
    d1 = GlobalAveragePool(g) d2 = Flatten(d1) d3 = Mul(d2, one) d = QuantizeLinear(d3, t, o)
    e1 = GlobalAveragePool(h) e2 = Mul(e1, less) e = QuantizeLinear(e2, t, o) }}"""
# Activations with a scale for each channel, which a depthwise convolution reads, as NNCF exports them.
CHANNELS = f"""g (int8[1,4,6,7] x) => (int8[1,8,6,7] a, int8[1,8,6,7] b, int8[1,8,4,5] c)
    <float s={{0.05}}, int8 z={{-3}}, int8[8,4,1,1] w={integers(1, 32)}, float[8] ws={numbers(2, 8, .01, .03)}, int8[8] wz={{0,0,0,0,0,0,0,0}},
     float[8] cs={numbers(4, 8, .012, .0235)}, uint8[8] cz={{0,0,0,0,0,0,0,0}}, float low={{0}}, float high={{6}}, float few={{2}},
     int8[8,1,3,3] k={integers(3, 72)}, float[8] ks={numbers(5, 8, .005, .01)}, float t={{0.1}},
     float[4] xs={numbers(6, 4, .03, .05)}, int8[4] xz={{5,5,5,5}}, int8[8,1,3,3] m={integers(8, 72)}, float ms={{0.006}}, int8 mz={{0}}> {{
    f = DequantizeLinear(x, s, z) wf = DequantizeLinear<axis=0>(w, ws, wz) p = Conv(f, wf)
    pa = Clip(p, low, high) qa = QuantizeLinear<axis=1>(pa, cs, cz) da = DequantizeLinear<axis=1>(qa, cs, cz)
    ka = DequantizeLinear<axis=0>(k, ks, wz) ya = Conv<group=8, pads=[1,1,1,1]>(da, ka) a = QuantizeLinear(ya, t, z)
    pb = Clip(p, low, few) qb = QuantizeLinear<axis=1>(pb, cs, cz) db = DequantizeLinear<axis=1>(qb, cs, cz)
    kb = DequantizeLinear<axis=0>(k, ks, wz) yb = Conv<group=8, pads=[1,1,1,1]>(db, kb) b = QuantizeLinear(yb, t, z)
    qc = QuantizeLinear<axis=1>(f, xs, xz) dc = DequantizeLinear<axis=1>(qc, xs, xz)
    kc = DequantizeLinear(m, ms, mz) yc = Conv<group=4>(dc, kc) c = QuantizeLinear(yc, t, z) }}"""

# Functions between a product and a QuantizeLinear, and BatchNormalization after a dense layer.
ARGUMENTS = f"""g (int8[1,4,6,7] x, int8[6,16] u) => (int8[1,8,6,7] a, uint8[6,12] b, int8[2,3,12] c, int8[6,12] d, uint8[6,12] n, float[6,6] r, int8[1,4,6,6] v)
    <float s={{0.05}}, int8 z={{-3}}, int8[8,4,1,1] w={integers(1, 32)}, float[8] ws={numbers(2, 8, .01, .02)}, int8[8] wz={{0,0,0,0,0,0,0,0}},
     float[8] wb={numbers(3, 8, -1, 1)}, float t={{0.03}}, int8 o={{-118}}, float us={{0.03125}}, int8 uz={{7}}, int8[16,12] g={integers(4, 192)},
     float[12] gs={numbers(5, 12, .004, .01)}, int8[12] gz={{0,0,0,0,0,0,0,0,0,0,0,0}}, float[12] gb={numbers(6, 12, -1, 1)}, float root={{1.41421356}},
     float one={{1}}, float half={{0.5}}, float bt={{0.02}}, uint8 bz={{10}}, int64[3] sh={{2,3,12}}, float ct={{0.04}}, int8 cz={{-116}},
     float dt={{0.0079}}, int8 dz={{0}}, float[12] na={numbers(7, 12, -.5, 1)}, float[12] nb={numbers(8, 12, -1, 1)},
     float[12] nm={numbers(9, 12, -.5, .5)}, float[12] nv={numbers(10, 12, .5, 1.5)}, uint8 nz={{0}}> {{
    f = DequantizeLinear(x, s, z) wf = DequantizeLinear<axis=0>(w, ws, wz) p = Conv(f, wf, wb) ps = Sigmoid(p) pm = Mul(p, ps)
    a = QuantizeLinear(pm, t, o) uf = DequantizeLinear(u, us, uz) gf = DequantizeLinear<axis=1>(g, gs, gz)
    h1 = MatMul(uf, gf) h = Add(h1, gb) h2 = Div(h, root) h3 = Erf(h2) h4 = Add(h3, one) h5 = Mul(h, h4) h6 = Mul(h5, half)
    b = QuantizeLinear(h6, bt, bz) k = MatMul(uf, gf) kr = Reshape(k, sh) ks = HardSwish(kr) c = QuantizeLinear(ks, ct, cz)
    y = Gemm(uf, gf, gb) yt = Tanh(y) d = QuantizeLinear(yt, dt, dz)
    vm = MatMul(uf, gf) vn = BatchNormalization(vm, na, nb, nm, nv) vr = Relu(vn) n = QuantizeLinear(vr, bt, nz)
    ut = Transpose(uf) r = MatMul(uf, ut) ft = Transpose<perm=[0,1,3,2]>(f) fm = MatMul(f, ft) fs = Softmax(fm)
    v = QuantizeLinear(fs, dt, dz) }}"""

# A residual whose operand is quantised for the next product alone, as NVIDIA's quantisers leave it.
RESIDUAL = f"""g (int8[1,6,6,7] x) => (uint8[1,6,6,7] a)
    <float s={{0.05}}, int8 z={{0}}, int8[6,6,1,1] w={integers(1, 36)}, float[6] ws={numbers(2, 6, .005, .01)}, int8[6] wz={{0,0,0,0,0,0}},
     int8[6,6,3,3] k={integers(3, 324)}, float[6] ks={numbers(4, 6, .001, .002)}, float[6] kb={numbers(5, 6, -1, 1)}, float t={{0.03}}, uint8 o={{0}},
     float r={{0.04}}> {{
    f = DequantizeLinear(x, s, z) wf = DequantizeLinear<axis=0>(w, ws, wz) p = Conv(f, wf) pr = Relu(p)
    q = QuantizeLinear(pr, t, o) d = DequantizeLinear(q, t, o) c = Cast<to=1>(pr)
    kf = DequantizeLinear<axis=0>(k, ks, wz) y = Conv<pads=[1,1,1,1]>(d, kf, kb) e = Add(y, c) er = Relu(e) a = QuantizeLinear(er, r, o) }}"""
# Nodes that change nothing before a QuantizeLinear, and inside what it makes one operator of integers.
NO_OPS = f"""g (int8[1,6,16] x, int8[1,2,4,5] i) => (int8[1,6,16] a, int8[1,6,16] b, int8[1,2,8,10] c, int8[1,6,5] d)
    <float s={{0.05}}, int8 z={{-3}}, float[16] g={numbers(1, 16, .3, .6)}, float[16] h={numbers(2, 16, -.5, .5)}, float e={{0.00001}},
     float t={{0.02}}, int8 o={{4}}, float[4] sc={{1,1,2,2}}, int8[16,5] w={integers(3, 80)}, float ws={{0.005}}, int8 wz={{0}}> {{
    f = DequantizeLinear(x, s, z) l = LayerNormalization<axis=-1>(f, g, h) li = Identity(l) a = QuantizeLinear(li, t, o)
    sq = Mul(f, f) m = ReduceMean<axes=[-1]>(sq) mi = Cast<to=1>(m) me = Add(mi, e) r = Sqrt(me) q = Div(f, r) qi = Dropout(q) k = Mul(qi, g)
    b = QuantizeLinear(k, t, o) fi = DequantizeLinear(i, s, z) u = Resize<mode="linear">(fi, , sc) ui = Identity(u) uc = Cast<to=1>(ui)
    c = QuantizeLinear(uc, s, z) wf = DequantizeLinear(w, ws, wz) p = MatMul(f, wf) pc = Cast<to=1>(p) d = QuantizeLinear(pc, t, o) }}"""
# Nodes that change nothing by their parameters: no bounds, axes, pads, repeats, another size.
NOTHING = f"""g (int8[1,6,16] x, int8[1,2,4,5] i) => (int8[1,6,16] a, int8[1,6,5] b, int8[1,2,8,10] c)
    <float s={{0.05}}, int8 z={{-3}}, float[16] g={numbers(1, 16, .3, .6)}, float e={{0.00001}}, float t={{0.02}}, int8 o={{4}}, float[4] sc={{1,1,2,2}},
     int8[16,5] w={integers(3, 80)}, float ws={{0.005}}, int8 wz={{0}}, int64[3] one={{1,1,1}}, int64[6] none={{0,0,0,0,0,0}}, int64[4] n={{1,2,8,10}}, int64[1] ax={{-1}}> {{
    f = DequantizeLinear(x, s, z) sq = Mul(f, f) sp = Pad<mode="edge">(sq, none) m = ReduceMean(sp, ax) me = Add(m, e) mc = Clip(me) r = Sqrt(mc)
    rs = ReduceSum<noop_with_empty_axes=1>(r) q = Div(f, rs) qt = Tile(q, one) k = Mul(qt, g) ke = Expand(k, one) a = QuantizeLinear(ke, t, o)
    wf = DequantizeLinear(w, ws, wz) p = MatMul(f, wf) pe = Expand(p, one) pm = ReduceMax<noop_with_empty_axes=1>(pe) pt = Tile(pm, one)
    pp = Pad<mode="reflect">(pt, none) pc = Clip(pp) b = QuantizeLinear(pc, t, o)
    fi = DequantizeLinear(i, s, z) u = Resize<mode="linear">(fi, , sc) v = Resize(u, , , n) c = QuantizeLinear(v, s, z) }}"""
# A bias and a BatchNormalization beside weights of two bits.
TWO_BITS = f"""g (int8[1,4,6,7] x, int8[3,8] u) => (int8[1,6,4,5] a, int8[3,5] b)
    <float s={{0.05}}, int8 z={{-3}}, int8[6,4,3,3] w={integers(1, 216, 2)}, float ws={{0.3}}, int8 wz={{0}}, float[6] wb={numbers(2, 6, -1, 1)},
     float[6] ng={numbers(3, 6, .5, 1.5)}, float[6] nb={numbers(4, 6, -1, 1)}, float[6] nm={numbers(5, 6, -.5, .5)},
     float[6] nv={numbers(6, 6, .5, 1.5)}, float t={{0.1}}, uint8[8,5] k={{{",".join(str(v) for v in np.random.default_rng(7).integers(3, 10, 40))}}},
     float[5] ks={numbers(8, 5, .1, .3)}, uint8[5] kz={{6,6,6,6,6}}, float[5] kb={numbers(13, 5, -1, 1)}> {{
    f = DequantizeLinear(x, s, z) wf = DequantizeLinear(w, ws, wz) p = Conv(f, wf, wb) n = BatchNormalization(p, ng, nb, nm, nv) r = Relu(n)
    a = QuantizeLinear(r, t, z) uf = DequantizeLinear(u, s, z) kf = DequantizeLinear<axis=1>(k, ks, kz) m = MatMul(uf, kf) y = Add(m, kb)
    b = QuantizeLinear(y, t, z) }}"""
# Quantised values of 16 bits; outputs are codes, of which two steps may differ.
WIDE_CONV = NEWER + f"""g (float[1,4,9,8] x) => (int16[1,6] y, int16[1,6,5,4] v, int16[1,4,4,4] u, int16[1,3,18,16] n)
    <float s={{0.000125}}, int16 z={{0}}, int8[6,4,3,3] w={integers(1, 216, 128)}, float[6] ws={numbers(2, 6, .001, .004)}, int8[6] wz={{0,0,0,0,0,0}},
     float[6] wb={numbers(3, 6, -1, 1)}, float t={{0.00032}}, int8[12,1,3,3] k={integers(4, 108, 128)}, float ks={{0.0019}}, int8 kz={{0}},
     float d={{0.00021}}, int8[6,6,1,2] g={integers(5, 72, 100)}, float gs={{0.0013}}, int8[6,6] f={integers(6, 36, 128)}, float fs={{0.0041}},
     float o={{0.00009}}, int8[4,4,3,3] q={integers(8, 144, 100)}, float h={{0.00017}}, int8[4,3,2,2] tr={integers(9, 48, 90)}> {{
    xq = QuantizeLinear(x, s, z) xf = DequantizeLinear(xq, s, z) wf = DequantizeLinear<axis=0>(w, ws, wz) c1 = Conv<pads=[1,1,1,1], strides=[2,2]>(xf, wf, wb)
    q1 = QuantizeLinear(c1, t, z) f1 = DequantizeLinear(q1, t, z) r1 = Relu(f1) q2 = QuantizeLinear(r1, t, z) f2 = DequantizeLinear(q2, t, z)
    v = Identity(q2) kf = DequantizeLinear(k, ks, kz) c2 = Conv<group=6, pads=[1,1,1,1]>(f2, kf) c3 = Clip(c2, , c6) c6 = Constant<value_float=2.5>()
    q3 = QuantizeLinear(c3, d, z) f3 = DequantizeLinear(q3, d, z) m3 = MaxPool<kernel_shape=[2,2]>(f3) qm = QuantizeLinear(m3, d, z)
    fm = DequantizeLinear(qm, d, z) gp = Conv<group=2>(fm, gf) gf = DequantizeLinear(g, gs, kz) q4 = QuantizeLinear(gp, t, z)
    f4 = DequantizeLinear(q4, t, z) a = GlobalAveragePool(f4) qa = QuantizeLinear(a, o, z) fa = DequantizeLinear(qa, o, z) fl = Flatten(fa)
    ff = DequantizeLinear(f, fs, kz) e = Gemm<transB=1, alpha=0.5>(fl, ff, wb) y = QuantizeLinear(e, h, z)
    qf = DequantizeLinear(q, gs, kz) c5 = Conv<dilations=[2,2], strides=[2,1], pads=[1,0,1,0]>(xf, qf) u = QuantizeLinear(c5, t, z)
    trf = DequantizeLinear(tr, gs, kz) c6t = ConvTranspose<strides=[2,2]>(xf, trf) n = QuantizeLinear(c6t, t, z) }}"""
WIDE_SUMS = NEWER + f"""g (float[2,3,8] x, float[2,3,8] b) => (int16[2,3,8] a, int16[2,3,8] c, int16[2,6,8] d, int16[2,3,8] e, int16[2,3,8] f, int16[2,3,8] h)
    <float s={{0.000125}}, int16 z={{0}}, float t={{0.00019}}, float u={{0.00027}}, int16[1,3,1] k={{-20000,3,32767}}, float ks={{0.00004}}, float n={{-1.75}},
     float p={{0.375}}, float low={{-0.5}}, float high={{1.25}}, float m={{0.9}}> {{
    xq = QuantizeLinear(x, s, z) xf = DequantizeLinear(xq, s, z) bq = QuantizeLinear(b, t, z) bf = DequantizeLinear(bq, t, z)
    kf = DequantizeLinear(k, ks, z) a1 = Add(xf, bf) a2 = Relu(a1) a = QuantizeLinear(a2, u, z) c1 = Sub(bf, kf) c = QuantizeLinear(c1, u, z)
    d1 = Concat<axis=1>(xf, bf) d = QuantizeLinear(d1, t, z) e1 = Mul(xf, bf) e2 = Clip(e1, low, high) e = QuantizeLinear(e2, t, z)
    f1 = Mul(xf, n) f2 = Add(f1, p) f3 = LeakyRelu<alpha=0.1>(xf) f4 = QuantizeLinear(f3, t, z) f5 = DequantizeLinear(f4, t, z) f6 = Max(f5, xf)
    f7 = QuantizeLinear(f6, s, z) f8 = DequantizeLinear(f7, s, z) f9 = Add(f2, f8) f = QuantizeLinear(f9, u, z)
    h1 = Clip(xf, low, m) h2 = QuantizeLinear(h1, t, z) h3 = DequantizeLinear(h2, t, z) h4 = Div(h3, m) h = QuantizeLinear(h4, t, z) }}"""
WIDE_CURVES = NEWER + """g (float[1,3,6,7] x) => (int16[1,3,6,7] a, int16[1,3,6,7] b, int16[1,3,6,7] c, int16[1,3,6,1] d, int16[1,3,4,4] e, int16[1,3,3,4] f, int16[1,3,6,7] h)
    <float s={0.000125}, int16 z={0}, float one={0.000031}, float t={0.000111}, int64[1] last={3}, float low={0.25}, float high={0.75}> {
    xq = QuantizeLinear(x, s, z) xf = DequantizeLinear(xq, s, z) a1 = Sigmoid(xf) a = QuantizeLinear(a1, one, z) b1 = Tanh(xf) b2 = Clip(b1, low, high)
    b = QuantizeLinear(b2, one, z) c1 = Softmax<axis=1>(xf) c = QuantizeLinear(c1, one, z) d1 = ReduceMean(xf, last) d = QuantizeLinear(d1, t, z)
    e1 = AveragePool<kernel_shape=[3,4]>(xf) e = QuantizeLinear(e1, t, z) f1 = AveragePool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(xf)
    f2 = Relu(f1) f = QuantizeLinear(f2, t, z) h1 = HardSwish(xf) h = QuantizeLinear(h1, t, z) }"""
WIDE_MATMUL = NEWER + f"""g (float[2,5,8] x) => (int16[2,5,6] a, int16[2,5,5] b, int16[2,5,8] c, float[2,8,5] d, int16[2,5,6] e, float[2,5,6] r, int16[2,5,6] o)
    <float s={{0.0001220703125}}, int16 z={{0}}, uint8[8,6] w={{{",".join(str(v) for v in np.random.default_rng(1).integers(0, 256, 48))}}}, float ws={{0.0021}}, uint8 wz={{120}},
     float[6] wb={numbers(2, 6, -1, 1)}, float t={{0.0003}}, float[8] n={numbers(3, 8, .5, 1.5)}, float u={{0.0007}},
     int16[5,6] k={integers(4, 30, 20000)}, int8[8,6] v={integers(5, 48, 5)}, float vs={{0.0078125}}, int8 vz={{3}}> {{
    xq = QuantizeLinear(x, s, z) xf = DequantizeLinear(xq, s, z) wf = DequantizeLinear(w, ws, wz) m1 = MatMul(xf, wf) m2 = Add(m1, wb) a = QuantizeLinear(m2, t, z)
    tr = Transpose<perm=[0,2,1]>(xf) p = MatMul(xf, tr) b = QuantizeLinear(p, u, z) l = LayerNormalization(xf, n) c = QuantizeLinear(l, t, z) d = Identity(tr)
    nf = DequantizeLinear(k, t, z) e1 = Add(m1, nf) e = QuantizeLinear(e1, t, z) wz0 = DequantizeLinear(w, ws) o1 = MatMul(xf, wz0) o = QuantizeLinear(o1, u, z) r1 = MatMul(xf, kf) kf = DequantizeLinear(v, vs, vz) r = Relu(r1) }}"""
MIXED = f"""<float s={{0.000125}}, int16 z={{0}}, float us={{0.03}}, uint8 uz={{131}}, int8[6,4,3,3] w={integers(1, 216, 128)}, float ws={{0.0017}}, int8 wz={{0}},
     float t={{0.0009}}, float i={{0.05}}, int8 o={{-9}}, uint8 v={{77}}, int16 k={{12345}}, float ks={{0.0001}}, int8[1,4,1,1] n={{1,-5,100,7}}> {{
    xq = QuantizeLinear(x, s, z) xf = DequantizeLinear(xq, s, z) uf = DequantizeLinear(u, us, uz)"""
WIDE_MIXED = NEWER + "g (float[1,4,6,6] x, uint8[1,4,6,6] u) => (int16[1,6,6,6] a, int16[1,4,6,6] e) " + MIXED + """
    wf = DequantizeLinear(w, ws, wz) a1 = Conv<pads=[1,1,1,1]>(uf, wf) a = QuantizeLinear(a1, t, z)
    nf = DequantizeLinear(n, i, o) e1 = Sub(xf, nf) e = QuantizeLinear(e1, t, z) }"""
WIDE_NARROW = NEWER + "g (float[1,4,6,6] x, uint8[1,4,6,6] u) => (int8[1,4,6,6] b, int8[1,8,6,6] c, uint8[1,4,6,6] d, int8[1,4,3,3] f) " + MIXED + """
    b1 = Add(xf, uf) b = QuantizeLinear(b1, i, o) c1 = Concat<axis=1>(uf, xf) c = QuantizeLinear(c1, i, o)
    kf = DequantizeLinear(k, ks, z) d1 = Mul(uf, kf) d = QuantizeLinear(d1, us, v)
    f1 = AveragePool<kernel_shape=[2,2], strides=[2,2]>(xf) f = QuantizeLinear(f1, i, o) }"""
WIDE_TABLE = NEWER + """g (float[4,16,20] x, int8[4,16,20] u) => (int16[4,16,20] y, int16[4,16,20] v, uint8[4,16,20] w, int16[4,320] n)
    <float s={0.000125}, int16 z={0}, float us={0.03}, int8 uz={-7}, float t={0.0001}, float half={0.5}, float root={0.70710678}, float one={1},
     float c={0.02}, uint8 cz={20}, int64[2] sh={4,320}> {
    xq = QuantizeLinear(x, s, z) xf = DequantizeLinear(xq, s, z) y1 = HardSwish(xf) y = QuantizeLinear(y1, s, z) uf = DequantizeLinear(u, us, uz)
    v1 = Abs(uf) v = QuantizeLinear(v1, s, z) w1 = Mul(xf, root) w2 = Erf(w1) w3 = Add(w2, one) w4 = Mul(xf, w3) w5 = Mul(w4, half)
    w = QuantizeLinear(w5, c, cz) n1 = Reshape(xf, sh) n2 = Exp(n1) n3 = Sub(one, n2) n = QuantizeLinear(n3, t, z) }"""
WIDE_CENTRED = NEWER + f"""g (float[1,4,6,6] x, uint16[1,4,6,6] u) => (int16[1,6,4,4] a, uint16[1,6,6,6] b, int16[1,4,6,6] c, uint16[1,4,36] d, int16[1,4,6,6] e)
    <float s={{0.0001}}, uint16 z={{30000}}, int16 q={{-2500}}, int16 o={{0}}, int8[6,4,3,3] w={integers(1, 216, 128)}, float ws={{0.0017}}, int8 wz={{0}},
     float t={{0.00004}}, uint16 tz={{0}}, uint16[1,4,1,1] k={{65535,0,40000,31000}}, float h={{0.0002}}, int64[3] sh={{1,4,36}}> {{
    xq = QuantizeLinear(x, s, z) xf = DequantizeLinear(xq, s, z) wf = DequantizeLinear(w, ws, wz) a1 = Conv(xf, wf) a2 = QuantizeLinear(a1, t, tz)
    a3 = DequantizeLinear(a2, t, tz) a = QuantizeLinear(a3, h, o) uf = DequantizeLinear(u, t, z) b1 = Conv<pads=[1,1,1,1]>(uf, wf)
    b = QuantizeLinear(b1, h, z) kf = DequantizeLinear(k, t, z) c1 = Add(xf, kf) c2 = QuantizeLinear(c1, h, q) c3 = DequantizeLinear(c2, h, q)
    c4 = Abs(c3) c = QuantizeLinear(c4, h, o) d1 = Sigmoid(xf) d2 = Reshape(d1, sh) d = QuantizeLinear(d2, t, tz)
    e1 = QuantizeLinear(uf, h, z) e2 = DequantizeLinear(e1, h, z) e = QuantizeLinear(e2, h, o) }}"""
# Nodes before those that make their inputs, and constants after what they are constants of.
UNSORTED = """g (int8[1,4,6] x) => (int8[1,4] y, int8[1,24] v) <float s={0.05}, int8 z={3}> {
    y = QuantizeLinear(m, t, o) m = ReduceMean<axes=[2], keepdims=0>(f) o = Identity(z) fl = Reshape(r, sh) v = QuantizeLinear(fl, t, o)
    r = LeakyRelu<alpha=0.25>(f) t = Constant<value_float=0.04>() sh = Constant<value_ints=[1, -1]>() f = DequantizeLinear(x, s, z) }"""
# An image's mean and deviation before the first convolution: of float32, of uint8, and numbers alone.
IMAGES = f"""g (float[1,6,6,3] x, uint8[1,3,6,6] u, float[1,3,6,6] r) => (uint8[1,4,4,4] a, uint8[1,3,6,6] b, int8[1,3,6,6] c) <float s={{0.02}}, uint8 z={{120}},
    float n={{0.015625}}, float[1,3,1,1] m={{0.1,-0.05,0.02}}, float[3,1,1] d={{0.01,0.0125,0.011}}, int8[4,3,3,3] w={integers(3, 108)}, float ws={{0.0078125}}, int8 wz={{0}},
    float t={{0.0625}}, float e={{127.5}}, float one={{1}}, float o={{0.0078125}}, float k={{0.022}}> {{
    x1 = Transpose<perm=[0,3,1,2]>(x) x2 = Mul(x1, n) x3 = Sub(x2, m) x4 = Div(x3, d) x5 = QuantizeLinear(x4, s, z) x6 = DequantizeLinear(x5, s, z)
    wf = DequantizeLinear(w, ws, wz) a1 = Conv(x6, wf) a = QuantizeLinear(a1, t, z)
    u1 = Cast<to=1>(u) u2 = Div(u1, e) u3 = Sub(u2, m) u4 = Mul(u3, one) u5 = Div(u4, d) b = QuantizeLinear(u5, t, z)
    r1 = Div(r, k) r2 = Add(one, r1) c = QuantizeLinear(r2, o, wz) }}"""
# Softmax whose results have finer steps than 1/256: of 1/400, and of 1/2550, where integers would be 5 steps off.
FINE_SOFTMAX = f"""g (uint8[3,40] x) => (uint8[3,40] a, uint8[3,40] b) <float s={{0.03}}, uint8 z={{120}}, float t={{0.0025}}, float u={{0.000392157}}, uint8 o={{0}}> {{
    f = DequantizeLinear(x, s, z) a1 = Softmax(f) a = QuantizeLinear(a1, t, o) b1 = Softmax(f) b = QuantizeLinear(b1, u, o) }}"""
# Stored values as numbers, and the same values in two scales; images of uint8 as Cast and a division.
STORED = f"""g (uint8[1,3,6,6] x, float[2,8] r) => (uint8[1,4,4,4] a, uint8[1,3,6,6] b, float[2,8] c, int32[2,8] d, float[2,8] e) <float s={{0.02}}, uint8 z={{3}},
    float n={{255}}, int8[4,3,3,3] w={integers(3, 108)}, float ws={{0.0078125}}, int8 wz={{0}}, float t={{0.0625}}, uint8 tz={{120}}, float u={{1.5}}> {{
    f = Cast<to=1>(x) g1 = Div(f, n) wf = DequantizeLinear(w, ws, wz) a1 = Conv(g1, wf) a = QuantizeLinear(a1, t, tz)
    h = DequantizeLinear(x, s, z) b1 = Add(f, h) b = QuantizeLinear(b1, u, z)
    q = QuantizeLinear(r, t, tz) c = Cast<to=1>(q) d = Cast<to=6>(c) e = DequantizeLinear(q, t, tz) }}"""
# Nodes of ONNX Runtime's optimiser: normalised sums, functions, products, attention with and without a mask.
MICROSOFT = f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[2,4,8] x, float[2,4,8] k, uint8[3,8] u) =>
    (int8[2,4,8] aq, int8[2,4,8] bq, int8[2,4,8] cq, int8[2,4,8] dq, int8[2,4,8] eq, int8[2,4,8] fq, int8[2,4,4] hq, int8[1,2,3,2] iq, int8[3,4] jq)
    <float[8] g1={numbers(1, 8, 0.5, 1.5)}, float[8] b1={numbers(2, 8, -0.5, 0.5)}, float[8,24] w={numbers(3, 192, -0.5, 0.5)}, float[24] wb={numbers(4, 24, -0.5, 0.5)},
     int32[2,4] m={{1,1,1,0,1,1,0,0}}, int8[8,4] q={integers(5, 32)}, float ys={{0.05}}, float s={{0.01}}, float t={{0.02}}, uint8 uz={{120}}, int8 qz={{3}}, float[4] jb={numbers(6, 4, -1, 1)},
     float[1,2,4,4] n={numbers(7, 32, -1, 1)}, float[2,2,2,3] v={numbers(8, 24, -1, 1)}> {{
    a, a1, a2, a3 = com.microsoft.SkipLayerNormalization<epsilon=1e-5>(x, k, g1, b1, b1) b = com.microsoft.SkipSimplifiedLayerNormalization<epsilon=1e-5>(x, k, g1)
    c1 = com.microsoft.BiasGelu(a3, b1) c2 = com.microsoft.FastGelu(c1, b1) c3 = com.microsoft.FastGelu(c2) c = com.microsoft.QuickGelu(c3)
    d = com.microsoft.Attention<num_heads=2>(x, w, wb, m) e = com.microsoft.Attention<num_heads=4, unidirectional=1>(k, w, wb)
    f = com.microsoft.MultiHeadAttention<num_heads=2>(x, k, k, wb, m) h = com.microsoft.FusedMatMul<alpha=0.5, transB=1>(x, k)
    i = com.microsoft.FusedConv<activation="LeakyRelu", activation_params=[0.2]>(n, v) j = com.microsoft.MatMulIntegerToFloat(u, q, s, t, uz, qz, jb)
    aq = QuantizeLinear(a, ys, qz) bq = QuantizeLinear(b, ys, qz) cq = QuantizeLinear(c, ys, qz) dq = QuantizeLinear(d, ys, qz) eq = QuantizeLinear(e, ys, qz) fq = QuantizeLinear(f, ys, qz) hq = QuantizeLinear(h, ys, qz) iq = QuantizeLinear(i, ys, qz) jq = QuantizeLinear(j, ys, qz) }}"""
# PRelu of quantised values: slopes of channels, of some elements, and far too steep for 8 bits. The scale is 2^-4, so that products are exact.
SLOPES = f"""g (int8[2,5,3,4] x) => (int8[2,5,3,4] a, uint8[2,5,3,4] b, int8[2,5,3,4] c) <float s={{0.0625}}, int8 z={{3}}, float t={{0.05}}, uint8 o={{80}},
    float[5,1,1] sa={numbers(7, 5, -0.3, 0.9)}, float[4] sb={numbers(8, 4, 0, 0.5)}, float[5,1,1] sc={{200,0.01,0,-3,0.02}}> {{
    f = DequantizeLinear(x, s, z) a1 = PRelu(f, sa) a = QuantizeLinear(a1, t, z) b1 = PRelu(f, sb) b = QuantizeLinear(b1, t, o)
    c1 = PRelu(f, sc) c = QuantizeLinear(c1, t, z) }}"""
# Transposed convolutions in groups: depthwise, and of two channels each with a scale for each channel of a group.
TRANSPOSED_GROUPS = f"""g (int8[1,6,4,5] x) => (int8[1,6,8,10] a, int8[1,4,9,6] b) <float s={{0.03125}}, int8 z={{-7}}, float t={{0.05}},
    int8[6,1,4,4] w={integers(3, 96)}, float ws={{0.0078125}}, int8 wz={{0}}, int8[6,2,3,2] v={integers(4, 72)}, float[2] vs={{0.0078125,0.015625}}, int8[2] vz={{0,0}},
    float[4] vb={{0.5,-1,0,2}}> {{
    f = DequantizeLinear(x, s, z) wf = DequantizeLinear(w, ws, wz) vf = DequantizeLinear<axis=1>(v, vs, vz)
    a1 = ConvTranspose<group=6, strides=[2,2], pads=[1,1,1,1]>(f, wf) a = QuantizeLinear(a1, t, z)
    b1 = ConvTranspose<group=2, strides=[2,1]>(f, vf, vb) b = QuantizeLinear(b1, t, z) }}"""

MODELS = {
    "microsoft": MICROSOFT,
    "stored": STORED,
    "fine_softmax": FINE_SOFTMAX,
    "images": IMAGES,
    "upsample_scales": """<ir_version: 3, opset_import: ["" : 7]> g (float[1,2,4,5] x) => (float[1,2,8,15] y, float[1,2,4,10] v) {
        y = Upsample<scales=[1.0,1.0,2.0,3.0]>(x) v = Upsample<mode="linear", scales=[1.0,1.0,1.0,2.0]>(x) }""",
    "slopes": NEWER + SLOPES,
    "transposed_groups": NEWER + TRANSPOSED_GROUPS,
    "unsorted": UNSORTED,
    "nothing": NEWER + NOTHING,
    "no_ops": NO_OPS,
    "two_bits": TWO_BITS,
    "reverse": """g (float[3,4,2] x, int8[2,3,4] q, bool[2,2] k) => (float[3,4,2] y, int8[2,3,4] v, bool[2,2] w, float[3,4,2] u)
        <int64[4] a={2,0,3,1}, int64[2] b={3,3}, int64[2] c={1,2}, int64[3] d={4,4,4}> {
        y = ReverseSequence(x, a) v = ReverseSequence<batch_axis=0, time_axis=1>(q, b) w = ReverseSequence(k, c)
        u = ReverseSequence<batch_axis=0, time_axis=1>(x, d) }""",
    "residual": RESIDUAL,
    "wide_conv": WIDE_CONV,
    "wide_microsoft": WIDE_CONV.replace("""["" : 21]""", """["" : 17, "com.microsoft" : 1]""").replace("= QuantizeLinear", "= com.microsoft.QuantizeLinear")
        .replace("= DequantizeLinear", "= com.microsoft.DequantizeLinear"),
    "wide_sums": WIDE_SUMS,
    "wide_curves": WIDE_CURVES,
    "wide_matmul": WIDE_MATMUL,
    "wide_mixed": WIDE_MIXED,
    "wide_narrow": WIDE_NARROW,
    "wide_table": WIDE_TABLE,
    "wide_places": NEWER + """g (float[2,3,7] x) => (int64[2,1,7] a, int64[2,3,2] i, float[2,3,2] v) <float s={0.000125}, uint16 z={30000}, int64[1] k={2}> {
        q = QuantizeLinear(x, s, z) f = DequantizeLinear(q, s, z) a = ArgMax<axis=1>(f) v1, i = TopK<axis=2>(f, k) v2 = Round(v1) v = Abs(v2) }""",
    "wide_centred": WIDE_CENTRED,
    "arguments": ARGUMENTS,
    "few_bits": FEW_BITS,
    "float_products": FLOAT_PRODUCTS,
    "float_weights": FLOAT_WEIGHTS,
    "matrices": MATRICES,
    "volumes": VOLUMES,
    "sums": SUMS,
    "masks": MASKS, "sums_of_constants": SUMS_OF_CONSTANTS,
    "factors": FACTORS,
    "channel_scales": CHANNELS,
    **{f"einsum_{i}": einsum(*case) for i, case in enumerate(EINSUM)},
    "depths_float": depths("""f = DequantizeLinear(x, s, z) k = DequantizeLinear<axis=0>(w, ws, wz) c = Conv OPTIONS (f, k, b)
        y = QuantizeLinear(c, t, o)""", "int8[1,4,2,4,6] y", ", float[4] b={0.5,-1,2,0}"),
    "depths_same": depths("""f = DequantizeLinear(x, s, z) k = DequantizeLinear<axis=0>(w, ws, wz)
        c = Conv<auto_pad="SAME_UPPER", group=2, strides=[2,2,2]>(f, k) y = QuantizeLinear(c, t, o)""", "int8[1,4,2,3,3] y"),
    "depths_qlinear": depths("y = QLinearConv OPTIONS (x, s, z, w, ws, wz, t, o)", "int8[1,4,2,4,6] y"),
    "depths_pool": NEWER + """g (int8[1,2,3,4,5] x) => (int8[1,2,1,1,1] y, int8[1,2,1,1,1] v) <float s={0.05}, int8 z={-3}, float t={0.04}> {
        f = DequantizeLinear(x, s, z) a = GlobalAveragePool(f) b = GlobalMaxPool(f) y = QuantizeLinear(a, t, z) v = QuantizeLinear(b, t, z) }""",
    "pool_overhang": """<ir_version: 10, opset_import: ["" : 19]> g (int8[1,2,6,7] x) => (int8[1,2,A,B] y, int8[1,2,C,D] v)
        <float s={0.05}, int8 z={-3}, float t={0.04}> {
        f = DequantizeLinear(x, s, z) a = AveragePool<kernel_shape=[3,4], strides=[2,2], ceil_mode=1, count_include_pad=1>(f)
        y = QuantizeLinear(a, t, z)
        b = AveragePool<kernel_shape=[3,2], strides=[2,3], pads=[1,0,1,1], ceil_mode=1, count_include_pad=1>(f)
        v = QuantizeLinear(b, t, z) }""",
    **{f"antialias_{i}": NEWER + """g (int8[1,2,9,11] x) => (int8[1,2,4,B] y) <int64[2] n=SIZES, float s={0.05}, int8 z={-3}> {
        f = DequantizeLinear(x, s, z) r = Resize<axes=[2,3], antialias=1, OPTIONS>(f, , , n) y = QuantizeLinear(r, s, z) }""".replace("OPTIONS", options).replace("SIZES", sizes)
       for i, (options, sizes) in enumerate([('mode="linear"', "{4,5}"), ('mode="cubic"', "{4,14}"),
                                             ('mode="cubic", exclude_outside=1', "{4,3}"),
                                             ('mode="linear", coordinate_transformation_mode="align_corners"', "{4,6}")])},
    "bits": NEWER + """g (int8[2,3] x, uint8[2,3] u, int32[2,3] v, int32[3] w) => (int8[2,3] a, uint8[2,3] b, int32[2,3] c)
        <int8[3] p={-7,100,3}, uint8 q={170}> { a = BitwiseAnd(x, p) b = BitwiseOr(u, q) c = BitwiseXor(v, w) }""",
    "empty_part": """g (int8[2,6] x) => (int8[2,6] y) <int64[3] s={4,0,2}, float t={0.5}, int8 z={3}> {
        f = DequantizeLinear(x, t, z) a, b, c = Split<axis=1>(f, s) d = Concat<axis=1>(c, b, a) y = QuantizeLinear(d, t, z) }""",
    "places": NEWER + """g (int8[3,4,5] x, int64[3,2,5] u, int64[6,2] v) => (int8[3,2,5] y, int8[6,5] w, float[6] r, int64[1,2] n1, int64[6] n2, int64[6] n3)
        <float s={0.05}, int8 z={-3}, int64 n={4}, int64 m={3}, int64 o={2}, int64[2,3] c={3,-1,4,1,-5,9}, int64[1] zero={0}, int64[1] m1={-1}, float[3,4] t={0.5,1,2,3,4,5,6,7,8,9,10,11}> {
        a = Mod(u, n) i = Sub(a, o) f = DequantizeLinear(x, s, z) g1 = GatherElements<axis=1>(f, i) y = QuantizeLinear(g1, s, z)
        b = Mod(v, m) j = Sub(b, o) k = Abs(j) w = GatherND(x, k) r = GatherND(t, k)
        n1 = ReduceSum(v, zero) n2 = ReduceMax<keepdims=0>(v, m1)
        k1 = ReduceSum<keepdims=0>(c, m1) k2 = ReduceMin<keepdims=0>(c, m1) k3 = Add(k1, k2) k4 = ReduceProd<keepdims=0>(k3, zero) n3 = Add(n2, k4) }""",
    "shape_read": NEWER + """g (float[2,6] x) => (int8[3,4] y, int64[2] n) <int64[2] d={3,4}, float s={0.05}, int8 z={-3}> {
        a = Abs(x) b = Reshape(a, d) n = Shape(b) y = QuantizeLinear(b, s, z) }""",
    "zeros": """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (int8[2,3] x) => (int8[2,3] y, int8[2,3] w)
        <float s={0.00074}, int8 z={3}, int8[3] n={5,5,5}, float one={1}, int8 five={5}, float t={0.00037}, int8 o={-99}> {
        y = com.microsoft.QLinearAdd(x, s, z, n, one, five, t, o)
        f = DequantizeLinear(x, s, z) k = DequantizeLinear(n, one, five) a = Sub(f, k) w = QuantizeLinear(a, t, o) }""",
    "pool_places": NEWER + """g (float[1,2,7,8] x, int8[1,2,5,6] u, float[1,1,9] v) => (float[1,2,4,4] a, int64[1,2,4,4] b, int64[1,2,4,4] e, int8[1,2,3,3] c, int64[1,2,3,3] d, float[1,1,5] f, int64[1,1,5] h, float[1,2,1,1] k, float[1,2,1,1] l)
        <float s={0.05}, int8 z={-3}> {
        a, b = MaxPool<kernel_shape=[3,2], strides=[2,2], pads=[1,0,1,0]>(x) a2, e = MaxPool<kernel_shape=[3,2], strides=[2,2], pads=[1,0,1,0], storage_order=1>(x)
        w = DequantizeLinear(u, s, z) c1, d = MaxPool<kernel_shape=[2,2], strides=[2,2], ceil_mode=1>(w) c = QuantizeLinear(c1, s, z)
        f, h = MaxPool<kernel_shape=[3], dilations=[2]>(v) k = GlobalLpPool<p=3>(x) l = GlobalLpPool(x) }""",
    "selected": NEWER + """g (int8[3,4] x) => (int8[2,4] a, int8[2] b, int64[2,3] c, float[3,2] d)
        <bool[3] w={1,0,1}, bool[6] k={0,1,0,0,1,0}, int64[2,3] n={0,7,-1,0,0,3}, float s={0.05}, int8 z={-3}> {
        a = Compress<axis=0>(x, w) b = Compress(x, k) e = Abs(n) c = NonZero(e) f = DequantizeLinear(x, s, z)
        l = Constant<value = bool[4] {0,1,0,1}>() d = Compress<axis=-1>(f, l) }""",
    "blocks_computed": NEWER + f"""g (float[2,7,3] x, int8[2,7,3] u, float[3] s, int16 z, float[3] v) => (int8[2,7,3] a, uint8[2,7,3] b, float[2,7,3] c, float[2,7,3] d, int8[2,7,3] e, int16[2,7,3] h, float[2,7,3] k)
        <float[2,3,3] t={numbers(1, 18, .05, .2)}, int8[2,3,3] o={integers(2, 18)}, float[2,7,2] w={numbers(3, 28, .05, .2)}, uint8[2,7,2] p={{{",".join(map(str, range(7, 35)))}}}, float low={{0.05}}, float few={{0.01}}> {{
        s1 = Abs(s) s2 = Add(s1, low) v1 = Abs(v) v2 = ReduceSum<keepdims=0>(v1) v3 = Mul(v2, few)
        a = QuantizeLinear<axis=1, block_size=3>(x, t, o) b = QuantizeLinear<axis=2, block_size=2>(x, w, p)
        c = DequantizeLinear<axis=1, block_size=3>(u, t, o) d = DequantizeLinear<axis=2>(u, s2)
        e = QuantizeLinear<axis=2, output_dtype=3>(x, s2) h = QuantizeLinear(x, v3, z) k = DequantizeLinear(h, v3, z) }}""",
    # halves of pixels, whole numbers, sizes that are powers of two: float32 is exact
    "deformed": NEWER + f"""g (float[2,4,8,4] x, float[2,24,5,3] o, float[2,12,5,3] m) => (float[2,6,5,3] y, float[2,3,5,3] z)
        <float[6,2,3,2] w={integers(1, 72, 9)}, float[6] b={integers(2, 6, 9)}, float[3,4,3,2] v={integers(3, 72, 9)}, float two={{2}}, float half={{0.5}},
         int64[1] few={{0}}, int64[1] end={{12}}, int64[1] one={{1}}> {{
        xr = Round(x) o1 = Mul(o, two) o2 = Round(o1) o3 = Mul(o2, half) mr = Round(m) p = Slice(o3, few, end, one)
        y = DeformConv<group=2, offset_group=2, strides=[2,1], pads=[1,1,2,1], dilations=[1,3]>(xr, w, o3, b, mr)
        z = DeformConv<strides=[2,1], pads=[1,1,2,1], dilations=[1,3], kernel_shape=[3,2]>(xr, v, p) }}""",
    "no_nodes": "g (int8[2,3] x) => (int8[2,3] x) { }",
    "pad_negative": """g (int8[2,5] x) => (int8[2,5] y, int8[1,8] z) <int64[4] p={0,-1,0,1}, int64[4] q={-1,4,0,-1}, int8 v={7}> {
        y = Pad(x, p) z = Pad(x, q, v) }""",
    "softmax_rows": OLDER + "g (float[2,3,4] x) => (float[2,3,4] y) { n = Sub(x, x) y = Softmax<axis=1>(n) }",
    "wide_border": NEWER + """g (int16[2,3] x, uint16[2,3] u) => (int16[2,3] y, uint16[2,3] w)
        <float s={0.5}, int16 z={3}, float t={0.25}, int16 o={-7}, uint16 c={300}> {
        f = DequantizeLinear(x, s, z) y = QuantizeLinear(f, t, o) h = DequantizeLinear(u, s, c) w = QuantizeLinear(h, t, c) }""",
    "dynamic_const": """g (uint8[1,2,4,4] x) => (int32[1,2,2,2] y) {
        w = Constant<value = float[2,2,3,3] {-1.5, 1.0, 0.25, -0.5, 2.0, 0.125, 1.0, -1.0, 0.75, 0.5, 0.25, 0.0, 1.5, -0.75, 1.0,
            0.5, -0.25, 1.0, 0.5, 0.75, -1.0, 1.0, 0.0, 0.5, 0.25, -0.25, 1.25, 1.0, -1.0, 0.5, 0.5, 2.0, -1.5, 0.5, 0.25, 1.0}>()
        q, s, z = DynamicQuantizeLinear(w) c = Cast<to=2>(z) a = Constant<value = uint8 {7}>() y = ConvInteger(x, q, a, z) }""",
    "blocks": NEWER + """g (float[2,8] x) => (float[2,3] y)
        <int8[8,3] w={1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24}, float[2,3] s={0.5,1,2,0.25,4,1}, int8[2,3] z={1,2,3,4,5,6}> {
        f = DequantizeLinear<axis=0, block_size=4>(w, s, z) r = Round(x) y = MatMul(r, f) }""",
    "channels_reshaped": """g (int8[1,2,3,3] x) => (int8[1,2,3,3] y) <float s={0.5}, int8 z={1}, int8[2,2] w={1,-3,5,7}, float[2] ws={0.5,0.25},
        int8[2] wz={0,0}, int64[2] ax={2,3}> {
        f = DequantizeLinear(x, s, z) g2 = DequantizeLinear<axis=0>(w, ws, wz) v = Unsqueeze(g2, ax) c = Conv(f, v)
        y = QuantizeLinear(c, s, z) }""",
    "channels_zero": """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (uint8[1,2,3,3] x) => (uint8[1,2,3,3] y, int8[1,2,3,3] v)
        <float s={0.5}, uint8 z={7}, uint8[2,2,1,1] w={1,3,99,80}, float[2] ws={0.5,0.25}, uint8[2] wz={5,90},
        int8[2,2,1,1] q={1,-3,5,7}, int8[2] qz={-7,3}, int8 o={1}> {
        y = QLinearConv(x, s, z, w, ws, wz, s, z)
        f = DequantizeLinear(x, s, z) k = DequantizeLinear<axis=0>(q, ws, qz) c = Conv(f, k) v = QuantizeLinear(c, s, o) }""",
    **{f"resize_{policy}": NEWER + """g (float[1,1,4,6] x) => (float[1,1,A,B] y) <int64[2] n={7,8}> {
        y = Resize<axes=[2,3], mode="linear", keep_aspect_ratio_policy="POLICY">(x, , , n) }""".replace("POLICY", policy)
       for policy in ("not_larger", "not_smaller")},
    **{f"moves_{kind}": MOVES.replace("TYPE", kind) for kind in ("int32", "int64", "bool")},
    'scan':"""g (float[2,3] s, float[4,2,3] x) => (float[2,3] r, float[4,2,3] y) {
 r, y = Scan <num_scan_inputs = 1, body = b (float[2,3] a, float[2,3] e) => (float[2,3] o, float[2,3] t) { o = Add(a, e)  t = Mul(o, o) }> (s, x) }""",
    'loop_scan':"""g (float[2,3] x) => (float[2,3] r, float[4,2,3] y) <int64 n = {4}> {
 r, y = Loop <body = b (int64 i, bool c, float[2,3] a) => (bool d, float[2,3] o, float[2,3] t) { d = Identity(c) f = Cast<to=1>(i) o = Add(a, f) t = Mul(o, x) }> (n, , x) }""",
    'loop_while':"""g (float[2,3] x) => (float[2,3] r) <int64 lim = {2}, bool t = {1}> {
 r = Loop <body = b (int64 i, bool c, float[2,3] a) => (bool d, float[2,3] o) { d = Less(i, lim) o = Add(a, x) }> (, t, x) }""",
    'loop_zero':"""g (float[2,3] x) => (float[2,3] r) <int64 n = {0}> {
 z = Relu(x) r = Loop <body = b (int64 i, bool c, float[2,3] a) => (bool d, float[2,3] o) { d = Identity(c) o = Add(a, x) }> (n, , z) }""",
    'if_dyn':"""g (float[2,3] x, float[1] k) => (float[2,3] r) <float zero={0.0}> {
 c = Greater(k, zero)  c2 = Squeeze(c)
 r = If <then_branch = t () => (float[2,3] o) { o = Relu(x) }, else_branch = e () => (float[2,3] o2) { h = Neg(x) o2 = Mul(h, x) }> (c2) }""",
    'if_nested':"""g (float[2,3] x, bool k) => (float[2,3] r, float[2,3] q) <bool t={1}> {
 r, q = If <then_branch = t () => (float[2,3] o, float[2,3] p) { h = Abs(x) o = If <then_branch = t2 () => (float[2,3] u) { u = Add(h, x) }, else_branch = e2 () => (float[2,3] w) { w = Sub(h,x) }> (k)  p = Mul(h, h) }, else_branch = e () => (float[2,3] o2, float[2,3] p2) { o2 = Mul(x, x) p2 = Neg(x) }> (t) }""",
    'func_attr':"""g (float[2,3] x) => (float[2,3] r) { h = l.F<alpha=0.25>(x) r = l.G(h) }
 <opset_import: ["" : 17], domain: "l"> F <alpha>(x) => (y) { y = LeakyRelu<alpha: float = @alpha>(x) }
 <opset_import: ["" : 17, "l":1], domain: "l"> G (x) => (y) { a = l.F<alpha=0.5>(x) y = Add(a, x) }""",
    'func_twice':"""g (float[2,3] x) => (float[2,3] r, float[2,3] s) { h, i = l.F(x, x) r, s = l.F(h, i) }
 <opset_import: ["" : 17], domain: "l"> F (a, b) => (y, z) { c = Constant<value = float {2.0}>() y = Mul(a, c) z = Sub(y, b) }""",
    'q_if':"""g (int8[1,4,6,6] x) => (int8[1,4,6,6] r) <float s={0.05}, int8 z={-3}, float so={0.2}> {
 f = DequantizeLinear(x, s, z)  c = Relu(f) t = Shape(x) one = Constant<value = int64 {4}>() zero = Constant<value = int64 {1}>() d = Gather(t, zero) k = Equal(d, one)
 v = If <then_branch = t () => (float[1,4,6,6] o) { o = Add(c, f) }, else_branch = e () => (float[1,4,6,6] o2) { o2 = Neg(c) }> (k)
 r = QuantizeLinear(v, so, z) }""",
}
REVERSE = "g (float[2,3] x, int64[3] n) => (float[2,3] y) <int64[3] a={1,2,2}> { y = ReverseSequence(x, a) }"
LOOP = "Loop<body = b (int64 i, bool c, float[2,3] a) => (bool d, float[2,3] o) { d = Identity(c) o = Add(a, x) }>"
# ONNX Runtime's QLinearAveragePool counts cells that ceil_mode adds, its float one does not; it quantises float32 weights
UNFUSED = {"pool_overhang", "float_weights", "matrices"}
ONE_FUSED = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[1,2,4,4] x, int64[1,4] i, float[2,4,8] a, int32[2] m) => (float[1,2,4,4] y)
    <float[2,2,1,1] w={1,2,3,4}, float[8,24] p={PARAMETERS}, float[4] v={1,2,3,4}> { BODY }""".replace("PARAMETERS", ",".join(["1"] * 192))

REFUSED = {
    "fused_activation": ONE_FUSED.replace("BODY", 'y = com.microsoft.FusedConv<activation="Softplus">(x, w)'),
    "fused_mask": ONE_FUSED.replace("BODY", "y = com.microsoft.Attention<num_heads=2>(a, p, , m)"),
    "fused_past": ONE_FUSED.replace("BODY", "y = com.microsoft.Attention<num_heads=2>(a, p, , , x)"),
    "fused_places": ONE_FUSED.replace("BODY", "y = com.microsoft.EmbedLayerNormalization(i, i, w, w, , v, v)"),
    "fused_index": ONE_FUSED.replace("BODY", "y, z = com.microsoft.EmbedLayerNormalization(i, , w, w, , v, v)"),
    "fused_inputs": ONE_FUSED.replace("BODY", "y = com.microsoft.MultiHeadAttention<num_heads=2>(a, a, a, , , , x, x)"),
    "fused_absent": ONE_FUSED.replace("BODY", "y = com.microsoft.FusedMatMul(, a)"),
    "reverse_axes": REVERSE.replace("(x, a", "<time_axis=1>(x, a"),
    "reverse_count": REVERSE.replace("3] a={1,2,2}", "2] a={1,2}"),
    "reverse_length": REVERSE.replace("={1,2,2", "={1,2,3"),
    "reverse_computed": REVERSE.replace("(x, a", "(x, n"),
    "resize_policy": NEWER + """g (float[1,1,4,6] x) => (float[1,1,7,8] y) <int64[4] n={1,1,7,8}> {
        y = Resize<mode="linear", keep_aspect_ratio_policy="wide">(x, , , n) }""",
    "antialias_quantised": NEWER + """g (int8[1,1,4,6] x) => (int8[1,1,2,3] y) <int64[4] n={1,1,2,3}> {
        y = Resize<mode="linear", antialias=1>(x, , , n) }""",
    "antialias_wide": NEWER + """g (float[5000] x) => (float[2] y) <int64[1] n={2}> {
        y = Resize<mode="linear", antialias=1>(x, , , n) }""",
    "depths_groups": NEWER + """g (float[1,3,2,2,2] x, float[1,2,1,1,1] u) => (float[1,1,2,2,2] y) <float[1,2,1,1,1] w={1,2}> { y = Conv(x, w) }""",
    "channels_apart": """g (uint8[1,2,3,3] x) => (uint8[1,2,3,3] y) <float s={0.5}, uint8 z={7}, uint8[2,2,1,1] w={1,255,0,80},
        float[2] ws={0.5,0.25}, uint8[2] wz={0,255}> { y = QLinearConv(x, s, z, w, ws, wz, s, z) }""",
    "softmax_axes": """<ir_version: 8, opset_import: ["" : 11, "com.microsoft" : 1]> g (int8[2,3,4] x) => (int8[2,3,4] y)
        <float s={0.00390625}, int8 z={-128}> { y = com.microsoft.QLinearSoftmax<axis=1, opset=11>(x, s, z, s, z) }""",
    "einsum_letters": 'g (float[2,2] x) => (float[2] y) { y = Einsum<equation="ii->i">(x) }',
    "einsum_rank": 'g (float[2,2] x) => (float[2] y) { y = Einsum<equation="ijk->i">(x) }',
    "einsum_size": 'g (float[2,2] x, float[3,2] z) => (float[2] y) { y = Einsum<equation="ij,ik->i">(x, z) }',
    "einsum_seven": """g (float[2,2,2,2] x, float[2,2,2,2] z, float[2,2,2,2] w) => (float[2,2,2,2] y) {
        y = Einsum<equation="abcd,efgh,abef->cdgh">(x, z, w) }""",
    "einsum_few": 'g (float[2,2] x, float[2,2] z) => (float[2] y) { y = Einsum<equation="ij->i">(x, z) }',
    "einsum_many": 'g (float[2,2] x) => (float[2] y) { y = Einsum<equation="ij,jk->i">(x) }',
    "einsum_result": 'g (float[2,2] x) => (float[2] y) { y = Einsum<equation="ij->k">(x) }',
    "einsum_wide": """g (float[1,1,1,1] x, float[1,1,1,1] z) => (float[1] y) {
        y = Einsum<equation="abcd,efgh">(x, z) }""",
    "quantise_halves": NEWER + "g (float[2] x) => (int4[2] y) <float s={1}, int4 z={0}> { y = QuantizeLinear(x, s, z) }",
    "deform_offsets": NEWER + """g (float[1,2,4,4] x, float[1,6,4,4] o) => (float[1,2,4,4] y) <float[2,2,1,2] w={1,2,3,4,5,6,7,8}> { y = DeformConv(x, w, o) }""",
    "deform_volume": NEWER + """g (float[1,2,4] x, float[1,2,4] o) => (float[1,2,4] y) <float[2,2,1] w={1,2,3,4}> { y = DeformConv(x, w, o) }""",
    "blocks_quantised": NEWER + """g (float[2,4] x) => (int8[2,4] y) <float[2,3] s={1,1,1,1,1,1}, int8[2,3] z={0,0,0,0,0,0}> {
        y = QuantizeLinear<axis=1, block_size=2>(x, s, z) }""",
    "blocks_each": NEWER + """g (float[2,4] x) => (int8[2,4] y) <float[2,3] s={1,1,1,1,1,1}, int8[2,3] z={0,0,0,0,0,0}> {
        y = QuantizeLinear<axis=1, block_size=1>(x, s, z) }""",
    "scales_of_channels": NEWER + """g (float[2,4] x, float[3] s) => (uint8[2,4] y) { y = QuantizeLinear<axis=1>(x, s) }""",
    "scales_int4": NEWER + """g (float[2,4] x, float s) => (int4[2,4] y) { y = QuantizeLinear<output_dtype=22>(x, s) }""",
    "blocks_shape": NEWER + """g (float[2,4] x) => (float[2,2] y) <int8[4,2] w={1,2,3,4,5,6,7,8}, float[1,2] s={0.5,1}> {
        f = DequantizeLinear<axis=0, block_size=2>(w, s) y = MatMul(x, f) }""",
    "pad_mode": """g (float[2,5] x) => (float[2,5] y) <int64[4] p={0,-1,0,1}> { y = Pad<mode="reflect">(x, p) }""",
    "branch_shapes": """g (float[2,3] x, bool k) => (float r) {
        r = If <then_branch = t () => (float o) { o = Relu(x) },
                else_branch = e () => (float p) { p = ReduceSum<keepdims=0>(x) }> (k) }""",
    "branch_outputs": """g (float[2,3] x, bool k) => (float[2,3] r, float[2,3] s) {
        r, s = If <then_branch = t () => (float o) { o = Relu(x) }, else_branch = e () => (float p) { p = Relu(x) }> (k) }""",
    "branch_not_computed": """g (float[2,3] x, bool k) => (float[2,3] r) { 
        r = If <then_branch = t () => (float o) { o = Relu(x) }, else_branch = e () => (float q) { p = Relu(x) }> (k) }""",
    "branch_absent": """g (float[2,3] x, bool k) => (float[2,3] r) { r = If <then_branch = t () => (float o) { o = Relu(x) }> (k) }""",
    "branch_inputs": """g (float[2,3] x, bool k) => (float[2,3] r) {
        r = If <then_branch = t (float q) => (float o) { o = Relu(x) }, else_branch = e () => (float p) { p = Relu(x) }> (k) }""",
    "condition_absent": """g (float[2,3] x, bool k) => (float[2,3] r) {
        r = If <then_branch = t () => (float o) { o = Relu(x) }, else_branch = e () => (float p) { p = Relu(x) }> ("") }""",
    "condition_two": """g (float[2,3] x, bool[2] k) => (float[2,3] r) {
        r = If <then_branch = t () => (float o) { o = Relu(x) }, else_branch = e () => (float p) { p = Relu(x) }> (k) }""",
    "loop_count": "g (float[2,3] x, int64 n) => (float[2,3] r) { r = " + LOOP + " (n, , x) }",
    "loop_counts": "g (float[2,3] x) => (float[2,3] r) <int64[2] n={1,2}> { r = " + LOOP + " (n, , x) }",
    "loop_endless": "g (float[2,3] x) => (float[2,3] r) { r = " + LOOP + " (, , x) }",
    "loop_condition": """g (float[2,3] x, bool k) => (float[2,3] r) <int64 n={3}> {
        r = Loop<body = b (int64 i, bool c, float[2,3] a) => (bool d, float[2,3] o) { d = Identity(k) o = Add(a, x) }> (n, , x) }""",
    "loop_empty": """g (float[2,3] x) => (float[N,2,3] r) <int64 n={0}> {
        r = Loop<body = b (int64 i, bool c) => (bool d, float[2,3] o) { d = Identity(c) o = Neg(x) }> (n, ) }""",
    "loop_nodes": """g (float[2,3] x) => (float[2,3] r) <int64 n={1000}> {
        r = Loop<body = b (int64 i, bool c, float[2,3] a) => (bool d, float[2,3] o) { d = Identity(c)
            o = Loop<body = b2 (int64 j, bool c2, float[2,3] e) => (bool d2, float[2,3] o2) {
                d2 = Identity(c2) o2 = Identity(e) }> (n, , a) }> (n, , x) }""",
    "scan_count": """g (float[2,3] x) => (float[2,3] y) {
        y = Scan <num_scan_inputs = 2, body = b (float[3] e) => (float[3] t) { t = Neg(e) }> (x) }""",
    "scan_axis": """g (float[2,3] x) => (float[2,3] y) {
        y = Scan <num_scan_inputs = 1, scan_input_axes = [1], body = b (float[3] e) => (float[3] t) { t = Neg(e) }> (x) }""",
    "scan_long": """g (float[1001,3] x) => (float[1001,3] y) {
        y = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] t) { t = Neg(e) }> (x) }""",
    "call_attribute": """g (float[2,3] x) => (float[2,3] r) { r = l.F(x) }
        <opset_import: ["" : 17], domain: "l"> F <alpha>(x) => (y) { y = LeakyRelu<alpha: float = @alpha>(x) }""",
    "call_inputs": """g (float[2,3] x) => (float[2,3] r) { r = l.F(x, x) }
        <opset_import: ["" : 17], domain: "l"> F (x) => (y) { y = Relu(x) }""",
    "call_itself": """g (float[2,3] x) => (float[2,3] r) { r = l.F(x) }
        <opset_import: ["" : 17, "l" : 1], domain: "l"> F (x) => (y) { y = l.F(x) }""",
}


def nbits(attributes, k, n, blob, more="", inputs="", x="float[3,K] x", before="", after="", y="float[3,N] y"):
    """A MatMulNBits of random blocks; numbers of few bits, so that float32's sums are exact in any order."""
    rng = np.random.default_rng(k)
    bits, size = (int(attributes.split(f"{word}=")[1].split(",")[0]) for word in ("bits", "block_size"))
    blocks = -(-k // size)
    w = ",".join(str(v) for v in rng.integers(0, 256, n * blocks * blob))
    s = ",".join(str(v) for v in 2.0 ** rng.integers(-4, 2, n * blocks))
    z = ",".join(str(v) for v in rng.integers(0, 256, n * -(-blocks * bits // 8)))
    return (f"""<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]> g ({x}) => ({y})
        <uint8[{n},{blocks},{blob}] w={{{w}}}, float[{n * blocks}] s={{{s}}}, uint8[{n * -(-blocks * bits // 8)}] z={{{z}}}{more}> {{
        {before or "r = Round(x)"} {"m" if after else "y"} = com.microsoft.MatMulNBits<K={k}, N={n}, {attributes}>(r, w, s{inputs}) {after} }}"""
            ).replace("K]", f"{k}]").replace("N]", f"{n}]")


MODELS.update({
    "nbits": nbits("bits=4, block_size=16", 40, 5, 8),
    "nbits_zeros": nbits("bits=4, block_size=16, accuracy_level=1", 50, 3, 8, inputs=", z"),
    "nbits_bias": nbits("bits=8, block_size=32", 64, 4, 32, ", float[4] b={1,2,-3,0.5}", ", z, , b"),
    "nbits_quantised": nbits("bits=4, block_size=64", 50, 6, 32, ", float xs={0.5}, int8 xz={3}, float ys={8}", ", z", "int8[3,K] x",
                             "r = DequantizeLinear(x, xs, xz)", "y = QuantizeLinear(m, ys, xz)", "int8[3,N] y"),
})
NBITS = nbits("bits=4, block_size=16", 40, 2, 8)
REFUSED.update({
    "nbits_bits": NBITS.replace("bits=4", "bits=3"),
    "nbits_block": NBITS.replace("block_size=16", "block_size=24"),
    "nbits_size": NBITS.replace("N=2", "N=0"),
    "nbits_order": nbits("bits=4, block_size=16", 40, 2, 8, f", int32[40] o={{{','.join(str(i // 16) for i in range(40))}}}", ", , o"),
    "nbits_weights": NBITS.replace("K=40", "K=30"),
    "nbits_scales": NBITS.replace("w, s)", "w, t)").replace("> {", ", float[2] t={1,2}> {"),
    "nbits_computed": NBITS.replace("w, s)", "w, x)"),
})

# QONNX, as Brevitas exports it. ONNX Runtime gets the operators as functions of ONNX's own.
QONNX_HEAD = '<ir_version: 8, opset_import: ["" : 17, "qonnx.custom_op.general" : 2]> '
QONNX_FUNCTIONS = """
    <opset_import: ["" : 17], domain: "qonnx.custom_op.general"> Quant <signed, narrow, rounding_mode> (x, s, z, b) => (y) {
        one = Constant<value = float {1}>() two = Constant<value = float {2}>() si = Constant<value_int: int = @signed>()
        sf = Cast<to=1>(si) ni = Constant<value_int: int = @narrow>() n = Cast<to=1>(ni) e = Sub(b, sf) p = Pow(two, e)
        top = Sub(p, one) u = Sub(one, sf) un = Mul(u, n) high = Sub(top, un) np = Sub(n, p) low = Mul(sf, np)
        d = Div(x, s) a = Add(d, z) r = Round(a) l = Max(r, low) c = Min(l, high) k = Cast<to=7>(c) kf = Cast<to=1>(k) m = Sub(kf, z) y = Mul(m, s) }
    <opset_import: ["" : 17], domain: "qonnx.custom_op.general"> BipolarQuant (x, s) => (y) {
        zero = Constant<value = float {0}>() up = GreaterOrEqual(x, zero) n = Neg(s) y = Where(up, s, n) }"""


def quants(body):
    """Node forms of Brevitas in short: Q3 signed 3 bits, N narrow, U unsigned, B bipolar."""
    for short, signed, narrow in ("Q", 1, 0), ("N", 1, 1), ("U", 0, 0), ("V", 0, 1):
        body = body.replace(f" {short}(", f' qonnx.custom_op.general.Quant<narrow={narrow}, signed={signed}, rounding_mode="ROUND">(')
    return body.replace(" B(", " qonnx.custom_op.general.BipolarQuant(")


BITS = ", ".join(f"float b{n}={{{n}}}" for n in (1, 2, 3, 4, 5, 6, 8, 12, 32))
NORM = "".join(f", float[12] {n}={numbers(k, 12, low, high)}" for k, (n, low, high) in
               enumerate((("ng", .5, 1.5), ("nb", -1, 1), ("nm", -1, 1), ("nv", .5, 2)), 20))
# Middle scales are 251 / 2^k: sums are exact in float32, and hardly one is half a step.
QONNX_DENSE = QONNX_HEAD + quants(f"""g (float[5,16] x) => (float[5,6] y, float[5,6] v, float[5,12] u, float[5,12] n)
    <float z={{0}}, {BITS}{NORM}, float xs={{0.03125}}, float[12,16] w={numbers(1, 192, -.5, .5)}, float[12,1] ws={powers(2, 12, -4, -1)},
     float[1] one={{1}}, float[1] tenth={{0.125}}, float[12,16] bw={numbers(3, 192, -.2, .2)}, float ms={{0.490234375}}, float us={{0.2451171875}},
     float[6,12] k={numbers(4, 72, -.5, .5)}, float ks={{0.125}}, float[6] c={numbers(5, 6, -2, 2)}, float cs={{0.00048828125}},
     float[16,12] f={numbers(6, 192, -1, 1)}, float fs={{0.015625}}, float[16,12] fz={powers(7, 192, -6, -5)}, float three={{3}}> {{
    q = Q(x, xs, z, b8) wq = N(w, ws, z, b2) wt = Transpose<perm=[1,0]>(wq) m1 = MatMul(q, wt)
    m2 = BatchNormalization(m1, ng, nb, nm, nv) m3 = Q(m2, ms, z, b2) kq = Q(k, ks, z, b3) kt = Transpose<perm=[1,0]>(kq)
    p1 = MatMul(m3, kt) cq = Q(c, cs, z, b32) y = Add(p1, cq)
    bx = B(x, one) bq = B(bw, tenth) bt = Transpose<perm=[1,0]>(bq) s1 = MatMul(bx, bt) s2 = BatchNormalization(s1, ng, nb, nm, nv)
    s3 = B(s2, one) kb = B(k, tenth) kbt = Transpose<perm=[1,0]>(kb) v = MatMul(s3, kbt)
    fq = U(f, fs, three, b6) g1 = MatMul(q, fq) g2 = Relu(g1) g3 = V(g2, us, z, b5) u = Identity(g3)
    f12 = Q(f, fz, z, b12) n1 = MatMul(x, f12) n = Q(n1, us, three, b4) }}""")
QONNX_CONV = QONNX_HEAD + quants(f"""g (float[1,4,9,9] x) => (float[1,10] y, float[1,4,9,9] d)
    <float z={{0}}, {BITS}{NORM}, float xs={{0.03125}}, float[12,4,3,3] w={numbers(1, 432, -.5, .5)}, float[1] one={{1}}, float[1] tenth={{0.125}},
     float[12,12,3,3] k={numbers(2, 1296, -.5, .5)}, float[12,1,1,1] ks={powers(3, 12, -4, -1)}, float[12] c={numbers(4, 12, -2, 2)},
     float[12] cs={powers(5, 12, -11, -9)}, float us={{0.2451171875}}, float[10,48] f={numbers(6, 480, -1, 1)}, float fs={{0.0625}},
     float[1,4,1,1] ds={{0.245,0.3,0.55,0.123}}, int64[2] sh={{1,48}}> {{
    q = Q(x, xs, z, b8) wq = B(w, tenth) c1 = Conv(q, wq) n1 = BatchNormalization(c1, ng, nb, nm, nv) s1 = B(n1, one)
    kq = Q(k, ks, z, b4) cq = Q(c, cs, z, b32) c2 = Conv(s1, kq, cq) p2 = MaxPool<kernel_shape=[2,2], strides=[2,2]>(c2) r2 = Relu(p2)
    q2 = U(r2, us, z, b4) e = Reshape(q2, sh) fq = N(f, fs, z, b4) y = Gemm<transB=1>(e, fq) d = N(x, ds, z, b6) }}""")
MODELS.update({
    "qonnx_dense": QONNX_DENSE,
    "qonnx_conv": QONNX_CONV,
    "qonnx_finn": quants("""<ir_version: 6, opset_import: ["" : 9, "finn.custom_op.general" : 1]> g (float[2,3] x, bool k) => (float[2,3] y, float[3,2] v, float[2,3] r)
        <float z={0}, float b={3}, float s={0.3}> { t = Identity(s) y = Q(x, t, z, b) e = Transpose<perm=[1,0]>(x) v = Q(e, t, z, b)
        r = If <then_branch = i () => (float[2,3] o) { o = Q(x, s, z, b) }, else_branch = j () => (float[2,3] p) { p = B(x, s) }> (k) }"""
        ).replace("qonnx.custom_op.general", "finn.custom_op.general"),
})
REFUSED.update({
    f"qonnx_{name}": QONNX_HEAD + quants(f"""g (float[2,3] x, float t) => (float[2,3] y) <float z={{0}}, float h={{0.5}}, float[2,3] e={{1,1,1,2,2,2}},
        float b={{{bits}}}, float s={{{scale}}}> {{ y = Q(x, {of}) }}""").replace("ROUND", mode)
    for name, bits, scale, of, mode in (("wide", 16, 1, "s, z, b", "ROUND"), ("bits", 0, 1, "s, z, b", "ROUND"), ("half", 2.5, 1, "s, z, b", "ROUND"),
                                        ("zero", 4, 1, "s, h, b", "ROUND"), ("scale", 4, 0, "s, z, b", "ROUND"), ("computed", 4, 1, "t, z, b", "ROUND"),
                                        ("blocks", 4, 1, "e, z, b", "ROUND"), ("mode", 4, 1, "s, z, b", "FLOOR"))
})
REFUSED["qonnx_shape"] = REFUSED["qonnx_blocks"].replace("(x, e", "(h, e")


def values_of(rng, border):
    if border.type == "tensor(float)":
        return rng.normal(0, 1, border.shape).astype(np.float32)
    if border.type == "tensor(bool)":
        return np.asarray(rng.random(border.shape) < 0.5)
    if border.type == "tensor(uint8)":
        return rng.integers(0, 256, border.shape).astype(np.uint8)
    return rng.integers(-100, 100, border.shape).astype(border.type[7:-1])


def write(name, text, folder):
    """Write NAME.onnx, NAME.in_<k> and ONNX Runtime's NAME.out_<k>; return inputs and outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.onnx"
    onnx.save(parser.parse_model(text if text[0] == "<" else HEAD + text), file)
    if name in REFUSED:
        return [], []
    options = onnxruntime.SessionOptions()
    if name in UNFUSED:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if "custom_op.general" in text:
        plain = (text.replace("finn", "qonnx").replace('"" : 9', '"" : 17') + QONNX_FUNCTIONS).replace("ir_version: 6", "ir_version: 8")
        file = parser.parse_model(plain).SerializeToString()
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(1)
    feed = {border.name: values_of(rng, border) for border in session.get_inputs()}
    answers = session.run(None, feed)
    for what, arrays in ("in", feed.values()), ("out", answers):
        for k, x in enumerate(arrays):
            x.tofile(folder / f"{name}.{what}_{k}")
    return list(feed.values()), answers


def wrong(heddle, name, folder, inputs, answers):
    """Compare heddle's answers; one step of 8 bits, two of 16, and 1e-5 of floats may differ."""
    command = [heddle, "run", str(folder / f"{name}.onnx"), "-o", str(folder / "results")]
    for k in range(len(inputs)):
        command += ["-i", str(folder / f"{name}.in_{k}")]
    for more in ["--engine=ref"], ["--engine=func"], ["--engine=func", "--target=c", "--onnx-rounding=onnx"]:
        done = subprocess.run(command + more, capture_output=True, text=True)
        if done.returncode:
            return f"{more}: {done.stderr.strip().splitlines()[-1]}"
        for k, y in enumerate(answers):
            found = np.fromfile(folder / "results" / f"out_{k}.bin", y.dtype).reshape(y.shape)
            limit = 1e-5 if y.dtype == np.float32 else 1 if y.dtype.itemsize == 1 else 2 if y.dtype.itemsize == 2 else 0
            if np.abs(found.astype(float) - y.astype(float)).max() > limit:
                return f"{more}: output {k} differs"
    return ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle")
    ap.add_argument("--write", type=pathlib.Path)
    args = ap.parse_args()
    failed = 0
    if args.write:
        for name, text in {**MODELS, **REFUSED}.items():
            write(name, text, args.write)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in MODELS.items():
            words = wrong(args.heddle, name, pathlib.Path(scratch), *write(name, text, pathlib.Path(scratch)))
            print(f"{name}: {words or 'right'}")
            failed += words != ""
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
