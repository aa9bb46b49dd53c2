"""bars.py estimated_cycles|cycles: the networks of tests/models against tests/models/bars.csv.

One line a network and configuration: its estimated cycles, and its cycles and utilisation (0 to 1) on the RTL.
`estimated_cycles` runs the functional model and compares the estimate, `cycles` runs the RTL and compares both, by
one inference, as cycles depend on no data: by the network's file, since its name runs all its inputs. More cycles than
recorded, or a line that is missing, is a failure. UPDATE=1 records what is found, in a commit that says why. HEDDLE_HOME
and HEDDLE_BUILD as for every test."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HOME = pathlib.Path(os.environ["HEDDLE_HOME"])
HEDDLE = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "heddle"
FILE = HOME / "tests/models/bars.csv"
FIELDS = ("model", "hw", "estimated_cycles", "cycles", "utilisation")
CONFIGURATIONS = {"estimated_cycles": ("sys8", "sys16", "sys32"), "cycles": ("tiny", "sys8", "sys16", "sys32")}


def measure(model, hw, engine, folder):
    stats = pathlib.Path(folder) / "stats.json"
    file = HOME / "tests/models" / model / "model.tflite"
    command = [HEDDLE, "run", file, f"--hw={hw}", f"--engine={engine}", "-n1", "-o", folder, "--stats", stats,
               "--no-report"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{model} on {hw}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(stats.read_text())


def main():
    kind = sys.argv[1]
    engine, compared = ("rtl", ("estimated_cycles", "cycles")) if kind == "cycles" else ("func", (kind,))
    recorded = FIELDS[2:] if kind == "cycles" else compared
    update = os.environ.get("UPDATE") == "1"
    bars = {}
    if FILE.exists():
        bars = {(line["model"], line["hw"]): line for line in csv.DictReader(FILE.open())}
    failures = 0
    models = sorted(path.parent.name for path in (HOME / "tests/models").glob("*/model.tflite"))
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            for hw in CONFIGURATIONS[kind]:
                stats = measure(model, hw, engine, folder)
                bar = bars.setdefault((model, hw), {"model": model, "hw": hw})
                if update:
                    bar.update({field: f"{float(stats[field]):.10g}" for field in recorded})
                for field in compared:
                    found, most = float(stats[field]), bar.get(field)
                    print(f"{model} {hw}: {found:g} {field}, recorded {most}")
                    if not most or found > float(most):
                        failures += 1
                        print(f"FAIL: {model} on {hw}: {found:g} {field}, expected at most {most}")
                    elif found < float(most):
                        print(f"{model} on {hw} is faster than recorded: UPDATE=1 records it")
    if update:
        with FILE.open("w", newline="") as out:
            writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(bars[key] for key in sorted(bars))
    if failures:
        sys.exit(f"{failures} slower than {FILE.relative_to(HOME)}; if that is meant: UPDATE=1 ctest -R bars")


main()
