#!/usr/bin/env python3
"""host_names.py PLAIN WAVES <VCD: the functions that the processor executed, from the waves of a run of one inference, whose
stats are WAVES: the emitted run() calls driver and softmax, softmax with what it calls takes the cycles that its layer has, and the run without
waves (PLAIN) took the same number of cycles."""
import json
import sys

plain, stats = (json.load(open(path)) for path in sys.argv[1:])
for key in ("cycles", "total_cycles", "host_cycles", "driver", "layers"):
    assert plain[key] == stats[key], (key, plain[key], stats[key])
ident, now, seen = None, 0, []
for line in sys.stdin:
    if line.startswith("$var") and " executes " in line:
        ident = line.split()[3]
    elif line.startswith("#"):
        now = int(line[1:]) // 10
    elif line.startswith("b") and line.split()[1] == ident:
        name = int(line[1:].split()[0], 2).to_bytes(32, "big").strip(b"\0").decode()
        seen.append((now, name))
names = [name for _, name in seen]
for first, second in ("run", "hd_run"), ("hd_run", "run"), ("run", "hdk_softmax"):
    assert second in names[names.index(first):], f"{second} not after {first}: {names[:40]}"
first = names.index("hdk_softmax")  # and what it calls, up to its return
spent = seen[names.index("run", first)][0] - seen[first][0]
layer = next(l for l in stats["layers"] if l["op"] == "SOFTMAX")
assert 0.9 * layer["host_cycles"] < spent <= layer["host_cycles"], (spent, layer["host_cycles"])
assert abs(seen[-1][0] - seen[0][0] - stats["total_cycles"]) < 200, (seen[0], seen[-1], stats["total_cycles"])
print(f"{len(seen)} functions, {spent} cycles in softmax")
