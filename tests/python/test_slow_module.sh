#!/bin/bash
# import heddle over the build tree's libheddle: digits against its golden file, arrays, errors (module.py).
. "$(dirname "$0")/../e2e/common.sh"
venv=$("$HEDDLE_HOME/.ci/venv" python) || { echo "$venv"; exit 77; }
cd "$HEDDLE_HOME" && venv=$(realpath "$venv") && cd "$work" || exit 1
PYTHONPATH=$HEDDLE_HOME/python HEDDLE_LIBRARY=$HEDDLE_BUILD/libheddle.so "$venv/bin/python" -B "$HEDDLE_HOME/tests/python/module.py" ||
    fail "module.py"
finish
