#!/bin/bash
# --host=iss: the package on the simulated processor with the RTL: outputs and the accelerator's cycles, counters and
# bytes as with --host=native; times that add up. Failures: test_nightly_host_ends.sh.
. "$(dirname "$0")/../../e2e/common.sh"
for tool in riscv64-unknown-elf-gcc cmake; do
    command -v $tool >/dev/null || { echo "$tool not found (make test installs it)"; exit 77; }
done

# --- what cannot be ---
expect 2 "heddle: --host=iss: only the RTL has cycles; expected --engine=rtl, found func" \
    "$heddle" run digits --host=iss --engine=func
expect 2 "heddle: --host-clock: only with --host=iss or rtl" "$heddle" run digits --host-clock=1/2
expect 2 "heddle: --host-clock: found '1/0', expected a ratio of numbers from 1 to 1000 as 2 or 1/4" \
    "$heddle" run digits --host=iss --host-clock=1/0
expect 2 "heddle: --host=iss: not with --reset-state" "$heddle" run digits --host=iss --reset-state
expect 2 "heddle: --host=iss: not with --memory=separate" "$heddle" run digits --host=iss --memory=separate
expect 3 "heddle: --host=iss: 2 accelerators; it supports one" "$heddle" run digits --host=iss \
    --target=systolic:a,systolic:b --target-a-hw=tiny --target-b-hw=sys8 '--offload=0*=a' '--offload=1*=b'
five="vanilla:a,vanilla:b,vanilla:d,vanilla:e,vanilla:f,c --partition=priority --allow-native-targets"
expect 3 "heddle: --host=iss: 5 cores of targets; it supports 4" "$heddle" run digits --host=iss --target=$five \
    --offload=00*=a --offload=01*=b --offload=03*=d --offload=05*=e --offload=06*=f
mkdir large && cp "$HEDDLE_HOME"/targets/vanilla/* large/
sed -i 's/"memory_bytes": [0-9]*/"memory_bytes": 200000000/; s/"name": "vanilla"/"name": "large"/' large/target.json
expect 3 "heddle: --host=iss: cores with more than 512 MiB of memory together; it supports no more" "$heddle" run digits \
    --host=iss --target-dir=large --target=large:a,large:b,large:d,c --partition=priority --allow-native-targets \
    --offload=00*=a --offload=01*=b --offload=03*=d
mkdir bin
for tool in cc gcc cmake verilator make; do ln -s "$(command -v $tool)" bin/; done
PATH=$work/bin "$heddle" run digits --host=iss >stdout 2>stderr
[ $? = 5 ] && grep -q "riscv64-unknown-elf-gcc.*gcc-riscv64-unknown-elf" stderr || fail "missing compiler: $(cat stderr)"

# --- a core of a target: its cycles, bytes and counters belong to its layers ---
head -c 64 "$models/digits/in_0.bin" >one.bin
"$heddle" run digits -i one.bin --host=iss --target=vanilla,c --allow-native-targets --stats core.json >stdout 2>stderr ||
    fail "vanilla: $(cat stderr)"
python3 - <<'END' || fail "cycles of vanilla's layers"
import json
s = json.load(open("core.json"))
own = [l for l in s["layers"] if l["target"] == "vanilla"]
assert len(own) == 7 and all(l["cycles"] > 1000 and l["dram_read_bytes"] > 0 for l in own)
for name in "cycles", "dram_read_bytes", "dram_write_bytes":
    assert sum(l.get(name) or 0 for l in own) == s[name], name
END

# --- both hosts ---
# compared MODEL OPTION...: the same run on both hosts.
compared() {
    local model=$1
    shift
    set -- "$@" '--keep-on-host=14*' # softmax
    "$heddle" run "$model" "$@" -o native >stdout 2>stderr || fail "$model native: $(cat stderr)"
    "$heddle" run "$model" "$@" --host=iss -o iss >stdout 2>stderr || { fail "$model iss: $(cat stderr)"; return; }
    same native/out_0.bin iss/out_0.bin "$model: outputs"
    "$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/stats.v2.schema.json" iss/stats.json || fail "$model: schema"
    python3 - "$model" <<'END' || fail "$model: cycles"
import json, sys
native, iss = (json.load(open(f"{f}/stats.json")) for f in ("native", "iss"))
for name in ("cycles", "groups", "dram_read_bytes", "dram_write_bytes", "verdict"):
    assert native[name] == iss[name], name
submits = 0
for n, i in zip(native["layers"], iss["layers"]):
    operator, driver = i["host_cycles"] - i["driver_cycles"], i["driver_cycles"]
    assert n["host_cycles"] < 1000 or n["host_cycles"] / 2 < operator < n["host_cycles"] * 2, (n["name"], operator)
    assert operator < 250 or n["host_cycles"], (n["name"], "no host operator", operator)
    assert (driver > 0) == (submits == 0), (n["name"], "one submission", driver)
    submits += driver > 0
    for one in n, i:
        del one["host_cycles"], one["parts"]
    del i["driver_cycles"]
    assert n == i, n["name"]
assert iss["driver"]["submissions"] == 1 and iss["driver"]["accesses"] >= 8
assert abs(iss["serial_cycles"] - iss["cycles"] - iss["host_cycles"]) < 1e-6 and iss["serial_cycles"] > iss["cycles"]
assert (native["host_model"], iss["host_model"]) == ("estimate", "iss")
host, driver, waiting = iss["host_cycles"], iss["driver_cycles"], iss["waiting_cycles"]
assert abs(host + waiting - iss["total_cycles"]) < 1e-6, "parts do not add up"
assert 0 < driver < host and iss["cycles"] <= waiting < iss["cycles"] * 1.1 + 100, (driver, host, waiting)
rest = host - driver  # host operators, if there are any, and the program around them
assert rest < 1000 if native["host_cycles"] == 0 else 0.5 < rest / native["host_cycles"] < 2, rest
print(f"{sys.argv[1]}: accelerator {iss['cycles']:.0f}, host {host - driver:.0f}, driver {driver:.0f}, "
      f"in all {iss['total_cycles']:.0f}")
open("driver", "a").write(f"{driver}\n")
END
}
head -c 256 "$models/digits/in_0.bin" >in_0.bin
compared digits -i in_0.bin
compared resnet8_own -n1
compared digits -i in_0.bin --hw=tiny
# One submission each: whatever the size of their tensors, none is copied.
[ "$(sort -u driver | wc -l)" = 1 ] || fail "cycles of the driver: $(paste -sd ' ' driver)"
compared digits -i in_0.bin --wait=poll -j2
# These two programs are cross-compiled once: all runs below are of them.
for wait in irq poll; do
    "$heddle" run digits -i in_0.bin '--keep-on-host=14*' --wait=$wait --host=iss -o trace >stdout 2>stderr || fail "trace: $(cat stderr)"
    python3 "$HEDDLE_HOME/tests/app/report/trace_check.py" trace >stdout 2>&1 || fail "trace, $wait: $(tail -3 stdout)"
done

# --- the processor's clock: its cycles are scaled to the accelerator's, whose own stay ---
for ratio in 1 2 1/3; do
    "$heddle" run digits -i in_0.bin '--keep-on-host=14*' --host=iss --host-clock=$ratio -o clock.${ratio#*/} >stdout 2>stderr ||
        fail "--host-clock=$ratio: $(cat stderr)"
done
"$heddle" run digits -i in_0.bin '--keep-on-host=14*' --host=iss --host-bus=1 -o near >stdout 2>stderr ||
    fail "--host-bus: $(cat stderr)"
same clock.1/out_0.bin clock.3/out_0.bin "--host-clock=1/3: outputs"
python3 - <<'END' || fail "--host-clock"
import json
one, two, third, near = (json.load(open(f"{n}/stats.json")) for n in ("clock.1", "clock.2", "clock.3", "near"))
operators = [s["host_cycles"] - s["driver_cycles"] for s in (one, two, third)]
# a load or store of a tensor takes the bus's 64 cycles, in the processor's 128 or 22
base = near["host_cycles"] - near["driver_cycles"]
accesses = (operators[0] - base) / 63
assert base > 1000 and accesses == int(accesses) >= 20, (base, operators)
assert abs(operators[1] - (base + 127 * accesses) / 2) <= 1 and operators[2] == 3 * (base + 21 * accesses), (base, operators)
assert one["cycles"] == two["cycles"] == third["cycles"]
assert two["total_cycles"] < one["total_cycles"] < third["total_cycles"]
# of the driver's cycles those for the bus are the accelerator's
driver = [s["driver_cycles"] - s["driver"]["access_cycles"] for s in (one, two, third)]
assert abs(driver[1] - driver[0] / 2) < 12 and abs(driver[2] - 3 * driver[0]) < 40, driver
END
finish
