#!/usr/bin/env python3
"""limits.py [--seed N] [--count N] [--rtl N] [-j N] [--all] [KIND...]: cycles of drawn shapes against their limits.

Each row is one operator of a drawn size on a drawn array and memory, its bytes compared with the reference. Its limit is
max(MACs / multipliers, bytes read / bus, bytes written / bus) + one memory latency: operands are read and results are
written once, each over a channel of its own. Shapes with a limit below 2,000 cycles are drawn again, since their starts
and ends would count most. Its cycles are the schedule's estimate, with
those of the host. N rows of the least cycles (--rtl, default 8) also run on the RTL: within 5 % of the estimate.

Prints the median and the worst of each kind and the ten worst rows with the command that repeats them (--all: every row;
the graphs are in build/limits). Exit status 1 when a median or a worst ratio is more than 0.5 % over limits.csv, or a
kind's worst ratio is over 2 there without a reason. UPDATE=1 lowers the file's numbers to what was found and never
raises one: that is an edit, in a commit that says why. Without the default seed and count, nothing is compared."""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path(os.environ.get("HEDDLE_HOME", HERE.parent.parent))
BUILD = pathlib.Path(os.environ.get("HEDDLE_BUILD", HOME / "build"))
BARS = HERE / "limits.csv"
SEED, COUNT = 45, 300
LEAST_CYCLES, MOST_MACS, MOST_BYTES, SLACK = 2000, 1 << 28, 4 << 20, 1.005
LATENCIES, SHARES = (16, 64, 200), (1, 2, 4)  # cycles; parts of the bus's width


class Draw:
    """Sizes from a seed: log-uniform, since a cliff is a factor and not a difference."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def size(self, least, most):
        return min(most, int(least * ((most + 1) / least) ** self.rng.random()))

    def one(self, choices):
        return choices[int(self.rng.random() * len(choices))]

    def image(self, most=256):
        return self.size(4, most), self.size(4, most), self.size(1, 512)


def product(numbers):
    total = 1
    for n in numbers:
        total *= n
    return total


def bench(words, macs, read, written):
    return {"command": ["bench", *map(str, words)], "macs": macs, "read": read, "written": written}


def graph(op, tensors, n_in, macs=0):
    """Return one operator: tensors are (type, shape, role, words), the last is the result."""
    text = [f'heddle-ir 1\ngraph name="limit"\nrow 0 name="00" op="{op.split()[0]}" tensor="y" shape="1" macs={macs}']
    for i, (kind, shape, role, words) in enumerate(tensors):
        text.append(f'tensor {i} {kind} [{",".join(map(str, shape))}] {role} name="t{i}" {words}')
    last = len(tensors) - 1
    name, _, attributes = op.partition(" ")
    of = ",".join(map(str, range(last)))
    text.append(f"op {name} row=0 in=({of}) out=({last}) {attributes}")
    text.append(f'border in=({",".join(map(str, range(n_in)))}) out=({last})')
    sizes = [product(t[1]) for t in tensors if t[0] == "i8"]
    return {"graph": "\n".join(text) + "\n", "macs": macs, "read": sum(sizes[:-1]), "written": sizes[-1],
            "shape": "x".join(map(str, tensors[0][1])) + " to " + "x".join(map(str, tensors[-1][1]))}


def signal(shape, role="input", scale=0.05, zero=3):
    return "i8", shape, role, f"scale=({scale}) zero=({zero})"


def gemm(d):
    m, k, n = d.size(1, 2048), d.size(8, 4096), d.size(8, 4096)
    return bench(["gemm", m, k, n], m * k * n, m * k + k * n, m * n)


def bmm(d, *words):
    b, m, k, n = d.size(1, 16), d.size(1, 2048), d.size(8, 512), d.size(8, 2048)
    return bench(["bmm", b, m, k, n, *words], b * m * k * n, b * (m * k + k * n), b * m * n)


def bmm_transposed(d):
    return bmm(d, "--transpose-b")


def conv(d):
    (h, w, c), k, n, s = d.image(), d.one((1, 1, 3, 3, 5, 7)), d.size(1, 512), d.one((1, 1, 2))
    pixels = -(-h // s) * -(-w // s)
    return bench(["conv", f"{h}x{w}x{c}", f"{k}x{k}x{n}", s], pixels * k * k * c * n, h * w * c + k * k * c * n, pixels * n)


def depthwise(d):
    (h, w, c), k, s = d.image(), d.one((3, 3, 5)), d.one((1, 1, 2))
    pixels = -(-h // s) * -(-w // s)
    return bench(["depthwise", f"{h}x{w}x{c}", f"{k}x{k}", s], pixels * k * k * c, (h * w + k * k) * c, pixels * c)


def transpose_conv(d):
    (h, w, c), n, k = d.image(64), d.size(1, 128), d.one((2, 3, 4))
    cut = k % 2  # of the top and left row
    out = [1, (h - 1) * 2 + k - cut, (w - 1) * 2 + k - cut, n]
    return graph(f"transpose_conv stride_h=2 stride_w=2 kernel_h={k} kernel_w={k} pad_top={cut} pad_left={cut}",
                 [signal([1, h, w, c]), ("i8", [n, k, k, c], "const", "scale=(0.01) zero=(0) fill=7"),
                  ("i32", [n], "const", "fill=0"), signal(out, "value", 0.5)], 1, h * w * c * n * k * k)


def mean(d):
    h, w, c = d.image(1280)
    return graph("mean axis=6", [signal([1, h, w, c]), signal([1, c], "value")], 1)


def pool(name):
    def draw(d):
        (h, w, c), k, s = d.image(), d.one((2, 3)), d.one((1, 2))
        out = [1, (h - k) // s + 1, (w - k) // s + 1, c]
        return graph(f"{name} stride_h={s} stride_w={s} kernel_h={k} kernel_w={k}",
                     [signal([1, h, w, c]), signal(out, "value")], 1)
    return draw


def pair(name):
    def draw(d):
        shape = [1, *d.image()]
        return graph(name, [signal(shape), signal(shape, scale=0.07), signal(shape, "value", 0.09)], 2)
    return draw


def softmax(d):
    shape = [d.size(1, 4096), d.size(2, 1024)]
    return graph("softmax beta_bits=1065353216", [signal(shape), signal(shape, "value", 0.00390625, -128)], 1)


def transpose(d):
    shape, order = [d.size(1, 64), d.size(4, 512), d.size(4, 512)], d.one(((0, 2, 1), (1, 0, 2), (2, 1, 0)))
    return graph("transpose", [signal(shape), ("i32", [3], "const", f"values=({','.join(map(str, order))})"),
                               signal([shape[k] for k in order], "value")], 1)


KINDS = {"gemm": gemm, "bmm": bmm, "bmm_transposed": bmm_transposed, "conv": conv, "depthwise": depthwise,
         "transpose_conv": transpose_conv, "mean": mean, "average_pool": pool("average_pool_2d"),
         "max_pool": pool("max_pool_2d"), "add": pair("add"), "mul": pair("mul"), "softmax": softmax,
         "transpose": transpose}


def configurations():
    known = json.loads((HOME / "hw/accel.json").read_text())["configurations"]
    return {c["name"]: c for c in known if c["name"] in ("tiny", "sys8", "sys16", "sys32")}


def run(row, engine):
    stats = BUILD / "limits" / f"{row['name']}.json"
    stats.unlink(missing_ok=True)
    done = subprocess.run([BUILD / "heddle", *row["command"], f"--engine={engine}", "-n1", "-q", "--stats", stats],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"heddle {' '.join(row['command'])} --engine={engine}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(stats.read_text())


def measure(row):
    """Set the row's cycles and ratio from a run on the functional model."""
    s = run(row, "func")
    row["estimate"], row["host"] = s.get("estimated_cycles") or 0, s["host_cycles"]
    row["ratio"] = (row["estimate"] + row["host"]) / row["limit"]
    return row


def draw_row(d, index, kind, hw):
    """Draw until the shape has at least LEAST_CYCLES and is not too large to compare."""
    multipliers, latency, bus = hw["n"] ** 2, d.one(LATENCIES), hw["axi_bytes"] // d.one(SHARES)
    while True:
        row = KINDS[kind](d)
        limit = max(row["macs"] / multipliers, row["read"] / bus, row["written"] / bus)
        if limit >= LEAST_CYCLES and row["macs"] <= min(MOST_MACS, multipliers * 1000000) and \
                row["read"] + row["written"] <= MOST_BYTES:
            break
    row.update(kind=kind, limit=limit + latency, name=f"{index:03d}_{kind}_{hw['name']}")
    if "graph" in row:
        path = BUILD / "limits" / f"{row['name']}.ir"
        path.write_text(row["graph"])
        row["command"] = ["run", os.path.relpath(path)]
    row["command"] += [f"--hw={hw['name']}", f"--mem-latency={latency}", f"--mem-bytes={bus}"]
    return row


def show(row):
    host = f", {row['host']} of them on the host" if row["host"] else ""
    of = f" ({row['shape']})" if "shape" in row else ""
    return (f"{row['ratio']:6.2f}  {row['estimate'] + row['host']:>9} cycles{host}, limit {row['limit']:.0f}: "
            f"{' '.join(row['command'])}{of}")


def summary(rows):
    found = {}
    for kind in [*KINDS, "all"]:
        ratios = [r["ratio"] for r in rows if kind in (r["kind"], "all")]
        if ratios:
            found[kind] = {"rows": len(ratios), "median": statistics.median(ratios), "worst": max(ratios)}
    return found


def compare(found):
    """Return what is over limits.csv, which UPDATE=1 lowers first."""
    bars = {b["kind"]: b for b in csv.DictReader(BARS.open())} if BARS.exists() else {}
    if os.environ.get("UPDATE") == "1":
        with BARS.open("w", newline="") as f:
            out = csv.DictWriter(f, ["kind", "median", "worst", "reason"], lineterminator="\n")
            out.writeheader()
            for kind, now in found.items():
                bar = bars.setdefault(kind, {"kind": kind, "median": 1e9, "worst": 1e9, "reason": ""})
                for what in ("median", "worst"):
                    bar[what] = f"{min(float(bar[what]), now[what] + 0.0005):.3f}"
                out.writerow(bar)
    bad = []
    for kind, now in found.items():
        if kind not in bars:
            bad.append(f"{kind}: no line in {BARS.name}")
            continue
        bad += [f"{kind}: {what} {now[what]:.3f}, recorded {bars[kind][what]}" for what in ("median", "worst")
                if now[what] > float(bars[kind][what]) * SLACK]
        if kind != "all" and float(bars[kind]["worst"]) > 2 and not bars[kind]["reason"]:
            bad.append(f"{kind}: a worst ratio of {bars[kind]['worst']} without a reason in {BARS.name}")
    return bad


def measured(rows, count):
    """Return which of the rows with the least cycles are off the RTL."""
    bad = []
    on_array = sorted((r for r in rows if not r["host"]), key=lambda r: r["estimate"])
    step = max(1, len(on_array) // 2 // max(count, 1))  # of the half with less cycles
    for row in on_array[: step * count : step]:
        cycles = run(row, "rtl")["cycles"]
        if abs(cycles - row["estimate"]) > max(0.05 * cycles, 25):
            bad.append(f"{' '.join(row['command'])}: {cycles} cycles on the RTL, {row['estimate']} estimated")
    return bad


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--seed", type=int, default=SEED)
    ap.add_argument("--count", type=int, default=COUNT)
    ap.add_argument("--rtl", type=int, default=8)
    ap.add_argument("-j", type=int, default=1)
    ap.add_argument("--all", action="store_true")
    ap.add_argument("kinds", nargs="*", choices=[[], *KINDS])
    args = ap.parse_args()
    (BUILD / "limits").mkdir(exist_ok=True)
    d, hw, kinds = Draw(args.seed), list(configurations().values()), list(KINDS)
    rows = [draw_row(d, i, kinds[i % len(kinds)], hw[i // len(kinds) % len(hw)]) for i in range(args.count)]
    rows = [r for r in rows if not args.kinds or r["kind"] in args.kinds]
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool_of:
        rows = sorted(pool_of.map(measure, rows), key=lambda r: -r["ratio"])
    found = summary(rows)
    print("kind            rows  median   worst")
    for kind, now in found.items():
        print(f"{kind:<15} {now['rows']:>4} {now['median']:>7.2f} {now['worst']:>7.2f}")
    print("the worst:")
    for row in rows if args.all else rows[:10]:
        print(show(row))
    bad = measured(rows, args.rtl)
    if (args.seed, args.count, args.kinds) == (SEED, COUNT, []):
        bad += compare(found)
    for line in bad:
        print(line, file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
