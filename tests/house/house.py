#!/usr/bin/env python3
"""house.py - sizes of the tree that may only fall.

    house.py [--tree DIR] [--build DIR] [--still FILE]    compare with the list; exit status 1 if anything differs
    house.py --lower                                      write what has fallen into the list

Each measure has a bar. still.txt lists the items over it, one `still NUMBER MEASURE ITEM` a line. An item that is over
the bar and over its number fails the test, and so does one that has fallen below its number: the list only shrinks.
"""
import argparse
import ast
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "arrows"))
import arrows  # noqa: E402

FOLDERS = ("app", "base", "compiler", "driver", "hw", "include", "kernels", "operators", "python", "reference", "sim", "targets",
           "tests", "waves")
SOURCE = re.compile(r"\.(c|h|cpp|def|sv|svh|py|sh|js)$")
ROOMS = ("app", "compiler", "sim")  # each folder in these has its own tests

# Measure: its bar, its step (numbers are rounded up to it), what it counts, what to do.
MEASURES = {
    "circle": (0, 1, "in a circle of object files", "move the function that closes it (tests/arrows/arrows.py)"),
    "export": (0, 1, "exported, and no other source names it", "make it static or delete it"),
    "opcodes": (250, 10, "mentions of IR_OP_ outside operators/ and tests/", "make it a column of operators.def"),
    "readme": (130, 1, "lines", "move what is not for a first reader to docs/"),
    "name": (1, 1, "files of one name", "rename one: a name leads to one file"),
    "lines": (500, 10, "lines", "split the file where it has two ideas"),
    "test_lines": (800, 10, "lines", "split the test where it has two subjects"),
    "function": (60, 1, "lines", "give its parts functions of their own"),
    "folder": (25, 1, "source files in the folder", "give a part a folder of its own"),
    "ports": (20, 1, "percent of the lines are ports or connections", "put signals that go together into a packed struct"),
    "mirror": (0, 1, "percentage points short of tests of 10 % of its lines", "test it in tests/, same path"),
}


def read(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def sources(tree):
    """Return the text by path of every source and test case."""
    found = {}
    for top in FOLDERS:
        for at, _, names in os.walk(os.path.join(tree, top)):
            for name in names:
                if SOURCE.search(name) or name.endswith(".ir"):
                    path = os.path.relpath(os.path.join(at, name), tree)
                    found[path] = read(tree, path)
    return found


def c_functions(text):
    """(name, lines) of each function, as clang-format lays it out: '{' alone after a line that ends in ')'."""
    lines, first = text.split("\n"), 0
    for n, line in enumerate(lines):
        if line.strip() == "{" and n and re.search(r"\)( const| override| noexcept)*$", lines[n - 1]):
            end = next((k for k in range(n, len(lines)) if lines[k].rstrip(";") == line[:-1] + "}"), n)
            first = n - 1
            while first and lines[first - 1].strip() and not re.search(r"[;}/]$|^#|^ *(public|private):",
                                                                       lines[first - 1]):
                first -= 1
            name = re.search(r"(\w+)\(", " ".join(lines[first:n]))
            yield (name.group(1) if name else "?", end - first + 1)


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node.end_lineno - node.lineno + 1


def functions(path, text):
    if path.endswith((".c", ".cpp", ".h")):
        return c_functions(text)
    return python_functions(text) if path.endswith(".py") else ()


def room(path):
    """Return the folder whose tests cover `path`: one of ROOMS' folders, else the top folder."""
    parts = os.path.dirname(path).split("/")
    return "/".join(parts[:2 if parts[0] in ROOMS else 1])


def mirror(texts):
    """Return, for each room, by how many percentage points its tests fall short of 10 percent of its lines."""
    product, tests = collections.Counter(), collections.Counter()
    for path, text in texts.items():
        if not path.startswith("tests/"):
            product[room(path)] += text.count("\n")
    for path, text in texts.items():
        if path.startswith("tests/"):
            tests[room(path[len("tests/"):])] += text.count("\n")
    return {("mirror", at): -(-(10 * n - 100 * tests[at]) // n) for at, n in product.items() if n}


def ports(code):
    """Return the percentage of the RTL's lines that declare or connect a port, rounded up."""
    lines = [line for path, text in code.items() if path.startswith("hw/rtl/") for line in text.splitlines()]
    wires = sum(bool(re.match(r" *((input|output|inout)\s|\.\w+ *(\(|,|$))", line)) for line in lines)
    return -(-100 * wires // len(lines)) if lines else 0


def circles(objects):
    return {("circle", os.path.basename(path)): 1 for circle in arrows.link_graph(objects).circles() for path in circle}


def exports(objects, texts):
    """Symbols (nm) that no other object uses and no other source names. Only headers of include/ count:
    a declaration does not count as one. A name in a string of compiler/emit is one: emitted code calls it. C++
    names (_Z) and those of the C compiler (__odr_asan) are not exports."""
    defined, used = arrows.symbols(objects)
    lone = {name: path for name, path in defined.items() if not name.startswith(("_Z", "__"))}
    for name in set().union(*used.values()) & lone.keys():
        del lone[name]
    named = set()
    for path, text in texts.items():
        if lone and (not path.endswith(".h") or path.startswith("include/")):
            named |= {name for name in re.findall(r"\w+", text) if lone.get(name, path) != path}
    return {("export", "%s:%s" % (os.path.basename(path), name)): 1 for name, path in lone.items() if name not in named}


def measure(tree, build):
    """Return the number by (measure, item), over the bar or not."""
    texts, names, folders = sources(tree), collections.Counter(), collections.Counter()
    objects = arrows.object_files(tree, build)
    found = {**circles(objects), **exports(objects, texts), **mirror(texts)}
    code = {path: text for path, text in texts.items() if SOURCE.search(path)}
    for path, text in code.items():
        name, test = os.path.basename(path), path.startswith("tests/")
        names[name] += 1
        folders[os.path.dirname(path)] += 1
        sizes = [(("function", "%s:%s" % (name, function)), n) for function, n in functions(path, text)]
        if not name.endswith(".def"):  # a table
            sizes.append((("test_lines" if test else "lines", name), text.count("\n")))
        for key, n in sizes:
            found[key] = max(n, found.get(key, 0))
    found["opcodes", "IR_OP_"] = sum(len(re.findall(r"\bIR_OP_", text)) for path, text in code.items()
                                     if not path.startswith(("operators/", "tests/")))
    found["ports", "hw/rtl"] = ports(code)
    found["readme", "README.md"] = read(tree, "README.md").count("\n")
    found.update({("name", name): n for name, n in names.items()})
    found.update({("folder", folder): n for folder, n in folders.items()})
    return found


def read_list(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.startswith("still ")]
    return {(of, item): int(number) for _, number, of, item in rows}


def write_list(path, still):
    with open(path, encoding="utf-8") as file:
        head = [line for line in file if not line.startswith("still ")]
    rows = ["still %d %s %s\n" % (number, of, item) for (of, item), number in sorted(still.items())]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(head + rows)


def over(found):
    """Return the measures over their bars, rounded up to the measure's step."""
    rounded = {key: -(-n // MEASURES[key[0]][1]) * MEASURES[key[0]][1] for key, n in found.items()}
    return {key: n for key, n in rounded.items() if found[key] > MEASURES[key[0]][0]}


def check(found, now, still):
    """Print what has risen and what has fallen; return 1 if anything has."""
    differs = 0
    for of, item in sorted(now.keys() | still.keys()):
        bar, _, what, todo = MEASURES[of]
        n, limit = now.get((of, item), 0), still.get((of, item), bar)
        if n > limit:
            print("%s %s: %d %s, expected at most %d: %s" % (of, item, found[of, item], what, limit, todo))
        elif n < limit and (of, item) in still:
            print("%s %s: has fallen from %d: run tests/house/house.py --lower" % (of, item, limit))
        differs += n != limit and (n > limit or (of, item) in still)
    return int(differs > 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", default=os.path.join(HERE, "..", ".."))
    parser.add_argument("--build")
    parser.add_argument("--still", default=os.path.join(HERE, "still.txt"))
    parser.add_argument("--lower", action="store_true")
    given = parser.parse_args()
    found = measure(given.tree, given.build or os.path.join(given.tree, "build"))
    now, still = over(found), read_list(given.still)
    if given.lower:
        still = {key: min(n, now[key]) for key, n in still.items() if key in now}
        write_list(given.still, still)
    return check(found, now, still)


if __name__ == "__main__":
    sys.exit(main())
