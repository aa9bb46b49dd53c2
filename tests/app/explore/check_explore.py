"""Checks of explore.csv: the front by its definition, the volume of a part, a goal."""
import csv
import math
import sys

COSTS = ("ms", "multipliers", "memory_kib", "bus_bytes")


def read(path):
    with open(path, newline="") as file:
        return [r for r in csv.DictReader(file) if r["ms"]]


def costs(row):
    return tuple(float(row[c]) for c in COSTS)


def sizes(row):
    return tuple(int(part.split("=")[1]) for part in row["configuration"].split(",")[1:])


def beats(p, q):
    if any(a > b for a, b in zip(costs(p), costs(q))):
        return False
    if costs(p) != costs(q):
        return True
    return sizes(p) != sizes(q) and all(a <= b for a, b in zip(sizes(p), sizes(q)))


def front(path):
    rows = read(path)
    want = {r["configuration"] for r in rows if not any(beats(q, r) for q in rows)}
    found = {r["configuration"] for r in rows if r["state"] in ("front", "chosen")}
    assert want == found and len(want) > 5, (want - found, found - want)


def volume(points, worst):
    """Return the volume of the union of boxes from points to worst, slice by slice."""
    if len(worst) == 1:
        return worst[0] - min(p[0] for p in points)
    points = sorted(points, key=lambda p: p[-1])
    heights = [p[-1] for p in points] + [worst[-1]]
    return sum(volume([p[:-1] for p in points[:i + 1]], worst[:-1]) * (heights[i + 1] - heights[i])
               for i in range(len(points)) if heights[i + 1] > heights[i])


def part(whole, some, least):
    rows = [[tuple(map(math.log, costs(r))) for r in read(path)] for path in (whole, some)]
    worst = tuple(max(p[i] for p in rows[0]) + 0.01 for i in range(len(COSTS)))
    best = [[p for p in set(points) if not any(q != p and all(a <= b for a, b in zip(q, p)) for q in points)]
            for points in rows]
    share = volume(best[1], worst) / volume(best[0], worst)
    assert share >= float(least), share


def goal(path):
    for row in read(path):
        meets = float(row["ms"]) < 0.2 and float(row["memory_kib"]) <= 120 and float(row["bus_bytes"]) > 4
        assert meets == (row["state"] != "outside the goal"), row
    assert any(r["state"] == "front" for r in read(path))


{"front": front, "volume": part, "goal": goal}[sys.argv[1]](*sys.argv[2:])
