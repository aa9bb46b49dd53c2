#!/usr/bin/env python3
"""coverage.py [--part] WAIVERS FILE.dat...: share of lines and toggles of each module of hw/rtl that was reached, over all
files (verilator_coverage --write). A line is a basic block (Verilator's line and branch points), a toggle one bit of a
signal; one that any instance in any configuration reached is reached.

A line of WAIVERS is "MODULE toggle SIGNAL[BITS] REASON" or "MODULE line PATTERN REASON": points that do not count. BITS are
ranges as 31:16,7; without them the whole signal is meant, and `[*]` in SIGNAL is any element of an array. Every bit must
exist and none may have toggled. PATTERN is a regular expression, without blanks, of source lines; it must fit a point that
was not reached. So waivers go when a test comes. Points that were not reached are listed as waivers name them.
Exit status 1: a share below MUST, or a wrong waiver. With --part, for some of the steps, a share and a waiver of what toggled
are only printed.
"""
import collections
import pathlib
import re
import sys

MUST = {"line": 98.0, "toggle": 90.0}
RTL = pathlib.Path(__file__).resolve().parents[2] / "hw" / "rtl"
SOURCES = {path.name: path for path in RTL.rglob("*.sv*")}


def points(path):
    """Yield (module, kind, place, count); place is (line, column, comment)."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            match = re.match(r"C '(.*)' (\d+)$", text)
            if not match:
                continue
            field = dict(part.split("\x02", 1) for part in match[1].split("\x01") if "\x02" in part)
            source = pathlib.Path(field["f"])
            kind = "toggle" if field["page"].startswith("v_toggle") else "line"
            if source.stem.startswith("hd_") and source.name in SOURCES:
                yield source.stem, kind, (int(field["l"]), int(field.get("n", 0)), field.get("o", "")), int(match[2])


def bits_of(text):
    """Return "7:5,2" as {7, 6, 5, 2}."""
    for part in text.split(","):
        high, _, low = part.partition(":")
        yield from range(int(low or high), int(high) + 1)


class Waiver:
    def __init__(self, path, number, module, kind, what):
        self.number, self.module, self.kind, self.what = number, module, kind, what
        self.used = self.toggled = 0
        if kind == "line":
            self.pattern, self.bits = re.compile(what), None
            return
        match = re.fullmatch(r"([\w.\[\]*]+?)(?:\[(\d[\d:,]*)\])?", what)
        if not match:
            sys.exit(f"{path}:{number}: expected SIGNAL[BITS]: {what}")
        self.bits = {bit: False for bit in bits_of(match[2])} if match[2] else None
        name = re.escape(match[1]).replace(r"\[\*\]", r"\[\d+\]")
        self.pattern = re.compile(name + (r"\[(\d+)\]" if match[2] else r"(\[\d+\])*"))

    def fits(self, module, kind, text, times):
        """Return whether the point is waived, and count it."""
        if (module, kind) != (self.module, self.kind):
            return False
        if kind == "line":
            self.used += times == 0 and bool(self.pattern.search(text))
            return times == 0 and bool(self.pattern.search(text))
        match = self.pattern.fullmatch(text)
        if not match or (self.bits is not None and int(match[1]) not in self.bits):
            return False
        if self.bits is not None:
            self.bits[int(match[1])] = True
        self.used += 1
        self.toggled += times > 0
        return times == 0

    def error(self):
        missing = [bit for bit, seen in (self.bits or {}).items() if not seen]
        if not self.used:
            return f"waives no {self.kind} of {self.module}: {self.what}"
        if self.toggled:
            return f"waives {self.toggled} that toggled of {self.module}: {self.what}"
        return f"{self.module} has no {self.what}: bit {missing[0]}" if missing else None


def read_waivers(path):
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        part = line.split(None, 3)
        if not part or part[0].startswith("#"):
            continue
        if len(part) < 4 or part[1] not in MUST:
            sys.exit(f"{path}:{number}: expected MODULE line|toggle WHAT REASON")
        yield Waiver(path, number, *part[:3])


def ranges(bits):
    """Return {7, 6, 5, 2} as "7:5,2"."""
    text, bits = [], sorted(bits, reverse=True)
    while bits:
        n = next((i for i in range(1, len(bits)) if bits[i] != bits[0] - i), len(bits))
        text.append(f"{bits[0]}:{bits[n - 1]}" if n > 1 else str(bits[0]))
        bits = bits[n:]
    return ",".join(text)


def report(missing, source):
    """Print a line for each place in the source and each signal."""
    signals = collections.defaultdict(set)
    for module, kind, (line, column, comment) in missing:
        match = re.fullmatch(r"(.*)\[(\d+)\]", comment) if kind == "toggle" else None
        text = (re.sub(r"\[\d+\]", "[*]", match[1]) if match else comment) if kind == "toggle" else f"{column} {comment}"
        signals[module, kind, line, text].add(int(match[2]) if match else -1)
    for (module, kind, line, text), bits in sorted(signals.items()):
        if kind == "line":
            yield f"{module}:{line} line {text}: {source[module][line].strip()}"
        else:
            yield f"{module}:{line} toggle {text}" + (f"[{ranges(bits)}]" if bits != {-1} else "")


def main():
    part = sys.argv[1] == "--part"
    waived_by, *files = sys.argv[1 + part:]
    count = collections.defaultdict(int)
    for path in files:
        for module, kind, place, times in points(path):
            count[module, kind, place] += times
    waivers = list(read_waivers(waived_by))
    source = {p.stem: [""] + p.read_text(encoding="utf-8").split("\n") for p in RTL.rglob("*.sv")}
    tally = collections.defaultdict(lambda: [0, 0, 0])
    missing = []
    for (module, kind, place), times in sorted(count.items()):
        text = source[module][place[0]] if kind == "line" else place[2]
        if any([w.fits(module, kind, text, times) for w in waivers]):
            tally[module, kind][2] += 1
            continue
        tally[module, kind][1] += 1
        tally[module, kind][0] += times > 0
        if times == 0:
            missing.append((module, kind, place))
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
    for waiver in waivers:
        if waiver.toggled if part else waiver.error():
            print(f"{waived_by}:{waiver.number}: {waiver.error()}")
            status = 1
    if files:
        out = pathlib.Path(files[0]).parent / "missing.txt"
        out.write_text("".join(line + "\n" for line in report(missing, source)), encoding="utf-8")
        print(f"not reached: {len(missing)} points, {out}")
    sys.exit(0 if part else status)


if __name__ == "__main__":
    main()
