#!/usr/bin/env python3
"""columns.py - every column of app/stats/columns.def is in all forms of a report.

    columns.py --write                write the columns' members into docs/stats.v2.schema.json
    columns.py OUT CSV                check schema, docs/REPORT.md and a run: OUT/stats.json, OUT/report.txt,
                                      OUT/report.html, and CSV, its `heddle report --format=csv`
    --tree DIR, --columns FILE        of another tree; another table
"""
import argparse
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = re.compile(r"^COLUMN\((.*?)\)\n(?=COLUMN|\Z)", re.M | re.S)
FORMS = {"count": "count", "count_if": "count_or_null", "mean": "mean", "mean_if": "mean_or_null", "real": "share"}


def arguments(text):
    """The arguments of a row: commas outside of strings and parentheses part them."""
    found, depth, quoted, one = [], 0, False, ""
    for c in text:
        quoted ^= c == '"'
        depth += 0 if quoted else (c == "(") - (c == ")")
        if c == "," and not depth and not quoted:
            found.append(one.strip())
            one = ""
        else:
            one += c
    return found + [one.strip()]


def read_columns(path):
    names = ("name", "place", "type", "csv", "heading", "width", "cell", "label", "meaning", "layer", "group")
    with open(path, encoding="utf-8") as file:
        rows = [arguments(row) for row in ROW.findall(file.read().split("*/", 1)[1].lstrip())]
    return [dict(zip(names, (argument.strip('"') for argument in row))) for row in rows]


def members(columns, of):
    """[(name, type, required)] of a layer or a group."""
    if of == "layer":
        return [(c["name"], c["type"], "NONE" not in c["layer"]) for c in columns]
    return [(c["name"], FORMS[c["group"].split("(")[0]], True) for c in columns if c["group"] != "NONE"]


def with_member(lines, of, before, name, kind, required):
    """The schema's lines with a member of `of`, after `before` if it is new."""
    start = next(i for i, line in enumerate(lines) if line.startswith('    "%s": {' % of))
    end = next(i for i in range(start, len(lines)) if re.match(r"    },?$", lines[i]))
    line = '        "%s": {"$ref": "#/$defs/%s"},' % (name, kind)
    at = [i for i in range(start, end) if lines[i].startswith('        "%s": ' % name)]
    if at:
        last = not lines[at[0]].endswith(",")
        lines[at[0]] = line[:-1] if last else line
    else:
        lines.insert(1 + next(i for i in range(start, end) if lines[i].startswith('        "%s": ' % before)), line)
    need = next(i for i in range(start, end) if '"required": [' in lines[i])
    if required and '"%s"' % name not in lines[need]:
        lines[need] = lines[need].replace("]", ', "%s"]' % name)
    return lines


def written(lines, columns):
    for of, before in (("layer", "group"), ("group", "members")):
        for name, kind, required in members(columns, of):
            lines = with_member(lines, of, before, name, kind, required)
            before = name
    return lines


def missing(columns, given, tree):
    """Yield each form of the report that a column is missing from."""
    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    stats, page = json.loads(read(given.out + "/stats.json")), read(given.out + "/report.html")
    table, csv = read(given.out + "/report.txt"), read(given.csv).split("\n", 1)[0].split(",")
    shown = {c["name"] for c in json.loads(re.search(r'id="columns">(.*?)<', page).group(1))}
    text = read(tree + "/docs/REPORT.md")
    for c in columns:
        name = c["name"]
        if "NONE" not in c["layer"] and not all(name in layer for layer in stats["layers"]):
            yield "%s: no member of each layer of stats.json" % name
        if (c["csv"] == "1") != (name in csv):
            yield "%s: CSV: expected %s" % (name, "a column" if c["csv"] == "1" else "none")
        if c["heading"] and not re.search(r"^layer .*\b%s\b" % c["heading"], table, re.M):
            yield "%s: no heading '%s' in the table" % (name, c["heading"])
        if c["heading"] and not re.search(r"legend:.*\b%s\b" % c["heading"], table, re.S):
            yield "%s: heading '%s' is not in the legend" % (name, c["heading"])
        if name not in shown:
            yield "%s: not among the columns of report.html" % name
        if "`%s`" % name not in text:
            yield "%s: docs/REPORT.md has no line with it" % name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", default=os.path.join(HERE, "..", "..", ".."))
    parser.add_argument("--columns")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("out", nargs="?")
    parser.add_argument("csv", nargs="?")
    given = parser.parse_args()
    columns = read_columns(given.columns or given.tree + "/app/stats/columns.def")
    path = given.tree + "/docs/stats.v2.schema.json"
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    new = written(list(lines), columns)
    if given.write:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(new))
        return 0
    bad = list(missing(columns, given, given.tree))
    if new != lines:
        bad.append("docs/stats.v2.schema.json: not as columns.def: run tests/app/stats/columns.py --write")
    print("\n".join(bad) or "%d columns" % len(columns))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
