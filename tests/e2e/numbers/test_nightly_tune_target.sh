#!/bin/bash
# heddle tune with a knob of an external target: measured on its own Verilog, kept and used like the
# others.
. "$(dirname "$0")/../common.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }

# vanilla, with reads of a register before each layer that cost cycles and change nothing.
cp -r "$HEDDLE_HOME/targets/vanilla" slow
chmod -R u+w slow
sed -i 's/"name": "vanilla"/"name": "slow"/
    s/"attributes": \[/"attributes": [ {"name": "reads", "type": "int", "range": [0, 3], "default": 2, "help": "reads"},/
    s/"headers":/"knobs": ["reads"], "headers":/; s/\$scales})"/$scales}, $reads)"/' slow/target.json
sed -i 's/struct vanilla_sizes s)/struct vanilla_sizes s, int32_t reads)/' slow/vanilla.c slow/vanilla.h
sed -i 's/    if (dev) {/    if (dev) {\n        for (int32_t i = 0; i < 50 * reads; i++)\n            (void)dev->read32(dev->ctx, 0);/' slow/vanilla.c
sql() { python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print("|".join(map(str, row)))' "$@"; }
with=(--target-dir=. --target=slow)

"$heddle" tune digits "${with[@]}" --tuned=t.db >/dev/null 2>stderr
[ $? = 2 ] && grep -q "would execute its code: add --allow-native-targets" stderr || fail "untrusted: $(cat stderr)"
with+=(--allow-native-targets)
"$heddle" tune digits "${with[@]}" --trials 17 -j2 --tuned=t.db >stdout 2>stderr || fail "tune: $(cat stderr)"
best=$(sql t.db 'SELECT number FROM trial ORDER BY cycles, number LIMIT 1')
[ "$(sql t.db "SELECT knobs ->> '\$.attributes[0].target', knobs ->> '\$.attributes[0].reads' FROM trial WHERE number = $best")" = "slow|0" ] ||
    fail "best: $(sql t.db "SELECT knobs FROM trial WHERE number = $best")"
[ "$(sql t.db "SELECT knobs ->> '\$.attributes[0].reads' FROM trial WHERE number = 0")" = 2 ] || fail "trial 0 is not the default"
"$heddle" run digits "${with[@]}" --tuned=t.db -o tuned >tuned.txt 2>stderr || fail "run --tuned: $(cat stderr)"
[ -n "$(told stderr)" ] && fail "run --tuned on stderr: $(cat stderr)"
"$heddle" run digits "${with[@]}" -o plain >plain.txt 2>&1 || fail "run: $(cat plain.txt)"
same plain/out_0.bin tuned/out_0.bin "outputs with and without --tuned"
cycles() { sed -n 's/.* inferences, \([0-9]*\)\.0 cycles each.*/\1/p' "$1"; }
[ "$(cycles tuned.txt)" -lt "$(cycles plain.txt)" ] || fail "tuned $(cycles tuned.txt), before $(cycles plain.txt)"
# trials whose target has no knob: the estimate has the cycles of the target's layer, too
for one in vanilla strawberry; do
    "$heddle" tune digits --hw=tiny --no-search --target=$one,systolic,c --offload=00_conv2d=$one --trials=2 --tuned=$one.db >stdout 2>stderr ||
        fail "$one: $(cat stderr)"
    sed -n 's/^trial [01]: \([0-9]*\) cycles, estimate \([0-9]*\)$/\1 \2/p' stdout | awk '
        { off = $1 > $2 ? $1 - $2 : $2 - $1; bad += off * 8 > $1; n++ } END { exit bad || n != 2 }' || fail "$one: $(grep trial stdout)"
    "$heddle" run digits --hw=tiny --engine=func --target=$one,systolic,c --offload=00_conv2d=$one --tuned=$one.db >stdout 2>stderr ||
        fail "$one, tuned: $(cat stderr)"
    [ -n "$(told stderr)" ] && fail "$one, tuned: $(cat stderr)"
done
[ "$(cycles tuned.txt)" = "$(sql t.db 'SELECT min(cycles) FROM trial')" ] || fail "not the cycles that were measured"

# Better proposals from native code come first, and are checked.
native() { # VALUE: an expression over the trial's number
    cat >native.c <<END
#include "heddle_target.h"
static int tune(const struct heddle_tuning *t, int64_t *value)
{
    if (t->n_knobs != 1 || t->high[0] != 3 || t->n_questions < 5 || t->value[0] != 2 ||
        t->cycles[0] < 1000 || t->question[0].op[0] != 'c')
        return 0;
    value[0] = $1;
    return 1;
}
const struct heddle_target_api heddle_target = {
    .abi = HEDDLE_TARGET_ABI, .name = "slow", .tune = tune};
END
    ${CC:-cc} -std=c11 -shared -fPIC -I "$HEDDLE_HOME/include" native.c -o slow/slow.so ||
        fail "native.c does not compile"
}
cp slow/target.json plain.json
sed -i 's/"headers":/"native": "slow.so", "headers":/' slow/target.json
native '(t->number + 2) % 4'
"$heddle" tune digits "${with[@]}" --trials 4 --tuned=n.db >stdout 2>stderr || fail "native tune: $(cat stderr)"
[ "$(sql n.db "SELECT knobs ->> '\$.attributes[0].reads' FROM trial WHERE number > 0 ORDER BY number" | head -2 | tr '\n' ' ')" = "3 0 " ] ||
    fail "its proposals: $(sql n.db 'SELECT knobs FROM trial')"
native 7
"$heddle" tune digits "${with[@]}" --trials 4 --tuned=m.db >stdout 2>stderr
[ $? = 2 ] && grep -q "^heddle: trial [12]: target slow, tune: reads: found 7, expected 0 to 3" stderr ||
    fail "a proposal out of range: $(cat stderr)"
rm slow/slow.so
mv plain.json slow/target.json

# A changed C file or another setting: stale.
cp slow/vanilla.c kept.c
echo "/* edited */" >>slow/vanilla.c
stale="heddle: note: t.db is not used: its results for this network are for other hardware or another memory system"
expect 0 "$stale" "$heddle" run digits "${with[@]}" --engine=func --tuned=t.db
mv kept.c slow/vanilla.c

# Knobs that tuning cannot vary.
edit() { # SED MESSAGE
    cp slow/target.json whole.json
    sed -i "$1" slow/target.json
    "$heddle" targets --target-dir=. >/dev/null 2>stderr && fail "$1: accepted"
    grep -q "$2" stderr || fail "$1: $(cat stderr)"
    mv whole.json slow/target.json
}
edit 's/"knobs": \["reads"\]/"knobs": ["max_kernel"]/' "a knob cannot be a limit: tuning varies it"
edit 's/, "range": \[0, 3\]//' "a knob is a bool, a choice or an int with a range"
edit 's/"knobs": \["reads"\]/"knobs": ["speed"]/' "unknown attribute 'speed'"
finish
