#!/bin/bash
# Several instances of the accelerator in one network, each with a separate configuration: the same
# bytes whatever goes where, whether memory is shared or not; what stats and packages show of it.
. "$(dirname "$0")/../common.sh"
. "$HEDDLE_HOME/tests/e2e/devices/instances.sh"

between 2 dscnn_own --engine=func --memory=separate
between 5 digits --engine=func -j2

halves=("${two[@]}" '--offload=0[0-4]*=a' '--offload=0[5-9]*=b')
"$heddle" run digits --engine=func "${halves[@]}" -o out >stdout || fail "digits in halves"
tr -d ' \n\t' <out/stats.json >stats
grep -q '"hw":\[{"name":"tiny","rows":4,"cols":4,[^}]*"instance":"a"},{"name":"sys8","rows":8,"cols":8,[^}]*"instance":"b"}\]' stats ||
    fail "hw of stats.json: $(head -c 300 stats)"
grep -q '"clock":{"mhz":52,"origin":"routed"}' stats || fail "clock: not that of the slower, sys8"
grep -q '"name":"06_conv2d","op":"CONV_2D",[^}]*"target":"b"' stats || fail "rows do not name b"
grep -q '^digits on a tiny, b sys8, engine func' stdout || fail "the report does not name them"

# Only the named instances are selected; a single one behaves as with --hw.
"$heddle" run digits --engine=func --hw=tiny -o plain >/dev/null
"$heddle" run digits --engine=func --target=systolic --target-systolic-hw=tiny -o alone >/dev/null
same plain/emitted alone/emitted "an instance alone"
tr -d ' \n\t' <alone/stats.json | grep -q '"hw":{"name":"tiny","rows":4,"cols":4[^}]*},' ||
    fail "hw of one instance is not an object"
# All on one of two: no second device in the emitted code.
"$heddle" run digits --engine=func "${two[@]}" '--offload=*_[cdaf][ouevd]*=a' --keep-on-host='14*' \
    -o one >stdout 2>stderr || fail "all on a: $(cat stderr)"
grep -q devices one/emitted/model.c && fail "a second device where only a has work"

"$heddle" compile digits "${halves[@]}" -o net.tar || fail "compile for two"
CC="$HEDDLE_HOME/tests/e2e/o0 ${CC:-cc}" "$heddle" run net.tar --allow-native-targets --engine=func -i "$models/digits/in_0.bin" \
    --expect "$models/digits/out_0.bin" >stdout 2>stderr || fail "run net.tar: $(cat stderr)"
tar xf net.tar metadata.json
tr -d ' \n\t' <metadata.json | grep -q '"name":"a",[^}]*{"hw":"tiny"}.*"name":"b",[^}]*{"hw":"sys8"}' ||
    fail "metadata.json does not name both"

# The package's own main.c opens each of them, at addresses of its own; here functional models are there.
mkdir net && tar xf net.tar -C net || fail "net.tar does not unpack"
program() { # NAME CONFIG-NAMES ADDRESS-DEFINES...: net/NAME from all of net but port_mmio.c
    local name=$1 names=$2 configs
    shift 2
    configs=$(python3 - "$HEDDLE_HOME/hw/accel.json" "$names" <<'END'
import json, sys
of = {c.pop("name"): {"rows": c["n"], "columns": c["n"], **c} for c in json.load(open(sys.argv[1]))["configurations"]}
print(*("{.name = \"%s\", %s}" % (n, ", ".join(".%s = %d" % f for f in of[n].items() if isinstance(f[1], int)))
        for n in sys.argv[2].split(",")), sep=", ")
END
    ) || return
    mapfile -t sources < <(ls net/*.c net/runtime/*.c net/runtime/kernels/*.c | grep -v port_mmio.c)
    ${CC:-cc} -std=c11 -O1 -Wall -Werror -I net -I net/runtime -I "$HEDDLE_HOME" -I "$HEDDLE_BUILD/gen" -Wa,-Inet \
        "-DFUNC_CONFIGS=$configs" "$@" -o "net/$name" "${sources[@]}" \
        "$HEDDLE_HOME"/sim/functional/*.c "$HEDDLE_BUILD/gen/hd_accel_tables.c" "$HEDDLE_HOME/tests/e2e/devices/func_mmio.c" 2>stderr
}
at=(-DHD_REGISTERS=0x40000000,0x40001000 -DHD_MEMORY=0x60000000,0x70000000
    -DHD_MEMORY_BYTES=0x100000,0x100000)
if command -v python3 >/dev/null; then
    program both tiny,sys8 "${at[@]}" || fail "main.c for two does not build: $(head -3 stderr)"
    cp "$models/digits/in_0.bin" net/
    (cd net && ./both) >stdout || fail "main.c for two: $(cat stdout)"
    cmp -s net/out_0.bin "$models/digits/out_0.bin" || fail "main.c for two: another answer"
    program one tiny,sys8 -fsyntax-only -DHD_REGISTERS=0x40000000 "${at[@]:1}" && fail "one address for two devices"
    grep -q "expected a value for each accelerator" stderr || fail "one address: $(head -3 stderr)"
fi

expect 2 "heddle: --target-b-hw: no hardware configuration 'sys9': expected one of tiny, sys8, sys16, sys32, or a JSON file" \
    "$heddle" inspect digits --target=systolic:b --target-b-hw=sys9
finish
