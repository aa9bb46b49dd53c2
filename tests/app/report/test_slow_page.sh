#!/bin/bash
# report.html of a run on the RTL, in a headless Chromium (page_check.py).
. "$(dirname "$0")/../../e2e/common.sh"
here=$HEDDLE_HOME/tests/app/report
"$heddle" run "$models/digits/model.tflite" --hw=tiny -o out >stdout 2>stderr || fail "$(cat stderr)"
python3 "$here/page_check.py" out/report.html "$here/page.grid" >stdout 2>&1
case $? in
    0) ;;
    77) tail -1 stdout; exit 77 ;;
    *) fail "$(tail -3 stdout)" ;;
esac
finish
