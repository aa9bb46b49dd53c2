#!/bin/bash
# Each host operator of the networks under 10 M MACs, the own and the shared ones: cycles of --host=iss with PicoRV32's table
# within 10 % of those on its Verilog; with the accelerator, and with all operators on the host.
. "$(dirname "$0")/../common.sh"
. "$HEDDLE_HOME/tests/e2e/host/host_compared.sh"
for tool in riscv64-unknown-elf-gcc cmake; do
    command -v $tool >/dev/null || { echo "$tool not found (make test installs it)"; exit 77; }
done
"$HEDDLE_HOME/.ci/venv" cores >log 2>&1 || { cat log; exit 77; }

# few_macs MODEL
few_macs() {
    "$heddle" run "$1" --engine=func -o macs >stdout 2>stderr || { fail "$1: $(cat stderr)"; return 1; }
    [ "$(python3 -c 'import json; print(json.load(open("macs/stats.json"))["macs"] < 10e6)')" = True ]
}
n=0
for model in "$models"/*/model.tflite \
    "$HEDDLE_HOME"/../shared/models/*/model.{tflite,onnx} "$HEDDLE_HOME"/../shared/networks/*/model.tflite; do
    [ -e "$model" ] || continue
    few_macs "$model" || continue
    compared "$model"
    compared "$model" --target=c
    n=$((n + 1))
done
echo "$n networks"
[ $n -ge 4 ] || fail "$n networks under 10 M MACs"
finish
