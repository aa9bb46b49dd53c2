#!/usr/bin/env python3
"""host_share.py [--heddle build/heddle] [--hw sys16] [--engine func] MODEL...: how much of an inference is the host's.

A line for each network: cycles of the accelerator (engine rtl: measured; func: the schedule's estimate) and of the host (the
model of compiler/host), in thousands, the host's part, times that execution passes between them, and the host's
operators by their part of the host's cycles."""
import argparse, collections, json, pathlib, subprocess, sys, tempfile


def stats_of(args, model):
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work) / "stats.json"
        done = subprocess.run([args.heddle, "run", str(model), f"--hw={args.hw}", f"--engine={args.engine}", "--stats", path],
                              capture_output=True, text=True)
        return json.loads(path.read_text()) if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1]


def line(name, s):
    accelerator = s["cycles"] if s["cycles"] is not None else s["estimated_cycles"] or 0
    host, by = s["host_cycles"], collections.Counter()
    for layer in s["layers"]:
        by[layer["op"]] += layer["host_cycles"]
    share = 100 * host / (host + accelerator) if host + accelerator else 0
    most = " ".join(f"{op} {100 * n / host:.0f}" for op, n in by.most_common(4) if host and n >= host / 100)
    return f"| {name} | {accelerator / 1000:,.0f} | {host / 1000:,.0f} | {share:.1f} | {s['crossings']} | {most} |"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default="build/heddle")
    ap.add_argument("--hw", default="sys16")
    ap.add_argument("--engine", default="func", choices=["ref", "func", "rtl"])
    ap.add_argument("models", nargs="+")
    args = ap.parse_args()
    print("| network | accelerator k | host k | host % | crossings | of the host, % |\n|---|---|---|---|---|---|")
    bad = 0
    for model in map(pathlib.Path, args.models):
        name = model.parent.name if model.stem == "model" else model.stem
        s = stats_of(args, model)
        bad += isinstance(s, str)
        print(f"| {name} | {s} |" if isinstance(s, str) else line(name, s), flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
