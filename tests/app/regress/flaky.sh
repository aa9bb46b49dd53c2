#!/bin/sh
# A launcher that loses every run's first start. FLAKY: a folder that keeps which were.
n=$(echo "$*" | sed 's/.* //')
[ -e "$FLAKY/$n" ] || { touch "$FLAKY/$n"; exit 1; }
exec "$@"
