#!/usr/bin/env python3
"""buses.py [--write]: the tables of sim/core/README.md from sim/ports/bus.def."""
import os
import re
import sys

home = os.environ.get("HEDDLE_HOME", ".")
page = os.path.join(home, "sim/core/README.md")
FIRST, LAST = "<!-- buses.py -->\n", "<!-- end -->\n"


def table():
    text, out = open(os.path.join(home, "sim/ports/bus.def")).read(), []
    for row in re.finditer(r'^BUS\((\w+), "(.*)", "(.*)"\)|^SIGNAL\((.*)\)$', text, re.M):
        if row[1]:
            out.append(f"\n**{row[2]}**: {row[3]}\n\n| signal | from | bits | |\n|---|---|---|---|\n")
            continue
        _, _, signal, names, way, width, need = (s.strip() for s in row[4].split(","))
        name = signal.lower() if signal.lower().replace("_", "") == names.strip('"') else names.strip('"').split("|")[0]
        width = re.sub(r"UPTO\((\d+)\)", r"1 to \1", width).replace("DATA", "D").replace("STROBE", "D / 8")
        need = {"KEY": "", "MUST": "", "READ": "to read", "WRITE": "to write", "MAY": "optional"}[need]
        out.append(f"| {name} | {'manager' if way == 'M' else 'subordinate'} | {width} | {need} |\n")
    return "".join(out) + "\n"


def main():
    text = open(page).read()
    begin, end = text.index(FIRST) + len(FIRST), text.index(LAST)
    new = text[:begin] + table() + text[end:]
    if "--write" in sys.argv:
        open(page, "w").write(new)
    elif new != text:
        sys.exit("sim/core/README.md: its tables differ from bus.def; tests/sim/core/buses.py --write writes them")


main()
