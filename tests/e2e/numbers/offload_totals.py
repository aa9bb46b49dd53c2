"""offload_totals.py [--flips] [--percent P] [--hw NAME,...] [OPTION...] MODEL...: find a faster partition.

For each network and configuration, the cycles in all (accelerator and host, as `heddle inspect` has them) of the chosen
partition; then of each variant that gives an accelerator what the host has and an accelerator takes: one layer, and all
of them. With --flips also of those that keep on the host one of the accelerator's layers, two neighbours, or the first
or last few, where the host would not take more than four times its cycles. A variant that takes P percent less
(default 2) is a failure. Other options are passed on to heddle. HEDDLE_BUILD as for every test."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HEDDLE = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "heddle"


def layers(model, options):
    done = subprocess.run([HEDDLE, "inspect", model, "--format=json", *options], capture_output=True, text=True)
    if done.returncode == 2 and " cannot go to " in done.stderr:
        return None  # part of a layer that consists of several operators
    if done.returncode != 0:
        sys.exit(f"{model} {' '.join(options)}: exit {done.returncode}: {done.stderr.strip()}")
    return [layer for layer in json.loads(done.stdout)["layers"] if layer["candidates"]]


def total(found):
    """Return the cycles of all chosen candidates; a group's cycles, which each of its layers has, count once."""
    groups, cycles = {}, 0
    for layer in found:
        for c in layer["candidates"]:
            if not c["chosen"] or c["estimated_cycles"] is None:
                continue
            if layer["group"] is not None and c["target"] != "c":
                groups[layer["group"]] = c["estimated_cycles"]
            else:
                cycles += c["estimated_cycles"]
    return cycles + sum(groups.values())


def on_host(layer):
    return any(c["target"] == "c" and c["chosen"] for c in layer["candidates"])


def offloads(found):
    able = [layer["name"] for layer in found if on_host(layer) and
            any(c["target"] != "c" and not c["why_not"] for c in layer["candidates"])]
    single = [[f"--offload={name}"] for name in able]
    return single + ([sum(single, [])] if len(able) > 1 else [])


def keeps(found):
    own = [layer for layer in found if not on_host(layer)]

    def worth(some):
        cycles = {c["target"] == "c": 0 for layer in some for c in layer["candidates"]}
        for layer in some:
            for c in layer["candidates"]:
                cycles[c["target"] == "c"] += c["estimated_cycles"] or 0
        return cycles.get(True, 0) < max(4 * cycles.get(False, 0), 1000)

    runs = [own[i:i + n] for n in (1, 2) for i in range(len(own) + 1 - n)]
    runs += [own[:n] for n in range(3, 6)] + [own[-n:] for n in range(3, 6)]
    return [[f"--keep-on-host={layer['name']}" for layer in some] for some in runs if some and worth(some)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", action="store_true")
    parser.add_argument("--percent", type=float, default=2)
    parser.add_argument("--hw", default="sys16")
    args, rest = parser.parse_known_args()
    options, models = [a for a in rest if a.startswith("--")], [a for a in rest if not a.startswith("--")]
    bad = n = 0
    for model in models:
        for hw in args.hw.split(","):
            given = [f"--hw={hw}", *options]
            found = layers(model, given)
            chosen, n = total(found), n + 1
            for variant in offloads(found) + (keeps(found) if args.flips else []):
                moved = layers(model, given + variant)
                other = total(moved) if moved is not None else chosen
                if other >= chosen * (1 - args.percent / 100):
                    continue
                bad += 1
                print(f"{model} on {hw}: {chosen} cycles in all, {other} with {' '.join(variant)} "
                      f"({100 * (other / chosen - 1):+.1f} %)", flush=True)
    print(f"{n} partitions, {bad} variants take {args.percent:g} % less")
    return 1 if bad or not n else 0


if __name__ == "__main__":
    sys.exit(main())
