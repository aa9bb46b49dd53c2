#!/usr/bin/env python3
"""memories.py [--hw NAME]... [MODEL...]: a faster memory never takes a network more cycles.

Each network (by default: heddle's own) is scheduled for eight memories: latencies of 16, 64, 200 and 500 cycles, the bus
whole and a quarter of it. Latency and bandwidth are inputs of the search. A memory is faster than another if neither
its latency is longer nor its bus narrower. Its cycles (the schedule's estimate and the host's) may be at most 0.5 % more.
Prints each network's cycles; exit status 1 when a faster memory takes more."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path(os.environ.get("HEDDLE_HOME", HERE.parent.parent))
BUILD = pathlib.Path(os.environ.get("HEDDLE_BUILD", HOME / "build"))
OWN = ("digits", "autoencoder_own", "dscnn_own", "mobilenet025_own", "resnet8_own", "vit_own")
LATENCIES, SHARES, SLACK = (16, 64, 200, 500), (1, 4), 1.005  # cycles; parts of the bus's width; rounding of the search


def cycles_of(model, hw, latency, n_bytes):
    with tempfile.TemporaryDirectory() as folder:
        stats = pathlib.Path(folder) / "stats.json"
        done = subprocess.run([BUILD / "heddle", "run", model, "--engine=func", "-n1", "-q", f"--hw={hw}", "--stats", stats,
                               f"--mem-latency={latency}", f"--mem-bytes={n_bytes}"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{model} at {hw}: exit {done.returncode}: {done.stderr.strip()}")
        s = json.loads(stats.read_text())
    return (s.get("estimated_cycles") or 0) + s["host_cycles"]


def faster_with_more(cycles):
    """Return each pair of a memory and a slower one that takes fewer cycles; memories are (latency, bytes)."""
    return [(a, b) for a in cycles for b in cycles
            if a != b and a[0] <= b[0] and a[1] >= b[1] and cycles[a] > cycles[b] * SLACK]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--hw", action="append")
    ap.add_argument("models", nargs="*", default=OWN)
    args = ap.parse_args()
    known = json.loads((HOME / "hw/accel.json").read_text())["configurations"]
    bus = {c["name"]: c["axi_bytes"] for c in known}
    bad = []
    for model in args.models:
        for hw in args.hw or ["sys16"]:
            cycles = {(latency, bus[hw] // share): cycles_of(model, hw, latency, bus[hw] // share)
                      for share in SHARES for latency in LATENCIES}
            print(f"{model} {hw}: " + ", ".join(f"{m[0]}/{m[1]} {n}" for m, n in cycles.items()), flush=True)
            bad += [f"{model} at {hw}: latency {a[0]}, {a[1]} bytes a cycle: {cycles[a]} cycles, at most {cycles[b]} expected, "
                    f"which latency {b[0]}, {b[1]} bytes take" for a, b in faster_with_more(cycles)]
    for line in bad:
        print(line, file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
