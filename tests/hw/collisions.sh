#!/bin/bash
# run NAME LINE COMMAND...: expects LINE in its output, and prints it.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,6p' "$0" >&2; exit 2; }
build=$(realpath "${HEDDLE_BUILD:-$root/build}") config=$1 layers=$2
shift 2
command -v verilator >/dev/null || { echo "no verilator: SKIPPED"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work HEDDLE_VERILATOR=$root/tests/hw/collisions/verilator HEDDLE_CXX=$root/tests/hw/coverage/c++
failed=0

# run NAME LINE COMMAND...: expect LINE in its output, and print it.
run() {
    local name=$1 line=$2
    shift 2
    "$@" >"$work/stdout" 2>"$work/stderr" || failed=1
    grep "$line" "$work/stdout" || { echo "$name: $(tail -n 3 "$work/stderr")"; failed=1; }
    grep '^memory TOP' "$work/stdout" >>"$work/memories"
}
run "random layers" '^random_layers ' "$build/random_layers" --hw "$config" --engine func,rtl --count "$layers" --seed "${SEED:-1}"
for network; do
    run "$network" '^verdict: match' "$build/heddle" run "$network" --hw="$config" --engine=rtl -o "$work/out"
done
awk -v config="$config" '
    { name = $2; sub(/.*u_compute\./, "", name); gsub(/\[[0-9]+\]/, "", name); sub(/:$/, "", name)
      apart[name] = $4 + 0; both[name] += $6; same[name] += $8 }
    END {
        for (name in both) {
            printf "%-6s %-40s %-6s %12.0f %8.0f\n", config, name, apart[name] ? "Apart" : "", both[name], same[name] | "sort"
            total += same[name]
        }
        close("sort")
        n = split("u_spad.gen_bank.u_ram u_weights.u_weights u_array.u_sums.u_acc.u_ram", used, " ")
        for (i = 1; i <= n; i++)
            if (!both[used[i]]) { print used[i] ": never read and written in one cycle"; failed = 1 }
        printf "%s: %.0f collisions\n", config, total
        exit failed
    }' "$work/memories" || failed=1
exit $failed
