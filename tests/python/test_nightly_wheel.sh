#!/bin/bash
# pip install . into a fresh environment: the wheel's program runs digits, import heddle uses the wheel's library, and the
# module is typed (mypy --strict). No link of libheddle is twice in the wheel.
. "$(dirname "$0")/../e2e/common.sh"
venv=$("$HEDDLE_HOME/.ci/venv" python) || { echo "$venv"; exit 77; }
cd "$HEDDLE_HOME" && venv=$(realpath "$venv") && cd "$work" || exit 1
"$venv/bin/python" -m mypy --strict --cache-dir="$work/mypy" "$HEDDLE_HOME/python/heddle" >stdout || fail "mypy: $(cat stdout)"

"$venv/bin/pip" wheel -q --no-build-isolation --no-deps -C "build-dir=$HEDDLE_BUILD/wheel" -C cmake.build-type=Debug -w wheels "$HEDDLE_HOME" >stdout 2>&1 ||
    { echo "$(tail -n 20 stdout)"; fail "wheel"; finish; }
python3 -m venv fresh && fresh/bin/pip install -q numpy pandas wheels/*.whl >stdout 2>&1 || fail "install: $(cat stdout)"
inside=$(echo fresh/lib/python3*/site-packages/heddle)
[ "$(find "$inside" -name 'libheddle.*' | wc -l)" = 1 ] || fail "libraries: $(find "$inside" -name 'libheddle.*')"
grep -rlF -- "$HEDDLE_HOME" "$inside" --include=* >stdout && fail "the source tree is named in: $(cat stdout)"
source_tree=$HEDDLE_HOME
unset HEDDLE_HOME HEDDLE_BUILD
export XDG_CACHE_HOME=$work/cache
fresh/bin/heddle run digits --engine=func -q >stdout 2>stderr || fail "heddle run: $(cat stderr)"
grep -q '^verdict: match' stdout || fail "verdict: $(cat stdout)"
cp "$source_tree/tests/python/module.py" . && mkdir -p tree && ln -s "$source_tree/tests" "$source_tree/CMakeLists.txt" tree/
sed -i 's/os.environ\["HEDDLE_HOME"\]/"tree"/' module.py
fresh/bin/python -B module.py || fail "module.py over the wheel"
finish
