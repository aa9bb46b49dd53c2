#!/bin/bash
# Sparse constants of TFLite files: one by hand, in the FlatBuffer and after it, and damaged ones, refused by name. tests/oracle/sparse_tflite.py compares
# random ones with LiteRT; two of those are in tests/reference/models.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
python3 -B "$HEDDLE_HOME/tests/compiler/import/tfl_sparse.py" . || fail "the files"
head -c 32 /dev/zero >x.bin
for net in right after; do
    "$heddle" run $net.tflite -i x.bin --engine=func -o $net >/dev/null 2>said || fail "$net: $(cat said)"
    found=$(python3 -c 'import struct, sys; print(*struct.unpack("<8f", open(sys.argv[1], "rb").read()))' $net/out_0.bin)
    [ "$found" = "0.0 0.0 1.0 2.0 3.0 4.0 5.0 6.0" ] || fail "$net: $found"
done
while IFS='|' read -r net text; do
    expect 3 "heddle: $net.tflite: operator 0 DENSIFY: tensor 1 'w': $text" "$heddle" inspect $net.tflite
done <<'END'
levels|sparsity: expected a level for each of 3 dimensions, found 2
twice|sparsity: level 1: dimension 0 is out of range or twice
block|sparsity: level 2: expected a block that divides dimension 1, found 3
segments|sparsity: level 1: expected 3 segments, found 2
back|sparsity: level 1: segment 2: found 1 after 2, of 3
index|sparsity: level 1: index 2: expected 0 to 1, found 2
size|sparsity: level 0: expected size 2, found 3
nodes|sparsity: level 1: has too many nodes
values|sparsity: expected 6 values, found 20 bytes
details|custom quantisation details are not supported
int4|sparse values of INT4: expected INT8
beyond|buffer 1: its bytes exceed the file
END
finish
