#!/usr/bin/env python3
"""columns.py - every column of app/stats/columns.def is in all forms of a report.

    columns.py --write          write the columns' members into docs/stats.v2.schema.json and regress.v1.schema.json
    columns.py OUT CSV SWEEP    check the schemas, docs/REPORT.md and a run: OUT/stats.json, OUT/report.txt,
                                OUT/report.html, CSV, its `heddle report --format=csv`, and SWEEP, the folder and stdout
                                (SWEEP.txt) of a `heddle sweep`, with `heddle regress show last` (SWEEP_show.txt)
    --tree DIR, --columns FILE  of another tree; another table
"""
import argparse
import contextlib
import json
import os
import re
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = re.compile(r"^COLUMN\((.*?)\)\n(?=COLUMN|\Z)", re.M | re.S)
SCHEMAS = ("docs/stats.v2.schema.json", "docs/regress.v1.schema.json")
FORM = re.compile(r"\b(count|mean|real)(_if)?\(")
FORMS = {"count": "count", "count_if": "count_or_null", "mean": "mean", "mean_if": "mean_or_null", "real": "share"}


def arguments(text):
    """The arguments of a row, separated by commas outside strings and parentheses."""
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
    names = ("name", "place", "type", "csv", "heading", "width", "cell", "label", "meaning", "layer", "group", "run")
    with open(path, encoding="utf-8") as file:
        rows = [arguments(row) for row in ROW.findall(file.read().split("*/", 1)[1].lstrip())]
    return [dict(zip(names, (argument.strip('"') for argument in row))) for row in rows]


def members(columns, of):
    """[(name, type, required)] of a layer, a group, a run in its stats file, a run in regress's results."""
    if of == "layer":
        return [(c["name"], c["type"], "NONE" not in c["layer"]) for c in columns]
    if of == "group":
        return [(c["name"], form(c["group"]), True) for c in columns if c["group"] != "NONE"]
    runs = [c for c in columns if c["run"] != "NOT_OF_RUN"]
    if of == "run":
        return [(c["name"], "number_or_null", True) for c in runs]
    return [(c["name"], form(c["run"]), "NONE" not in c["run"]) for c in runs]


def form(value):
    return FORMS["".join(part or "" for part in FORM.search(value).groups())]


def with_member(lines, of, before, name, kind, required):
    """The schema's lines with a member of `of` ("properties": the file's own), after `before` if it is new."""
    first = next(i for i, line in enumerate(lines) if re.match(r' +"%s": {$' % of, line))
    indent = len(lines[first]) - len(lines[first].lstrip())
    end = next(i for i in range(first, len(lines)) if re.match(r" {%d}},?$" % indent, lines[i]))
    start, indent = (0, indent + 2) if of == "properties" else (first, indent + 4)
    line = '%s"%s": {"$ref": "#/$defs/%s"},' % (" " * indent, name, kind)
    at = [i for i in range(first, end) if lines[i].startswith('%s"%s": ' % (" " * indent, name))]
    if at:
        last = not lines[at[0]].endswith(",")
        lines[at[0]] = line[:-1] if last else line
    else:
        after = next(i for i in range(first, end) if lines[i].startswith('%s"%s": ' % (" " * indent, before)))
        lines.insert(1 + after, line)
    need = next(i for i in range(start, end) if '"required": [' in lines[i])
    if required and '"%s"' % name not in lines[need]:
        lines[need] = lines[need].replace("]", ', "%s"]' % name)
    return lines


def written(path, lines, columns):
    places = (("layer", "group"), ("group", "members"), ("properties", "accuracy"))
    for of, before in (("run", "inferences"),) if "regress" in path else places:
        for name, kind, required in members(columns, of):
            lines = with_member(lines, of, before, name, kind, required)
            before = name
    return lines


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def missing(columns, given, tree):
    """Yield each form of the report that a column is missing from."""
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
        if "NONE" not in c["run"] and (c["run"] != "NOT_OF_RUN") != (name in stats):
            yield "%s: no member of stats.json" % name


def missing_runs(columns, sweep):
    """Yield each form of regress and sweep that a column of runs is missing from."""
    results, show, page = json.loads(read(sweep + "/results.json")), read(sweep + "_show.txt"), read(sweep + "/index.html")
    csv = read(sweep + "/sweep.csv").split("\n", 1)[0].split(",")
    with contextlib.closing(sqlite3.connect(sweep + "/regress.db")) as base:
        kept = {row[1] for row in base.execute("PRAGMA table_info(run)")}
    for c in columns:
        name, run = c["name"], c["run"] != "NOT_OF_RUN"
        for what, found in (("results.json", all(name in r for r in results["runs"])), ("sweep.csv", name in csv),
                            ("regress.db", name in kept)):
            if run != found:
                yield "%s: %s: expected %s" % (name, what, "a member" if run else "none")
        if run and not c["run"].startswith("RUN(0,"):
            if not re.search(r"^run .*\b%s\b" % c["heading"], show, re.M):
                yield "%s: no heading '%s' in regress's table" % (name, c["heading"])
            if "<th>%s</th>" % c["heading"] not in page:
                yield "%s: no heading '%s' in regress's page" % (name, c["heading"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", default=os.path.join(HERE, "..", "..", ".."))
    parser.add_argument("--columns")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("out", nargs="?")
    parser.add_argument("csv", nargs="?")
    parser.add_argument("sweep", nargs="?")
    given = parser.parse_args()
    columns = read_columns(given.columns or given.tree + "/app/stats/columns.def")
    bad = []
    if not given.write:
        bad = list(missing(columns, given, given.tree)) + list(missing_runs(columns, given.sweep))
    for path in SCHEMAS:
        lines = read(given.tree + "/" + path).split("\n")
        new = written(path, list(lines), columns)
        if given.write:
            with open(given.tree + "/" + path, "w", encoding="utf-8") as file:
                file.write("\n".join(new))
        elif new != lines:
            bad.append("%s: not as columns.def: run tests/app/stats/columns.py --write" % path)
    print("\n".join(bad) or "%d columns" % len(columns))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
