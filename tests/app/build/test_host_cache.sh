#!/bin/bash
# Compiled host C is cached by content and removed after two weeks without use when other C is compiled; a compile error
# names the kind of C. Another header of the kernels or the driver is other C.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config
host=$XDG_CACHE_HOME/heddle/host
run() { "$heddle" run "$@" --engine=func -o out >stdout 2>stderr || fail "$*: $(cat stderr)"; }
weeks_ago() { touch -d '15 days ago' "$@"; }
run autoencoder_own --target=c
first=$(echo "$host"/*)
[ -f "$first/model.so" ] || fail "not compiled into $host"
weeks_ago "$first"
run autoencoder_own --target=c
[ -n "$(find "$first" -maxdepth 0 -mtime -1)" ] || fail "its use is not noted"
mkdir tree tree/kernels
for part in "$HEDDLE_HOME"/* "$HEDDLE_HOME"/kernels/*; do
    [ "$part" = "$HEDDLE_HOME/kernels" ] || ln -s "$part" "tree${part#"$HEDDLE_HOME"}"
done
rm tree/kernels/hdk_ops.h
sed '$a // another' "$HEDDLE_HOME/kernels/hdk_ops.h" >tree/kernels/hdk_ops.h
HEDDLE_HOME=$work/tree run autoencoder_own --target=c
[ "$(find "$host" -name model.so | wc -l)" = 2 ] || fail "an object made with another hdk_ops.h is reused"
weeks_ago "$host"/*
touch "$first"
mkdir "$host/00000000000000000000000000000000" "$host/mine"
weeks_ago "$host"/0* "$host/mine"
run digits --target=c
[ -e "$first" ] && [ -e "$host/mine" ] || fail "removed: what was used, or is not heddle's"
[ -e "$host/00000000000000000000000000000000" ] && fail "not removed after two weeks"
weeks_ago "$first"
run --prog="$HEDDLE_HOME/driver/examples/matmul.c"
[ -e "$first" ] && fail "a program removes nothing"

# refused CODE WHAT COMMAND...: expects one line that states what was compiled, the compiler's error and the log.
refused() {
    local code=$1 what=$2 got
    shift 2
    "$@" >stdout 2>stderr
    got=$?
    [ "$got" = "$code" ] && [ "$(wc -l <stderr)" = 1 ] &&
        grep -q "^heddle: compiling $what failed (exit 1): .*error: .*  Log: '/.*log'\. Command: cd " stderr ||
        fail "exit $got, $*: $(cat stderr)"
}
echo 'int hd_program(void) { return nothing; }' >wrong.c
refused 2 "'wrong.c'" "$heddle" run --prog=wrong.c --engine=func
"$heddle" new-target mine >/dev/null
sed -i 's/^#include "mine.h"/&\nint wrong = nothing;/' mine/mine.c
refused 5 "the emitted C" "$heddle" run digits --target-dir=mine --target=mine --allow-native-targets --engine=func
"$heddle" compile digits --target=c -o net >/dev/null || fail "compile"
rm net/runtime/kernels/*.c
echo 'int wrong = nothing;' >>net/model.c
refused 5 "the package" "$heddle" run net --allow-native-targets --engine=func
finish
