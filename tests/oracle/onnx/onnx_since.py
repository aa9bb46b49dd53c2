#!/usr/bin/env python3
"""The opsets in which each of heddle's ai.onnx operators changed, from the schemas of PyPI onnx.
  onnx_since.py --heddle PROGRAM (--write | --check) [TABLE]
--write makes the table of the importer anew; --check fails if the schemas say otherwise."""
import argparse
import re
import subprocess
import sys

from onnx import defs

HEAD = """/* onnx_since.def - SINCE(Name, "opsets"): the versions of each operator, from the schemas of the onnx package.
 * Written by tests/oracle/onnx/onnx_since.py. */
#ifndef SINCE
#define SINCE(...)
#endif
#ifndef SINCE_LAST
#define SINCE_LAST(...)
#endif
"""
FOOT = "#undef SINCE\n#undef SINCE_LAST\n"
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--heddle", default="build/heddle")
parser.add_argument("--write", action="store_true")
parser.add_argument("--check", action="store_true")
parser.add_argument("table", nargs="?", default="compiler/import/onnx/onnx_since.def")
o = parser.parse_args()

listed = subprocess.run([o.heddle, "ops"], capture_output=True, text=True, check=True).stdout.split("ONNX:")[1].split()
since = {}
for s in defs.get_all_schemas_with_history():
    if s.domain == "" and s.name in listed:
        since.setdefault(s.name, set()).add(s.since_version)
text = HEAD + f"SINCE_LAST({defs.onnx_opset_version()})\n" + "".join(
    f'SINCE({n}, "{" ".join(map(str, sorted(v)))}")\n' for n, v in sorted(since.items())) + FOOT
if o.write:
    open(o.table, "w").write(text)
if o.check:
    # an operator of an older table that the schemas changed since, or a last opset that is not theirs
    have = dict(re.findall(r'SINCE\((\w+), "([^"]*)"\)', open(o.table).read()))
    want = {n: " ".join(map(str, sorted(v))) for n, v in since.items()}
    wrong = [f"{n}: '{have.get(n)}', the schemas have '{v}'" for n, v in want.items() if have.get(n) != v]
    print(f"onnx_since: {len(want)} operators, opset {defs.onnx_opset_version()}, {len(wrong)} differ", *wrong, sep="\n")
    sys.exit(bool(wrong) or not text.startswith(open(o.table).read()[:len(HEAD) + 12]))
