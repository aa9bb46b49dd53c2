#!/bin/bash
# test_slow_package.sh with clang, riscv32 and riscv64 by CMake, and a package for each processor of --target-c-mcpu and --target-c-march.
HD_PROCESSORS=all exec bash "$(dirname "$0")/test_slow_package.sh"
