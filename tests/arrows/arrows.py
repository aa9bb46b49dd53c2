#!/usr/bin/env python3
"""arrows.py - which file needs which, from the object files and the #include lines.

    arrows.py [--tree DIR] [--build DIR]    count circles and arrows, name what breaks the rule; exit status 1 if any
    arrows.py --edges                       every arrow between folders, with one reason
    arrows.py --dot FILE [--svg FILE]       write the picture of docs/ARCHITECTURE.md

An arrow runs from a file that uses a symbol (nm) to the file that defines it, and from a file to a header that it
includes. A circle is a set of files each of which reaches every other. The rule, held by test_arrows.sh:
  1. no link circle among the object files of compiler/;
  2. no circle among folders;
  3. no arrow that points backward in order.txt, the one list of folders from the lowest to the highest.
order.txt also names arrows that are still to be cut ("still A -> B", files or folders); they do not count, and one
that is gone must leave the list.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = ("heddle_base", "heddle_driver", "heddle_core", "heddle", "hdgen")  # of CMakeLists.txt
SOURCE = re.compile(r"\.(c|h|cpp|def)$")
LIST = "compiler/passes.def"  # a list of names without code: each folder reads its own rows of it
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]')


class Graph:
    """Arrows between names, each with its reasons."""

    def __init__(self):
        self.to = collections.defaultdict(lambda: collections.defaultdict(set))

    def add(self, a, b, reason):
        if a != b:
            self.to[a][b].add(reason)

    def cut(self, still):
        """Remove the arrows of `still`; return those that existed."""
        had = {(a, b) for a, b in still if b in self.to.get(a, ())}
        for a, b in had:
            del self.to[a][b]
        return had

    def arrows(self):
        return [(a, b, sorted(why)) for a in sorted(self.to) for b, why in sorted(self.to[a].items())]

    def circles(self):
        """Return strongly connected components of more than one name (Tarjan), largest first."""
        index, low, stack, out = {}, {}, [], []

        def visit(a):
            index[a] = low[a] = len(index)
            stack.append(a)
            for b in sorted(self.to.get(a, ())):
                if b not in index:
                    visit(b)
                    low[a] = min(low[a], low[b])
                elif b in stack:
                    low[a] = min(low[a], index[b])
            if low[a] == index[a]:
                at = stack.index(a)
                if len(stack) - at > 1:
                    out.append(sorted(stack[at:]))
                del stack[at:]

        for a in sorted(self.to):
            if a not in index:
                visit(a)
        return sorted(out, key=lambda c: (-len(c), c))

    def shortest(self):
        """Return the shortest circle as a list of names; one exists."""
        best = None
        for start in sorted(self.to):
            came, queue = {start: None}, collections.deque([start])
            while queue:
                a = queue.popleft()
                if start in self.to.get(a, ()):
                    path = [a]
                    while came[path[-1]]:
                        path.append(came[path[-1]])
                    if best is None or len(path) < len(best):
                        best = path[::-1]
                    break
                for b in sorted(self.to.get(a, ())):
                    if b not in came:
                        came[b] = a
                        queue.append(b)
        return best


def source_files(tree, folders):
    """The sources below the folders, as paths from the tree's root."""
    found = []
    for top in folders:
        for at, _, names in os.walk(os.path.join(tree, top)):
            found += [os.path.relpath(os.path.join(at, n), tree) for n in names if SOURCE.search(n)]
    return sorted(found)


def object_files(tree, build):
    """Return the object file by source: those of TARGETS whose source is still in the tree, or generated."""
    found = {}
    for target in TARGETS:
        top = os.path.join(build, "CMakeFiles", target + ".dir")
        for at, _, names in os.walk(top):
            for name in names:
                source = os.path.relpath(os.path.join(at, name), top)[:-len(".o")]
                if name.endswith(".o") and os.path.exists(os.path.join(tree, source)):
                    found.setdefault(source, os.path.join(at, name))
    return found


def symbols(objects):
    """Return two maps: symbol -> source that defines it; source -> symbols that it uses from others."""
    defined, used = {}, collections.defaultdict(set)
    source_of = {object: source for source, object in objects.items()}
    command = ["nm", "-gPA"] + [objects[source] for source in sorted(objects)]
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        path, name, kind = line.split()[:3]
        source = source_of[path.rstrip(":")]
        if kind == "U":
            used[source].add(name)
        elif kind not in "wWvV" and name != "main":
            defined.setdefault(name, source)
    return defined, used


def link_graph(objects):
    graph = Graph()
    defined, used = symbols(objects)

    for source, names in used.items():
        for name in names & defined.keys():
            graph.add(source, defined[name], name)
    return graph


def header_of(tree, path, name):
    """Return the file of the tree that `#include "name"` in `path` refers to, or None."""
    for base in (os.path.dirname(path), "", "driver", "include"):
        file = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(tree, file)):
            return file
    return None


def add_includes(graph, tree, files):
    for path in files:
        with open(os.path.join(tree, path), encoding="utf-8") as file:
            for line in file:
                found = INCLUDE.match(line)
                header = found and header_of(tree, path, found.group(1))
                if header and header != LIST:
                    graph.add(path, header, "#include " + os.path.basename(header))


def read_order(path):
    """[(folder, what it is)], lowest first; arrows still to be cut."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split(None, 1) for line in file if line.strip() and not line.startswith("#")]
    order = [(folder, what.strip()) for folder, what in lines if folder != "still"]
    return order, [tuple(what.split()[::2]) for folder, what in lines if folder == "still"]


def folder_graph(files):
    """Return arrows between folders; a reason is (user, used, symbol or include)."""
    graph = Graph()
    for a, b, why in files.arrows():
        for reason in why:
            graph.add(os.path.dirname(a), os.path.dirname(b), (a, b, reason))
    return graph


def some(reasons, n=4):
    return ", ".join(reasons[:n]) + (", and %d more" % (len(reasons) - n) if len(reasons) > n else "")


def print_shortest(graph, of, say):
    path = graph.shortest()
    print("the shortest circle of %s:" % of)
    for a, b in zip(path, path[1:] + path[:1]):
        print("  %s -> %s: %s" % (a, b, some([say(r) for r in sorted(graph.to[a][b])])))


def say_reason(reason):
    user, used, what = reason
    return "%s in %s" % (what, os.path.basename(user)) if what.startswith("#") else "%s takes %s from %s" % (
        os.path.basename(user), what, os.path.basename(used))


def backward(folders, order):
    place = {folder: n for n, (folder, _) in enumerate(order)}
    return [(a, b, why) for a, b, why in folders.arrows() if place.get(a, -1) < place.get(b, -1)]


def inside(graph, top):
    """The part of the graph below folder `top`."""
    part = Graph()
    for a, b, why in graph.arrows():
        if a.startswith(top) and b.startswith(top):
            for reason in why:
                part.add(a, b, reason)
    return part


def reduced(folders):
    """Return the arrows that no longer path implies, for the picture. There is no circle."""
    reach = {}

    def reached(a):
        if a not in reach:
            reach[a] = set()
            for b in folders.to.get(a, ()):
                reach[a] |= {b} | reached(b)
        return reach[a]

    return [(a, b) for a, b, _ in folders.arrows()
            if not any(b in reached(c) for c in folders.to[a] if c != b)]


def dot_text(folders, order):
    """Write the folders of one top folder in one box; arrows point from the user to the used."""
    lines = ["// Written by tests/arrows/arrows.py --dot: who needs whom; what a longer way implies is left out.",
             "digraph heddle {", "  rankdir=TB; ranksep=0.35; nodesep=0.25;",
             '  node [shape=box, style="rounded,filled", fillcolor="#f4f1e8", fontname="sans-serif", fontsize=11];',
             "  edge [arrowsize=0.6, color=\"#555555\"];"]
    tops = collections.defaultdict(list)
    for folder, what in reversed(order):
        tops[folder.split("/")[0]].append((folder, what))
    for top, rooms in tops.items():
        if len(rooms) > 1:
            lines.append('  subgraph "cluster_%s" {' % top)
            lines.append('    label="%s/"; labeljust=l; fontname="sans-serif"; color="#bbbbbb";' % top)
        for folder, what in rooms:
            lines.append('    "%s" [tooltip="%s"];' % (folder, what))
        if len(rooms) > 1:
            lines.append("  }")
    lines += ['  "%s" -> "%s";' % arrow for arrow in reduced(folders)] + ["}"]
    return "\n".join(lines) + "\n"


def check(files, link, folders, order, still):
    """Print the figures, then violations of the rule; return 1 if there are any."""
    known, there = {folder for folder, _ in order}, {os.path.dirname(f) for f in files}
    had = link.cut(still) | folders.cut(still)
    own = inside(link, "compiler/")
    bad = backward(folders, order)
    for of, graph in (("compiler/", own), ("the tree", link)):
        circles = graph.circles()
        print("link circles in %s: %d, of %d files" % (of, len(circles), sum(map(len, circles))))
        for circle in circles:
            print("  %d: %s" % (len(circle), " ".join(circle)))
    circles = folders.circles()
    print("folders: %d, arrows: %d, circles: %d, of %d folders, arrows backward: %d" % (
        len(there), len(folders.arrows()), len(circles), sum(map(len, circles)), len(bad)))
    for circle in circles:
        print("  %d: %s" % (len(circle), " ".join(circle)))
    for a, b, why in bad:
        print("backward: %s -> %s: %s" % (a, b, some([say_reason(r) for r in why])))
    for folder in sorted(there - known):
        print("%s is not in tests/arrows/order.txt: add it above all that it needs" % folder)
    for folder in sorted(known - there):
        print("tests/arrows/order.txt: %s: no such folder with sources" % folder)
    for a, b in still:
        print("still to be cut: %s -> %s" % (a, b) if (a, b) in had else
              "tests/arrows/order.txt: %s -> %s is gone: take it off the list" % (a, b))
    if own.circles():
        print_shortest(own, "object files in compiler/", str)
    if circles:
        print_shortest(folders, "folders", say_reason)
    return bool(own.circles() or circles or bad or there ^ known or set(still) - had)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", default=os.path.join(HERE, "..", ".."))
    parser.add_argument("--build")
    parser.add_argument("--order", default=os.path.join(HERE, "order.txt"))
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--dot")
    parser.add_argument("--svg")
    given = parser.parse_args()
    order, still = read_order(given.order)
    objects = object_files(given.tree, given.build or os.path.join(given.tree, "build"))
    if not objects:
        sys.exit("arrows.py: no object files; build first (make program)")
    files = source_files(given.tree, sorted({folder.split("/")[0] for folder, _ in order}))
    link = link_graph(objects)
    both = link_graph(objects)
    add_includes(both, given.tree, files)
    folders = folder_graph(both)
    if given.dot or given.svg:
        folders.cut(still)
        text = dot_text(folders, order)
        if given.dot:
            with open(given.dot, "w", encoding="utf-8") as file:
                file.write(text)
        if given.svg:
            subprocess.run(["dot", "-Tsvg", "-o", given.svg], input=text, text=True, check=True)
        return 0
    if given.edges:
        for a, b, why in folders.arrows():
            print("%s -> %s (%d): %s" % (a, b, len(why), say_reason(why[0])))
        return 0
    return check(files, link, folders, order, still)


if __name__ == "__main__":
    sys.exit(main())
