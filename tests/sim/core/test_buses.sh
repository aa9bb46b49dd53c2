#!/bin/bash
# The tables of sim/core/README.md are those of bus.def.
python3 "$HEDDLE_HOME/tests/sim/core/buses.py"
