#!/bin/bash
# Every signal of a written save file is found in the waves: GTKWave itself loads both and states which traces it shows.
set -eu
for tool in gtkwave xvfb-run; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# test_model leaves waves.fst and waves.gtkw of the stub there.
HEDDLE_TEST_WAVES="$dir" "${HEDDLE_BUILD:-build}/tests/test-sim-slow_sim_model" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
cat >"$dir/q.tcl" <<TCL
set f [open "$dir/shown" w]
foreach s [gtkwave::getDisplayedSignals] { puts \$f \$s }
close \$f
gtkwave::/File/Quit
TCL
timeout 100 xvfb-run -a gtkwave "$dir/waves.fst" "$dir/waves.gtkw" -S "$dir/q.tcl" >"$dir/gtkwave.log" 2>&1 || true
grep '^TOP' "$dir/waves.gtkw" | sort -u >"$dir/wanted"
grep '^TOP' "$dir/shown" | sort -u >"$dir/found" || { cat "$dir/gtkwave.log"; exit 1; }
if ! comm -23 "$dir/wanted" "$dir/found" | tee "$dir/dead" | grep -q .; then
  echo "$(wc -l <"$dir/wanted") signals found"
  exit 0
fi
echo "not in the waves:"; cat "$dir/dead"
exit 1
