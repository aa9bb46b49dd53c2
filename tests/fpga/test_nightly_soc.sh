#!/bin/bash
# The top of hw/fpga that is routed, in Verilator: PicoRV32, block RAM, hd_top of tiny. digits runs there, the package's
# own program and driver over port_mmio, with outputs as the golden's; a stream that is refused is
# seen; registers after reset are what hw/registers.rdl says. Icarus and yosys read it, too.
. "$(dirname "$0")/../e2e/common.sh"
for tool in verilator riscv64-unknown-elf-gcc; do
    command -v $tool >/dev/null || { echo "SKIPPED: no $tool (make test installs it)"; exit 77; }
done
here=$HEDDLE_HOME/tests/fpga fpga=$HEDDLE_HOME/hw/fpga rtl=$HEDDLE_HOME/hw/rtl gen=$HEDDLE_BUILD/gen
if [ -z "${HEDDLE_PICORV32:-}" ]; then
    venv=$(cd "$HEDDLE_HOME" && .ci/venv cores) || { echo "SKIPPED: $venv"; exit 77; }
    HEDDLE_PICORV32=$(cd "$HEDDLE_HOME" && find "$(realpath "$venv")" -name picorv32.v)
fi
export HEDDLE_PICORV32

# --- what reads it ---
awk 'length > 100 { print FILENAME ":" FNR } FNR == 351 { print FILENAME " is long" }' "$fpga"/*.sv >log
[ ! -s log ] || fail "more than 100 columns or 350 lines: $(cat log)"
if command -v iverilog >/dev/null; then
    iverilog -g2012 "-I$gen" "-I$gen/tiny" "-I$rtl" -t null -s ulx3s "$rtl"/{,*/}*.sv "$fpga"/*.sv "$HEDDLE_PICORV32" >log 2>&1 ||
        fail "iverilog: $(cat log)"
fi
if command -v yosys >/dev/null; then
    mkdir source && cp "$rtl"/{,*/}*.sv "$rtl"/*.svh "$fpga"/*.sv "$gen/hd_accel.svh" "$gen/tiny/hd_config.svh" "$HEDDLE_PICORV32" source
    head -c 17 /dev/zero | tr '\0' '0' >source/soc.hex
    (cd source && yosys -q -p "read_verilog picorv32.v; read_verilog -sv -I. *.sv; hierarchy -check -top ulx3s; proc
        select -assert-none t:\$dlatch t:\$adlatch t:\$sr") >log 2>&1 || fail "yosys: $(grep -v Replacing log)"
fi

# --- digits: three inferences ---
# runs NAME: the program NAME.hex; what it prints goes to NAME.line.
runs() {
    "$fpga/simulate.sh" "$1.hex" soc 2000000 >"$1.line" 2>&1
}
"$heddle" compile digits --hw=tiny -o net 2>log || fail "compile: $(cat log)"
head -c $((3 * 64)) "$models/digits/in_0.bin" >in.bin
"$fpga/program/build.sh" net in.bin digits.hex >log 2>&1 || { fail "build.sh: $(cat log)"; finish; }
cat log
runs digits || fail "digits: $(cat digits.line)"
cat digits.line
sed -n 's/^output: //p' digits.line >out.hex
head -c 30 "$models/digits/out_0.bin" | od -An -v -tx1 -w10 | tr -d ' ' | diff - out.hex >difference ||
    fail "outputs: $(cat difference)"
grep -qx "inferences: 3" digits.line || fail "three inferences: $(cat digits.line)"

# --- what goes wrong is seen ---
# The stream's magic.
magic=$(printf 'HDDL' | od -An -tx4 | tr -d ' ')
grep -q "$magic" digits.hex && sed "0,/$magic/s/$magic/0${magic:1}/" digits.hex >magic.hex
runs magic && fail "a stream without magic: $(cat magic.line)"
grep -qx "inference failed" magic.line || fail "a stream without magic: $(cat magic.line)"
grep -q "lights 04" magic.line || fail "lights of a failure: $(cat magic.line)"

# --- another configuration: a bus of 4 bytes ---
echo '{"name": "narrow", "base": "tiny", "axi_bytes": 4, "axi_addr_bits": 32}' >narrow.json
"$HEDDLE_BUILD/hdgen" "$HEDDLE_HOME/hw/accel.json" --config narrow.json --svh narrow || fail "narrow.json"
libraries=(-y "$rtl")
for room in "$rtl"/*/; do libraries+=(-y "${room%/}"); done
verilator --lint-only -Wall --timescale 1ns/1ps --top-module ulx3s "-I$gen" -Inarrow "${libraries[@]}" -y "$fpga" \
    "$fpga/waivers.vlt" "$fpga/ulx3s.sv" "$HEDDLE_PICORV32" >log 2>&1 || fail "a bus of 4 bytes: $(head -5 log)"
HW=narrow.json "$fpga/program/build.sh" net in.bin narrow.hex >log 2>&1 || fail "build.sh: $(cat log)"
[ "$(head -1 narrow.hex)" = "$(cut -c 9- <(head -1 digits.hex))" ] || fail "words of 4 bytes: $(head -1 narrow.hex)"
HW=sys16 "$fpga/program/build.sh" net in.bin wide.hex >log 2>&1 && fail "a bus of 16 bytes was taken"
grep -qx "build.sh: sys16: expected a bus of 4 or 8 bytes, found 16" log || fail "a bus of 16 bytes: $(cat log)"

# --- registers after reset ---
if fpga_venv=$(cd "$HEDDLE_HOME" && .ci/venv fpga); then
    mkdir -p registers_net/runtime && cp net/port.h "$here/registers.c" registers_net && cp net/runtime/hd_accel.h registers_net/runtime
    "$fpga/program/build.sh" registers_net in.bin registers.hex >log 2>&1 || fail "build.sh: $(cat log)"
    runs registers || fail "registers: $(cat registers.line)"
    words=$(sed -n 's/^output: //p' registers.line)
    resets() { # resets RDL
        (cd "$HEDDLE_HOME" && "$fpga_venv/bin/python" "$here/read_rdl.py" "$1" hw/accel.json "$gen/hd_accel.h" \
            hw/REGISTERS.md "$words") >log 2>&1
    }
    resets "$HEDDLE_HOME/hw/registers.rdl" || fail "registers after reset: $(cat log)"
    words=${words:0:40}1${words:41}
    resets "$HEDDLE_HOME/hw/registers.rdl" && fail "a wrong word of a register was not seen"
else
    echo "not tried: registers after reset: $fpga_venv"
fi
finish
