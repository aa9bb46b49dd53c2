#!/bin/bash
# A layer that takes more than four times its limit is marked with the reason: in inspect as text and JSON, in the
# report and its JSON. Others are not. A group has one mark.
. "$(dirname "$0")/../../../e2e/common.sh"

softmax() { # NAME
    cat >"$1.ir" <<END
heddle-ir 1 graph name="$1"
row 0 name="00" op="SOFTMAX" tensor="y" shape="1x1118x2"
tensor 0 i8 [1,1118,2] input name="x" scale=(0.05) zero=(3)
tensor 1 i8 [1,1118,2] value name="y" scale=(0.00390625) zero=(-128)
op softmax row=0 in=(0) out=(1) beta_bits=1065353216
border in=(0) out=(1)
END
}

windows() { # NAME: two convolutions of one channel
    cat >"$1.ir" <<END
heddle-ir 1 graph name="$1"
row 0 name="00" op="CONV_2D" tensor="y" shape="1x48x48x1" macs=20736
row 1 name="01" op="CONV_2D" tensor="z" shape="1x48x48x1" macs=20736
tensor 0 i8 [1,48,48,1] input name="x" scale=(0.05) zero=(3)
tensor 1 i8 [1,3,3,1] const name="w" scale=(0.01) zero=(0) fill=7
tensor 2 i8 [1,48,48,1] value name="y" scale=(0.5) zero=(3)
tensor 3 i8 [1,48,48,1] value name="z" scale=(0.5) zero=(3)
op conv2d row=0 in=(0,1) out=(2) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=3 kernel_w=3 padding=1
op conv2d row=1 in=(2,1) out=(3) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=3 kernel_w=3 padding=1
border in=(0) out=(3)
END
}

marked() { # WHAT TEXT COMMAND...
    local what=$1 text=$2
    shift 2
    "$@" >out 2>err || fail "$what: exit $?: $(cat err)"
    grep -Eq "$text" out || fail "$what: expected '$text' in $(grep -F limit out)"
}

softmax vector
windows array
marked vector '; slow: 2 % of its limit, 203 cycles: vector busy [0-9]+ %, 0\.[0-9] bytes a cycle$' "$heddle" inspect vector.ir
marked json '"slow": *"2 % of its limit, 203 cycles: vector' "$heddle" inspect vector.ir --format=json
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/inspect.v1.schema.json" out || fail "inspect's schema"
marked report '; slow: 2 % of its limit, 203 cycles: vector' "$heddle" run vector.ir --engine=func -n1 --stats stats.json
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/stats.v2.schema.json" stats.json || fail "the stats' schema"
marked "the same report" '; slow: 2 % of its limit, 203 cycles: vector' "$heddle" report stats.json
marked array '^00 .*; slow: 8 % of its limit, 208 cycles: array busy [0-9]+ %, 8\.[0-9] of 256 MACs a cycle$' "$heddle" inspect array.ir
marked turns '; slow: [0-9]+ % of its limit, [0-9]+ cycles: weight busy [0-9]+ %, array [0-9]+ %: they take turns$' \
    "$heddle" bench bmm 7 1 43 389 --hw=tiny --engine=func --mem-latency=300
"$heddle" inspect array.ir --format=json >layers.json
sed 's/"cascade": *0/"cascade": 1/' layers.json >knobs.json
marked group '^00 .*\(group 0\).*; slow: its group: 4 % of its limit, 226 cycles: array' "$heddle" inspect array.ir --knobs=knobs.json
[ "$(grep -c slow: out)" = 1 ] || fail "one mark of a group: $(cat out)"
"$heddle" inspect digits >out || fail "digits"
! grep -q slow: out || fail "digits has layers that are marked"
marked "near the limit" '^00_conv2d' "$heddle" bench conv 24x24x64 3x3x16 1 --engine=func
! grep -q slow: out || fail "a convolution near its limit is marked"
finish
