#!/bin/bash
# make: variables are checked, and paths are the caller's, also with `make -C`.
. "$(dirname "$0")/../common.sh"
[ "$HEDDLE_BUILD" = "$HEDDLE_HOME/build" ] && [ -e "$HEDDLE_BUILD/.setup-build" ] || { echo "this build is not make's"; exit 77; }
unset MAKEFLAGS MFLAGS MAKELEVEL
known="there are: MODEL HW ENGINE HOST WAVES INPUT EXPECT STATS PROG VENV MODELS SEED PART LIMIT HOURS RECORD PREFIX DESTDIR CC CXX PATH HOME"

# refused ARGUMENT MESSAGE
refused() {
    make -n -C "$HEDDLE_HOME" sim MODEL=digits "$1" >stdout 2>stderr
    [ $? = 2 ] && grep -q "\*\*\* $2; $known\.  Stop\.$" stderr || fail "$1: $(cat stderr)"
}
refused ENGIN=func "unknown variable ENGIN; did you mean ENGINE?"
refused engine=func "unknown variable engine; did you mean ENGINE?"
refused STAT=s.json "unknown variable STAT; did you mean STATS?"
refused FROBNICATE=1 "unknown variable FROBNICATE"
make -n -C "$HEDDLE_HOME" sim MODEL=digits HEDDLE_VERILATOR=x CC=gcc >stdout 2>stderr || fail "known ones: $(cat stderr)"

# sim OPTIONS...: runs from here, with files here
mkdir 'a folder'
cd 'a folder' || exit 1
cp "$models/digits/in_0.bin" in.bin
cp "$models/digits/out_0.bin" out.bin
cp "$HEDDLE_HOME/driver/examples/matmul.c" own.c
for flags in "" -s --no-print-directory; do
    rm -f s.json
    # shellcheck disable=SC2086
    make $flags -C "$HEDDLE_HOME" sim MODEL=digits ENGINE=func INPUT=in.bin EXPECT=out.bin STATS=s.json \
        >../stdout 2>../stderr || fail "$flags: $(tail -n 5 ../stderr)"
    [ -s s.json ] || fail "make $flags -C: no s.json where the caller is"
done
[ ! -e "$HEDDLE_HOME/s.json" ] || fail "s.json in the tree"
make -s -C "$HEDDLE_HOME" sim PROG=own.c ENGINE=func HW=tiny >../stdout 2>../stderr || fail "PROG: $(cat ../stderr)"
(cd "$HEDDLE_HOME" && make -s sim PROG=driver/examples/matmul.c ENGINE=func HW=tiny) >../stdout 2>../stderr ||
    fail "PROG of the tree: $(cat ../stderr)"
finish
