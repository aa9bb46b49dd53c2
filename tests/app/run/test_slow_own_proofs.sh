#!/bin/bash
# The project's own models, and the network of many islands, are proved, for every input, with and without a search for schedules.
. "$(dirname "$0")/../../e2e/common.sh"

for model in "$models"/{*/model.tflite,islands.onnx}; do
    for search in --no-search ''; do
        expect 0 '' "$heddle" prove "$model" ${search:+"$search"} --strict
        grep -qE '^proved: all [0-9]+ layers, for every input, except for a chance below 2\^-[0-9]+ \(' stdout ||
            fail "$model $search: found '$(cat stdout)'"
    done
done
finish
