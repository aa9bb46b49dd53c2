#!/bin/bash
# Arrows between files and folders point one way (arrows.py, order.txt), and docs/architecture.svg shows them.
. "$(dirname "$0")/../e2e/common.sh"
arrows=$HEDDLE_HOME/tests/arrows/arrows.py
python3 "$arrows" --tree "$HEDDLE_HOME" --build "$HEDDLE_BUILD" >found || fail "$(cat found)"

# The picture shows today's arrows. Graphviz is not needed: its input file is compared.
python3 "$arrows" --tree "$HEDDLE_HOME" --build "$HEDDLE_BUILD" --dot today.dot || fail "--dot"
redraw="python3 tests/arrows/arrows.py --dot docs/architecture.dot --svg docs/architecture.svg"
diff "$HEDDLE_HOME/docs/architecture.dot" today.dot >difference ||
	fail "docs/architecture.dot is not what the build has ($redraw):"$'\n'"$(cat difference)"
grep -o '"[^"]*" -> "[^"]*"' today.dot | tr -d '"' | sed 's/ -> /->/' | sort >wanted
grep -o '<title>[^<]*&#45;&gt;[^<]*' "$HEDDLE_HOME/docs/architecture.svg" | sed 's/<title>//; s/&#45;&gt;/->/; s/&#45;/-/g' | sort >drawn
diff wanted drawn >difference || fail "docs/architecture.svg is not drawn from architecture.dot ($redraw)"

# A planted circle of two files in two folders is found, with the symbols that make it.
objects=build/CMakeFiles/heddle_core.dir/compiler
mkdir -p compiler/low compiler/high $objects/low $objects/high
echo 'int high(void); int low(void) { return high(); }' >compiler/low/low.c
echo 'int low(void); int high(void) { return low(); }' >compiler/high/high.c
for f in low high; do cc -c compiler/$f/$f.c -o $objects/$f/$f.c.o || fail "cc"; done
printf 'compiler/low below\ncompiler/high above\nstill compiler/high -> compiler/gone\n' >order
cat >expected <<'END'
link circles in compiler/: 1, of 2 files
  2: compiler/high/high.c compiler/low/low.c
link circles in the tree: 1, of 2 files
  2: compiler/high/high.c compiler/low/low.c
folders: 2, arrows: 2, circles: 1, of 2 folders, arrows backward: 1
  2: compiler/high compiler/low
backward: compiler/low -> compiler/high: low.c takes high from high.c
tests/arrows/order.txt: compiler/high -> compiler/gone is gone: take it off the list
the shortest circle of object files in compiler/:
  compiler/high/high.c -> compiler/low/low.c: low
  compiler/low/low.c -> compiler/high/high.c: high
the shortest circle of folders:
  compiler/high -> compiler/low: high.c takes low from low.c
  compiler/low -> compiler/high: low.c takes high from high.c
END
python3 "$arrows" --tree . --order order >found && fail "the planted circle was not found"
diff expected found >difference || fail "planted circle: $(cat difference)"
finish
