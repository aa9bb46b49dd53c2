#!/bin/bash
# The project's own models are proved, for every input.
. "$(dirname "$0")/../../e2e/common.sh"

for model in "$models"/*/model.tflite; do
    expect 0 '' "$heddle" prove "$model" --no-search --strict
    grep -qE '^proved: all [0-9]+ layers, for every input' stdout || fail "$model: found '$(cat stdout)'"
done
finish
