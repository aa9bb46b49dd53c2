#!/usr/bin/env python3
"""measure.py - where compiler/host/host_cycles.def comes from, and the check that it holds.

    measure.py --write     measures every kernel at the sizes "fit" and writes the coefficients
    measure.py --check     measures at the sizes "check", compares with what the compiler estimates
    measure.py --check --only int8,moved       some of cases.py's networks

Needs riscv64-unknown-elf-gcc and qemu-system-riscv32. HEDDLE_BUILD is the build tree (default: build).
The counts of executed instructions are exact and the same every time. Coefficients are the non-negative
ones with the least sum of squared relative errors."""
import argparse
import os
import re
import sys
import tempfile

import cases
import emulated
import rv32

ROOT = os.path.normpath(os.path.join(emulated.HERE, "..", "..", ".."))
BUILD = os.environ.get("HEDDLE_BUILD", os.path.join(ROOT, "build"))
TABLE = os.path.join(ROOT, "compiler", "host", "host_cycles.def")


def compile_network(folder, name, rounding, text):
    """Return its package, and host_work's report of each of its operators."""
    model, package = os.path.join(folder, name + ".ir"), os.path.join(folder, name)
    with open(model, "w") as f:
        f.write(text)
    option = {"onnx": ["--onnx-rounding=onnx"], "litert": ["--fc-scale=litert"]}.get(rounding, [])
    emulated.run([os.path.join(BUILD, "heddle"), "compile", model, "--target=c", "-o", package, *option])
    lines = emulated.run([os.path.join(BUILD, "host_work"), model, *([rounding] if rounding else [])])
    return package, [line.split("|") for line in lines.splitlines()]


def observations(which, only, folder):
    """(key, counts, estimate, measured, operator) of every operator of the networks."""
    library = None
    for name, rounding, text in cases.networks(which):
        if only and name not in only:
            continue
        package, works = compile_network(folder, name, rounding, text)
        library = library or rv32.MACHINE.compile_kernels(folder, package)
        measured = rv32.MACHINE.measure(package, library)
        if len(measured) != len(works):
            raise SystemExit(f"{name}: {len(works)} operators, {len(measured)} executed")
        for (key, _, counts, estimate, row), found in zip(works, measured):
            yield (key, [float(c) for c in counts.split(",")], int(estimate), rv32.cycles(found),
                   f"{name} {row}")


# --- fit ---

def solve(matrix, right):
    """Gaussian elimination with pivoting; a column without a pivot gets 0."""
    n = len(right)
    rows = [list(r) + [b] for r, b in zip(matrix, right)]
    for i in range(n):
        best = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[best] = rows[best], rows[i]
        if abs(rows[i][i]) < 1e-12:
            continue
        for k in range(n):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [rows[i][n] / rows[i][i] if abs(rows[i][i]) >= 1e-12 else 0.0 for i in range(n)]


def least_squares(samples, columns):
    """Coefficients of `columns` (0: the fixed part), the error of each sample relative to its size."""
    a = [[([1.0] + counts)[c] / cycles for c in columns] for counts, cycles in samples]
    scale = [max(abs(row[i]) for row in a) or 1.0 for i in range(len(columns))]
    a = [[v / s for v, s in zip(row, scale)] for row in a]
    normal = [[sum(r[i] * r[j] for r in a) for j in range(len(columns))] for i in range(len(columns))]
    right = [sum(r[i] for r in a) for i in range(len(columns))]
    return [v / s for v, s in zip(solve(normal, right), scale)]


def fit(samples):
    """Drop the most negative coefficient until none is left."""
    n = len(samples[0][0])
    columns = [0] + [i + 1 for i in range(n) if any(counts[i] for counts, _ in samples)]
    while True:
        found = least_squares(samples, columns)
        worst = min(range(len(columns)), key=lambda i: found[i])
        if found[worst] >= 0 or len(columns) == 1:
            break
        del columns[worst]
    full = [0.0] * (n + 1)
    for c, v in zip(columns, found):
        full[c] = v
    return full


def estimate(coefficients, counts):
    return coefficients[0] + sum(a * b for a, b in zip(coefficients[1:], counts))


HEADER = """/* host_cycles.def - cycles of one call of each host kernel; written by tests/compiler/host/measure.py --write.
 *     HOST_CYCLES("kernel:variant", FORM, fixed, coefficient of each count of the form ...)
 * The core (an estimate, README.md): RV32IM in order, kernels compiled by riscv64-unknown-elf-gcc %s -march=rv32im
 * -mabi=ilp32, float32 by libgcc. One cycle an instruction; the result of a load can be used %d instructions later
 * than that of an addition, of a multiplication %d; a division takes %d cycles more, a taken branch or a jump %d. */
"""


def header():
    m = rv32.MODEL
    return HEADER % (emulated.KERNELS, m["load"], m["multiply"], m["divide"], m["taken"])


def write(only, folder):
    samples = {}
    for key, counts, _, cycles, _ in observations("fit", only, folder):
        samples.setdefault(key, []).append((counts, cycles))
    lines = [header()]
    for line in open(TABLE):
        found = re.match(r'HOST_CYCLES\("([^"]+)", (\w+)', line)
        if found and found.group(1) in samples:
            c = fit(samples[found.group(1)])
            while len(c) > 2 and c[-1] == 0:
                c.pop()
            line = f'HOST_CYCLES("{found.group(1)}", {found.group(2)}, {", ".join(f"{v:.4g}" for v in c)})\n'
            off = [estimate(c, counts) / cycles - 1 for counts, cycles in samples[found.group(1)]]
            print(f"{found.group(1):32} {len(off):3} {100 * min(off):+6.1f} {100 * max(off):+6.1f} %   {line.strip()[12:]}")
        if line.startswith("HOST_CYCLES"):
            lines.append(line)
    with open(TABLE, "w") as f:
        f.writelines(lines)


# --- check ---

def check(only, folder, bar):
    failed = n = 0
    for key, counts, estimated, cycles, operator in observations("check", only, folder):
        if key == "-":
            continue
        off = 100.0 * (estimated - cycles) / cycles
        n += 1
        if abs(off) > bar:
            failed += 1
            print(f"{operator}: {key}: {estimated} cycles estimated, {cycles} executed ({off:+.1f} %)")
    print(f"{n} operators, {failed} more than {bar} % off")
    return failed or not n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--bar", type=float, default=20.0)
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        if options.write:
            write(only, folder)
        return check(only, folder, options.bar) if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
