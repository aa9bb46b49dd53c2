#!/bin/bash
# Parameters of cores: a stream that breaks its rules by one, AXI4 of 128 bits by another.
. "$HEDDLE_HOME/tests/sim/core/copies.sh"
streams str
rule str 7 'm_axis T, cycle [0-9]+: m_axis_tvalid: expected valid until ready, found that it fell'
rule str 8 'm_axis T, cycle [0-9]+: m_axis_tlast: expected with the transfer.s last byte, found [0-9]+ bytes before'
cp -r "$HEDDLE_HOME/targets/matvec" wide
sed -i 's/"name": "matvec"/"name": "wide"/; s/"DATA_W": 64/"DATA_W": 128/' wide/target.json
sed -i 's/MATVEC_BEAT 8 /MATVEC_BEAT 16 /' wide/matvec.h
head -c 64 "$models/digits/in_0.bin" >in.bin
for option in "" "--stall-seed=5 --mem-latency=9"; do
    # shellcheck disable=SC2086
    "$heddle" run digits --hw=tiny --target-dir=wide --target=wide,c --allow-native-targets -i in.bin $option >stdout 2>stderr ||
        fail "matvec of 128 bits $option: $(cat stderr)"
done
finish
