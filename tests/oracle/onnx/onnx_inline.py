"""Functions, If, Loop and Scan of ONNX, and movers of integers and bools, against ONNX Runtime.

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
MODELS = {
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
LOOP = "Loop<body = b (int64 i, bool c, float[2,3] a) => (bool d, float[2,3] o) { d = Identity(c) o = Add(a, x) }>"
REFUSED = {
    "branch_shapes": """g (float[2,3] x, bool k) => (float r) {
        r = If <then_branch = t () => (float o) { o = Relu(x) },
                else_branch = e () => (float p) { p = ReduceSum<keepdims=0>(x) }> (k) }""",
    "branch_outputs": """g (float[2,3] x, bool k) => (float[2,3] r, float[2,3] s) {
        r, s = If <then_branch = t () => (float o) { o = Relu(x) }, else_branch = e () => (float p) { p = Relu(x) }> (k) }""",
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


def values_of(rng, border):
    if border.type == "tensor(float)":
        return rng.normal(0, 1, border.shape).astype(np.float32)
    if border.type == "tensor(bool)":
        return np.asarray(rng.random(border.shape) < 0.5)
    return rng.integers(-100, 100, border.shape).astype(border.type[7:-1])


def write(name, text, folder):
    """Write NAME.onnx, NAME.in_<k> and ONNX Runtime's NAME.out_<k>; return inputs and outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.onnx"
    onnx.save(parser.parse_model(HEAD + text), file)
    if name in REFUSED:
        return [], []
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(1)
    feed = {border.name: values_of(rng, border) for border in session.get_inputs()}
    answers = session.run(None, feed)
    for what, arrays in ("in", feed.values()), ("out", answers):
        for k, x in enumerate(arrays):
            x.tofile(folder / f"{name}.{what}_{k}")
    return list(feed.values()), answers


def wrong(heddle, name, folder, inputs, answers):
    """What is wrong with heddle's answers, one step of quantised values and 1e-5 of floats aside."""
    command = [heddle, "run", str(folder / f"{name}.onnx"), "-o", str(folder / "results")]
    for k in range(len(inputs)):
        command += ["-i", str(folder / f"{name}.in_{k}")]
    for more in ["--engine=ref"], ["--engine=func"], ["--engine=func", "--target=c", "--onnx-rounding=onnx"]:
        done = subprocess.run(command + more, capture_output=True, text=True)
        if done.returncode:
            return f"{more}: {done.stderr.strip().splitlines()[-1]}"
        for k, y in enumerate(answers):
            found = np.fromfile(folder / "results" / f"out_{k}.bin", y.dtype).reshape(y.shape)
            limit = 1e-5 if y.dtype == np.float32 else 1 if y.dtype == np.int8 else 0
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
