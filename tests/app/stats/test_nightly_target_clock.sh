#!/bin/bash
# "clock_mhz" of a target: estimates and measured cycles are converted to the clock of the reports, the partition
# decides by them, and layers add up to the totals of twelve lists of targets with different clocks.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
export XDG_CONFIG_HOME=$work/config

# clocked NAME MHZ: targets/vanilla with a clock; tiny, whose clock the reports have, is at 65 MHz.
clocked() {
    cp -r "$HEDDLE_HOME/targets/vanilla" "$1"
    sed -i "s/\"name\": \"vanilla\"/\"name\": \"$1\"/; 0,/\"help\"/s//\"clock_mhz\": $2, \"help\"/" "$1/target.json"
}
clocked same 65
clocked fast 195
clocked slow 13
"$heddle" new-target mine >/dev/null || fail "new-target"
sed -i '0,/"help"/s//"clock_mhz": 6500, "help"/' mine/target.json

# --- estimates, and the choice ---
estimate() { # TARGET
    "$heddle" inspect digits --hw=tiny --target-dir=. --target="$1" >stdout 2>stderr || fail "inspect $1: $(cat stderr)"
    sed -n "s/^00_conv2d .* $1 \([0-9]*\).*/\1/p" stdout
}
for pair in vanilla:13618 same:13618 fast:4539 slow:68090; do
    [ "$(estimate "${pair%:*}")" = "${pair#*:}" ] || fail "$pair: $(cat stdout)"
done
"$heddle" inspect digits --hw=tiny --target-dir=. --target=mine,systolic >stdout 2>stderr || fail "$(cat stderr)"
grep -q '^13_fully_connected  *FULLY_CONNECTED  *mine  *mine 14, systolic ' stdout || fail "the faster one: $(cat stdout)"
sed -i 's/"clock_mhz": 6500/"clock_mhz": 1/' mine/target.json
"$heddle" inspect digits --hw=tiny --target-dir=. --target=mine,systolic >stdout 2>stderr || fail "$(cat stderr)"
grep -q '^13_fully_connected  *FULLY_CONNECTED  *systolic  *mine 89700, systolic ' stdout || fail "a slow one: $(cat stdout)"

# --- bad values ---
for bad in '0:target.json:.*clock_mhz: ' '"fast":target.json:.*clock_mhz: expected integer, found "fast"'; do
    sed "0,/\"clock_mhz\": 1,/s//\"clock_mhz\": ${bad%%:*},/" mine/target.json >bad.json
    mkdir -p bad && cp mine/*.[ch] bad && cp bad.json bad/target.json
    "$heddle" targets --target-dir=bad >stdout 2>&1 && fail "accepted: ${bad%%:*}"
    grep -q "${bad#*:}" stdout || fail "${bad%%:*}: $(cat stdout)"
done
sed -i '0,/"clock_mhz": "fast"/s//"clock_mhz": 9, "host": true/' bad/target.json
"$heddle" targets --target-dir=bad >stdout 2>&1
grep -q "clock_mhz: the host's clock is --host-clock: leave one of them out" stdout || fail "host: $(cat stdout)"
rm -r bad

# --- measured ---
run() { # TARGETS OPTIONS...
    local targets=$1
    shift
    "$heddle" run "$HEDDLE_HOME/tests/models/digits/model.tflite" -i image.bin --hw=tiny --target-dir=. --target="$targets" \
        --allow-native-targets --stats stats.json "$@" >stdout 2>stderr || fail "$targets $*: $(cat stdout stderr)"
}
head -c 64 "$HEDDLE_HOME/tests/models/digits/in_0.bin" >image.bin
cat >sums.py <<'END2'
import json, sys
s = json.load(open("stats.json"))
def near(what, found, expected):
    assert abs(found - expected) <= 1e-6 * expected, f"{what}: expected {expected}, found {found}"
def add(name):
    return sum(layer[name] or 0 for layer in s["layers"])
assert s["cycles"] > 0, "nothing was measured"
near("cycles of layers and groups", add("cycles") + sum(group["cycles"] for group in s.get("groups", [])), s["cycles"])
if s["host_model"] == "estimate":
    near("host cycles of layers", add("host_cycles"), s["host_cycles"])
if s["total_cycles"] is None:  # C of a target that no processor executes takes no time
    assert "mine" in sys.argv[1] and s["time"]["estimated"], "no total"
else:
    assert s["host_model"] != "estimate" or s["total_cycles"] == s["cycles"] + s["host_cycles"], s["total_cycles"]
    near("time", s["time"]["milliseconds"], s["total_cycles"] / 65e3)
clocks = {"same": 65, "fast": 195, "slow": 13, "mine": 1}
expected = {name: clocks[name] for name in sys.argv[1].split(",") if name in clocks}
assert s["clock"]["mhz"] == 65 and s["clock"].get("targets", {}) == expected, s["clock"]
END2
lists=(vanilla same fast slow systolic systolic,fast fast,systolic slow,systolic fast,slow slow,fast mine,fast,slow fast,mine,systolic)
for targets in "${lists[@]}"; do
    run "$targets" --partition=priority
    python3 sums.py "$targets" >out 2>&1 || fail "$targets: $(cat out)"
done
first() { # TARGET OPTIONS...: cycles of its first layer
    run "$@" --partition=priority
    sed -n 's/^00_conv2d  *[0-9x]*  *[a-z]*  *\([0-9]*\) .*/\1/p' stdout
}
[ "$(first same)" = "$(first vanilla)" ] || fail "the same clock: $(cat stdout)"
[ $((3 * $(first fast))) = "$(first vanilla)" ] || fail "three times the clock: $(cat stdout)"
[ "$(first slow)" = $((5 * $(first vanilla))) ] || fail "a fifth of the clock: $(cat stdout)"
run slow -v
grep -q '^target slow: clock of 13 MHz; its cycles are converted$' stdout || fail "no clock: $(cat stdout)"
for targets in fast,slow systolic,fast; do
    run "$targets" --partition=priority --host=iss
    python3 sums.py "$targets" >out 2>&1 || fail "$targets --host=iss: $(cat out)"
done
finish
