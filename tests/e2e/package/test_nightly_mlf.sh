#!/bin/bash
# test_slow_mlf.sh with what TVM and MLonMCU of PyPI have that reads the format.
HD_MLF=all exec bash "$(dirname "$0")/test_slow_mlf.sh"
