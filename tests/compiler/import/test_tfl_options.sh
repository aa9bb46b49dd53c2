#!/bin/bash
# Every field of the options in tflite.fbs is read by tfl_shim.cpp, and what it becomes by the TFLite
# importer, or is in `inert` with the reason why it changes no result.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
cd "$HEDDLE_HOME/compiler/import/tflite" || exit 1
python3 -B - <<'END' || fail "options of tflite.fbs"
import glob
import re
import sys

HYBRID = "of float32 activations with 8-bit weights, which LSTM and SVDF refuse"
inert = {
    "depth_multiplier": "the shapes decide",
    "keep_num_dims": "the output's shape decides",
    "proj_clip": "a projection is refused",
    "name": "of a composite; its decomposition decides",
    "UnidirectionalSequenceLSTMOptions.asymmetric_quantize_inputs": HYBRID,
    "SVDFOptions.asymmetric_quantize_inputs": HYBRID,
}
schema, shim = open("tflite.fbs").read(), open("tfl_shim.cpp").read()
importer = "".join(open(f).read() for f in glob.glob("*.c"))
wrong, read, fields = [], set(), 0
for table, body in re.findall(r"^table (\w+Options) \{(.*?)\}", schema, re.S | re.M):
    variable = re.search(rf"\*(\w+) = op->options(?:_2)?_as_{table}\(\)", shim)
    for field, rest in re.findall(r"(\w+): (.*?);", body):
        if "deprecated" in rest:
            continue
        fields += 1
        found = variable and re.search(rf"r->(\w+) = \w*\(?{variable[1]}->{field}\(\)", shim)
        if found:
            read.add(found[1])
        if bool(found) == (field in inert or f"{table}.{field}" in inert):
            wrong.append(f"{table}.{field}: {'read, but inert' if found else 'nothing reads it'}")
wrong += [f"tfl_options.{m}: nothing reads it" for m in sorted(read)
          if not re.search(rf"(?:->|\.){m}\b", importer)]
print(*wrong, f"{fields} fields", sep="\n")
sys.exit(bool(wrong) or fields < 60)
END
finish
