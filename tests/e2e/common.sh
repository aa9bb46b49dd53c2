# Shared by test_*.sh: a working folder, and checks that count failures. Sourced; sets heddle, models, work. Ends with:
# finish
set -u
: "${HEDDLE_HOME:?}" "${HEDDLE_BUILD:?}"
heddle=$HEDDLE_BUILD/heddle
models=$HEDDLE_HOME/tests/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# told FILE: the text that a command wrote to stderr, without its progress, which depends on the machine's speed.
told() {
    grep -vE '^heddle: (inference [0-9]+ of |Building the |[0-9]+ trials measured, ).* [0-9]+ s$' "$1"
}

# expect CODE MESSAGE COMMAND...: checks the exit status, and that stderr is exactly that line (MESSAGE '': no line).
# Its stdout goes to $work/stdout.
expect() {
    local code=$1 message=$2 got
    shift 2
    "$@" >"$work/stdout" 2>"$work/stderr"
    got=$?
    [ "$got" = "$code" ] || fail "exit $got, expected $code: $*: $(head -c 300 "$work/stderr")"
    [ "$(told "$work/stderr")" = "$message" ] ||
        fail "$*: expected '$message', found '$(head -c 300 "$work/stderr")'"
}

# same A B: checks that two files or folders have the same bytes.
same() {
    diff -r "$1" "$2" >/dev/null || fail "$1 and $2 differ: ${3:-}"
}

# sql FILE STATEMENT: prints rows, with fields separated by |
sql() {
    python3 - "$1" "$2" <<'PY'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
for row in c.execute(sys.argv[2]):
    print("|".join(map(str, row)))
c.commit()
PY
}

# npy TYPE SHAPE RAW FILE: '|i1' '(360, 8, 8, 1)' in.bin in.npy
npy() {
    local header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }" n
    n=$(((10 + ${#header} + 1 + 63) / 64 * 64 - 10))
    # shellcheck disable=SC2059
    { printf '\x93NUMPY\x01\x00'"\\x$(printf '%02x' $((n % 256)))\\x$(printf '%02x' $((n / 256)))"
      printf '%-*s\n' $((n - 1)) "$header"
      cat "$3"; } >"$4"
}

finish() {
    [ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
    echo "all as expected"
    exit 0
}
