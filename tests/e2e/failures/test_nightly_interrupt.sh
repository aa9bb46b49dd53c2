#!/bin/bash
# Ctrl-C while waves are written: the trace and the writer's own file next to it go too. While a model is built:
# the half-built folder goes, and all that verilator and make have started.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common.sh"
. "$here/interrupt.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

"$heddle" build --hw=tiny --waves=all >/dev/null 2>stderr || fail "build: $(cat stderr)"
interrupted waves INT --engine=rtl --hw=tiny --waves=all

# A compiler slow enough for any machine.
printf '#!/bin/bash\ncase "$*" in *--version*) ;; *) sleep 60 ;; esac\nexec g++ "$@"\n' >slow_cxx
chmod +x slow_cxx

# building SECONDS SIGNAL: starts a build in a separate cache and interrupts it after that time.
building() {
    local pid got
    rm -rf cache
    set -m
    XDG_CACHE_HOME=$work/cache HEDDLE_CXX=$work/slow_cxx "$heddle" build --hw=sys8 >stdout 2>stderr &
    pid=$!
    set +m
    for _ in $(seq 200); do
        [ -n "$(find cache -name '*.part' 2>/dev/null)" ] && break
        sleep 0.05
    done
    sleep "$1"
    kill "-$2" "$pid"
    wait "$pid"
    got=$?
    [ "$got" = 130 ] || fail "build, $2 after $1 s: exit $got, expected 130: $(cat stdout stderr)"
    [ "$(told stderr)" = "heddle: interrupted" ] || fail "build: stderr: $(cat stderr)"
    [ -z "$(find cache -name '*.part')" ] || fail "build, $2 after $1 s: left $(find cache -name '*.part')"
    for _ in $(seq 40); do
        grep -lsa "$work/cache" /proc/[0-9]*/environ | grep -qv "/$$/" || return 0
        sleep 0.05
    done
    fail "build, $2 after $1 s: still runs: $(grep -lsa "$work/cache" /proc/[0-9]*/environ)"
}
building 0.3 INT
building 12 TERM
# Without a terminal progress is a line after ten seconds.
grep -qE '^heddle: Building the sys8 simulator \(once for this hardware\)\.\.\. 1[0-9] s$' stderr || fail "no progress: $(cat stderr)"
finish
