#!/usr/bin/env python3
"""Mutants of the RTL's netlist by yosys, and what kills them: benches, 40 random layers, proofs.

    tests/mutation/mutation.py [--count N] [--seconds S] [--only MODULE,...] [--without MODULE,...] [--stages LIST] [--table]
                               [--bar PERCENT]

About N mutants (default 1000) of all modules of tiny, each module's share by its lines. Those that no output depends on
are equal. Each other one is run in the benches that have its module with its parameters. Those that survive run in 40
random layers, functional model against RTL. The rest is equal if yosys proves its module equal to the one without it;
else it is put into the module's proofs, and into benches in full and from other seeds. The rest survives.
results.csv keeps what was found by module, hash of the module's netlist and mutant; a later run continues from there, and
forgets what is of another netlist. S: no mutant is begun after S seconds. --only: mutants of these modules.
--without: those of these are not run. --stages: of unread, bench, layers, equal, proof, long. --table: only print. Exit
1: under PERCENT of what is decided is killed, or a bench fails without a mutant; 77: no yosys or no verilator."""

import argparse
import collections
import concurrent.futures
import csv
import hashlib
import os
import pathlib
import pickle
import shutil
import sys
import time

import designs
import equality
import netlist
import proofs

HERE = pathlib.Path(__file__).resolve().parent
STAGES = ["unread", "bench", "layers", "equal", "proof", "long"]
FIELDS = ["module", "hash", "mutant", "verdict", "tried", "seconds"]


class Mutant:
    """verdict: what killed it, `equal`, or nothing yet; tried: benches and stages that it is past; seconds: of CPU."""

    def __init__(self, number, module, text):
        self.number, self.module, self.text, self.hash = number, module.base, text, module.hash()
        self.verdict, self.tried, self.seconds = "", [], 0.0

    def key(self):
        return self.module, self.hash, self.text

    def row(self):
        return {"module": self.module, "hash": self.hash, "mutant": self.text, "verdict": self.verdict,
                "tried": " ".join(self.tried), "seconds": f"{self.seconds:.1f}"}

    def survived(self):
        return not self.verdict and set(STAGES) <= set(self.tried)


def chosen(o, rtl):
    """(modules of hd_top by name, mutants), kept in DIR for as long as the RTL is the same."""
    h = hashlib.sha256((HERE / "netlist.py").read_bytes() + f"{o.count} {o.only}".encode())
    for f in sorted(rtl.glob("*.sv*")):
        h.update(f.read_bytes())
    kept = o.work / f"chosen-{h.hexdigest()[:16]}"
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    modules = designs.elaborated(o, rtl, sorted(f.name for f in designs.RTL.rglob("*.sv")), "hd_top")
    top = next(k for k in modules if modules[k].base == "hd_top")
    modules = {k: modules[k] for k in sorted(netlist.reached(modules, top))}  # sorted, since otherwise each run would draw another sample
    lines = {m.base: len(next(designs.RTL.rglob(f"{m.base}.sv")).read_text().splitlines()) for m in modules.values()}
    mutants = []
    for base in sorted(set(o.only) or lines):
        texts = netlist.mutants(o.yosys, o.work, [m for m in modules.values() if m.base == base],
                                max(4, round(o.count * lines[base] / sum(lines.values()))))
        mutants += [Mutant(len(mutants) + i, modules[netlist.module_of(t)], t) for i, t in enumerate(texts, 1)]
    kept.write_bytes(pickle.dumps((modules, mutants)))
    return modules, mutants


def rows(path):
    if not path.exists():
        return []
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def load(path, mutants):
    known = {(r["module"], r["hash"], r["mutant"]): r for r in rows(path)}
    for m in mutants:
        r = known.get(m.key())
        if r:
            m.verdict, m.tried, m.seconds = r["verdict"], r["tried"].split(), float(r["seconds"])


def save(path, mutants):
    """The results of these, and the earlier ones of other modules (--only)."""
    modules = {m.module for m in mutants}
    others = [r for r in rows(path) if r["module"] not in modules]
    part = path.with_suffix(".part")
    with open(part, "w", newline="") as f:
        out = csv.DictWriter(f, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(sorted(others + [m.row() for m in mutants if m.verdict or m.tried], key=lambda r: r["module"]))
    part.replace(path)


class Run:
    """Run stage after stage, two mutants at a time, until time is over."""

    def __init__(self, o, rtl, modules, mutants):
        self.o, self.rtl, self.modules, self.mutants = o, rtl, modules, mutants
        self.numbered = [(m.number, m.text) for m in mutants]  # all, so that a later run builds nothing again
        self.end = time.monotonic() + o.seconds if o.seconds else None

    def over(self):
        return self.end is not None and time.monotonic() > self.end

    def each(self, mutants, judge, done):
        """judge(mutant) gives (verdict or None, CPU seconds); done(mutant) after one that is alive. CPU seconds of all."""
        before = sum(m.seconds for m in mutants)

        def one(m):
            if self.over():
                return
            verdict, used = judge(m)
            m.seconds += used
            m.verdict = verdict or ""
            if not verdict:
                done(m)
        with concurrent.futures.ThreadPoolExecutor(self.o.jobs) as pool:
            for i, _ in enumerate(pool.map(one, mutants)):
                if i % 20 == 0:
                    save(self.o.results, self.mutants)
        save(self.o.results, self.mutants)
        return sum(m.seconds for m in mutants) - before

    def alive(self, stage):
        """Those which this stage is to be run on: what stages before it, if they are to be run, let pass."""
        before = [s for s in STAGES[:STAGES.index(stage)] if s in self.o.stages]
        return [m for m in self.mutants if m.module not in self.o.without and not m.verdict and stage not in m.tried
                and set(before) <= set(m.tried)]

    def benches(self):
        for name in designs.BENCHES:
            left = [m for m in self.alive("bench") if name not in m.tried]
            if self.over() or not left:
                continue
            design = designs.bench(name, self.o, self.rtl, self.modules, self.numbered, {netlist.module_of(m.text) for m in left})
            mine = [m for m in left if design and netlist.module_of(m.text) in design.modules]
            if mine:
                design.check()
                seconds = self.each(mine, lambda m, d=design: d.kills(m.number), lambda m, n=name: m.tried.append(n))
                print(f"bench {name}: {sum(bool(m.verdict) for m in mine)} of {len(mine)} killed in {seconds:.0f} CPU s, "
                      f"{design.base:.2f} without one", flush=True)
            for m in set(left) - set(mine):  # not in this bench
                m.tried.append(name)
        for m in self.alive("bench"):
            if set(designs.BENCHES) <= set(m.tried):
                m.tried = [t for t in m.tried if t not in designs.BENCHES] + ["bench"]
        save(self.o.results, self.mutants)

    def stage(self, name, judge):
        mine = self.alive(name)
        if self.over() or not mine:
            return
        seconds = self.each(mine, judge(), lambda m: m.tried.append(name))
        print(f"{name}: {sum(bool(m.verdict) for m in mine)} of {len(mine)} {'equal' if name in ('equal', 'unread') else 'killed'} "
              f"in {seconds:.0f} CPU s", flush=True)

    def unread(self):
        top = next(k for k in self.modules if self.modules[k].base == "hd_top")
        return equality.unread(self.o.yosys, self.o.work / "unread", self.modules, top, self.alive("unread"))

    def layers(self):
        design = designs.layers(self.o, self.rtl, self.modules, self.numbered)
        design.check()
        print(f"layers: {design.base:.1f} s without a mutant", flush=True)
        return lambda m: design.kills(m.number)

    def long(self):
        asked = {netlist.module_of(m.text) for m in self.alive("long")}
        runs = []
        for name, arguments in designs.LONG.items():
            design = designs.bench(name, self.o, self.rtl, self.modules, self.numbered, asked)
            runs += [design.other(a) for a in arguments] if design else []
        for d in runs:
            d.check()

        def judge(m):
            total = 0.0
            for d in runs:
                if netlist.module_of(m.text) in d.modules:
                    verdict, used = d.kills(m.number)
                    total += used
                    if verdict:
                        return verdict, total
            return None, total
        return judge

    def run(self):
        if "unread" in self.o.stages:
            self.stage("unread", self.unread)
        if "bench" in self.o.stages:
            self.benches()
        for name, judge in (("layers", self.layers),
                            ("equal", lambda: equality.Judge(self.o, self.modules, self.alive("equal"))),
                            ("proof", lambda: proofs.killer(self.o, self.modules)), ("long", self.long)):
            if name in self.o.stages:
                self.stage(name, judge)


def table(mutants):
    """Print the table; return the share killed among the decided mutants that are not equal."""
    count = collections.defaultdict(collections.Counter)
    for m in mutants:
        kind = m.verdict.split()[0] if m.verdict else "survived" if m.survived() else "open"
        kind = kind if kind in ("layers", "proof", "equal", "survived", "open") else "bench"
        for name in (m.module, "all"):
            count[name][kind] += 1
            count[name]["made"] += 1
            count[name]["seconds"] += m.seconds
    print(f"{'module':<20} {'made':>5} {'bench':>6} {'proof':>6} {'layers':>7} {'equal':>6} {'survived':>9} {'open':>5} {'CPU s each':>11}")
    for name in sorted(count, key=lambda n: (n == "all", n)):
        r = count[name]
        print(f"{name:<20} {r['made']:5d} {r['bench']:6d} {r['proof']:6d} {r['layers']:7d} {r['equal']:6d} {r['survived']:9d} "
              f"{r['open']:5d} {r['seconds'] / r['made']:11.1f}")
    killed = sum(count["all"][k] for k in ("bench", "proof", "layers"))
    decided = killed + count["all"]["survived"]
    share = 100 * killed / decided if decided else 100.0
    print(f"{killed} of {decided} decided mutants killed: {share:.1f} %; {count['all']['equal']} equal, {count['all']['open']} open")
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--only", type=lambda s: s.split(","), default=[])
    parser.add_argument("--without", type=lambda s: s.split(","), default=[], help="modules whose mutants are not run")
    parser.add_argument("--stages", type=lambda s: s.split(","), default=STAGES)
    parser.add_argument("--table", action="store_true", help="what results.csv has")
    parser.add_argument("--alive", action="store_true", help="list what nothing has killed yet")
    parser.add_argument("--bar", type=float, default=95.0)
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.csv")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(os.environ.get("HEDDLE_BUILD", designs.ROOT / "build")))
    parser.add_argument("--work", type=pathlib.Path, help="folder to build in (default BUILD/mutation)")
    parser.add_argument("--jobs", type=int, default=2)
    o = parser.parse_args()
    o.yosys = shutil.which(os.environ.get("YOSYS", "yosys"))
    for tool in ("yosys" if not o.yosys else "", "verilator" if not shutil.which("verilator") else ""):
        if tool:
            print(f"no {tool}: SKIPPED")
            return 77
    o.build, o.work = o.build.resolve(), (o.work or o.build / "mutation").resolve()
    try:
        rtl = designs.sources(o.build, o.work / "rtl")
        modules, mutants = chosen(o, rtl)
        load(o.results, mutants)
        if not o.table and not o.alive:
            Run(o, rtl, modules, mutants).run()
    except (designs.Failed, RuntimeError) as e:
        print(f"mutation: {e}", file=sys.stderr)
        return 1
    for m in mutants if o.alive else []:
        if not m.verdict:
            print(f"{m.number} {m.module} {'survived' if m.survived() else 'open'}: {m.text}")
    return 0 if table(mutants) >= o.bar else 1


if __name__ == "__main__":
    sys.exit(main())
