#!/usr/bin/env bash
# The processor's instructions for one cycle of a model of the RTL, by callgrind, which a loaded machine does not
# change: at most 2 % more than instructions.csv has. Measured for x86-64-v3 (valgrind has no AVX-512) with the
# compiler and the Verilator that the file names; elsewhere nothing is compared.
source "$(dirname "$0")/../e2e/common.sh"
table=$HEDDLE_HOME/tests/bench/instructions.csv
network=mobilenet025_own

tools="$(c++ -dumpfullversion) $(verilator --version | cut -d ' ' -f 2) $(uname -m)"
[[ $(head -n 1 "$table") == "# $tools" ]] || { echo "instructions.csv is of other tools than $tools"; exit 77; }
command -v valgrind >/dev/null || { echo "no valgrind"; exit 77; }

cat >cxx <<'SH'
#!/bin/bash
exec c++ "${@/#-march=native/-march=x86-64-v3}"
SH
chmod +x cxx

# of_model FILE: instructions in the model, of a callgrind file; nothing if its process had none.
of_model() {
    awk '/^c?ob=/ { id = $0; sub(/^c?ob=/, "", id); sub(/ .*/, "", id); if (NF > 1) name[id] = $2; if (/^ob=/) at = id; next }
        /^calls=/ { skip = 1; next }
        /^[0-9+*-]/ { if (!skip) n[at] += $2; skip = 0 }
        END { for (id in n) if (name[id] ~ /\/model\.so$/ && name[id] !~ /\/host\//) print n[id] }' "$1"
}

while IFS=, read -r hw most; do
    rm -f count.*
    HEDDLE_CXX=$PWD/cxx XDG_CACHE_HOME=$PWD/cache valgrind --tool=callgrind --callgrind-out-file=count.%p \
        "$heddle" run "$network" --hw="$hw" --no-search --inferences=1 >stdout 2>stderr ||
        fail "$hw: $(tail -n 3 stderr)"
    cycles=$(awk 'match($0, /[0-9]+ inferences, [0-9.]+ cycles each/) { split(substr($0, RSTART, RLENGTH), f, " "); print f[1] * f[3] }' stdout)
    count=$(for file in count.*; do of_model "$file"; done | sort -n | tail -n 1)
    [[ -n $cycles && -n $count ]] || fail "$hw: nothing was counted: $(tail -n 3 stderr)"
    echo "$hw: $(awk -v n="$count" -v c="$cycles" 'BEGIN { printf "%.0f", n / c }') instructions a cycle, at most 1.02 times $most"
    awk -v n="$count" -v c="$cycles" -v most="$most" 'BEGIN { exit !(n <= 1.02 * most * c) }' ||
        fail "$hw: $count instructions for $cycles cycles, at most 1.02 times $most a cycle"
done < <(grep -v '^#' "$table" | tail -n +2)
finish
