#!/usr/bin/env python3
"""host_compare.py NAME ISS RTL - stats files of the same run with --host=iss --host-core=picorv32 and --host=rtl: what the
accelerator did is equal, cycles end to end are within 3 %, those of host operators and of the driver within 10 %."""
import json
import sys

name, iss, rtl = sys.argv[1], *(json.load(open(path)) for path in sys.argv[2:])
for key in ("cycles", "dram_read_bytes", "dram_write_bytes", "verdict"):
    assert iss[key] == rtl[key], (key, iss[key], rtl[key])
assert (iss["host_model"], rtl["host_model"]) == ("iss", "rtl")
differences = []
for key, most in (("total_cycles", 3), ("host_cycles", 10), ("driver_cycles", 10)):
    percent = 100 * (iss[key] / rtl[key] - 1) if rtl[key] else 0
    differences.append(f"{key} {rtl[key]:.0f} ({percent:+.2f} %)")
    assert abs(percent) < most, differences
print(f"{name}: {', '.join(differences)}")
