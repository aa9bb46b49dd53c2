"""A planted bug: lines of one file and what is there instead. For mutants.py, tests/formal/prove.py and tests/icarus."""

import pathlib
import sys


class Planted:
    """name; file: a path from the root of the tree; edits: [old, new], new None until its '+' line is read."""

    def __init__(self, name, file=None):
        self.name, self.file, self.edits = name, file, []

    def edit(self, word, rest):
        """Read one line of a list: '- OLD', then '+ NEW'. False: it is neither, or a '+' without its '-'."""
        if word == "-":
            self.edits.append([rest, None])
        elif word == "+" and self.edits:
            self.edits[-1][1] = rest
        else:
            return False
        return True

    def complete(self):
        return self.file and self.edits and all(new is not None for _, new in self.edits)

    def changed(self, text):
        """Return the text with the bug. Each old line must occur exactly once, otherwise ValueError."""
        for old, new in self.edits:
            if text.count(old) != 1:
                raise ValueError(f"{self.name}: expected once in {self.file}, found {text.count(old)} times: {old}")
            text = text.replace(old, new)
        return text


def find(path, name):
    """The bug `name` of a list that has no more than mutant, file, '-' and '+' lines."""
    bug = None
    for word, _, rest in (line.partition(" ") for line in pathlib.Path(path).read_text().splitlines()):
        if word == "mutant" and bug:
            break
        if word == "mutant" and rest == name:
            bug = Planted(name)
        elif bug and word == "file":
            bug.file = rest
        elif bug and word and not bug.edit(word, rest):
            raise ValueError(f"{name}: what is '{word}'?")
    if not bug or not bug.complete():
        raise ValueError(f"{name}: expected file, '-' and '+' lines")
    return bug


def fail(program, text):
    print(f"{program}: {text}", file=sys.stderr)
    sys.exit(2)
