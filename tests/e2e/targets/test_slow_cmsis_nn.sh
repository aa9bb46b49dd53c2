#!/bin/bash
# The cmsis_nn target with the real library, which the user has built for this machine at $CMSIS_NN
# (targets/cmsis_nn/README.md).
. "$(dirname "$0")/../common.sh"
[ -n "${CMSIS_NN:-}" ] || { echo "CMSIS_NN is not set: no CMSIS-NN, whose headers and library the user has to build"; exit 77; }
export XDG_CONFIG_HOME=$work/config
"$heddle" check-target "$HEDDLE_HOME/targets/cmsis_nn" --allow-native-targets >stdout 2>stderr || fail "$(cat stdout stderr)"
for model in dscnn_own resnet8_own autoencoder_own; do
    "$heddle" run $model --engine=func --target=cmsis-nn,c --partition=priority >stdout 2>stderr || fail "$model: $(cat stderr)"
    grep -q '^verdict: match' stdout || fail "$model: $(grep ^verdict stdout)"
done
finish
