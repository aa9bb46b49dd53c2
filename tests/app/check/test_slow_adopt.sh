#!/bin/bash
# heddle adopt: a first target from the ports of a core; what each port is, and what could not be inferred.
. "$HEDDLE_HOME/tests/e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
sed 's/matvec_core/dense_core/' "$HEDDLE_HOME/targets/matvec/matvec_core.v" >dense_core.v
"$heddle" adopt dense_core.v -o dense >stdout 2>stderr || fail "adopt: $(cat stderr)"
for line in 'found: registers: AXI4, ports s_axi, 32 bits' 'found: memory: AXI4, ports m_axi, 64 bits' 'found: clock: aclk' \
    'found: reset: aresetn, active low' 'found: interrupt: irq, high' 'not inferred: "memory_bytes" (1048576), "operators", "where", "cost"'; do
    grep -qxF "$line" stdout || fail "no '$line' in: $(cat stdout)"
done
grep -c '^not inferred' stdout | grep -qx 2 || fail "2 things are not inferred: $(cat stdout)"
cmp -s dense_core.v dense/dense_core.v || fail "the Verilog is not in the folder"
"$heddle" check-target dense --allow-native-targets >stdout 2>stderr || fail "check-target: $(tail -1 stderr)"
grep -q 'on the Verilated core' stdout || fail "no core: $(cat stdout)"
grep -qxF 'warn no call accessed the core: the C computed all cases itself; pass $dev to the call in target.json, and start the core where $dev is not NULL' stdout ||
    fail "an idle core passes without a warning: $(cat stdout)"
"$heddle" check-target "$HEDDLE_HOME/targets/dot4" --allow-native-targets >stdout 2>stderr && ! grep -q 'no call accessed' stdout ||
    fail "custom instructions: $(cat stdout stderr)"

# Copies to a memory of its own are not counted; a note says so unless "transfer" estimates them.
for f in target.json matvec.c matvec.h; do sed 's/matvec/dense/g' "$HEDDLE_HOME/targets/matvec/$f" >"dense/${f/matvec/dense}"; done
free='heddle: target dense: copies (to_device, from_device) and its C take no time in these numbers: --host=iss counts them, "transfer" in target.json estimates them'
run="$heddle run digits --target-dir=dense --target=dense --allow-native-targets"
$run >stdout 2>stderr && ! grep -q 'take no time' stderr || fail "estimated copies: $(cat stderr)"
sed -i '/"transfer"/d' dense/target.json
$run >stdout 2>stderr && grep -qxF "$free" stderr || fail "copies that nothing counts: $(cat stderr)"

# A port of a bus under another name: the rest of its half says that it is missing.
sed 's/m_axi_arvalid/m_axi_rqv/g' dense_core.v >half_core.v
"$heddle" adopt half_core.v --top=dense_core -o half >stdout 2>stderr || fail "adopt: $(cat stderr)"
for line in 'found: memory: AXI4, ports m_axi, 64 bits' 'not inferred: port m_axi_arvalid missing (output, 1 bit)' \
    'not inferred: sim/core/README.md has the buses and their ports; "names" in "ports" states what a port of another name is'; do
    grep -qxF "$line" stdout || fail "no '$line' in: $(cat stdout)"
done

# Ports whose names state nothing; a list of files; a module by name.
cat >odd.v <<'V'
module helper(input a); endmodule
module odd(input tick, input [2:0] mode, input psel, penable, pwrite, input [7:0] paddr, input [31:0] pwdata, output reg [31:0] prdata);
  always @(posedge tick) if (psel && penable && pwrite && paddr == {5'd0, mode}) prdata <= pwdata;
endmodule
V
echo 'odd.v' >odd.f
"$heddle" adopt odd.f --top=odd -o odd >stdout 2>stderr || fail "adopt: $(cat stderr)"
for line in 'found: registers: APB, ports APB, 32 bits' 'not inferred: port mode (input, 3 bits): nothing drives it' \
    'not inferred: no clock found (input, 1 bit, named clk or clock); "clock" in "ports" names it'; do
    grep -qxF "$line" stdout || fail "no '$line' in: $(cat stdout)"
done
grep -qF '"file_lists": ["$ODD_HOME/odd.f"]' odd/target.json || fail "$(cat odd/target.json)"

# A package and a module of other files in the folder, named as these.
mkdir parts
echo 'package sizes; parameter int W = 32; endpackage' >parts/sizes.sv
echo 'module keep import sizes::*; (input clk, en, input [W-1:0] d, output reg [W-1:0] q);
  always @(posedge clk) if (en) q <= d;
endmodule' >parts/keep.v
sed -e 's/module odd.*/module parted(input clk, psel, penable, pwrite, input [7:0] paddr, input [31:0] pwdata, output [31:0] prdata);/' \
    -e 's/always.*/keep k(.clk, .en(psel \&\& penable \&\& pwrite), .d(pwdata), .q(prdata));/' -e /helper/d odd.v >parts/parted.sv
"$heddle" adopt parts/parted.sv -o parted >stdout 2>stderr || fail "adopt: $(cat stderr)"
grep -qF '"verilog": ["sizes.sv", "keep.v", "parted.sv"]' parted/target.json || fail "$(cat parted/target.json)"
cmp -s parts/keep.v parted/keep.v || fail "keep.v is not in the folder"
rm parts/keep.v
"$heddle" adopt parts/parted.sv -o gone >stdout 2>stderr && fail "adopted without keep.v"
grep -q "'keep'.*If it needs other files: name them in a list, NAME.f, as of simulators, and adopt that$" stderr || fail "$(cat stderr)"
# A mistake in the file itself needs no other files.
sed 's/if (psel/if psel/' odd.v >slip.v
"$heddle" adopt slip.v -o slip >stdout 2>stderr && fail "adopted with a syntax error"
grep -q 'slip.v:[0-9:]* syntax error' stderr && ! grep -q 'other files' stderr || fail "$(cat stderr)"

expect 2 "heddle: adopt: file 'gone.v' not found" "$heddle" adopt gone.v
expect 2 "heddle: adopt: 'odd.f' is a list of files: --top=MODULE names the module" "$heddle" adopt odd.f
expect 2 "heddle: adopt: 'odd/target.json' already exists" "$heddle" adopt odd.v -o odd
echo '// nothing' >empty.v
expect 2 "heddle: adopt: 'empty.v': expected a module, found none" "$heddle" adopt empty.v
# a core with streams alone: their end is what wait_irq waits for
cat >flow.v <<'EOF'
module flow(input aclk, input aresetn, input s_tvalid, output s_tready, input [31:0] s_tdata, output m_tvalid, input m_tready,
            output [31:0] m_tdata);
  assign {m_tvalid, s_tready, m_tdata} = {s_tvalid, m_tready, s_tdata};
endmodule
EOF
"$heddle" adopt flow.v >stdout 2>stderr || fail "streams: $(cat stderr)"
grep -qxF 'not inferred: an interrupt; "interrupt" in "ports" names it, or wait_irq waits for the end of all streams (driver/hd_stream.h)' \
    stdout || fail "streams: $(cat stdout)"
finish
