#!/bin/bash
# When memory runs out heddle reports it, exit 5: no file that is fine is called wrong, what is written is whole, and all of it
# or nothing is left. One malloc fails, sampled over all of a command; $1: how many samples a command (default 8).
. "$(dirname "$0")/../common.sh"
samples=${1:-8}
ldd "$heddle" | grep -q libasan && { echo "AddressSanitizer has a malloc of its own"; exit 77; }
cc -O1 -shared -fPIC "$HEDDLE_HOME/tests/e2e/failures/no_memory.c" -o no_memory.so || exit 1
export XDG_CACHE_HOME=$work/cache TMPDIR=$work/tmp
mkdir tmp cache
onnx=$HEDDLE_HOME/tests/compiler/import/onnx/seed_13/model.onnx

# try NAME COMMAND...: COMMAND may write only into the folder out
try() {
    local name=$1 total n rc step left right=0
    shift
    mkdir -p out
    "$@" >first.out 2>&1 || { fail "$name: $(cat first.out)"; return; }
    rm -rf right out count
    mkdir out
    FAIL_COUNT=$work/count LD_PRELOAD=$work/no_memory.so "$@" >right.out 2>&1
    mv out right
    total=$(sort -n count | tail -n 1) # of its processes the one with most
    step=$((total / samples + 1))
    for ((n = 1 + RANDOM % step; n <= total; n += step)); do
        rm -rf out
        mkdir out
        FAIL_AT=$n LD_PRELOAD=$work/no_memory.so timeout 60 "$@" >stdout 2>stderr
        rc=$?
        if [ $rc = 0 ]; then
            right=$((right + 1))
            diff -rq --exclude=stats.json --exclude=report.txt --exclude=report.html right out >/dev/null ||
                fail "$name, malloc $n: exit 0, and other files"
        elif [ $rc != 5 ] || ! grep -qE "memory|Cannot allocate" stderr; then
            fail "$name, malloc $n of $total: exit $rc: $(head -c 300 stderr)"
        fi
        left=$([ $rc = 0 ] || diff <(cd right && find .) <(cd out && find .) >/dev/null || ls -A out; find cache tmp -name '*.tmp*' -o -path 'tmp/*')
        [ -z "$left" ] || { fail "$name, malloc $n of $total: left $left"; rm -rf tmp/*; find cache -name '*.tmp*' -delete; }
    done
    echo "$name: $total calls of malloc, every ${step}th fails, seed $seed; $right without harm"
}
seed=${HEDDLE_SEED:-$RANDOM}
RANDOM=$seed
try inspect "$heddle" inspect digits --hw=tiny --no-search
try onnx "$heddle" inspect "$onnx" --hw=tiny --no-search
try compile "$heddle" compile digits --hw=tiny --no-search --check=never -o out
try tar "$heddle" compile digits --hw=tiny --no-search --check=never -o out/net.tar
python3 - "$models/digits/in_0.bin" <<'P' || exit 1
import sys, zipfile
header = b"{'descr': '|i1', 'fortran_order': False, 'shape': (10, 8, 8, 1)}"
header += b" " * (117 - len(header)) + b"\n"
with zipfile.ZipFile("x.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + open(sys.argv[1], "rb").read(640))
P
try npz "$heddle" run digits --hw=tiny --engine=ref -i "$work/x.npz" -o out
try run "$heddle" run digits --hw=tiny --engine=func --no-search -o out
finish
