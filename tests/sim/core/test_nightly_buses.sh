#!/bin/bash
# Parameters of cores: a stream that breaks its rules by one, AXI4 of 128 bits by another.
. "$HEDDLE_HOME/tests/sim/core/copies.sh"
streams str
rule str 7 'm_axis T, cycle [0-9]+: m_axis_tvalid: expected valid until ready, found that it fell'
rule str 8 'm_axis T, cycle [0-9]+: m_axis_tlast: expected with the transfer.s last byte, found [0-9]+ bytes before'
head -c 64 "$models/digits/in_0.bin" >in.bin
for option in "" "--stall-seed=5 --mem-latency=9"; do
    # shellcheck disable=SC2086
    "$heddle" run digits --hw=tiny --target=matvec,c --target-matvec-data-w=128 -i in.bin $option >stdout 2>stderr ||
        fail "matvec of 128 bits $option: $(cat stderr)"
done
finish
