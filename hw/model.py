#!/usr/bin/env python3
"""model.py count | fit | check - hw/model.csv: what each unit takes on an ECP5, as formulas of a configuration's sizes.

hw/model_configs.csv has configurations: the units of set `table` are fitted, of set `cells` hd_array alone, of set `unseen`
none: these are only compared. `count` has
hw/synth.sh (yosys, synth_ecp5) count the units of each, and adds them to hw/model_units.csv. A unit whose own sizes were
counted before is a black box then. `fit` writes hw/model.csv from the units of the table. `check` prints the errors of
the counted wholes; tests/hw/gen/test_area_model.c holds them. Environment: as hw/synth.sh.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HW = Path(__file__).resolve().parent
HEDDLE = Path(os.environ.get("HEDDLE_BUILD", HW.parent / "build")) / "heddle"
UNITS_CSV, CONFIGS_CSV, MODEL_CSV = (HW / f"model{name}.csv" for name in ("_units", "_configs", ""))
SIZES = ("n rows columns ports scratchpad_bytes weight_bytes acc_depth param_entries softmax_rows lstm axi_bytes axi_addr_bits "
         "read_bursts").split()
COUNTS = "lut4 carry flip_flops mult18x18d dp16kd dpr16x4".split()
EXACT = "mult18x18d dp16kd"
WITHIN = {"hd_array": "hd_array_unit", "hd_softmax": "hd_vector"}  # what synth.sh counts in another unit, too

# The sizes that change a unit's RTL. hd_array is not counted in hd_array_unit, nor hd_softmax in hd_vector; hd_top is
# what is in no unit.
UNITS = {
    "hd_regs": "axi_addr_bits",
    "hd_axi_read": "axi_bytes axi_addr_bits read_bursts",
    "hd_fetch": "axi_bytes axi_addr_bits",
    "hd_issue": "",
    "hd_dma_read": "n axi_bytes axi_addr_bits log2_words log2_weight_words",
    "hd_weight_spad": "n columns log2_words log2_weight_words",
    "hd_store": "n axi_bytes axi_addr_bits log2_words",
    "hd_spad": "n ports log2_words",
    "hd_weights": "n columns weight_words param_entries",
    "hd_array": "rows columns ports",
    "hd_array_unit": "n rows columns ports log2_words log2_weight_words acc_depth param_entries",
    "hd_softmax": "n softmax_rows",
    "hd_vector": "n log2_words log2_weight_words softmax lstm",
    "hd_requant": "n log2_words log2_weight_words param_entries tables lstm",
}

# Memories: count; width; depth; lanes. Their blocks follow from these (area_blocks in hw/gen/area_model.c).
MEMORIES = {
    "hd_fetch": ["1; 8*axi_bytes+2; 64; 1"],
    "hd_dma_read": ["axi_bytes/4; 32; 128; 1", "axi_bytes/4; 32; 64; 1"],
    "hd_store": ["n/4; 32; 256; 1"],
    "hd_spad": ["banks; 8*n; words/banks; n"],
    "hd_weights": ["1; 8*columns; weight_words; 1", "2*columns; 32; param_entries; 1", "columns; 8; param_entries; 1"],
    "hd_array_unit": ["1; 32*columns; acc_depth; 1"],
    "hd_softmax": ["softmax; 8; softmax_rows; 1", "softmax; 36; softmax_rows; 1"],
    "hd_vector": ["n*softmax; 32; 256; 1"],
    "hd_requant": ["n; 32; 64*tables; 1"],
}

# Multipliers, by structure: a cell of the array one, and a row one that chooses a tap where columns are uneven; a lane of
# VECTOR five, of requantisation four. A port of ARRAY beyond the first multiplies address and row, the fourth address, row
# and lanes by three, too. An address of more than 18 bits takes two.
MULTIPLIERS = {
    "hd_array": "rows*columns+rows*uneven",
    "hd_array_unit": "2*(ports-1)+3*(ports/4)+(ports-1+ports/4)*(log2_scratchpad_bytes/19)",
    "hd_softmax": "4*softmax",
    "hd_vector": "5*n+19*lstm",
    "hd_requant": "4*n",
}

# The terms of what is fitted; a unit that is not named has those of its own sizes, each alone.
TERMS = {
    "hd_fetch": ["1", "axi_bytes", "axi_addr_bits"],
    "hd_dma_read": ["1", "n", "axi_bytes"],
    "hd_weight_spad": ["1", "n", "n*columns"],
    "hd_store": ["1", "n", "axi_bytes"],
    "hd_spad": ["1", "n*ports", "ports", "n"],
    "hd_weights": ["1", "columns"],
    "hd_array": ["rows*columns", "rows*columns*log2_ports", "rows*columns*uneven"],
    "hd_array_unit": ["1", "columns", "ports", "n*ports*log2_n"],
    "hd_softmax": ["softmax", "softmax*n"],
    "hd_vector": ["1", "n", "softmax*n", "lstm"],
    "hd_requant": ["1", "n", "lstm*n"],
    "hd_top": ["1", "n"],
}

CLOCK = "718*root_cells/10"  # the wires: their length is that of the side of the cells



def bits(x):
    return max(0, math.ceil(math.log2(x)))


def names(c):
    """Return all names that a formula may have, as hw/gen/area_model.c does."""
    words, weight_words = c["scratchpad_bytes"] // c["n"], c["weight_bytes"] // c["n"]
    tables = next((k for k, least in ((8, 2048), (4, 1024), (2, 512), (1, 256)) if weight_words >= least), 0)
    v = dict({s: c[s] for s in SIZES}, banks=8, words=words, weight_words=weight_words, tables=tables, softmax=int(c["softmax_rows"] != 0),
             uneven=int(c["ports"] > 2 and c["columns"] & (c["columns"] - 1) != 0))
    return dict(v, **{"log2_" + k: bits(x) if x else 0 for k, x in v.items()})


def own(unit, c):
    v = names(c)
    return (unit, *(v[name] for name in UNITS[unit].split())) if unit in UNITS else (unit, *(c[s] for s in SIZES))


def read(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return [{k: int(x) if x.lstrip("-").isdigit() else x for k, x in row.items()} for row in csv.DictReader(file)]


def synthesise(c, wanted):
    """Return the counts of the units `wanted` of a configuration, and of hd_top without any."""
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / "c.json"
        path.write_text(json.dumps(dict({s: c[s] for s in SIZES}, name="c", banks=8)))
        env = dict(os.environ, SYNTH_ONLY=" ".join(wanted), SYNTH_FMAX="", SYNTH_OUT=work)
        out = subprocess.run([HW / "synth.sh", path], env=env, stdout=subprocess.PIPE, text=True, check=False).stdout
    found = {w[1]: [int(x) for x in w[2:8]] for w in map(str.split, out.splitlines()) if len(w) == 9 and w[1][:3] == "hd_"}
    if "hd_top" not in found:
        sys.exit(f"model.py: {out}")
    for u in wanted:
        around = WITHIN.get(u, "hd_top")
        found[around] = [x - y for x, y in zip(found[around], found[u])]
    return {u: found[u] for u in [*wanted, "hd_top"]}


def count():
    for c in read(CONFIGS_CSV):
        rows = read(UNITS_CSV)
        known = {own(r["unit"], r) for r in rows}
        wanted = [u for u in UNITS if own(u, c) not in known and (u != "hd_softmax" or c["softmax_rows"])]
        wanted += [u for u in WITHIN if WITHIN[u] in wanted and u not in wanted and (u != "hd_softmax" or c["softmax_rows"])]
        if not wanted:
            continue
        with open(UNITS_CSV, "a", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            if not rows:
                out.writerow(["unit", *SIZES, *COUNTS])
            out.writerows([u, *(c[s] for s in SIZES), *counts] for u, counts in synthesise(c, wanted).items())
    add_wholes()


def add_wholes():
    """Set the counts of each configuration in hw/model_configs.csv: the sum of its units; none: not all are counted."""
    rows = {own(r["unit"], r): r for r in read(UNITS_CSV)}
    configs = read(CONFIGS_CSV)
    for c in configs:
        keys = [own(u, c) for u in [*UNITS, "hd_top"] if u != "hd_softmax" or c["softmax_rows"]]
        c.update((k, sum(rows[key][k] for key in keys) if all(key in rows for key in keys) else "") for k in COUNTS)
    with open(CONFIGS_CSV, "w", newline="") as file:
        out = csv.DictWriter(file, ["set", *SIZES, *COUNTS], lineterminator="\n")
        out.writeheader()
        out.writerows(configs)


def solve(rows, values):
    """Least squares of the relative error: Gaussian elimination of the normal equations."""
    n = len(rows[0])
    rows = [[x / max(y, 1) for x in row] for row, y in zip(rows, values)]
    scale = [max(abs(row[i]) for row in rows) or 1 for i in range(n)]
    rows = [[x / s for x, s in zip(row, scale)] for row in rows]
    target = [y / max(y, 1) for y in values]
    m = [[sum(r[i] * r[k] for r in rows) + (1e-7 if i == k else 0) for k in range(n)]
         + [sum(r[i] * t for r, t in zip(rows, target))] for i in range(n)]
    for i in range(n):
        top = max(range(i, n), key=lambda k: abs(m[k][i]))
        m[i], m[top] = m[top], m[i]
        for k in range(n):
            if k != i:
                f = m[k][i] / m[i][i]
                m[k] = [x - f * y for x, y in zip(m[k], m[i])]
    return [m[i][n] / m[i][i] / scale[i] for i in range(n)]


def formula(coefficients, terms):
    """Write a sum of terms, in hundredths, for base/expression.h: it has whole numbers and no sign before the first."""
    parts = sorted(((round(100 * k), term) for k, term in zip(coefficients, terms)), key=lambda part: part[0] < 0)
    text = "".join(f"{k:+}" + ("" if term == "1" else "*" + term) for k, term in parts if k)
    return f"({text.lstrip('+')})/100" if text[:1] == "+" else "0"


def value(term, c):
    return eval(term.replace("/", "//"), {}, names(c))  # pylint: disable=eval-used # our own terms


def table():
    """Return the counted units of the table's configurations."""
    fitted = {"table": [*UNITS, "hd_top"], "cells": ["hd_array"], "unseen": []}
    keys = {own(u, c) for c in read(CONFIGS_CSV) for u in fitted[c["set"]]}
    return [r for r in read(UNITS_CSV) if own(r["unit"], r) in keys]


def write(formulas):
    """Write hw/model.csv: `formulas` of (unit, resource), the multipliers, the memories and the clock."""
    lines = [["unit", "resource", "formula"]]
    for unit in [*UNITS, "hd_top"]:
        lines += [[unit, resource, formulas[unit, resource]] for resource in COUNTS if (unit, resource) in formulas]
        lines += [[unit, "memory", m] for m in MEMORIES.get(unit, [])]
    with open(MODEL_CSV, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*lines, ["clock", "ps", CLOCK]])


def by_model(c):
    """Return what heddle computes from hw/model.csv: counts by unit."""
    hw = json.dumps(dict({s: c[s] for s in SIZES}, name="c", banks=8))
    out = subprocess.run([HEDDLE, "hw", hw], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {w[0]: [int(x) for x in w[1:]] for w in map(str.split, out.splitlines()) if len(w) == 1 + len(COUNTS)}


def fit():
    formulas = {(unit, "mult18x18d"): text for unit, text in MULTIPLIERS.items()}
    write(formulas)  # for what the memories take
    mine = {}
    for row in table():
        rest = by_model(row).get(row["unit"], [0] * len(COUNTS))
        mine.setdefault(row["unit"], []).append(dict(row, **{k: row[k] - x for k, x in zip(COUNTS, rest)}))
    for unit, rows in mine.items():
        for resource in COUNTS:
            terms = TERMS.get((unit, resource), TERMS.get(unit, ["1"]))
            values = [r[resource] for r in rows]
            if resource not in EXACT and any(values):
                formulas[unit, resource] = formula(solve([[value(t, r) for t in terms] for r in rows], values), terms)
    write(formulas)


def check():
    """Print what is counted, what the model says, and its error."""
    for c in read(CONFIGS_CSV):
        if c["lut4"] != "":
            found = zip(COUNTS, by_model(c)["whole"])
            print(c["set"], *(f"{k} {c[k]} {y} {100 * (y / c[k] - 1) if c[k] else 0:+.1f}%" for k, y in found))


if __name__ == "__main__":
    {"count": count, "fit": fit, "check": check}[sys.argv[1] if len(sys.argv) > 1 else "check"]()
