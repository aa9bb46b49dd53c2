#!/usr/bin/env python3
"""page_lines.py PAGE FOLDER: what a page of the documentation has to try, one line each, in its order:

    run LINE COMMAND     a line of an indented block whose first line begins with one of WORDS; a line that ends
                         with a backslash continues in the next
    says LINE TEXT       a line that looks like what heddle prints (PRINTED)

A fenced block whose first line is a comment with a file's name is written to FOLDER under that name. Exit
status 1 and a text for a block that begins with something else and has a command in it: it would not be tried.
"""
import pathlib
import re
import sys

WORDS = re.compile(r"""\(?([A-Z_]+=\S*\s+)*
    (make|heddle|build/heddle|build/hdgen|\.ci/\w+|\.\./\.\./\.ci/[\w-]+|cmake|cp|cmp|mv|rm|cd|mkdir|sed|grep|cat|head|echo|export|cc|gcc|ar|git|tar
    |python3(\.\d+)?|[\w./]*/bin/\w+|gtkwave|apt-get|sudo|qemu-[\w-]+|bash|sh|xvfb-run|\./\w+)(\s|$)""", re.VERBOSE)
PRINTED = re.compile(r"""\d\d_\w+\s|group\ \d+\s|layer\s+output\s|units,|(load|weight|array|vector|store|fetch)\s+busy\s|verdict:|accuracy:|slowest:|legend:
    |(cycles|output):\ [0-9a-f]+$|inferences:\ \d+$|\d+\ MACs,|activations:|target\ \w+\ passes|memory\ traffic:|\w+\ on\ \w+,\ engine\s|\S+\.json:\d+:\d+:\s""", re.VERBOSE)
FILE = re.compile(r"^(?:/\*|#|//) ([\w.]+)(?: -|$)")


def blocks(lines):
    """(number of the first line, lines, fence's word or None), indentation taken off."""
    found, at = [], 0
    while at < len(lines):
        fence = re.match(r"\s*```(\w*)", lines[at])
        first = at
        if fence:
            at += 1
            while at < len(lines) and not lines[at].lstrip().startswith("```"):
                at += 1
            found.append((first + 2, lines[first + 1:at], fence[1]))
        elif lines[at].startswith("    "):
            while at < len(lines) and lines[at].startswith("    "):
                at += 1
            found.append((first + 1, [line[4:] for line in lines[first:at]], None))
            continue
        at += 1
    return found


def commands(first, body):
    command, begin = "", first
    for number, line in enumerate(body, first):
        if not command:
            begin = number
        if line.endswith("\\"):
            command += line[:-1]
        elif line:
            print(f"run\t{begin}\t{command}{line}")
            command = ""


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for first, body, fence in blocks(page.read_text(encoding="utf-8").split("\n")):
        name = FILE.match(body[0]) if fence is not None and body else None
        if name:
            (folder / name[1]).write_text("\n".join(body) + "\n", encoding="utf-8")
        elif body and WORDS.match(body[0].strip()):
            commands(first, [line.strip() for line in body])
        else:
            margin = len(body[0]) - len(body[0].lstrip()) if body else 0
            for number, line in enumerate(body, first):
                if WORDS.match(line[margin:]): # one that is indented further belongs to a text
                    sys.exit(f"{page}:{number}: a command in a block that does not begin with one: {line.strip()}")
                if PRINTED.match(line.strip()):
                    print(f"says\t{number}\t{line.strip()}")


if __name__ == "__main__":
    main()
