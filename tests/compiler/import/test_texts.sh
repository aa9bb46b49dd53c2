#!/bin/bash
# Every message with which an importer refuses a file is in some test: whole, with anything in place of a conversion, or
# by its longest piece if no other message contains that. `known` lists those without a test, each with the reason; a
# message that is tested or gone must leave the list.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
cd "$HEDDLE_HOME" || exit 1
python3 -B - <<'END' || fail "texts of compiler/import"
import glob
import re
import sys

TAKEN_BACK = "not on quantised values, so the operator is made in float32 and this is taken back"
UNREACHED = "another check comes first"
NO_FILE = "no file of tests has it yet"
known = {
    "bias %d is %.9g: expected at most 2^31 times the product of the scales %.9g and %.9g": TAKEN_BACK,
    "group: expected at most %d that are not depthwise, found %d": TAKEN_BACK,
    "%dx%d kernel over %d channels with another output scale": TAKEN_BACK,
    "operand '%.80s': expected a computed tensor; a constant bound is Clip's": TAKEN_BACK,
    "'%.80s' is %s, its weights are %s: expected int8 or uint8, or both float32": UNREACHED,
    "bias '%.80s': expected a constant": UNREACHED,
    "the file does not unpack as an ONNX model within %zu MiB of memory": NO_FILE,
    "value: expected one element, found %llu": NO_FILE,
    "'%.80s' does not fit the weights %s": NO_FILE,
    "'%.80s' is too large to pad": NO_FILE,
    "'%.80s' is too large for its block size": NO_FILE,
    "multiple %u: found %d": NO_FILE,
    "expected at most %d variables": NO_FILE,
    "expected 1 output, a tensor of the file": NO_FILE,
    "initial value of '%.80s': buffer %u of %u": NO_FILE,
    "initial value of '%.80s': expected %llu bytes, found %zu": NO_FILE,
    "operator %u %s of the subgraph: expected VAR_HANDLE and ASSIGN_VARIABLE": NO_FILE,
    "operator %u of the subgraph: its handle or value was not found": NO_FILE,
}


def literal(text):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')


texts = []
for path in sorted(glob.glob("compiler/import/**/*.c*", recursive=True)):
    source = open(path).read()
    for found in re.finditer(r'\bFAIL\s*\((?:[^",]|\([^)]*\))*,[^",]*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', source):
        texts.append((path, literal(found[1])))
tests = ""
for path in glob.glob("tests/**/*", recursive=True):
    if path.endswith((".c", ".h", ".inc", ".sh", ".txt", ".py")) and "test_texts" not in path:
        tests += open(path).read() + "\n"
tests = re.sub(r'"\s*\n\s*"', "", tests).replace('\\"', '"').split("\n")


def is_tested(text):
    pieces = re.split(r"%[-+ #0-9.*]*(?:ll|l|z|h|hh)?[a-zA-Z]", text)
    longest = max(pieces, key=len).strip(" '\":,;()[")
    whole = re.compile(".*?".join(map(re.escape, pieces)))
    lines = [line for line in tests if longest in line]
    if len(longest) < 4 or any(whole.search(line) for line in lines):
        return True
    return bool(lines) and sum(longest in other for _, other in texts) == 1


untested = {text: path for path, text in texts if not is_tested(text)}
for text, path in untested.items():
    if text not in known:
        print(f"{path}: no test has: {text}")
for text in known:
    if text not in untested:
        print(f"known, but tested or gone: {text}")
print(f"{len(texts)} texts, {len(untested)} of them in no test")
sys.exit(untested.keys() != known.keys())
END
finish
