#!/bin/bash
# --host=rtl: the same program on PicoRV32's Verilog next to the RTL: outputs, the accelerator's cycles and bytes as
# with --host=iss, and its cycles end to end, of host operators and of the driver; also with slower memory. Then
# failures. On tiny and sys16.
. "$(dirname "$0")/../../e2e/common.sh"
for tool in riscv64-unknown-elf-gcc cmake; do
    command -v $tool >/dev/null || { echo "$tool not found (make test installs it)"; exit 77; }
done
expect 2 "heddle: --host-memory: only with --host=iss or rtl" "$heddle" run digits --host-memory=2
expect 2 "heddle: --host-bus: only with --host=iss or rtl" "$heddle" run digits --host-bus=2
expect 2 "heddle: --host-core: only with --host=iss" "$heddle" run digits --host=rtl --host-core=picorv32
expect 2 "heddle: --host=rtl: not with --reset-state" "$heddle" run digits --host=rtl --reset-state
expect 5 "heddle: --host=rtl: HEDDLE_PICORV32: none.v not found" env HEDDLE_PICORV32=none.v "$heddle" run digits --host=rtl
mkdir home && ln -s "$HEDDLE_HOME"/* home/ && rm home/build
expect 5 "heddle: --host=rtl: the processor's Verilog was not found; .ci/venv cores fetches it (pythondata-cpu-picorv32 of PyPI), or HEDDLE_PICORV32 is its path" \
    env -u HEDDLE_PICORV32 HEDDLE_HOME="$work/home" "$heddle" run digits --host=rtl
"$HEDDLE_HOME/.ci/venv" cores >log 2>&1 || { cat log; exit 77; }

. "$HEDDLE_HOME/tests/e2e/host/host_compared.sh"
head -c 1280 "$models/digits/in_0.bin" >in_0.bin
compared digits -i in_0.bin '--keep-on-host=14*'
compared digits -i in_0.bin '--keep-on-host=14*' --host-memory=3
compared digits -i in_0.bin '--keep-on-host=14*' --host-clock=1/2
compared "$models/vit_own/model.tflite" '--keep-on-host=*_softmax'
compared resnet8_own -i "$models/resnet8_own/in_0.bin"
head -c 128 "$models/digits/in_0.bin" >in_0.bin
compared digits -i in_0.bin --hw=tiny '--keep-on-host=14*'
compared digits -i in_0.bin --hw=tiny '--keep-on-host=14*' --host-memory=3
compared digits -i in_0.bin --hw=tiny '--keep-on-host=14*' --host-clock=1/2
compared "$models/vit_own/model.tflite" -n1 --hw=tiny '--keep-on-host=*_softmax'
head -c 64 "$models/digits/in_0.bin" >one.bin
compared digits -i one.bin --target=c
compared digits -i in_0.bin --hw=tiny --wait=poll -j2
host=rtl
. "$HEDDLE_HOME/tests/e2e/host/host_ends.sh"
finish
