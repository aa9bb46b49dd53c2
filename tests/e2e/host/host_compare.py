#!/usr/bin/env python3
"""host_compare.py NAME ISS RTL - stats files of the same run with --host=iss --host-core=picorv32 and --host=rtl: what the
accelerator did is equal, cycles end to end are within 3 %, those of the driver and of each row's host operator within
10 %; those of all rows are the host's."""
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
worst = (0, "no host operator")
for a, b in zip(iss["layers"], rtl["layers"]):
    x, y = (one["host_cycles"] - one["driver_cycles"] for one in (a, b))
    assert (x > 0) == (y > 0), (a["name"], x, y)
    worst = max(worst, (100 * abs(x / y - 1) if y else 0, a["name"]))
assert worst[0] < 10, worst
for s in iss, rtl:
    for key in "host_cycles", "driver_cycles":
        assert abs(sum(one[key] for one in s["layers"]) - s[key]) <= 1e-6 * s[key], (key, s["host_model"])
    d = s["driver"]
    parts = d["prepare_cycles"] + d["access_cycles"] + d["interrupt_cycles"] + d["finish_cycles"]
    assert abs(parts - s["driver_cycles"]) <= 1e-6 * parts, (d, s["driver_cycles"])
print(f"{name}: {', '.join(differences)}; host operators differ by at most {worst[0]:.2f} % ({worst[1]})")
