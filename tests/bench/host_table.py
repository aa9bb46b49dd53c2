#!/usr/bin/env python3
"""host_table.py [--iss] NAME|PATH... - where an inference's cycles go on a simulated processor, as a table: accelerator, host
operators, driver, in all, and the operator that is worth moving to the accelerator next: the one with most cycles on the
host. Each network runs on PicoRV32's Verilog (--host=rtl) and on the simulator with its table (--host=iss
--host-core=picorv32); the last columns are how far that is off, end to end and in the worst host operator. Exits with 1 where
that is 3 % or more, or 10 % in an operator or in the driver. --iss: only the simulator, with its own table, and the host
operators alone on a Cortex-M4: instructions that qemu executes times a published table. In the source folder, with
build/heddle, .ci/venv cores or for --iss arm-none-eabi-gcc and qemu-system-arm."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compiler", "host"))
import cortex_m4  # noqa: E402

def run(model, options):
    """Return the stats of a run, or None."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["build/heddle", "run", model, "-o", folder, "-q", "--no-report", *options],
                              capture_output=True, text=True)
        if done.returncode == 0:
            with open(os.path.join(folder, "stats.json")) as f:
                return json.load(f)
    print(f"{model} {' '.join(options)}: exit {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
    return None


def operators(s):
    """Cycles of the host in each layer, without the driver's."""
    return [l["host_cycles"] - l["driver_cycles"] for l in s["layers"]]


def next_to_move(s):
    """Return the layer whose part on the host takes the most cycles."""
    most, layer = max(((n, l) for n, l in zip(operators(s), s["layers"]) if any(p["target"] == "c" for p in l["parts"])),
                      key=lambda one: one[0], default=(0, None))
    return f"{layer['op']} {100 * most / s['total_cycles']:.0f} %" if layer else "none on the host"


def off_by(iss, rtl):
    """Percent: end to end, in the driver, in the worst host operator."""
    pairs = [[s["total_cycles"], s["driver_cycles"], *operators(s)] for s in (iss, rtl)]
    total, driver, *each = [100 * (a / b - 1) if b else 0 for a, b in zip(*pairs)]
    return total, driver, max(each, key=abs)


def on_cortex_m4(model):
    """Return the cycles of the parts on the host and of the code around the calls, for random inputs."""
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "package")
        subprocess.run(["build/heddle", "compile", model, "-o", package], check=True, stdout=subprocess.DEVNULL)
        kernels = cortex_m4.MACHINE.compile_kernels(folder, package)
        return sum(map(cortex_m4.cycles, cortex_m4.MACHINE.measure(package, kernels, folder)))


def main():
    wrong, only_iss = 0, sys.argv[1] == "--iss"
    more = " host operators, Cortex-M4 |" if only_iss else " iss | iss, worst operator |"
    print("| network | accelerator | host operators | driver | in all | host operators % | driver % | next to move |" + more)
    print("|---|---|---|---|---|---|---|---|---|" + ("" if only_iss else "---|"))
    for model in sys.argv[1 + only_iss:]:
        s = run(model, ["--host=iss" if only_iss else "--host=rtl"])
        iss = s if only_iss else run(model, ["--host=iss", "--host-core=picorv32"])
        if not s or not iss:
            wrong += 1
            continue
        total, driver = s["total_cycles"], s["driver_cycles"]
        host, off = s["host_cycles"] - driver, off_by(iss, s)
        wrong += abs(off[0]) >= 3 or max(map(abs, off[1:])) >= 10
        name = os.path.basename(os.path.dirname(model)) if "/" in model else model
        print(f"| {name} | {s['cycles']:,.0f} | {host:,.0f} | {driver:,.0f} | {total:,.0f} | {100 * host / total:.0f} "
              f"| {100 * driver / total:.1f} | {next_to_move(s)} |" +
              (f" {on_cortex_m4(model):,} |" if only_iss else f" {off[0]:+.2f} % | {off[2]:+.2f} % |"), flush=True)
    sys.exit(wrong > 0)


main()
