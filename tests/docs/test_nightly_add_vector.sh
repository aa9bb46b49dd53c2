#!/bin/bash
# docs/ADD_A_VECTOR_OPERATION.md typed into a copy of the sources: its blocks make min_pool an operation and b_repeat a
# field of VECTOR, in at most 8 files each. The bench of the RTL and the test of the functional model draw random commands
# with both; reduce_min of a network is one command on the functional model and on the RTL of tiny.
. "$HEDDLE_HOME/tests/e2e/common.sh"
. "$HEDDLE_HOME/tests/docs/typed_page.sh"
command -v verilator >/dev/null || { echo "no verilator: SKIPPED"; exit 77; }

page=$HEDDLE_HOME/docs/ADD_A_VECTOR_OPERATION.md
copy_sources tests/hw tests/sim/functional tests/driver/plain.h tests/kernels/lstm_model.h

put within hw/accel.json '"sum", "softmax"' 1
put before hw/accel.json '"softmax":' 2
put instead hw/rtl/vector/hd_vector_lane.sv 'end else if (sa_q > value_q)' 3
put instead sim/functional/func_vector.c 'else if (a[i] > value[i])' 4
put before tests/hw/vector/vector_model.h 'int32_t largest = -128;' 5
put before tests/hw/vector/vector_model.h 'largest = larger > largest' 6
put before tests/hw/vector/vector_model.h 'return largest;' 7
put instead operators/operators.def 'F32(f32_smallest) INTEGERS(minimum) REDUCTION(' 8
put before docs/HARDWARE.md '- sum: MBQM(' 9
typed+=" hw/REGISTERS.md" # make registers
at_most 8

typed=hw/REGISTERS.md
put before hw/accel.json '"The table, of the first chunk."' 10
put instead hw/rtl/vector/hd_vector_walk.sv "cmd_i.b_splat ? '0" 11
put instead sim/functional/func_vector.c 'const uint32_t b_chunk' 12
put instead tests/hw/vector/vector_model.h 'const uint32_t b_ch' 13
put before tests/hw/vector/vector_model.h 'c->table_step =' 14
at_most 8

cmake -S tree -B tree/build -DHEDDLE_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug >log 2>&1 &&
    cmake --build tree/build -j "$(nproc)" --target heddle gen >log 2>&1 ||
    fail "the copy does not build: $(grep -A6 -i "undefined\|error" log | tail -n 20)"
export HEDDLE_HOME=$work/tree HEDDLE_BUILD=$work/tree/build
new=$HEDDLE_BUILD/heddle
grep -q 'b_repeat : 1' "$HEDDLE_BUILD/gen/hd_accel.h" || fail "struct hd_cmd_vector has no b_repeat"

# Both benches generate every operation of the enum.
bash tree/tests/hw/run_bench.sh vector 4 >log 2>&1 || fail "vector_tb: $(tail -n 5 log)"
gen=$HEDDLE_BUILD/gen
(cd tree && cc -std=c17 -Wall -I. -Idriver -I"$gen" tests/sim/functional/test_vector.c sim/functional/*.c driver/*.c \
    "$gen/hd_accel_tables.c" build/libheddle_base.a -o ../test_vector -lcmocka $(pkg-config --libs libcjson sqlite3) -lm -ldl) \
    >log 2>&1 && (cd tree && ../test_vector) >log 2>&1 || fail "test_vector: $(grep -v '\[ ' log | head -n 5)"

cat >small.ir <<'IR'
heddle-ir 1
graph name="small"
row 0 name="00_reduce_min" op="REDUCE_MIN" tensor="y" shape="" macs=0
tensor 0 i8 [1,5,6,9] input name="x" scale=(0.5) zero=(3)
tensor 1 i8 [1,1,1,9] value name="y" scale=(0.5) zero=(3)
op reduce_min row=0 in=(0) out=(1) axis=6 keep_dims=1
border in=(0) out=(1)
IR
for engine in func rtl; do
    "$new" run small.ir --hw=tiny --engine=$engine >log 2>&1 || fail "small.ir on $engine: $(head -n 3 log)"
    grep -q '^00_reduce_min .* systolic ' log || fail "reduce_min is not on the accelerator: $(grep reduce_min log)"
done
"$new" disasm small.ir --hw=tiny >log 2>&1 || fail "disasm: $(head -n 3 log)"
[ "$(grep -c 'op=min_pool' log)" = 1 ] || fail "expected one command min_pool: $(grep -i vector log)"
finish
