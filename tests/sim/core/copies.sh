# Shared by test_*_buses.sh: targets that copy, whose cores are the modules of copiers.sv.
. "$HEDDLE_HOME/tests/e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
export COPIERS=$HEDDLE_HOME/tests/sim/core
"$heddle" new-target base --template=copy >/dev/null

# core NAME TOP PORTS: a target whose Verilog comes from a file list, the fault from an attribute.
core() {
    cp -r base "$1"
    rm "$1"/base_core.sv
    for f in c h; do mv "$1/base.$f" "$1/$1.$f"; done
    sed -i "s/base/$1/g" "$1/$1".[ch] "$1/target.json"
    sed -i 's/size_t n)/size_t n, int fault)/; s/^    dev->write32(dev->ctx, 4, 0);/    dev->write32(dev->ctx, 16, (uint32_t)fault);\n&/' "$1/$1".[ch]
    sed -i 's/$out_bytes)/$out_bytes, $fault)/' "$1/target.json"
    echo '${COPIERS}/copiers.sv // all of them' >"$1/core.f"
    sed -i "s/\"verilog\": \[[^]]*\]/\"file_lists\": [\"core.f\"], \"ports\": {$3}/
        s/\"top\": \"[a-z_]*\"/\"top\": \"$2\"/
        s/^  \"memory\": .*/&\n  \"attributes\": [{\"name\": \"fault\", \"type\": \"int\", \"range\": [0, 15], \"default\": 0, \"help\": \"planted\"}],/" "$1/target.json"
}
run() { # NAME OPTIONS...
    local name=$1
    shift
    "$heddle" run base/copy.ir --hw=tiny --target-dir="$name" --target="$name" --allow-native-targets "$@" >stdout 2>stderr
}
good() { # NAME
    for option in "" "--mem-latency=1" "--stall-seed=3" "--stall-seed=4 --mem-bytes=2"; do
        # shellcheck disable=SC2086
        run "$1" $option || fail "$1 $option: $(cat stderr)"
        grep -q '^verdict: match' stdout || fail "$1 $option: $(head -1 stdout)"
    done
}
rule() { # NAME FAULT TEXT
    run "$1" --target-"$1"-fault="$2" --stall-seed=3
    [ $? = 4 ] || fail "$1, fault $2: expected exit 4: $(cat stderr)"
    grep -qE " on $1: $3\$" stderr || fail "$1, fault $2: expected '$3', found '$(cat stderr)'"
}
# Memory faults: the run ends with CODE; TEXT is on stderr. A beat that is late delays a core and changes no byte.
fault() { # NAME KIND BEAT CODE TEXT
    run "$1" --bus-fault="$2" --bus-fault-beat="$3"
    [ $? = "$4" ] || fail "$1, $2 at $3: expected exit $4: $(cat stderr)"
    grep -qE -e "$5" stderr || fail "$1, $2 at $3: expected '$5', found '$(cat stderr)'"
}
faults() { # NAME
    fault "$1" read-late 5 0 '--bus-fault happened at 0x14, in the burst from 0x1[04]$'
    fault "$1" write-late 5 0 '--bus-fault happened at 0x314, in the burst from 0x31[04]$'
    fault "$1" read-missing 5 4 'no more progress; no register, .*; last accesses: .*; the bus fault: at 0x14$'
    fault "$1" write-missing 5 4 'no more progress; no register, .*; the bus fault: at 0x314$'
}
streams() { # NAME
    core "$1" streams ''
    sed -i 's/"file_lists"/"parameters": {"FAULT": "fault"}, &/' "$1/target.json"
    sed -i 's/#include <string.h>/&\n#include "hd_stream.h"/; /write32/d; s/^    rc = dev->wait_irq/    hd_stream_receive(dev, 0, to, (uint32_t)n);\n    hd_stream_send(dev, 0, 0, (uint32_t)n);\n&/' "$1/$1.c"
}
