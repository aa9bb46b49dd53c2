"""What yosys' solver says of a mutant: the proofs of tests/formal, and whether it is equal to its module."""

import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import netlist

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "formal"))

import prove  # noqa: E402

SECONDS = 120  # of a run of yosys


def used(then):
    """CPU seconds of children since `then`, of all threads: an upper bound for one."""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - then


def killer(o, modules):
    """judge(mutant): (name of the proof that has a counterexample or None, CPU seconds).

    A proof has sizes of its own, so the mutant is put where its cell is there: the same source line, kind, port and bit. Where that
    place is not one cell, in the module or in the proof's, the proof is not asked."""
    listed = prove.read_list(prove.HERE / "proofs.txt")

    def one(m, proof):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            read = prove.prepare(folder, proof, None, o.build)
            netlist.run(o.yosys, f"{read} hierarchy -top {proof.module}; proc; write_ilang one.il", folder)
            of = netlist.parse((folder / "one.il").read_text())
            where = netlist.place(modules[netlist.module_of(m.text)], m.text)
            for name, module in of.items():
                cell = netlist.at(module, where) if module.base == m.module else None
                if not cell:
                    continue
                top = next(n for n in of if of[n].base == proof.module)
                options = re.sub(r"-cell \S+", lambda _: f"-cell {cell}", re.sub(r"-module \S+", f"-module {name}", m.text))
                (folder / "all.il").write_text(netlist.written(of.values()))
                (folder / "mutate.ys").write_text(f"read_ilang all.il\nmutate {options}\nrename {top} {proof.module}\n")
                if prove.induct(o.yosys, proof, "script mutate.ys; ", folder, SECONDS) == "counterexample":
                    return f"proof {proof.name}"
        return None

    def judge(m):
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        then = start.ru_utime + start.ru_stime
        for proof in listed:
            if m.module in (proof.module, *proof.more):
                found = one(m, proof)
                if found:
                    return found, used(then)
        return None, used(then)
    return judge


def equal(o, modules):
    """judge(mutant): ("equal", CPU seconds) if yosys proves the module equal with and without it.

    Its instances of other modules become ports. First as one step from any state, registers as ports; then by induction from
    reset."""
    def judge(m):
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        then = start.ru_utime + start.ru_stime
        name = netlist.module_of(m.text)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "all.il").write_text(netlist.written(modules[k] for k in netlist.reached(modules, name)))
            for side, change in (("gold", ""), ("gate", f"mutate {m.text}\n")):
                (folder / f"{side}.ys").write_text(
                    f"read_ilang all.il\n{change}hierarchy -top {name}\nexpose -evert\nmemory_map\nopt_clean\nselect -clear\n"
                    f"rename {name} {side}\ndelete gold gate %u %n\nwrite_ilang {side}.il\n".replace("gold gate %u %n", f"* {side} %d"))
            try:
                for side in ("gold", "gate"):
                    netlist.run(o.yosys, f"script {side}.ys", folder)
            except RuntimeError:
                return None, used(then)
            both = "read_ilang gold.il; read_ilang gate.il; "
            ends = "hierarchy -top miter; flatten; opt_clean"
            step = both + f"expose -evert-dff gold gate; miter -equiv -flatten gold gate miter; {ends}; sat -verify -prove trigger 0 miter"
            later = both + (f"miter -equiv -flatten gold gate miter; {ends}; sat -verify -tempinduct -prove trigger 0 "
                            "-set-init-undef -seq 2 -maxsteps 6 miter")
            for script in (step, later):
                if solved(o.yosys, script, folder):
                    return "equal", used(then)
        return None, used(then)
    return judge


def solved(yosys, script, folder):
    try:
        return subprocess.run([yosys, "-p", script], cwd=folder, capture_output=True, timeout=SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
