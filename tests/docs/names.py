#!/usr/bin/env python3
"""names.py TREE HELP: prints FILE:LINE and each name that a page or a comment mentions and that does not exist.

HELP is what `heddle COMMAND --help` prints, of all commands. Exit status 1 if a name was printed. Checked:
  in pages (*.md)    links, with their headings; in backticks files, names with an underscore, make targets; options
  in comments        files, options; PAGE.md, "Heading"; in backticks names with an underscore
A file is named relative to the tree, to the page's folder, or by the end of its path if only one file ends so.
A name exists if any source or data has it as a word outside its comments; so does a file that heddle or a test makes.
"""
import fnmatch
import pathlib
import re
import sys

SKIPPED = {".git", "__pycache__", "models", "malformed"} # the last two: test data
C_LIKE = {".c", ".h", ".cpp", ".sv", ".svh", ".def", ".fbs", ".tcl"}
HASH = {".py", ".sh", ".cmake", ".txt", ".mk", "", ".cfg"}
KINDS = r"(?:c|h|cpp|sv|svh|def|md|py|sh|json|ir|err|tcl|fbs|cmake|mk|svg|png)"
FILE = re.compile(r"(?<![\w./$*\[<-])(?:\.\./)*[\w*.\[\]{}/-]*[\w*\]}]\." + KINDS + r"\b(?![\w/(=-]|\.[a-z])")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]")
NAME = re.compile(r"^[A-Za-z]\w*_\w*(?:\(\))?$")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LINK = re.compile(r"\]\(([^)\s]+)\)")
BARE = re.compile(r"(?<![\w/(`.-])[A-Z_]+\.md\b") # a page in running text
SECTION = re.compile(r'([\w/]+\.md), "([^"]+)"')

# Files that exist in every folder, and files that a reader creates.
MADE = """
    target.json meta.json verilated.mk runtime/ newtarget/ newcopy/ newwide/ build/gen/ out.json my.json a.sv
""".split()
# Names of other programs, and of files that heddle writes.
ELSEWHERE = """
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 experimental_preserve_all_tensors l03_conv2d
    HD_PORTS HD_SCRATCHPAD_BYTES HD_ACC_DEPTH HD_PARAM_ENTRIES
""".split()
# tests/hw/*/NAME_tb.cpp is any of them.
PLACEHOLDER = re.compile(r"(^|/|test_)(NAME|PAGE|name|something|_bad)(\b|_)|_N\.|^/")
# Options of other programs; pages name them together with the program.
FOREIGN = ["--preset", "--threads"]


def skipped(parts):
    """Return true for a path below one of the folders SKIPPED, or below the tree's build folder."""
    return bool(SKIPPED & set(parts)) or parts[:1] == ("build",)


def files_of(tree):
    return sorted(p for p in tree.rglob("*") if p.is_file() and not skipped(p.relative_to(tree).parts[:-1]))


def text_of(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def blank(text):
    return re.sub(r"[^\n]", " ", text)


C_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
PY_TOKEN = re.compile(r"""(?P<doc>^[ \t]*"{3}.*?"{3})|#[^\n]*|"{3}.*?"{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
                      re.DOTALL | re.MULTILINE)
SH_TOKEN = re.compile(r"(?:(?<=\s)|^)#[^\n]*", re.MULTILINE)


def is_comment(m):
    return m[0].startswith(("//", "/*", "#")) or m.groupdict().get("doc") is not None


def split(path, text):
    """Return the comments and the rest of a source, both with the source's lines."""
    token = C_TOKEN if path.suffix in C_LIKE else PY_TOKEN if path.suffix == ".py" else SH_TOKEN
    parts, at = [], 0
    for m in token.finditer(text):
        if is_comment(m):
            parts += [blank(text[at:m.start()]), m[0]]
            at = m.end()
    comments = "".join(parts) + blank(text[at:])
    code = token.sub(lambda m: blank(m[0]) if is_comment(m) else m[0], text)
    return comments, code


def slug(heading):
    heading = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


class Tree:
    def __init__(self, root, help_text):
        self.root = root
        self.files = files_of(root)
        self.paths = {str(p.relative_to(root)) for p in root.rglob("*")
                      if not skipped(tuple(q for q in p.relative_to(root).parts if q not in ("models", "malformed")))}
        self.words, self.named, self.comments = set(), set(), {}
        self.options = set(OPTION.findall(help_text)) | set(FOREIGN)
        for path in self.files:
            self.take(path, text_of(path))
        make = text_of(root / "Makefile")
        self.targets = set(re.findall(r"^([\w-]+):", make, re.MULTILINE))
        self.wrong = []

    def take(self, path, text):
        if path.suffix == ".md":
            return
        comments, code = split(path, text) if path.suffix in C_LIKE | HASH else ("", text)
        self.words.update(WORD.findall(code))
        self.words.update(w for part in path.parts for w in [part.split(".")[0]])
        self.named.update(name.split("/")[-1] for name in FILE.findall(code))
        self.options.update(OPTION.findall(code)) # of our scripts and tools
        self.options.update("--" + name for name in re.findall(r'\{"([a-z][a-z-]+)", ', code)) # argp's tables
        self.comments[path] = comments

    def headings(self, path):
        return re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)

    def find(self, page, name):
        """Paths that a file's name may mean."""
        name = name.rstrip("/")
        here = (page.parent / name)
        try:
            here = str(here.resolve().relative_to(self.root))
        except ValueError:
            return [] if name.startswith("..") else self.ends(name)
        if re.search(r"[*\[{]", name):
            return self.ends(name) or fnmatch.filter(self.paths, here)
        if here in self.paths or name in self.paths:
            return [here if here in self.paths else name]
        return self.ends(name)

    def ends(self, name):
        if re.search(r"[*\[]", name):
            return fnmatch.filter(self.paths, name) + fnmatch.filter(self.paths, "*/" + name)
        return [p for p in self.paths if p == name or p.endswith("/" + name)]

    def say(self, path, text, at, what):
        line = text.count("\n", 0, at) + 1
        self.wrong.append((str(path.relative_to(self.root)), line, what))

    def want_file(self, page, text, at, name):
        if PLACEHOLDER.search(name) or any(fnmatch.fnmatch(name.split("/")[-1], m) for m in MADE):
            return
        found = self.find(page, name)
        if not found:
            if name.split("/")[-1] not in self.named:
                self.say(page, text, at, f"no file {name}")
        elif len(found) > 1 and not re.search(r"[*\[]", name):
            self.say(page, text, at, f"{len(found)} files are called {name}: {', '.join(sorted(found)[:3])}")

    def want_name(self, page, text, m):
        name = m[1].removesuffix("()")
        if not NAME.match(m[1]) or name in self.words or name in ELSEWHERE or re.fullmatch("[a-z]_[a-z]", name):
            return # z_y is a formula's
        if not name.endswith("_") or not any(w.startswith(name) for w in self.words):
            self.say(page, text, m.start(), f"no name {m[1]}")

    def want_options(self, page, text):
        for m in OPTION.finditer(text):
            base = re.sub(r"^--target-\w+-", "--target-NAME-", m[0])
            if m[0] not in self.options and not base.startswith("--target-NAME-"):
                self.say(page, text, m.start(), f"no option {m[0]}")

    def page(self, path):
        text = text_of(path)
        for m in LINK.finditer(text):
            name, _, anchor = m[1].partition("#")
            if name.startswith("http"):
                continue
            target = (path.parent / name).resolve() if name else path
            if not target.exists():
                self.say(path, text, m.start(), f"no file {name}")
            elif anchor and anchor not in [slug(h) for h in self.headings(target)]:
                self.say(path, text, m.start(), f"no heading #{anchor} in {target.relative_to(self.root)}")
        for m in re.finditer(r"`([^`\n]+)`", text):
            self.ticked(path, text, m)
        for m in BARE.finditer(text):
            self.want_file(path, text, m.start(), m[0])
        for m in re.finditer(r"(?:`|^    )make ([a-z][\w-]*)", text, re.MULTILINE):
            if m[1] not in self.targets:
                self.say(path, text, m.start(), f"no make target {m[1]}")
        self.want_options(path, text)

    def ticked(self, path, text, m):
        if FILE.fullmatch(m[1]):
            self.want_file(path, text, m.start(), m[1])
        elif re.fullmatch(r"[\w.-]+(/[\w.-]+)*/", m[1]):
            if not self.find(path, m[1]) and m[1] not in MADE:
                self.say(path, text, m.start(), f"no folder {m[1]}")
        else:
            self.want_name(path, text, m)

    def comment(self, path, text):
        for m in FILE.finditer(text):
            self.want_file(path, text, m.start(), m[0])
        for m in SECTION.finditer(re.sub(r"\n[ \t]*(\*|//|#)?", lambda n: "\n" + " " * (len(n[0]) - 1), text)):
            pages, heading = self.find(path, m[1]), " ".join(m[2].split())
            if len(pages) == 1 and not any(h.startswith(heading) for h in self.headings(self.root / pages[0])):
                self.say(path, text, m.start(), f'no heading "{heading}" in {pages[0]}')
        for m in re.finditer(r"`(\w+)`", text):
            self.want_name(path, text, m)
        self.want_options(path, text)


def main():
    tree = Tree(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    for path in tree.files:
        if path.suffix == ".md" and path.name != "CHANGELOG.md":
            tree.page(path)
        elif path in tree.comments:
            tree.comment(path, tree.comments[path])
    for path, line, what in sorted(set(tree.wrong)):
        print(f"{path}:{line}: {what}")
    sys.exit(bool(tree.wrong))


if __name__ == "__main__":
    main()
