#!/usr/bin/env python3
"""trace_check.py DIR: DIR/trace.json agrees with DIR/stats.json of the same run.

Slices of a track are in order and do not overlap. Those of a unit last as long as its counters say
that it worked or was held up: all kinds but idle, wait_token and wait_end. A command may differ by
one cycle, that of its completion. The commands' bytes are those of the bus, counters integrate to
the same and are never above the bus's width, and the scratchpad is empty in the end. Bytes and cycles are compared where the stats'
means are those of each inference."""
import json
import sys
from collections import defaultdict

REST = ("idle", "wait_token", "wait_end")


def integral(points, end):
    ends = [at for at, _ in points[1:]] + [end]
    return sum(value * (to - at) for (at, value), to in zip(points, ends))


def check_host(stats, slices):
    """The processor's track of one inference: each cycle is in a slice, and of its layer; accelerators work while it waits."""
    spent, waits = defaultdict(int), []
    for e in slices[1, 1]:
        layer, part = e["args"]["layer"], e["args"]["part"]
        spent[part] += e["dur"]
        spent[layer, part] += e["dur"]
        waits += [(e["ts"], e["ts"] + e["dur"])] if part == "waits" else []
    for e in (e for (pid, _), all_of in slices.items() if pid > 1 for e in all_of):
        assert any(a < e["ts"] and e["ts"] + e["dur"] <= b for a, b in waits), f"{e} not while the processor waits"
    want = {"operator": stats["host_cycles"] - stats["driver_cycles"], "driver": stats["driver_cycles"],
            "waits": stats["waiting_cycles"]}
    assert all(spent[part] == n for part, n in want.items()), (want, spent)
    for i, l in enumerate(stats["layers"]):
        assert spent[i, "driver"] == l["driver_cycles"], (l["name"], spent)
        assert spent[i, "operator"] == l["host_cycles"] - l["driver_cycles"], (l["name"], spent)


def main(folder):
    with open(f"{folder}/trace.json", encoding="utf-8") as f:
        trace = json.load(f)
    with open(f"{folder}/stats.json", encoding="utf-8") as f:
        stats = json.load(f)
    name, slices, counters = {}, defaultdict(list), defaultdict(list)
    for e in trace["traceEvents"]:
        track = (e["pid"], e.get("tid"))
        if e["ph"] == "M" and e["name"] == "thread_name":
            name[track] = e["args"]["name"]
        elif e["ph"] == "X":
            slices[track].append(e)
        elif e["ph"] == "C":
            counters[e["pid"], e["name"]].append((e["ts"], e["args"]["bytes"]))
    cycles = trace["otherData"]["cycles"]
    bus = max(hw["bus_bytes"] for hw in (stats["hw"] if isinstance(stats["hw"], list) else [stats["hw"]]))
    length, count, moved = defaultdict(int), defaultdict(int), defaultdict(int)
    for track, all_of in slices.items():
        end = 0
        for e in all_of:
            assert e["ts"] >= end and e["dur"] > 0, f"{name[track]}: {e} overlaps the one before"
            end = e["ts"] + e["dur"]
            assert e["name"] == stats["layers"][e["args"]["layer"]]["name"], e
            length[name[track]] += e["dur"]
            count[name[track]] += 1
            moved[name[track] == "store"] += e["args"].get("bus_bytes", 0)
        assert end <= cycles, f"{name[track]}: {end} is after the end, {cycles}"
    for unit, kinds in stats.get("counters", {}).items():
        worked = sum(n for kind, n in kinds.items() if kind not in REST)
        assert abs(length[unit] - worked) <= count[unit], (
            f"{unit}: {count[unit]} slices, {length[unit]} cycles; its counters say {worked}")
    for write, what in enumerate(("read", "written")):
        of_all = [points for (_, counter), points in counters.items() if counter == f"bus, bytes {what} a cycle"]
        total = sum(integral(points, cycles) for points in of_all)
        assert abs(total - moved[write]) < 1e-5 * moved[write] + 1, f"{what}: {total}, {moved[write]}"
        for value in (value for points in of_all for _, value in points):
            assert value <= bus, f"{what}: {value} bytes a cycle on a bus of {bus}"
    for points in counters.values():
        assert points == sorted(points) and points[-1][1] == 0, "a counter does not end at 0"
    if isinstance(stats["total_cycles"], int) and stats["inferences"] == 1:
        assert cycles == stats["total_cycles"], f"{cycles} cycles, {stats['total_cycles']}"
        assert moved[0] == stats["dram_read_bytes"], f"{moved[0]} bytes read"
        assert moved[1] == stats["dram_write_bytes"], f"{moved[1]} bytes written"
        if trace["otherData"]["host"] == "simulated":
            check_host(stats, slices)
    actions = stats["energy"]["actions"]
    assert actions["bus_read"] == moved[0], f"{actions['bus_read']} bytes counted, {moved[0]} moved"
    assert actions["bus_written"] == moved[1], f"{actions['bus_written']} bytes counted, {moved[1]} moved"
    print(f"{sum(count.values())} slices agree")


main(sys.argv[1])
