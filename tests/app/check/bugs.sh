# bugs.sh - `plant`: a bug of bugs.txt in a copy of its target; `found`: check-target finds it within 60 s of CPU.
kit=$HEDDLE_HOME/tests/app/check/bugs.txt
export XDG_CONFIG_HOME=$work/config HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++"

# plant TARGET FILE SED: the changed target in ./nut.
plant() {
    rm -rf nut
    if [ "$1" = wide ]; then
        "$heddle" new-target wide --template=wide -o nut >/dev/null || fail "new-target"
    elif [ "$1" = pools ]; then
        cp -r "$HEDDLE_HOME/tests/app/check/pools" nut
    else
        cp -r "$HEDDLE_HOME/targets/$1" nut
        sed -i 's/"name": "'"$1"'",/"name": "nut",/' nut/target.json
    fi
    cp "nut/$2" before
    sed -i "$3" "nut/$2"
    ! cmp -s before "nut/$2" || fail "$1: $4: nothing changed"
}

# found NAME [OPTION...]: 0 if check-target complains in at most 60 s of CPU.
found() {
    local name=$1 rc seconds
    shift
    bash -c 'TIMEFORMAT="%U %S"; time "$@" >stdout 2>stderr' _ "$heddle" check-target nut --allow-native-targets "$@" 2>took
    grep '^FAIL' stdout | grep -qv ': target nut: core .*: ' # a core that cannot be built is no find
    rc=$?
    seconds=$(awk '{printf "%d", $1 + $2}' took)
    echo "$((1 - rc)) $seconds s: $name: $(grep -m1 '^FAIL' stdout | cut -c1-200)"
    [ $rc = 0 ] && [ "$seconds" -le 60 ]
}

# each FUNCTION: calls it with target, file, sed and name of every bug.
each() {
    local target file change name
    while IFS='|' read -r target file change name; do
        case $target in '#'*) continue ;; esac
        "$1" "${target// /}" "${file// /}" "${change# }" "${name# }"
    done <"$kit"
}
