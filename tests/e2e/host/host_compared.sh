# host_compared.sh - sourced by tests that hold --host=iss with PicoRV32's table to that core's Verilog.
# compared MODEL OPTION...: the same run on both; host_compare.py compares.
compared() {
    local model=$1
    shift
    "$heddle" run "$model" "$@" --host=iss --host-core=picorv32 -o iss >stdout 2>stderr || fail "$model iss: $(cat stderr)"
    "$heddle" run "$model" "$@" --host=rtl -o rtl >stdout 2>stderr || { fail "$model rtl: $(cat stderr)"; return; }
    same iss/out_0.bin rtl/out_0.bin "$model: outputs"
    "$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/stats.v2.schema.json" rtl/stats.json || fail "$model: schema"
    python3 "$HEDDLE_HOME/tests/e2e/host/host_compare.py" "$model $*" iss/stats.json rtl/stats.json || fail "$model $*: cycles"
}
