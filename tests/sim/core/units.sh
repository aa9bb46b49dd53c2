# Shared by test_*_units.sh: targets like targets/dot4 with another unit of custom instructions.
. "$HEDDLE_HOME/tests/e2e/common.sh"
for tool in riscv64-unknown-elf-gcc cmake verilator; do
    command -v $tool >/dev/null || { echo "$tool not found (make test installs it)"; exit 77; }
done
export UNITS=$HEDDLE_HOME/tests/sim/core DOT4=$HEDDLE_HOME/targets/dot4
head -c 64 "$models/digits/in_0.bin" >digit.bin

unit() { # NAME TOP [MORE OF core]
    cp -r "$DOT4" "$1"
    sed -i "s/dot4_/$1_/g" "$1"/dot4.[ch] "$1/target.json"
    sed -i "s/\"name\": \"dot4\"/\"name\": \"$1\"/; s/\"core\": .*/\"core\": {\"top\": \"$2\", \"verilog\": [\"\$DOT4\/dot4_cfu.sv\", \"\$UNITS\/units.sv\"]${3:-}},/" "$1/target.json"
}
run() { # NAME OPTION...
    local name=$1
    shift
    "$heddle" run digits -i digit.bin --target-dir="$name" --target="$name,c" --allow-native-targets "$@" >stdout 2>stderr
}
