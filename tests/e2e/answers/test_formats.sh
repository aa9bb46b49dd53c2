#!/bin/bash
# The same network as TFLite and as ONNX: a class in common on every sample (ties are allowed), in
# both roundings, and a report of every layer's difference (formats.c). The networks are next to the project.
. "$(dirname "$0")/../common.sh"

shared=$HEDDLE_HOME/../shared/models
if [ ! -d "$shared" ]; then
    echo "../shared/models not found"
    exit 77
fi
for pair in resnet8:resnet8_onnx_qdq kws:kws_onnx_qdq; do
    for rounding in '' onnx; do
        "$HEDDLE_BUILD/formats" "$shared/${pair%:*}" "$shared/${pair#*:}" $rounding >log 2>&1 ||
            fail "$pair $rounding: $(cat log)"
        [ "$(grep -c '^sample' log)" -ge 8 ] || fail "$pair $rounding: too few samples: $(cat log)"
    done
done
finish
