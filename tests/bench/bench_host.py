#!/usr/bin/env python3
"""bench_host.py: what an inference costs as emitted C (`heddle compile --target=c`, built as the
package's CMakeLists.txt builds it), compared with the same network in float32 (float_network.py) as emitted C,
and compared with LiteRT without delegate, XNNPACK and tflite-micro.

    make bench-host                         # all of tests/models and of ../shared/models
    make bench-host MODELS='resnet8 kws'
    make bench-host VENV=/path/to/venv      # else HEDDLE_VENV_NEW, or one is made from
                                            # tests/oracle/requirements-new.txt

All in one run on one machine (its first line states which), one thread. In each of --turns turns every runtime does --rounds
inferences, one runtime after the other, so that a busy machine hits all alike; the best of all turns counts. "/ litert" and
"/ xnnpack": how many times as long as theirs heddle's best takes; "spread": heddle's slowest turn by its fastest, far above
1 on a busy machine, whose figures are worth little. Other runtimes are called from Python, which adds a microsecond or two.
Exit status 1 when a bar is missed: resnet8 at most 0.55 ms (goal 0.2), every
network at most 3 times LiteRT without delegate and not slower than itself in float32; 77 when LiteRT
is missing to compare with.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
RUNTIMES = ["litert", "xnnpack", "tflm"]
COLUMNS = ["heddle", "float", *RUNTIMES]
RATIOS = ["/ litert", "/ xnnpack"]
RESNET8_MUST_MS, RESNET8_GOAL_MS = 0.55, 0.20
TIMES_LITERT = 3.0


def call(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return done.stdout


def find_models(names):
    """Paths by name: own networks and, where they are, the shared ones."""
    found = {}
    for folder in (TOP / "tests/models", TOP.parent / "shared/models"):
        for path in sorted(folder.glob("*/model.tflite")):
            found[path.parent.name] = path
    for name in names:
        if name not in found:
            sys.exit(f"bench-host: no model '{name}'; there are: {' '.join(found)}")
    return {n: p for n, p in found.items() if not names or n in names}


class Emitted:
    """Build packages; driver and kernels are built once, from the first package, by its CMakeLists.txt."""

    def __init__(self, heddle, work):
        self.heddle, self.work, self.library = heddle, pathlib.Path(work), None

    def build(self, name, path):
        package = self.work / name
        call([self.heddle, "compile", str(path), "--target=c", "-o", str(package)])
        if self.library is None:
            self.library = package / "build"
            call(["cmake", "-S", str(package), "-B", str(self.library)])
            call(["cmake", "--build", str(self.library)])
        sources = [str(p) for p in sorted(package.glob("*.c")) + sorted(package.glob("*.S"))]
        call(["cc", "-std=c11", "-O2", "-I", str(package), "-I", str(package / "runtime"), f"-Wa,-I{package}",
              *sources, str(self.library / "libmodel.a"), "-o", str(package / "program")])
        return package / "program"


def emitted_ms(program, rounds):
    for line in call([str(program), "--time", str(rounds)]).splitlines():
        if line.startswith("best: "):
            return int(line.split()[1]) / 1e6
    raise RuntimeError(f"{program}: no time printed")


def runtime_ms(venv, kind, path, rounds):
    return int(call([str(venv / "bin/python"), str(HERE / "time_runtime.py"), kind, str(path), str(rounds)])) / 1e6


def find_venv(given):
    """Return the environment with the other runtimes, as .ci/venv does; created at first use. None if that fails."""
    venv = pathlib.Path(given or os.environ.get("HEDDLE_VENV_NEW") or TOP / "build/venv-new")
    if (venv / "bin/python").exists():
        return venv
    print(f"making {venv} from tests/oracle/requirements-new.txt", flush=True)
    try:
        call([sys.executable, "-m", "venv", str(venv)])
        call([str(venv / "bin/pip"), "install", "-q", "-r", str(TOP / "tests/oracle/requirements-new.txt")])
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        print(f"no other runtimes: {e}")
        shutil.rmtree(venv, ignore_errors=True)
        return None
    return venv


def build_programs(venv, emitted, name, path):
    """Emitted C by column."""
    programs = {"heddle": emitted.build(name, path)}
    if venv:
        floats = emitted.work / f"{name}_float.tflite"
        call([str(venv / "bin/python"), str(HERE / "float_network.py"), str(path), str(floats)])
        programs["float"] = emitted.build(floats.stem, floats)
    return programs


def measure(args, venv, emitted, name, path):
    """Return the milliseconds of each turn by column; None if a runtime cannot run the network."""
    programs = build_programs(venv, emitted, name, path)
    turns = {kind: [] for kind in [*programs, *(RUNTIMES if venv else [])]}
    for _ in range(args.turns):
        for kind in turns:
            if turns[kind] is None:
                continue
            try:
                ms = emitted_ms(programs[kind], args.rounds) if kind in programs else \
                    runtime_ms(venv, kind, path, max(1, args.rounds // (8 if kind == "tflm" else 1)))
            except (RuntimeError, ValueError, subprocess.TimeoutExpired):
                if kind in programs:
                    raise
                turns[kind] = None
                continue
            turns[kind].append(ms)
    return turns


def times_as_long(ms, other):
    return f"{ms / other:>9.2f}x" if other else f"{'-':>10}"


def verdict(name, best):
    """The missed bars, as text."""
    ms, litert, found = best["heddle"], best.get("litert"), []
    if name == "resnet8" and ms > RESNET8_MUST_MS:
        found.append(f"above {RESNET8_MUST_MS} ms")
    if litert and ms > TIMES_LITERT * litert:
        found.append(f"above {TIMES_LITERT:g}x LiteRT")
    if ms > best.get("float", ms):
        found.append("slower than its float32")
    return found


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heddle", default=str(TOP / "build/heddle"))
    ap.add_argument("--venv", default="", help="environment with LiteRT and tflite-micro")
    ap.add_argument("--rounds", type=int, default=100, help="inferences a turn")
    ap.add_argument("--turns", type=int, default=15)
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    models, venv, missed, judged = find_models(args.names), find_venv(args.venv), 0, 0
    print(call(["bash", str(HERE / "machine.sh")]), end="")
    print(f"{'ms per inference':<30}{'heddle C':>10}" + "".join(f"{k:>10}" for k in [*COLUMNS[1:], *RATIOS, "spread"]))
    with tempfile.TemporaryDirectory() as work:
        emitted = Emitted(args.heddle, work)
        for name, path in models.items():
            try:
                turns = measure(args, venv, emitted, name, path)
            except RuntimeError as e:
                print(f"{name:<30}  FAILS  {e}")
                missed += 1
                continue
            best = {kind: times and min(times) for kind, times in turns.items()}
            found = verdict(name, best)
            missed += bool(found)
            judged += best.get("litert") is not None
            cells = "".join(f"{best[k]:>10.4f}" if best.get(k) else f"{'-':>10}" for k in COLUMNS)
            ratios = "".join(times_as_long(best["heddle"], best.get(k[2:])) for k in RATIOS)
            ratios += times_as_long(max(turns["heddle"]), best["heddle"])
            goal = "  goal met" if name == "resnet8" and best["heddle"] <= RESNET8_GOAL_MS else ""
            print(f"{name:<30}{cells}{ratios}  {'; '.join(found)}{goal}".rstrip(), flush=True)
    print(f"{len(models) - missed} within the bars, {missed} past them")
    if missed:
        return 1
    if not judged:
        print("LiteRT not found: nothing to compare with")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
