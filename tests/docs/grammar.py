#!/usr/bin/env python3
"""grammar.py TREE LIMITS [--all]: counts constructions that CONTRIBUTING.md, "Words" replaces, in comments, messages,
option help and pages of TREE.

LIMITS has a line for each: NAME LIMIT REGULAR-EXPRESSION -> INSTEAD. A limit may only fall. Prints each construction
that occurs more often than its limit, with its places; --all prints those within their limits too. Exit status 1 if
a construction exceeds its limit. In an expression ^ is the start of a sentence. The construction `long` counts the
sentences of pages with more words than its expression states.
"""
import pathlib
import re
import sys

from names import C_LIKE, HASH, SKIPPED, split, text_of

FOLDERS = "app base compiler docs driver hw include kernels operators python reference sim targets tests waves .ci".split()
GENERATED = {"REGISTERS.md", "grammar.txt"}
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"(?:\s*"((?:\\.|[^"\\\n])*)")*')
SENTENCE = re.compile(r"(?<=[^.\s][.?!])\s+|(?<=:)\s+(?=[A-Z`\[(])|(?<=;)\s+|\n\n+")
MARK = re.compile(r"(?m)^[ \t]*(?:/\*+|\*/|\*(?=\s)|//+|#+!?|\"{3})[ \t]?|\*/[ \t]*$|\"{3}[ \t]*$")


def comments_of(path, text):
    """Yield blocks of adjacent comment lines, as (line number, text without comment marks)."""
    comments, code = split(path, text)
    block, start = [], 0
    for number, (line, rest) in enumerate(zip(comments.split("\n") + [""], code.split("\n") + [""]), 1):
        new = line.lstrip().startswith("/*") or rest.strip() or (block and block[-1].endswith("*/"))
        if block and (not line.strip() or new):
            yield start, MARK.sub("", "\n".join(block))
            block = []
        if line.strip():
            start = start if block else number
            block.append(line.strip())


def messages_of(path, text):
    """Yield string literals with at least two words: messages and option help."""
    if path.suffix not in {".c", ".h", ".cpp", ".def"}:
        return
    _, code = split(path, text)
    for m in STRING.finditer(code):
        whole = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', m[0]))
        if " " in whole.strip() and not whole.startswith("#"):
            yield code.count("\n", 0, m.start()) + 1, whole.replace("\\n", "\n").replace('\\"', '"')


def paragraphs_of(text):
    """Yield paragraphs, list items and table cells of a page, without code."""
    text = re.sub(r"(?ms)^```.*?^```", lambda m: "\n" * m[0].count("\n"), text)
    block, start = [], 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        item = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        other = not line.strip() or line.startswith(("#", "    ", "|", "!["))
        if block and (other or item):
            yield start, " ".join(block)
            block = []
        if line.startswith("|"):
            for cell in line.strip("|").split("|"):
                yield number, cell.strip()
        elif not other:
            start = start if block else number
            block.append(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", line).strip())


def sentences(text):
    return [s.strip() for s in SENTENCE.split(re.sub(r"\n(?!\n)", " ", text)) if s.strip()]


def words(sentence):
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|`[^`]*`", lambda m: m[1] or "code", sentence)
    return len(re.findall(r"[A-Za-z0-9][\w.,%/'+-]*", plain))


def blocks(tree):
    """Yield (path, line, text, is a page) for all text written for people."""
    roots = [tree / folder for folder in FOLDERS]
    files = [p for root in roots for p in root.rglob("*") if p.is_file()] + list(tree.glob("*.md"))
    for path in sorted(files):
        if SKIPPED & set(path.relative_to(tree).parts[:-1]) or path.name in GENERATED:
            continue
        if path.suffix == ".md":
            yield from ((path, line, text, True) for line, text in paragraphs_of(text_of(path)))
        elif path.suffix in C_LIKE | HASH:
            text = text_of(path)
            yield from ((path, line, t, False) for line, t in comments_of(path, text))
            yield from ((path, line, t, False) for line, t in messages_of(path, text))


def read_limits(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        m = re.match(r"(\w+) (\d+) (.*) -> (.*)$", line)
        if m:
            yield m[1], int(m[2]), m[3], m[4]


def found(tree, rules):
    places = {name: [] for name, *_ in rules}
    compiled = [(name, re.compile(expr)) for name, _, expr, _ in rules if name != "long"]
    longest = next((int(expr) for name, _, expr, _ in rules if name == "long"), None)
    for path, line, text, page in blocks(tree):
        where = f"{path.relative_to(tree)}:{line}"
        for s in sentences(text):
            for name, expr in compiled:
                places[name] += [(where, s)] * len(expr.findall(s))
            if page and longest and words(s) > longest:
                places["long"].append((where, s))
    return places


def main():
    tree, show = pathlib.Path(sys.argv[1]).resolve(), "--all" in sys.argv
    rules = list(read_limits(pathlib.Path(sys.argv[2])))
    places, wrong = found(tree, rules), 0
    for name, limit, _, instead in rules:
        n = len(places[name])
        wrong += n > limit
        if n > limit or show:
            print(f"{name}: {n}, at most {limit}; write: {instead}")
            for where, sentence in places[name]:
                print(f"  {where}: {sentence[:160]}")
        elif n < limit:
            print(f"{name}: {n}: lower its limit of {limit} to {n}")
    print(f"{sum(map(len, places.values()))} in all")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
