#!/bin/bash
# heddle compile --format=mlf: TVM's Model Library Format as its readers take it (mlf_check.py; TVM of PyPI has lost its
# own exporter and reader except the parameters, which it reads in the nightly form, as MLonMCU reads the sizes); its C
# builds by one compiler without flags and answers as the golden, with inputs at any address.
. "$(dirname "$0")/../common.sh"

reader=python3 modules=none
if [ -n "${HD_MLF:-}${HEDDLE_VENV_MLF:-}" ] && venv=$("$HEDDLE_HOME/.ci/venv" mlf); then # test_nightly_mlf.sh
    [ "${venv#/}" = "$venv" ] && venv=$HEDDLE_HOME/$venv
    reader=$venv/bin/python modules=all
fi

# read_it NAME OPTION...: NAME.tar is the format, the same every time, and the folder of the same name; into NAME.
read_it() {
    local name=$1
    shift
    "$heddle" compile "$@" --format=mlf -o "$name.tar" 2>stderr || { fail "$name: $(cat stderr)"; return 1; }
    "$heddle" compile "$@" --format=mlf -o "again/$name" 2>stderr || fail "$name: $(cat stderr)"
    "$heddle" compile "$@" -o "package_$name" 2>stderr || fail "$name: $(cat stderr)"
    mkdir "$name" && tar -xf "$name.tar" -C "$name" && same "$name" "again/$name" "tar and folder"
    grep -rl -e "$HEDDLE_HOME" -e "$work" "$name" && fail "$name: a path of this machine"
    "$reader" "$HEDDLE_HOME/tests/e2e/package/mlf_check.py" "$name.tar" "package_$name" $modules >read 2>&1
    [ -s read ] && fail "$name: $(cat read)"
    return 0
}

# call NAME: the objects of the kernels are those of the first network.
call() {
    local host=$1/codegen/host source
    mkdir -p objects
    for source in "$host"/src/*.c; do
        case ${source##*/} in hd*) [ -e "objects/$(basename "$source").o" ] && continue ;; esac
        echo "$source"
    done | xargs -P 2 -I {} sh -c 'cc -std=c11 -O1 -Wall -Wextra -Werror -I "$0/include" -c {} -o "objects/$(basename {}).o"' "$host" \
        2>stderr || fail "$1 does not build: $(head -3 stderr)"
    cc -std=c11 -Wall -Wextra -Werror -I "$host/include" -o "run_$1" "$1.c" objects/*.o 2>stderr || fail "$1.c: $(head -3 stderr)"
}

read_it whole digits --target=c --target-c-mcpu=cortex-m55
grep -q '"target":.*\["c -mcpu=cortex-m55"\]' whole/metadata.json || fail "target: $(grep target whole/metadata.json)"
cat >whole.c <<'C'
#include "tvmgen_default.h"
#include <stdio.h>
static char in[TVMGEN_DEFAULT_SERVING_DEFAULT_INPUT_0_SIZE + 1], out[TVMGEN_DEFAULT_STATEFULPARTITIONEDCALL_0_SIZE + 1];
int main(void)
{
    struct tvmgen_default_inputs x = {in + 1};
    struct tvmgen_default_outputs y = {.StatefulPartitionedCall_0 = out + 1};

    while (fread(in + 1, 1, sizeof in - 1, stdin) == sizeof in - 1) {
        if (tvmgen_default_run(&x, &y) != 0)
            return 1;
        fwrite(out + 1, 1, sizeof out - 1, stdout);
    }
    return TVMGEN_DEFAULT_WORKSPACE_SIZE == 0;
}
C
call whole
./run_whole <"$models/digits/in_0.bin" >out.bin || fail "exit $?"
cmp -s out.bin "$models/digits/out_0.bin" || fail "not the golden answer"

# --- a target's C next to the kernels ---
for one in vanilla:vanilla_conv2d strawberry:hdk_blocks_run; do # with cores, which the format cannot have: their C
    read_it ${one%:*} digits --target=${one%:*} --partition=priority
    cp whole.c ${one%:*}.c
    call ${one%:*}
    ./run_${one%:*} <"$models/digits/in_0.bin" >out.bin || fail "$one: exit $?"
    cmp -s out.bin "$models/digits/out_0.bin" || fail "$one: not the golden answer"
    grep -q "\"${one#*:}\"" ${one%:*}/metadata.json || fail "$one: its function is not named"
done
read_it shifts "$HEDDLE_HOME/tests/e2e/targets/pot.ir" --target=shifty,c
grep -q '"shifty_conv2d"' shifts/metadata.json || fail "shifty: its function is not named"

"$heddle" compile digits --target=onednn --partition=priority --format=mlf -o library 2>stderr || fail "onednn: $(cat stderr)"
grep -q '"url":.*"-ldnnl"' library/metadata.json || fail "a library: $(grep -A 9 external_dep library/metadata.json)"

# --- names that C cannot have, or has once; a variable, which stays from call to call ---
cat >sums.ir <<'IR'
heddle-ir 1 graph name="sums"
row 0 name="00_add" op="ADD" tensor="t" shape="1x8"
row 1 name="01_read" op="READ_VARIABLE" tensor="" shape=""
row 2 name="02_add" op="ADD" tensor="2nd" shape="1x8"
row 3 name="03_assign" op="ASSIGN_VARIABLE" tensor="" shape=""
tensor 0 i8 [1,8] input name="a:0" scale=(1) zero=(0)
tensor 1 i8 [1,8] input name="a.0" scale=(1) zero=(0)
tensor 2 i8 [1,8] variable name="sum" scale=(1) zero=(0) fill=5
tensor 3 i8 [1,8] value name="t" scale=(1) zero=(0)
tensor 4 i8 [1,8] value name="old" scale=(1) zero=(0)
tensor 5 i8 [1,8] value name="2nd" scale=(1) zero=(0)
tensor 6 bool [1] value name=""
op add row=0 in=(0,1) out=(3)
op read_variable row=1 in=(2) out=(4)
op add row=2 in=(3,4) out=(5)
op assign_variable row=3 in=(5,2) out=(6)
border in=(0,1) out=(5)
IR
read_it sums sums.ir --target=c
cat >sums.c <<'C'
#include "tvmgen_default.h"
int main(void)
{
    signed char a[TVMGEN_DEFAULT_A_0_SIZE], b[TVMGEN_DEFAULT_A_0_1_SIZE], y[TVMGEN_DEFAULT__2ND_SIZE];
    struct tvmgen_default_inputs x = {.a_0 = a, .a_0_1 = b};
    struct tvmgen_default_outputs z = {._2nd = y};
    int wrong = sizeof y != 8;

    for (int i = 0; i < 8; i++)
        a[i] = (signed char)i, b[i] = 3;
    for (int k = 1; k <= 4; k++) {
        wrong += tvmgen_default_run(&x, &z) != 0;
        for (int i = 0; i < 8; i++)
            wrong += y[i] != 5 + k * (i + 3);
    }
    return wrong;
}
C
call sums
./run_sums || fail "sums: $? values are wrong"

# --- what the format cannot express, and what is not a package ---
expect 3 "heddle: --format=mlf: the network has commands for an accelerator (sys16), for whose driver the format has no place; \
compile with --target=c, or without --format" "$heddle" compile digits --format=mlf -o no.tar
cp -r "$HEDDLE_HOME/targets/vanilla" twin
sed -i 's/"name": "vanilla"/"name": "twin"/' twin/target.json
expect 3 "heddle: --format=mlf: two files of the package are called 'vanilla.h', which has one folder for all" \
    "$heddle" compile digits --target-dir=twin --target=vanilla,twin --offload=00_conv2d=vanilla --offload=01_conv2d=twin --format=mlf --check=never -o no
expect 2 "heddle: --format: heddle compile has no csv, expected mlf" "$heddle" compile digits --format=csv -o no
expect 2 "heddle: --format: heddle compile has no text, expected mlf" "$heddle" compile digits --format=text -o no
expect 2 "heddle: --format: heddle run has no mlf, expected text, csv or json" "$heddle" run digits --format=mlf
expect 2 "heddle: --format: heddle inspect has no mlf, expected text, json, dot, svg, model-explorer or onnx" "$heddle" inspect digits --format=mlf
expect 2 "heddle: whole.tar: no model.c in it; expected what heddle compile wrote without --format" \
    "$heddle" run whole.tar --engine=func --allow-native-targets
[ -e no ] || [ -e no.tar ] && fail "a refused package was written"
[ $modules = all ] || echo "not tried: TVM and MLonMCU of PyPI ${venv:-}"
finish
