#!/bin/bash
# An installation, moved to a folder with a blank in its name, runs: it finds hardware, driver and networks
# relative to the program, and needs neither source nor build tree.
. "$(dirname "$0")/common.sh"
command -v verilator >/dev/null || { echo "verilator is not there"; exit 77; }

cmake --install "$HEDDLE_BUILD" --prefix "$work/first" >stdout 2>stderr || fail "install: $(cat stderr)"
mkdir "moved here" && mv first "moved here/heddle 1"
unset HEDDLE_HOME HEDDLE_BUILD
there="$work/moved here/heddle 1"
"$there/bin/heddle" build --hw=tiny >stdout 2>stderr || fail "build: $(cat stderr)"
for engine in ref func rtl; do
    "$there/bin/heddle" run digits --engine=$engine --hw=tiny -o "out $engine" >stdout 2>stderr ||
        fail "run digits on $engine: $(cat stderr)"
    cmp "out $engine/out_0.bin" "$models/digits/out_0.bin" || fail "digits on $engine"
done
"$there/bin/heddle" run --prog "$there/share/heddle/driver/examples/matmul.c" --hw=tiny >stdout 2>stderr ||
    fail "--prog: $(cat stderr)"
finish
