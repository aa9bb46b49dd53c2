#!/usr/bin/env python3
"""Sites on the device of a netlist's multipliers and block RAMs.

    hw/sites.py NETLIST SITES      NETLIST (JSON of synth_ecp5) gets them as BEL attributes, which nextpnr-ecp5 keeps to
    hw/sites.py --from PLACED      prints those of what nextpnr placed (its --write)

SITES: one line per cell, "instance index site". The cells of an instance are counted from 0 in the order of the source lines that
they stand for; a block RAM is a separate instance. Exit 1: a file that cannot be read, a line of another form, or cells and
lines that are not the same; NETLIST is as before."""

import json
import pathlib
import re
import sys

TYPES = ("MULT18X18D", "DP16KD")


def blocks(path):
    """(design, cells by (instance, index))."""
    try:
        design = json.loads(path.read_text())
    except ValueError as e:
        sys.exit(f"sites.py: {path}: expected a netlist, JSON of yosys or nextpnr: {e}")
    top = max(design["modules"].values(), key=lambda m: len(m["cells"]))
    found = {}
    for name, cell in top["cells"].items():
        if cell["type"] in TYPES:
            plain = name.replace("$flatten", "").replace("\\", "")
            product = re.match(r"(.*?)\.?\$mul\$\w+\.sv:(\d+)\$(\d+)", plain)
            at = (product[1], int(product[2]), int(product[3])) if product else (plain, 0, 0)
            found.setdefault(at[0], []).append((at, cell))
    return design, {(instance, str(index)): cell for instance, cells in found.items()
                    for index, (_, cell) in enumerate(sorted(cells, key=lambda c: c[0]))}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--from":
        for (instance, index), cell in sorted(blocks(pathlib.Path(sys.argv[2]))[1].items()):
            if "NEXTPNR_BEL" not in cell["attributes"]:
                sys.exit(f"sites.py: {sys.argv[2]}: {instance} has no site: expected what nextpnr wrote (--write)")
            print(instance, index, cell["attributes"]["NEXTPNR_BEL"])
        return
    netlist, sites = map(pathlib.Path, sys.argv[1:])
    design, cells = blocks(netlist)
    given = {}
    for number, line in enumerate(sites.read_text().splitlines(), 1):
        words = line.split()
        if len(words) != 3 or tuple(words[:2]) in given:
            sys.exit(f"sites.py: {sites}:{number}: expected 'instance index site', each cell once, found '{line}'")
        given[tuple(words[:2])] = words[2]
    odd = sorted(cells.keys() ^ given.keys())
    if odd:
        sys.exit(f"sites.py: {sites}: {' '.join(odd[0])} is {'missing' if odd[0] in cells else 'not in the netlist'} "
                 f"({len(cells)} cells, {len(given)} lines): another configuration, or the RTL has changed; make it again with --from")
    for key, cell in cells.items():
        cell["attributes"]["BEL"] = given[key]
    netlist.write_text(json.dumps(design))


try:
    main()
except OSError as e:
    sys.exit(f"sites.py: {e.filename}: {e.strerror}")
