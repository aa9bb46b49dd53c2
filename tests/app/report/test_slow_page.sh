#!/bin/bash
# report.html of a run on the RTL, in a headless Chromium (page_check.py).
. "$(dirname "$0")/../../e2e/common.sh"
here=$HEDDLE_HOME/tests/app/report
"$heddle" run "$models/digits/model.tflite" --hw=tiny -o out >stdout 2>stderr || fail "$(cat stderr)"
python3 - "$HEDDLE_HOME/hw/area.csv" <<'END' >line || fail "time of stats.json"
import csv, json, sys
s = json.load(open("out/stats.json"))
mhz, t = s["clock"]["mhz"], s["time"]
lut4 = [float(r["lut4"]) for r in csv.DictReader(open(sys.argv[1])) if r["n"] == "4"]
seconds = s["total_cycles"] / (mhz * 1e6)
for name, value in (("milliseconds", seconds * 1e3), ("inferences_per_second", 1 / seconds),
                    ("gops", 2e-9 * s["macs"] / seconds), ("gops_per_klut", 2e-6 * s["macs"] / seconds / lut4[0])):
    assert abs(t[name] / value - 1) < 1e-9, (name, t[name], value)
print(f"time at {mhz} MHz ({s['clock']['origin']}): {seconds * 1e3:.3f} ms, {1 / seconds:.1f} inferences/s, "
      f"{t['gops']:.2f} GOPS, {t['gops_per_klut']:.3g} GOPS/kLUT4 (counted), host estimated")
END
grep -qxFf line stdout || fail "expected '$(cat line)', found '$(grep '^time at' stdout)'"
python3 "$here/page_check.py" out/report.html "$here/page.grid" >stdout 2>&1
case $? in
    0) ;;
    77) tail -1 stdout; exit 77 ;;
    *) fail "$(tail -3 stdout)" ;;
esac

# A network of more than 60 layers.
"$heddle" run vit_own --engine=func -n 1 -q -o large >stdout 2>stderr || fail "vit_own: $(cat stderr)"
python3 "$here/page_check.py" --blocks large/report.html >stdout 2>&1 || fail "$(tail -1 stdout)"

# The first number of the page equals that of report.txt for a built-in accelerator, a target that runs C on the host,
# and all on the host; on func and RTL.
expect 0 '' "$heddle" new-target mine
for engine in func rtl; do
    while read -r name options; do
        # shellcheck disable=SC2086
        "$heddle" run "$models/digits/model.tflite" --hw=tiny --engine=$engine $options -o "pages/$name.$engine" \
            >stdout 2>stderr || fail "$name on $engine: $(cat stderr)"
    done <<'END'
systolic
own --target-dir=mine --target=mine --allow-native-targets
both --target-dir=mine --target=mine,systolic --allow-native-targets
host --target=c
split --keep-on-host=0[35]*
END
done
python3 "$here/page_check.py" pages >stdout 2>&1 || fail "$(tail -3 stdout)"
[ "$(wc -l <stdout)" = 10 ] || fail "pages: $(cat stdout)"
finish
