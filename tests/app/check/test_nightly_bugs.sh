#!/bin/bash
# check-target finds 95 % of the bugs planted inside the promise of eight targets, each in 60 s of CPU.
. "$(dirname "$0")/../../e2e/common.sh"
. "$(dirname "$0")/bugs.sh"
n=0 missed=0
one() {
    plant "$@"
    n=$((n + 1))
    found "$1: $4" --seed="${SEED:-1}" || missed=$((missed + 1))
}
each one
echo "$((n - missed)) of $n bugs found"
[ "$n" -gt 0 ] && [ $((missed * 20)) -le "$n" ] || fail "$missed of $n bugs are not found"
finish
