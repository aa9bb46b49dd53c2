"""Modules of a design as yosys reads them, under names that stay: what mutation.py mutates.

A module of the RTL is elaborated at the parameters that it has in a design. Its name here is MODULE_HASH (of its parameters);
the numbers that yosys gives cells and wires are counted again in each module, so that a module is the same text whatever else was read
with it. A mutant is one line of yosys' `mutate -list`: it changes one bit of one port of one cell."""

import hashlib
import pathlib
import re
import resource
import subprocess

CLOCKS = re.compile(r"^(CLK|RD_CLK|WR_CLK|clk_\w+)$")
WIDTH = 16  # bits of the number that selects a mutant


class Module:
    """text: its RTLIL, from its attributes to `end`; base: the name in the RTL."""

    def __init__(self, name, base, text):
        self.name, self.base, self.text = name, base, text

    def hash(self):
        """Hash of the netlist's function, not of its source lines."""
        return hashlib.sha256(re.sub(r"^ *attribute .*\n", "", self.text, flags=re.M).encode()).hexdigest()[:12]


def used():
    """CPU seconds of children that ended, of all threads: for one of two an upper bound."""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime


def run(yosys, script, folder):
    """yosys' standard output; RuntimeError with its last line."""
    done = subprocess.run([yosys, "-p", script], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"yosys: {(done.stderr.strip() or done.stdout.strip()).splitlines()[-1]}")
    return done.stdout


def elaborate(yosys, folder, files, top):
    """The modules of the design of `top`, by name, with the clocks that hd_top has in the simulator."""
    run(yosys, f"read_verilog -formal -sv -I. -DHD_GATE_CLOCKS {' '.join(files)}; prep -top {top} -nordff; "
        f"opt_clean -purge; write_ilang {top}.il", folder)
    return parse((pathlib.Path(folder) / f"{top}.il").read_text())


def parse(text):
    """Modules of RTLIL, renamed and renumbered."""
    found, names, head, body = [], {}, [], None
    for line in text.splitlines(keepends=True):
        if body is None and line.startswith("attribute"):
            head.append(line)
        elif body is None and line.startswith("module "):
            body = [line]
        elif body is not None:
            body.append(line)
            if line == "end\n":
                found.append((head, body))
                head, body = [], None
    for head, body in found:
        was = body[0].split()[1]
        base = re.search(r"\\(\w+)", was)[1]
        parameters = "".join(sorted(line for line in body if line.startswith("  parameter ")))
        names[was] = f"{base}_{hashlib.sha256(parameters.encode()).hexdigest()[:6]}"
    modules = {}
    for head, body in found:
        was = body[0].split()[1]
        for i, line in enumerate(body):
            if line.startswith("  cell ") and line.split()[1] in names:
                kind = line.split()[1]
                body[i] = line.replace(f"cell {kind} ", f"cell \\{names[kind]} ")
        body[0] = f"module \\{names[was]}\n"
        modules[names[was]] = Module(names[was], re.search(r"\\(\w+)", was)[1], renumbered("".join(head + body)))
    return modules


def renumbered(text):
    """Every $NUMBER of a name counted from 1 in order of appearance."""
    seen = {}
    return re.sub(r"\$(\d+)(?![\d\\])", lambda m: f"${seen.setdefault(m[1], len(seen) + 1)}", text)


def reached(modules, top):
    """Names of what is below `top`, itself included; a cell of another name is not one of `modules`."""
    names, left = set(), [top]
    while left:
        name = left.pop()
        if name in names or name not in modules:
            continue
        names.add(name)
        left += re.findall(r"^  cell \\(\w+) ", modules[name].text, flags=re.M)
    return names


def written(modules):
    return "autoidx 100000\n" + "".join(m.text for m in modules)


def mutants(yosys, folder, modules, count):
    """`count` mutants of `modules` (those of one module of the RTL), each an option list of `mutate`; no clock is changed."""
    (pathlib.Path(folder) / "list.il").write_text(written(modules))
    run(yosys, f"read_ilang list.il; mutate -list {2 * count + 20} -seed 1 -o list.txt", folder)
    chosen = []
    for line in (pathlib.Path(folder) / "list.txt").read_text().splitlines():
        words = line.split(" ")[1:]
        options = {words[i]: words[i + 1] for i in range(0, len(words), 2) if words[i] not in ("-src", "-wire", "-wirebit")}
        text = " ".join(f"{k} {v}" for k, v in options.items())
        if not CLOCKS.match(options["-port"]) and text not in chosen:
            chosen.append(text)
    return chosen[:count]


def module_of(mutant):
    return re.search(r"-module (\S+)", mutant)[1]


def with_selector(module):
    """Its text with a wire `mutant`, driven by hd_mutant, which asks for the number."""
    head, line, rest = module.text.partition(f"module \\{module.name}\n")
    return (f"{head}{line}  wire width {WIDTH} \\mutant\n  cell \\hd_mutant \\u_mutant\n    connect \\number_o \\mutant\n"
            f"  end\n{rest}")


def selectable(yosys, folder, modules, top, numbered, leave=()):
    """netlist.v: the modules but those of `leave`, mutant NUMBER in effect while hd_mutant gives it; `numbered`: (number, mutant)."""
    folder = pathlib.Path(folder)
    text = "".join(with_selector(m) if m.name == top else m.text for m in modules)
    (folder / "selectable.il").write_text("autoidx 100000\n" + text)
    (folder / "selectable.ys").write_text("read_ilang selectable.il\n" + "".join(
        f"mutate {mutant} -ctrl mutant {WIDTH} {number}\n" for number, mutant in numbered)
        + "".join(f"delete {name}\n" for name in leave) + "write_verilog -noattr netlist.v\n")
    run(yosys, "script selectable.ys", folder)
    return folder / "netlist.v"


def places(module):
    """{place: names of the cells that are there}: an instance by its name, a register by what it drives, others by source line and
    kind, so that a place holds at other parameters."""
    found, src, cell = {}, "", None
    for line in module.text.splitlines():
        if line.startswith("  attribute \\src"):
            src = line.split('"')[1]
        elif line.startswith("  cell "):
            kind, cell = line.split()[1:3]
            key = (src, kind) if cell.startswith("$") else (cell,)
        elif cell and line.startswith("    connect \\Q ") and cell.startswith("$"):
            key = (kind, line.split()[2])
        elif cell and line == "  end":
            found.setdefault(key, []).append(cell.removeprefix("\\"))
            cell = None
    return found


def place(module, mutant):
    """Source line of the mutant's cell; None: it is not the only one there."""
    wanted = re.search(r"-cell (\S+)", mutant)[1]
    return next((k for k, cells in places(module).items() if cells == [wanted]), None)


def at(module, where):
    """Name of the one cell at that place; None: there is none, or more than one."""
    cells = places(module).get(where, [])
    return cells[0] if len(cells) == 1 else None
