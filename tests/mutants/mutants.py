#!/usr/bin/env python3
"""Planted bugs, one at a time, each of which must be found.

    tests/mutants/mutants.py [--list] [--build DIR] [--from FILE] [NAME...]

mutants.txt (or FILE) lists them: a file, a line of it and what is there instead, and what must find it. The tree (as git
lists it, with what is not committed) is copied to DIR/tree and built in DIR/build, without a compiler cache; then for
each mutant: change, build what changed, run, change back. A line that is not in its file exactly once is an error: the
mutant no longer applies. Prints a table; exit 1 if a mutant survives, 2 if one does not apply, or if a network does
not match or a test does not pass before anything is changed. NAME: only those."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

import planted

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUN_SECONDS, BUILD_SECONDS = 600, 3000


class Mutant(planted.Planted):
    def __init__(self, area, name):
        super().__init__(name)
        self.area, self.find = area, None


def fail(text):
    planted.fail("mutants", text)


def read_list(path):
    """Statements of one line: area NAME; mutant NAME; file PATH; - OLD; + NEW; mismatch, caught, unproved, test NAME,
    program NAME, script NAME or bench NAME N."""
    mutants, area = [], ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        if not word or word == "#":
            continue
        if word == "area":
            area = rest
        elif word == "mutant":
            mutants.append(Mutant(area, rest))
        elif word == "file":
            mutants[-1].file = rest
        elif word in ("mismatch", "caught", "unproved", "test", "program", "script", "bench"):
            mutants[-1].find = (word, rest.split())
        elif not mutants or not mutants[-1].edit(word, rest):
            fail(f"{path.name}:{number}: what is '{word}'?")
    for m in mutants:
        if not m.find or not m.complete():
            fail(f"{m.name}: expected file, '-' and '+' lines, and what finds it")
    return mutants


def changed(mutant, text):
    try:
        return mutant.changed(text)
    except ValueError as e:
        fail(e)


def copy_tree(to):
    """Write only files that differ, so that the build stays incremental; leave none that the tree no longer has."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                           check=True).stdout.split("\n")
    for name in filter(None, names):
        source, target = ROOT / name, to / name
        if not source.is_file():
            continue
        data = source.read_bytes()
        if target.is_file() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        shutil.copymode(source, target)
    for old in to.rglob("*"):
        if old.is_file() and not (ROOT / old.relative_to(to)).is_file():
            old.unlink()


def networks(words):
    return [w for w in words if not w.startswith("--")]


def options(words):
    return [w for w in words if w.startswith("--")]


class Bench:
    def __init__(self, folder):
        self.tree, self.build = folder / "tree", folder / "build"
        self.env = {k: v for k, v in os.environ.items() if not k.endswith("COMPILER_LAUNCHER")}
        self.env.update(HEDDLE_HOME=str(self.tree), HEDDLE_BUILD=str(self.build), XDG_CACHE_HOME=str(folder / "cache"))

    def call(self, command, seconds, **more):
        try:
            return subprocess.run([str(c) for c in command], cwd=self.tree, env=self.env, capture_output=True, text=True,
                                  errors="replace", timeout=seconds, check=False, **more)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"not done in {seconds} s")

    def make(self, targets):
        """Build; return None, or the error."""
        if not (self.build / "CMakeCache.txt").exists():
            self.build.mkdir(parents=True, exist_ok=True)
            done = self.call(["cmake", "-S", self.tree, "-B", self.build, "-DCMAKE_BUILD_TYPE=Debug",
                              "-DHEDDLE_WERROR=OFF"], BUILD_SECONDS)
            if done.returncode:
                return done.stderr[-2000:]
        done = self.call(["cmake", "--build", self.build, "-j", os.cpu_count() or 1, "--target", *targets],
                         BUILD_SECONDS)
        return done.stderr[-2000:] if done.returncode else None

    def heddle(self, model, options):
        return self.call([self.build / "heddle", "run", model, "--engine=func", *options], RUN_SECONDS)

    def proves(self, model, options):
        """The exit code of a proof: 0 if the network is proved."""
        return self.call([self.build / "heddle", "prove", model, "--strict", *options], RUN_SECONDS).returncode

    def want_proved(self, mutants):
        for model, *more in sorted({(n, *options(m.find[1])) for m in mutants for n in networks(m.find[1])}):
            if self.proves(model, more):
                fail(f"{model}, nothing planted: it is not proved")

    def keep_proved(self, mutants):
        """The compiler's mutants that heddle prove must refuse: those that a run finds on a network that is proved without
        them. Bugs that the prover's reference shares need another oracle; kernels are taken at their rules."""
        asked = [m for m in mutants if m.find[0] in ("mismatch", "caught") and m.file.startswith("compiler/") and
                 not any("--oracle" in w for w in m.find[1])]
        proved = {(n, *options(m.find[1])): None for m in asked for n in networks(m.find[1])}
        proved = {key for key in proved if self.proves(key[0], key[1:]) == 0}
        for m in asked:
            m.find = ("prove", [n for n in networks(m.find[1]) if (n, *options(m.find[1])) in proved] + options(m.find[1]))
        kept = [m for m in asked if networks(m.find[1])]
        print(f"{len(asked)} mutants that a run finds, {len(kept)} on networks that are proved", flush=True)
        return kept

    def passes(self, test):
        program = f"test-{test.replace('/', '-')}"
        why = self.make([program])
        if why:
            fail(f"{program} does not build: {why}")
        return self.call([self.build / "tests" / program], RUN_SECONDS).returncode == 0

    def program_passes(self, name):
        """A test that is a program of tests/e2e."""
        why = self.make([name])
        if why:
            fail(f"{name} does not build: {why}")
        return self.call([self.build / name], RUN_SECONDS).returncode == 0

    def script_passes(self, name):
        """A test that is a script, tests/FOLDER/test_NAME.sh; one that is skipped is an error."""
        folder, _, last = name.rpartition("/")
        done = self.call(["bash", f"tests/{folder}/test_{last}.sh"], RUN_SECONDS)
        if done.returncode == 77:
            fail(f"script {name} is skipped: {done.stdout.strip()[-200:]}")
        return done.returncode == 0

    def bench_passes(self, name, n):
        """A bench of the RTL, tests/hw/*/NAME_tb.cpp; one that does not build is an error."""
        done = self.call(["bash", "tests/hw/run_bench.sh", name, n], RUN_SECONDS)
        if not done.stdout.strip():
            fail(f"bench {name} {n} does not run: {done.stderr[-2000:]}")
        return done.returncode == 0

    def find(self, mutant):
        """Return the check that found it, as text; None if none did."""
        kind, words = mutant.find
        if kind == "bench":
            return f"bench {words[0]} {words[1]}" if not self.bench_passes(*words) else None
        if kind == "test":
            return f"test {words[0]}" if not self.passes(words[0]) else None
        if kind == "program":
            return f"program {words[0]}" if not self.program_passes(words[0]) else None
        if kind == "script":
            return f"script {words[0]}" if not self.script_passes(words[0]) else None
        for model in networks(words) if kind in ("prove", "unproved") else ():
            code = self.proves(model, options(words))
            if code:
                return f"not proved ({code}), {model}"
        for model in networks(words) if kind in ("mismatch", "caught") else ():
            done = self.heddle(model, options(words))
            if "verdict: mismatch" in done.stdout and done.returncode == 1:
                return f"mismatch, {model}"
            if kind == "caught" and done.returncode in (3, 5):
                return f"{done.stderr.strip().splitlines()[0][:100]}"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="names, areas and files; nothing is built")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--from", dest="source", type=pathlib.Path, default=HERE / "mutants.txt", metavar="FILE")
    parser.add_argument("--prove", action="store_true", help="those that a run finds, by heddle prove instead")
    o = parser.parse_args()
    mutants = read_list(o.source)
    for m in mutants: # all of them: every run reports one that no longer applies
        changed(m, (ROOT / m.file).read_text())
    unknown = set(o.names) - {m.name for m in mutants}
    if unknown:
        fail(f"no mutant is called {', '.join(sorted(unknown))}")
    mutants = [m for m in mutants if not o.names or m.name in o.names]
    if o.list:
        for m in mutants:
            print(f"{m.area:<10} {m.name:<28} {m.file}")
        return 0
    bench = Bench(o.build.resolve())
    copy_tree(bench.tree)
    why = bench.make(["heddle", "gen"])
    if why:
        fail(f"the tree does not build: {why}")
    mutants = bench.keep_proved(mutants) if o.prove else mutants
    runs = {(n, *options(m.find[1])) for m in mutants if m.find[0] in ("mismatch", "caught") for n in networks(m.find[1])}
    for model, *more in sorted(runs):
        done = bench.heddle(model, more)
        if done.returncode or "verdict: match" not in done.stdout:
            fail(f"{model}, nothing planted: expected match, found {done.stdout.strip().splitlines()[-1:]} "
                 f"{done.stderr.strip()}")
    bench.want_proved([m for m in mutants if m.find[0] == "unproved"])
    for test in sorted({m.find[1][0] for m in mutants if m.find[0] == "test"}):
        if not bench.passes(test):
            fail(f"test {test}, nothing planted: it fails")
    for program in sorted({m.find[1][0] for m in mutants if m.find[0] == "program"}):
        if not bench.program_passes(program):
            fail(f"program {program}, nothing planted: it fails")
    for script in sorted({m.find[1][0] for m in mutants if m.find[0] == "script"}):
        if not bench.script_passes(script):
            fail(f"script {script}, nothing planted: it fails")
    for words in sorted({tuple(m.find[1]) for m in mutants if m.find[0] == "bench"}):
        if not bench.bench_passes(*words):
            fail(f"bench {' '.join(words)}, nothing planted: it fails")
    alive = []
    for m in mutants:
        path, start = bench.tree / m.file, time.monotonic()
        was = path.read_text()
        try:
            path.write_text(changed(m, was))
            why = bench.make(["heddle"])
            found = f"the build: {why.strip().splitlines()[-1]}" if why else bench.find(m)
        finally:
            path.write_text(was)
        print(f"{m.area:<10} {m.name:<28} {m.file:<38} {time.monotonic() - start:4.0f} s  {found or 'SURVIVES'}",
              flush=True)
        if not found or found.startswith("the build"):
            alive.append(m.name)
    print(f"{len(mutants)} mutants, {len(alive)} not found{': ' if alive else ''}{' '.join(alive)}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
