#!/bin/bash
# docs/KERAS.md: a Keras network trained, converted to int8, run on the RTL, and its classes counted.
# TensorFlow comes from the environment that HEDDLE_VENV_KERAS names.
. "$(dirname "$0")/common.sh"

if [ -z "${HEDDLE_VENV_KERAS:-}" ]; then
    echo "HEDDLE_VENV_KERAS names no environment with tensorflow (docs/KERAS.md)"
    exit 77
fi
"$HEDDLE_VENV_KERAS/bin/python" "$HEDDLE_HOME/docs/keras_int8.py" shapes >log 2>&1 ||
    fail "keras_int8.py: $(tail -n 3 log)"
for engine in ref rtl; do
    "$heddle" run shapes/model.tflite -i shapes/x.npy --labels=shapes/labels.txt --hw=tiny \
        --engine=$engine >log 2>&1 || fail "$engine: $(tail -n 3 log)"
    accuracy=$(sed -n 's/^accuracy: \([0-9]*\).*/\1/p' log)
    [ "${accuracy:-0}" -ge 70 ] || fail "$engine: accuracy of at least 70 % expected: $(cat log)"
done
finish
