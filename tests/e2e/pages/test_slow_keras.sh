#!/bin/bash
# docs/KERAS.md: a Keras network trained, converted to int8, run on the RTL, and its classes counted.
# TensorFlow comes from the environment that HEDDLE_VENV_KERAS names.
. "$(dirname "$0")/../common.sh"

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

# --- saved networks: the line that heddle answers makes a file that it takes ---
python=$HEDDLE_VENV_KERAS/bin/python
"$python" - >log 2>&1 <<'END' || fail "no networks: $(tail -n 3 log)"
import numpy as np
import tensorflow as tf

layers = tf.keras.layers
m = tf.keras.Sequential([layers.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(3)])
m.save("net.keras")
m.save("net.h5")
x = np.random.default_rng(1).standard_normal((5, 8, 8, 1)).astype("float32")
np.save("x.npy", x)
np.save("y.npy", m.predict(x))
END
for file in net.keras net.h5; do
    rm -f net.tflite
    "$heddle" run $file 2>stderr && fail "$file was taken"
    PATH=$HEDDLE_VENV_KERAS/bin:$PATH bash -c "$(sed 's,^.*(docs/KERAS.md): ,,' stderr)" >log 2>&1 || fail "$file: $(tail -n 3 log)"
    "$heddle" run net.tflite -i x.npy --target=c --engine=func -o ran >log 2>&1 || fail "$file: $(cat log)"
    "$python" -c "
import numpy as np
y, z = np.load('y.npy').ravel(), np.fromfile('ran/out_0.bin', '<f4')
assert y.shape == z.shape and abs(y - z).max() < 1e-5 * abs(y).max()" 2>log || fail "$file: other values: $(tail -n 1 log)"
done
finish
