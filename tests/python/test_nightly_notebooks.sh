#!/bin/bash
# The notebooks of docs/notebooks run from their first cell to the last, over the build tree's libheddle.
. "$(dirname "$0")/../e2e/common.sh"
venv=$("$HEDDLE_HOME/.ci/venv" python) || { echo "$venv"; exit 77; }
cd "$HEDDLE_HOME" && venv=$(realpath "$venv") && cd "$work" || exit 1
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
PATH=$venv/bin:$PATH PYTHONPATH=$HEDDLE_HOME/python HEDDLE_LIBRARY=$HEDDLE_BUILD/libheddle.so \
    python -B "$HEDDLE_HOME/tests/python/notebooks.py" "$work" >stdout 2>stderr || fail "$(tail -n 40 stderr)"
cat stdout
[ "$(wc -l <stdout)" = "$(ls "$HEDDLE_HOME"/docs/notebooks/*.ipynb | wc -l)" ] || fail "not all ran: $(cat stdout)"
finish
