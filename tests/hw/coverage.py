#!/usr/bin/env python3
"""coverage.py [--part] WAIVERS FILE.dat...: share of lines and toggles of each module of hw/rtl that was reached, over all
files (verilator_coverage --write). A line is a basic block (Verilator's line and branch points), a toggle one bit of a
signal; one that any instance in any configuration reached is reached.

A line of WAIVERS is "MODULE line|toggle PATTERN REASON": points of the module that were not reached and whose source
line (line) or signal (toggle) has the regular expression PATTERN, without blanks, do not count. One that waives nothing
is an error, so waivers go when a test comes.
Exit status 1: a share below MUST, or a waiver that waives nothing; with --part, for some of the steps, both are only
printed.
"""
import collections
import pathlib
import re
import sys

MUST = {"line": 98.0, "toggle": 90.0}
RTL = pathlib.Path(__file__).resolve().parents[2] / "hw" / "rtl"


def points(path):
    """(module, kind, place, count): place is (line, column, comment)."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            match = re.match(r"C '(.*)' (\d+)$", text)
            if not match:
                continue
            field = dict(part.split("\x02", 1) for part in match[1].split("\x01") if "\x02" in part)
            source = pathlib.Path(field["f"])
            kind = "toggle" if field["page"].startswith("v_toggle") else "line"
            if source.stem.startswith("hd_") and (RTL / source.name).exists():
                yield source.stem, kind, (int(field["l"]), int(field.get("n", 0)), field.get("o", "")), int(match[2])


def read_waivers(path):
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        part = line.split(None, 3)
        if not part or part[0].startswith("#"):
            continue
        if len(part) < 4 or part[1] not in MUST:
            sys.exit(f"{path}:{number}: expected MODULE line|toggle PATTERN REASON")
        yield [number, part[0], part[1], re.compile(part[2]), 0]


def main():
    part = sys.argv[1] == "--part"
    waived_by, *files = sys.argv[1 + part:]
    count = collections.defaultdict(int)
    for path in files:
        for module, kind, place, times in points(path):
            count[module, kind, place] += times
    waivers = list(read_waivers(waived_by))
    source = {p.stem: [""] + p.read_text(encoding="utf-8").split("\n") for p in RTL.glob("*.sv")}
    tally = collections.defaultdict(lambda: [0, 0, 0])
    missing = []
    for (module, kind, place), times in sorted(count.items()):
        text = source[module][place[0]] if kind == "line" else place[2]
        fits = [] if times else [w for w in waivers if w[1] == module and w[2] == kind and w[3].search(text)]
        for waiver in fits:
            waiver[4] += 1
        if fits:
            tally[module, kind][2] += 1
            continue
        tally[module, kind][1] += 1
        tally[module, kind][0] += times > 0
        if times == 0:
            missing.append(f"{module}.sv:{place[0]}: {kind} {place[2]}: {source[module][place[0]].strip()}")
    status = 0
    print(f"{'module':24}{'lines':>16}{'toggles':>18}  waived")
    total = {"line": [0, 0, 0], "toggle": [0, 0, 0]}
    for module in sorted({m for m, _ in tally}) + ["all"]:
        row = [total[kind] if module == "all" else tally[module, kind] for kind in MUST]
        if module != "all":
            for kind, cells in zip(MUST, row):
                total[kind] = [a + b for a, b in zip(total[kind], cells)]
        print(f"{module:24}" + "".join(f"{hit:>7}/{of:<5}{100 * hit / of if of else 100:>5.1f}%" for hit, of, _ in row) +
              f"  {sum(w for *_, w in row)}")
    for kind, (hit, of, _) in total.items():
        if of == 0 or 100 * hit / of < MUST[kind]:
            print(f"{kind}s: {100 * hit / of if of else 0:.2f} % reached, expected at least {MUST[kind]} %")
            status = 1
    for number, module, kind, pattern, used in waivers:
        if not used:
            print(f"{waived_by}:{number}: waives no {kind} of {module}: {pattern.pattern}")
            status = 1
    if files:
        out = pathlib.Path(files[0]).parent / "missing.txt"
        out.write_text("\n".join(missing) + "\n", encoding="utf-8")
        print(f"not reached: {len(missing)} points, {out}")
    sys.exit(0 if part else status)


if __name__ == "__main__":
    main()
