#!/bin/bash
# test_slow_host_rtl.sh with sys16 as well.
HD_HOST_RTL=all exec bash "$(dirname "$0")/test_slow_host_rtl.sh"
