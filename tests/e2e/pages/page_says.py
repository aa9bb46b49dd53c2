#!/usr/bin/env python3
"""page_says.py PAGE PRINTED [SOURCE]: what a page shows as printed was printed, digit for digit.

Lines of standard input, "LINE TEXT" with a tab between, are what PAGE shows; each must be part of a line of PRINTED, the
output of the page's commands; a match goes to the end of its line, where it says what it covers. Blanks do not matter, nor
what depends on the machine's speed (PACE); everything else is the same in each run. Exit status 1: a line for each that
differs. With SOURCE, the page's file, the line there becomes the printed one that is most like it; a line of a table
keeps its columns."""
import difflib
import re
import sys

PACE = re.compile(r"[\d.]+ (M cycles/s|CPU s|s)\b")


def plain(text):
    return re.sub(r"\s+", " ", PACE.sub(r"N \1", text)).strip()


def shows(text, line):
    return line.endswith(text) if text.startswith("verdict: match") else text in line


def kind(text):
    """Return lines that may correspond: the same first word, numbers aside."""
    first = text.split()[0]
    return first if re.match(r"\d\d_|verdict:", first) else re.sub(r"[\d.]+", "N", first)


def successor(text, printed):
    """Return the printed line for `text`, as far as the page shows it."""
    like = [line for line in printed if line.strip() and kind(line) == kind(text)]
    if not like:
        return None
    best = max(like, key=lambda line: difflib.SequenceMatcher(None, plain(line), plain(text)).ratio()).strip()
    if re.match(r"\d\d_\w+ |layer ", text) and "cycles" not in text[20:]: # a table's
        best = re.match(r"(?:\S+\s*){%d}" % min(len(text.split()), len(best.split())), best)[0].rstrip()
    old, new = PACE.search(text), PACE.search(best)
    return best.replace(new[0], old[0]) if old and new else best


def main(page, printed, source=None):
    with open(printed, encoding="utf-8", errors="replace") as f:
        printed = f.read().split("\n")
    all_of, wrong = [plain(line) for line in printed], 0
    lines = open(source, encoding="utf-8").read().split("\n") if source else None
    for entry in sys.stdin:
        at, text = entry.rstrip("\n").split("\t", 1)
        if any(shows(plain(text), line) for line in all_of):
            continue
        new = successor(text, printed)
        if source and new:
            at = int(at) - 1
            assert text in lines[at], (at, lines[at])
            lines[at] = lines[at].replace(text, new)
            print(f"{page}:{at + 1}: now: {new}")
            continue
        wrong += 1
        print(f"{page}:{at}: no command of the page prints: {text}; most like it: {new}")
    if source:
        with open(source, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
    return wrong != 0


sys.exit(main(*sys.argv[1:]))
