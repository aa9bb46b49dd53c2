#!/bin/bash
# "memories", "instructions" and "order" of a target.json: the shuttle example is listed; each mistake is
# reported with its place, what was expected and what was found; layers that do not fit say which field or
# memory they exceed.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CONFIG_HOME=$work/config
example=shuttle

"$heddle" targets >stdout 2>stderr || fail "targets: $(cat stderr)"
for line in '    memories: outside 1048576 bytes, pixels 131072 bytes, filters 65536 bytes, channels 12288 bytes, weights 512 bytes, sums 65536 bytes' \
    '    compute            unit array, multiplies pixels to sums with weights: rows \* columns cycles' \
    '    preload            unit preload, copies filters to weights: 18 cycles'; do
    grep -q "^$line\$" stdout || fail "not listed: $line"
done

# changed NAME SED: the example under another name, with a change of its description.
changed() {
    rm -rf "$1"
    cp -r "$HEDDLE_HOME/targets/$example" "$1"
    sed -i "s/\"name\": \"$example\"/\"name\": \"$1\"/" "$1/target.json"
    cp "$1/target.json" before.json
    sed -i "$2" "$1/target.json"
    cmp -s before.json "$1/target.json" && fail "$1: nothing changed: $2"
}
wrong() { # wrong MESSAGE SED
    changed wrong "$2"
    expect 2 "heddle: $work/wrong/target.json:$1" "$heddle" targets --target-dir=wrong
}
wrong "11:15: memories: it needs a \"core\", whose memory it uses" '/"core":/,/"store_busy_o"/d'
wrong "15:15: memories: it needs \"order\"" '/^  "order":/d'
wrong "15:12: order: it needs \"memories\"" '/^  "memories":/,/^  "order"/{/^  "order"/!d}'
wrong "15:13: blocks: operators are made of \"instructions\": leave one of them out" \
    's/^  "memories":/  "blocks": {"unit": "u", "rows": 4, "columns": 4, "depth": 9, "bytes_per_cycle": 1},\n&/'
wrong "16:34: memories[0].bytes: expected at most core.memory_bytes, 1048576" \
    's/{"name": "outside"}/{"name": "outside", "bytes": 1048577}/'
wrong "16:33: memories[0].type: the first memory is the core's, which holds bytes: leave it out" \
    's/{"name": "outside"}/{"name": "outside", "type": "int8"}/'
wrong "16:34: memories[0].array: the first memory is the core's, which holds bytes: leave it out" \
    's/{"name": "outside"}/{"name": "outside", "array": "m_q"}/'
changed right 's/{"name": "outside"}/{"name": "outside", "bytes": 65536}/' # the rest is the target's
"$heddle" targets --target-dir=right >stdout 2>stderr || fail "right: $(cat stderr)"
grep -q '^    memories: outside 65536 bytes, ' stdout || fail "the first memory: $(grep memories: stdout)"
wrong "17:5: memories[1]: member \"bytes\" is missing" 's/"pixels", "type": "int8", "bytes": 131072/"pixels", "type": "int8"/'
wrong "17:5: memories[1]: member \"type\" is missing" 's/"pixels", "type": "int8",/"pixels",/'
wrong "18:5: memories[2]: duplicate memory 'pixels'" 's/{"name": "filters", "type"/{"name": "pixels", "type"/'
wrong "27:5: instructions[1]: duplicate instruction 'pixels_in'" 's/{"name": "filters_in"/{"name": "pixels_in"/'
wrong "24:84: instructions[0].to: no memory 'pixel'; there are: outside, pixels, filters, channels, weights, sums" \
    's/"from": "outside", "to": "pixels"/"from": "outside", "to": "pixel"/'
wrong "36:87: instructions[4].with: expected a memory of int8 on the chip, 'sums' is of int32" 's/"with": "weights"/"with": "sums"/'
wrong "36:69: instructions[4].from: expected a memory of int8 on the chip, 'outside' is the first one" \
    's/"from": "pixels", "with"/"from": "outside", "with"/'
wrong "33:68: instructions[3].from: expected a memory of int8 on the chip, 'channels' is of channels" \
    's/"from": "filters", "to": "weights"/"from": "channels", "to": "weights"/'
wrong "47:5: instructions[6]: member \"with\" is missing" 's/"from": "sums", "with": "channels"/"from": "sums"/'
wrong "33:87: instructions[3].with: a copy has none: leave it out" 's/"from": "filters", "to"/"from": "filters", "with": "sums", "to"/'
wrong "36:5: instructions[4]: member \"lanes\" is missing" 's/"depth": 16, "lanes": 16/"depth": 16/'
wrong "35:16: instructions[3].cycles: expected a number, a name or '(', found the end" 's/"cycles": "18"/"cycles": "18 +"/'
wrong "41:16: instructions[4].cycles: 'row' is not rows, columns, bytes or steps" 's/"rows \* columns"/"row * columns"/'
wrong "25:25: instructions[0].fields.wide: unknown member; did you mean \"with\"?" 's/"fields": {"from": {"bits": 28/"fields": {"wide": {"bits": 28/'
wrong "42:65: instructions[5].from: expected a memory of int8 on the chip, 'outside' is the first one" \
    's/"does": "scale", "from": "pixels"/"does": "scale", "from": "outside"/'
wrong "42:81: instructions[5].to: expected a memory of int32 on the chip, 'weights' is of int8" \
    's/"does": "scale", "from": "pixels", "to": "sums"/"does": "scale", "from": "pixels", "to": "weights"/'
wrong "42:65: instructions[5].with: a scale has none: leave it out" \
    's/"does": "scale", "from"/"does": "scale", "with": "weights", "from"/'
wrong "23:19: instructions: widen must be from pixels to sums, as compute is" \
    's/"does": "scale", "from": "pixels"/"does": "scale", "from": "filters"/'
wrong "23:19: instructions: no instruction does a requantise to outside" '/"name": "move_out"/,/"shuttle_move_out"/d'
wrong "24:19: instructions: move_out must be from sums, where compute leaves sums" \
    's/"type": "int32", "bytes": 65536, "array": "sums_q"}/&,\n    {"name": "more", "type": "int32", "bytes": 64}/; s/"move_out", "unit": "store", "does": "requantise", "from": "sums"/"move_out", "unit": "store", "does": "requantise", "from": "more"/'
wrong "23:19: instructions: keep must be from sums with channels, as move_out is, to pixels" \
    's/"with": "channels", "to": "pixels"/"with": "channels", "to": "filters"/'
wrong "23:19: instructions: no instruction copies from outside to filters" \
    '/"name": "filters_in"/,/"shuttle_filters_in"/d'
wrong "23:19: instructions: no instruction copies from outside to weights" \
    '/"name": "preload"/,/"shuttle_preload"/d'
wrong "23:19: instructions: pixels holds pixels and weights: they must be in two memories" \
    's/"from": "filters", "to": "weights"/"from": "pixels", "to": "weights"/'
wrong "23:19: instructions: weights has 256 bytes; two times the weights of compute are 512" \
    's/"bytes": 512,/"bytes": 256,/'
wrong "23:19: instructions: spread must be from filters to weights, for a product of as many lanes as depth" \
    's/"lanes": 16/"lanes": 8/'
wrong "56:86: instructions[8].to: expected a memory of int8 on the chip, 'sums' is of int32" \
    's/"does": "spread", "from": "filters", "to": "weights"/"does": "spread", "from": "filters", "to": "sums"/'
wrong "23:19: instructions: units may be 2064 instructions apart; 8 bits count to 256" 's/"count_bits": 16/"count_bits": 8/'
wrong "60:22: order.queue: expected a number of at most 16, found 17" 's/"queue": 8/"queue": 17/'

# refused NAME SED LAYER WHY: a layer that does not fit.
refused() {
    changed "$1" "$2"
    "$heddle" inspect "${5:-resnet8_own}" --target-dir="$1" --target="$1" >stdout 2>stderr || fail "$1: $(cat stderr)"
    grep -q "^$3 .*$1: $4" stdout || fail "$1: expected $4, found $(grep "^$3" stdout)"
}
refused short 's/"memory_bytes": 1048576/"memory_bytes": 20000/' 01_conv2d 'the layer has [0-9]* bytes, outside 20000'
refused dim 's/"pixels", "type": "int8", "bytes": 131072/"pixels", "type": "int8", "bytes": 1024/' 01_conv2d \
    '1 output row: 1632 bytes of pixels and 2048 of sums, pixels has 1024 and sums 65536'
refused poor 's/"filters", "type": "int8", "bytes": 65536/"filters", "type": "int8", "bytes": 2048/' 01_conv2d \
    'the weights of 16 channels are 2304 bytes, filters has 2048'
refused few 's/"columns": {"bits": 16}, "from": {"bits": 13/"columns": {"bits": 4}, "from": {"bits": 13/' 01_conv2d \
    'compute: columns is 32, expected at most 15'
refused odd 's/"from_column": {"bits": 13, "unit": 16}/"from_column": {"bits": 13, "unit": 64}/' 01_conv2d \
    'compute: from_column is 16, expected a multiple of 64'
refused plain 's/"from_column": {"bits": 13, "unit": 16},//' 05_conv2d \
    'compute: from_column is 32; without a field for it, it is 16'
# Results that are copied out in a second step, and scales without powers of two.
conv() { # conv SCALE BYTES WHY: of the loom example with BYTES of results
    printf '%s\n' 'heddle-ir 1' 'graph name="conv"' 'row 0 name="0_conv" op="CONV_2D" tensor="y" shape=""' \
        'tensor 0 i8 [1,80,80,16] input name="x" scale=(0.5) zero=(0)' \
        "tensor 1 i8 [16,1,1,16] const name=\"w\" scale=($1) zero=(0) fill=1" \
        'tensor 2 i8 [1,80,80,16] value name="y" scale=(0.5) zero=(0)' \
        'op conv2d row=0 in=(0,1) out=(2) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=1 kernel_w=1' \
        'border in=(0) out=(2)' >conv.ir
    rm -rf loom1
    cp -r "$HEDDLE_HOME/targets/loom" loom1
    sed -i "s/\"name\": \"loom\"/\"name\": \"loom1\"/; s/\"bytes\": 16384/\"bytes\": $2/" loom1/target.json
    "$heddle" inspect conv.ir --target-dir=loom1 --target=loom1,c >stdout 2>stderr || fail "loom1: $(cat stderr)"
    grep -q "^0_conv .*loom1$3" stdout || fail "loom1: expected $3, found $(grep '^0_conv' stdout)"
}
conv 0.25 16384 ' [0-9]'
conv 0.25 1024 ': 1 output row: 1280 bytes of results, results has 1024'
conv 0.3 16384 ': the scale 0.3[0-9]* is not a power of two'
loom_wrong() { # loom_wrong MESSAGE SED
    rm -rf loom1
    cp -r "$HEDDLE_HOME/targets/loom" loom1
    sed -i "s/\"name\": \"loom\"/\"name\": \"loom1\"/; $2" loom1/target.json
    expect 2 "heddle: $work/loom1/target.json:$1" "$heddle" targets --target-dir=loom1
}
loom_wrong "23:19: instructions: lanes must be from pixels with filters to sums, for a product of as many lanes as depth" \
    's/"does": "multiply", "from": "pixels"/"does": "multiply", "from": "results"/'
loom_wrong "39:5: instructions[4]: member \"with\" is missing" 's/"multiply", "from": "pixels", "with": "filters"/"multiply", "from": "pixels"/'
loom_wrong "39:85: instructions[4].with: expected a memory of int8 on the chip, 'sums' is of int32" \
    's/"multiply", "from": "pixels", "with": "filters"/"multiply", "from": "pixels", "with": "sums"/'
# Additions that the description cannot say.
refused still '/"name": "spread"/,/"shuttle_spread"/d; s/"shuttle_keep"},/"shuttle_keep"}/' 01_depthwise_conv2d 'no instruction does a spread or multiply' dscnn_own
refused mute '/"name": "widen"/,/"shuttle_widen"/d' 03_add 'no instruction does a scale'
refused thin 's/"pixels", "type": "int8", "bytes": 131072/"pixels", "type": "int8", "bytes": 1000/' 03_add \
    '1 output row: 1024 bytes of pixels and 2048 of sums, pixels has 1000 and sums 65536'
pool() { # pool HEIGHT WIDTH ATTRIBUTES WHY BATCH [TARGET]: of a pool's output of HEIGHT x WIDTH, refused
    printf '%s\n' 'heddle-ir 1' 'graph name="pool"' 'row 0 name="0_pool" op="AVERAGE_POOL_2D" tensor="y" shape=""' \
        "tensor 0 i8 [$5,80,80,16] input name=\"x\" scale=(0.5) zero=(0)" \
        "tensor 1 i8 [$5,$1,$2,16] value name=\"y\" scale=(0.5) zero=(0)" \
        "op average_pool_2d row=0 in=(0) out=(1) $3" 'border in=(0) out=(1)' >pool.ir
    "$heddle" inspect pool.ir --target="${6:-shuttle}" >stdout 2>stderr || fail "pool: $(cat stderr)"
    grep -q "^0_pool .*${6:-shuttle}: $4" stdout || fail "pool: expected $4, found $(grep '^0_pool' stdout)"
}
pool 40 40 'stride_h=2 stride_w=2 kernel_h=3 kernel_w=3 pad_bottom=1 pad_right=1' 'windows reach beyond the image' 1
pool 1 1 'stride_h=1 stride_w=1 kernel_h=80 kernel_w=80' 'a window has 6400 values, expected at most 4096' 1
pool 40 40 'stride_h=2 stride_w=2 kernel_h=2 kernel_w=2' 'batch 2, expected 1' 2
pool 39 39 'stride_h=2 stride_w=2 kernel_h=3 kernel_w=3' \
    'a window has 9 values: 1/9 is not a power of two, which shift_bits needs' 1 loom
printf '%s\n' 'heddle-ir 1' 'graph name="add"' 'row 0 name="0_add" op="ADD" tensor="y" shape=""' \
    'tensor 0 i8 [1,2,2,16] input name="a" scale=(0.5) zero=(0)' \
    'tensor 1 i8 [1,2,2,16] const name="b" scale=(0.5) zero=(0) fill=1' \
    'tensor 2 i8 [1,2,2,16] value name="y" scale=(0.5) zero=(0)' \
    'op add row=0 in=(0,1) out=(2)' 'border in=(0) out=(2)' >add.ir
"$heddle" inspect add.ir --target=shuttle >stdout 2>stderr || fail "add: $(cat stderr)"
grep -q '^0_add .*shuttle: operand 1 is a constant' stdout || fail "add: $(grep ^0_add stdout)"

# An engine whose instruction is a piece of a layer.
example=jacquard
wrong "20:19: instructions: no instruction does a layer to outside" '/"name": "layer"/,/"jacquard_layer"/d'
wrong "30:5: instructions[3]: member \"channels\" is missing" '30s/"channels": "channels",//'
wrong "21:89: instructions[0].channels: a copy has none: leave it out" '21s/"to": "lines"/"channels": "channels", &/'
wrong "30:106: instructions[3].channels: expected a memory of channels on the chip, 'lines' is of int8" '30s/"channels": "channels"/"channels": "lines"/'
wrong "40:12: instructions[4].to: expected a memory of int8 on the chip, 'channels' is of channels" '40s/"to": "lines"/"to": "channels"/'
wrong "20:19: instructions: keep must be from lines with filters and channels, as layer is, to lines" '40s/"to": "lines"/"to": "filters"/'
wrong "20:19: instructions: layer: lanes are 6, expected a multiple of depth, 4" 's/"lanes": 16/"lanes": 6/'
wrong "20:19: instructions: lines holds pixels and weights: they must be in two memories" 's/"with": "filters"/"with": "lines"/'
wrong "20:19: instructions: no instruction copies from outside to channels" '/"name": "channels_in"/,/"jacquard_channels_in"/d'
refused slim 's/"lines", "type": "int8", "bytes": 131072/"lines", "type": "int8", "bytes": 1024/' 01_conv2d \
    '1 output row: 1632 bytes of pixels, lines has 1024'
refused flat 's/"tap_columns": {"bits": 8},//' 01_conv2d 'layer: tap_columns is 3; without a field for it, it is 1'

# The lines that docs/DESCRIBED.md counts.
counted() { # counted ROW COMMAND...: what the command prints for each example
    local row="| $1 |" target
    for target in strawberry shuttle loom jacquard; do row+=" $(cd "$HEDDLE_HOME/targets/$target" && eval "$2") |"; done
    grep -qFx -- "$row" "$HEDDLE_HOME/docs/DESCRIBED.md" || fail "docs/DESCRIBED.md: expected $row"
}
member() { awk -v of="^  \"$1\":" '/^  "/ { in_it = $0 ~ of } in_it { n++ } END { print n + 0 }' target.json; }
counted '`target.json`' 'wc -l <target.json'
counted 'of these `memories`' 'member memories'
counted 'of these `instructions`' 'member instructions'
counted C 'cat ./*.[ch] | wc -l'
counted Verilog 'cat ./*.sv | wc -l'
finish
