#!/bin/bash
# ulimit -f and a full disk: exit 5 that names the file, nothing half written stays, and what a folder held before stays as
# it was. The limit is a disk on which small files still fit.
. "$(dirname "$0")/../common.sh"
export XDG_CACHE_HOME=$work/cache
"$heddle" run digits --engine=func --hw=tiny --no-search -o warm -q >/dev/null 2>stderr || fail "run: $(cat stderr)" # fills the cache

# limited KIB COMMAND...: runs in an empty folder; it must exit with 5, name the limit, and leave nothing
limited() {
    rm -rf at && mkdir at
    (cd at && ulimit -f "$1" && exec "${@:2}") >stdout 2>stderr
    local got=$?
    [ $got = 5 ] && grep -q "File too large" stderr || fail "ulimit -f $1, ${*:2}: exit $got: $(cat stderr)"
    [ -z "$(ls -A at)" ] || fail "ulimit -f $1, ${*:2}: left $(find at -mindepth 1 | head -n 5)"
}
run=("$heddle" run digits --engine=func --hw=tiny --no-search)
compile=("$heddle" compile digits --hw=tiny --no-search)
limited 5 "${run[@]}" -o out
limited 1 "${run[@]}" --stats=stats.json
limited 40 "${compile[@]}" -o out
limited 40 "${compile[@]}" -o out.tar

# A folder that has files already.
mkdir old && echo before >old/out_0.bin && echo mine >old/notes
for command in "${run[*]}" "${compile[*]}"; do
    # shellcheck disable=SC2086
    (ulimit -f 5 && exec $command -o old) >stdout 2>stderr && fail "$command: written beyond the limit"
    [ "$(cd old && grep -r . . | sort)" = "./notes:mine
./out_0.bin:before" ] || fail "$command: changed $(find old)"
done
"${run[@]}" -o old -q >/dev/null 2>stderr || fail "run: $(cat stderr)"
same old/out_0.bin warm/out_0.bin
[ -e old/emitted/model.c ] && [ "$(cat old/notes)" = mine ] && [ -z "$(ls -d old/.new* 2>/dev/null)" ] || fail "not moved: $(find old)"

# The cache, by heddle and by compilers that it starts.
for kib in 1 20; do
    (ulimit -f $kib && XDG_CACHE_HOME=$work/fresh exec "${run[@]}" -q) >stdout 2>stderr
    [ $? = 5 ] && grep -q "File too large" stderr || fail "ulimit -f $kib, a fresh cache: $(cat stderr)"
    [ -z "$(find fresh -name '*.tmp*')" ] || fail "ulimit -f $kib: left $(find fresh -name '*.tmp*')"
done
XDG_CACHE_HOME=$work/fresh "${run[@]}" -q >stdout 2>stderr || fail "after a limit: $(cat stderr)"
finish
