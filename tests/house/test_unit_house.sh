#!/bin/bash
# Sizes of the tree only fall (house.py, still.txt), and house.py finds each rise and fall.
. "$(dirname "$0")/../e2e/common.sh"
house=$HEDDLE_HOME/tests/house/house.py
python3 "$house" --tree "$HEDDLE_HOME" --build "$HEDDLE_BUILD" >found || fail "$(cat found)"
grep '^still ' "$HEDDLE_HOME/tests/house/still.txt" | LC_ALL=C sort -c -k3 || fail "still.txt is not sorted"

# A planted tree in which each measure exceeds its bar by one.
lines() { for _ in $(seq "$1"); do echo "$2"; done; }
objects=build/CMakeFiles/heddle_core.dir/base
mkdir -p $objects base compiler/ir tests/base driver
lines 131 text >README.md
for f in one two; do
    [ $f = one ] && other=two || other=one
    echo "int $other(void); int $f(void) { return $other(); }" >base/$f.c
    [ $f = two ] && echo "int alone(void); int alone(void) { return 0; } int odr __asm__(\"__odr_asan.odr\");" >>base/$f.c
    cc -c base/$f.c -o $objects/$f.c.o || fail "cc"
done
for n in $(seq 23); do echo >base/file$n.c; done
echo >base/three.c
{ printf 'int three(int a,\n          int b)\n{\n'; lines 56 '    a += b;'; printf '    return a;\n}\n'; } >tests/base/three.c
lines 501 '' >base/long.c
lines 251 'int x = IR_OP_ADD;' >compiler/ir/codes.h
lines 801 'x = 1' >tests/base/long.py
mkdir -p hw/rtl tests/hw
{ lines 11 '  input  wire logic a_i,'; lines 10 '    .a_i(a),'; lines 80 ''; } >hw/rtl/wide.sv
lines 11 '' >tests/hw/wide_bench.sv
cat >still <<'END'
still 10 mirror compiler/ir
END
cat >expected <<'END'
circle one.c: 1 in a circle of object files, expected at most 0: move the function that closes it (tests/arrows/arrows.py)
circle two.c: 1 in a circle of object files, expected at most 0: move the function that closes it (tests/arrows/arrows.py)
export two.c:alone: 1 exported, and no other source names it, expected at most 0: make it static or delete it
folder base: 27 source files in the folder, expected at most 25: give a part a folder of its own
function three.c:three: 61 lines, expected at most 60: give its parts functions of their own
lines long.c: 501 lines, expected at most 500: split the file where it has two ideas
name three.c: 2 files of one name, expected at most 1: rename one: a name leads to one file
opcodes IR_OP_: 251 mentions of IR_OP_ outside operators/ and tests/, expected at most 250: make it a column of operators.def
ports hw/rtl: 21 percent of the lines are ports or connections, expected at most 20: put signals that go together into a packed struct
readme README.md: 131 lines, expected at most 130: move what is not for a first reader to docs/
test_lines long.py: 801 lines, expected at most 800: split the test where it has two subjects
END
python3 "$house" --tree . --still still >found && fail "planted sizes were not found"
diff expected found >difference || fail "planted sizes: $(cat difference)"

# If listed, they pass; in a tree without them each line must go, and --lower removes it.
cat >still <<'END'
# kept
still 1 circle one.c
still 1 circle two.c
still 1 export two.c:alone
still 27 folder base
still 61 function three.c:three
still 510 lines long.c
still 10 mirror compiler/ir
still 2 name three.c
still 260 opcodes IR_OP_
still 21 ports hw/rtl
still 131 readme README.md
still 810 test_lines long.py
END
python3 "$house" --tree . --still still >found || fail "listed sizes: $(cat found)"
sed -i 's/three/two/' base/two.c && rm base/three.c base/long.c $objects/two.c.o tests/base/three.c
echo "int one(void); int two(void) { return one(); }" >base/two.c
for f in README.md compiler/ir/codes.h tests/base/long.py hw/rtl/wide.sv; do sed -i 1d $f; done
for f in $(seq 26); do echo 'int a;'; done >tests/base/codes.c
mkdir -p tests/compiler/ir && cp tests/base/codes.c tests/compiler/ir/some.c
python3 "$house" --tree . --still still >found && fail "fallen sizes were not found"
[ "$(grep -c 'has fallen from' found)" = 12 ] && [ "$(wc -l <found)" = 12 ] || fail "fallen sizes: $(cat found)"
python3 "$house" --tree . --still still --lower >found || fail "--lower: $(cat found)"
[ "$(cat still)" = "# kept" ] || fail "--lower left: $(cat still)"
finish
