#!/bin/bash
# Reports about memory: activations compared with the live-range bound, and compulsory traffic.
. "$(dirname "$0")/../common.sh"

# holds MODEL HW BOUND LAYER COPIES COMPULSORY: checks at most the bound, reached at LAYER.
holds() {
    "$heddle" run "$1" --hw "$2" --engine=func --no-search --stats s.json >report 2>stderr ||
        fail "$1 on $2: $(cat stderr)"
    local peak
    peak=$(sed -n 's/^activations: peak \([0-9]*\) bytes at .*/\1/p' report)
    [ "${peak:-999999999}" -le "$3" ] || fail "$1 on $2: peak ${peak:-none}, bound $3"
    grep -q "live-range bound $3 at $4; in addition: second copies $5," report ||
        fail "$1 on $2: $(grep ^activations report)"
    local sum
    sum=$(($(sed -n 's/.*"compulsory_read_bytes":\t*\([0-9]*\).*/\1/p' s.json) + \
        $(sed -n 's/.*"compulsory_write_bytes":\t*\([0-9]*\).*/\1/p' s.json)))
    [ "$sum" = "$6" ] || fail "$1 on $2: compulsory traffic $sum, expected $6"
}
# Weights, biases, input, output as tests/models/*/model.tflite has them.
holds digits sys16 3072 02_depthwise_conv2d 64 23730
holds digits tiny 3072 02_depthwise_conv2d 64 23730
holds resnet8_own sys16 49152 02_conv2d 3072 81826
holds resnet8_own tiny 49152 02_conv2d 10 81826
holds mobilenet025_own sys16 55296 02_conv2d 27648 248802
holds dscnn_own sys16 16000 01_depthwise_conv2d 490 24870
holds autoencoder_own sys16 768 00_fully_connected 640 272160

# A cascade of three holds no more than its operators one by one would.
echo '{"knobs": [{"op": 1, "cascade": 1}, {"op": 2, "cascade": 1}]}' >three.json
"$heddle" run resnet8_own --engine=func --knobs=three.json >report 2>stderr || fail "resnet8_own: $(cat stderr)"
grep -q "^group 0 .*3 layers" report || fail "resnet8_own: $(grep ^group report)"
grep -q "^activations: peak 49152 bytes" report || fail "resnet8_own: $(grep ^activations report)"

# CSV has both for each layer; no traffic is measured on the functional model.
"$heddle" run digits --engine=func --format=csv >csv 2>stderr || fail "csv: $(cat stderr)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $1 == "00_conv2d" { found = $at["live_bytes"] == 1088 && $at["activation_bytes"] == 1088 }
    END { exit !found }' csv || fail "csv: $(head -2 csv)"
grep -q "^memory traffic" report && fail "traffic without a bus"
finish
