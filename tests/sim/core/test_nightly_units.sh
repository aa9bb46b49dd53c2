#!/bin/bash
# Custom instructions on PicoRV32's Verilog: outputs and cycles of each layer as with --host=iss, also with slower memory.
# Units that break a rule, and what target.json lacks.
. "$HEDDLE_HOME/tests/sim/core/units.sh"
. "$HEDDLE_HOME/tests/e2e/host/host_compared.sh"
if "$HEDDLE_HOME/.ci/venv" cores >log 2>&1; then
    compared digits -i digit.bin --target=dot4,c
    compared digits -i digit.bin --target=dot4,c --host-memory=3
    unit pcpi dot4_pcpi
    compared digits -i digit.bin --target-dir=pcpi --target=pcpi,c --allow-native-targets
    head -c 490 "$models/dscnn_own/in_0.bin" >one.bin
    compared dscnn_own -i one.bin --target=dot4,c
    python3 - <<'PY' || fail "layers of dot4: expected equal cycles on the ISS and on the Verilog"
import json, sys
iss, rtl = ([layer["host_cycles"] for layer in json.load(open(f))["layers"]] for f in ("iss/stats.json", "rtl/stats.json"))
sys.exit(iss[1:9] != rtl[1:9]) # the first layer's cycles have those from the input's arrival on
PY
fi

# --- rules ---
broken() { # NAME TEXT [HOSTS]
    for host in ${3:-native iss}; do
        run "$1" --host=$host
        [ $? = 4 ] || fail "$1, $host: expected exit 4: $(cat stderr)"
        grep -qE "[;:] $2\$" stderr || fail "$1, $host: expected '$2', found '$(cat stderr)'"
    done
}
unit silent bad_cfu ', "parameters": {"FAULT": 1}'
broken silent 'CFU rsp, cycle [0-9]+: rsp_valid: expected within 10000 cycles, found none'
unit again bad_cfu ', "parameters": {"FAULT": 2}'
broken again 'CFU rsp, cycle [0-9]+: rsp_valid: expected after a command, found without one' iss
unit deaf bad_pcpi
broken deaf 'PCPI pcpi, cycle [0-9]+: pcpi_ready: expected it or pcpi_wait within 16 cycles, found neither'

# --- host and ports belong together ---
sed -i '/"host": true/d; s/"core": {/&"memory_bytes": 64, /' silent/target.json
expect 2 'heddle: target silent: expected "host": true in target.json and a core with the ports of a CFU or of PCPI, or neither; found the ports only' \
    "$heddle" run digits -i digit.bin --target-dir=silent --target=silent,c --allow-native-targets
cp -r "$HEDDLE_HOME/targets/matvec" hosted
sed -i 's/"name": "matvec"/"name": "hosted"/; s/"memory": "separate"/"host": true/; /"transfer"/d' hosted/target.json
expect 2 'heddle: target hosted: expected "host": true in target.json and a core with the ports of a CFU or of PCPI, or neither; found "host" only' \
    "$heddle" run digits -i digit.bin --target-dir=hosted --target=hosted,c --allow-native-targets
finish
