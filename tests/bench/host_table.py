#!/usr/bin/env python3
"""host_table.py NAME|PATH... - where an inference's cycles go on PicoRV32, as a table: accelerator, host operators, driver.
Each network runs on the Verilog (--host=rtl) and on the simulator with its table (--host=iss --host-core=picorv32), whose
difference end to end is the last column. Exits with 1 where that is 3 % or more, or 10 % in all host operators or in the
driver. In the source folder, with build/heddle and .ci/venv cores."""
import json
import os
import subprocess
import sys
import tempfile

def run(model, options):
    """The stats of a run, or None."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["build/heddle", "run", model, "-o", folder, "-q", "--no-report", *options],
                              capture_output=True, text=True)
        if done.returncode == 0:
            with open(os.path.join(folder, "stats.json")) as f:
                return json.load(f)
    print(f"{model} {' '.join(options)}: exit {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
    return None


def parts(s):
    host = s["host_cycles"] - s["driver_cycles"]
    return s["total_cycles"], host, s["driver_cycles"]


def main():
    wrong = 0
    print("| network | accelerator | host operators | driver | in all | host operators % | driver % | iss |")
    print("|---|---|---|---|---|---|---|---|")
    for model in sys.argv[1:]:
        rtl = run(model, ["--host=rtl"])
        iss = run(model, ["--host=iss", "--host-core=picorv32"])
        if not rtl or not iss:
            wrong += 1
            continue
        total, host, driver = parts(rtl)
        off = [100 * (a / b - 1) if b else 0 for a, b in zip(parts(iss), parts(rtl))]
        wrong += abs(off[0]) > 3 or max(map(abs, off[1:])) > 10
        name = os.path.basename(os.path.dirname(model)) if model.endswith("tflite") else model
        print(f"| {name} | {rtl['cycles']:,.0f} | {host:,.0f} | {driver:,.0f} | {total:,.0f} | {100 * host / total:.0f} "
              f"| {100 * driver / total:.1f} | {off[0]:+.2f} % |", flush=True)
    sys.exit(wrong > 0)


main()
