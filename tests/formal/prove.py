#!/usr/bin/env python3
"""Proofs of the RTL by yosys' temporal induction, and planted bugs that each of them must reject.

    tests/formal/prove.py [--list] [--from FILE] [--build DIR] [--seconds S] [NAME...]

proofs.txt (or FILE) lists them. A file of this folder holds the properties of the proof or module of its name, or of a
module at rest, put before its `endmodule` (yosys 0.23 has no bind), so they see registers; a module named by `with` is
read too, with its own. Reset is held in the first cycle, everything else is free. Prints one line per proof: sizes, length of
the induction, seconds, and the mutants, each of which must end in a counterexample from reset. DIR (default build): where
the headers of the target `gen` are. S (default 60): limit of a run of yosys, of the processor's time. Runs go side by
side. Exit 1: something is not proven, or a mutant is not rejected; 2: the list is wrong; 77: no yosys (YOSYS names one)."""

import argparse
import concurrent.futures
import fnmatch
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RTL = ROOT / "hw" / "rtl"
sys.path.insert(0, str(HERE.parent / "mutants"))

import planted  # noqa: E402


class Proof:
    def __init__(self, name):
        self.name, self.module, self.more, self.sizes, self.steps, self.holds, self.mutants = name, None, [], [], 0, "", []
        self.cases, self.rests, self.moves, self.free, self.alone, self.at = [], None, [], [], [], {}
        self.defines = []


def fail(text):
    planted.fail("prove", text)


def source_of(name):
    """The path of a file of the RTL."""
    return next(RTL.rglob(name))


def read_list(path):
    """Statements of one line, as the head of proofs.txt explains them."""
    proofs = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        if not word or word == "#":
            continue
        if word != "proof" and not proofs:
            fail(f"{path.name}:{number}: expected proof, found '{word}'")
        if word == "proof":
            proofs.append(Proof(rest))
        elif word == "module":
            proofs[-1].module = rest
        elif word == "with":
            proofs[-1].more = rest.split()
        elif word == "defines":
            proofs[-1].defines = [f"-D{name}" for name in rest.split()]
        elif word == "sizes":
            proofs[-1].sizes = [size.split("=") for size in rest.split()]
        elif word == "cases":
            proofs[-1].cases = rest.split()
        elif word == "free":
            proofs[-1].free = rest.split()
        elif word == "alone":
            proofs[-1].alone = rest.split()
        elif word == "case" and proofs[-1].mutants:
            proofs[-1].at[proofs[-1].mutants[-1].name] = rest.split()
        elif word == "rests":
            proofs[-1].rests = rest
        elif word == "moves":
            proofs[-1].moves = rest.split()
        elif word == "steps":
            proofs[-1].steps = int(rest)
        elif word == "holds":
            proofs[-1].holds = rest
        elif word == "mutant":
            proofs[-1].mutants.append(planted.Planted(rest, f"{proofs[-1].module}.sv"))
        elif word == "in" and proofs[-1].mutants:
            proofs[-1].mutants[-1].file = f"{rest}.sv"
        elif not proofs[-1].mutants or not proofs[-1].mutants[-1].edit(word, rest):
            fail(f"{path.name}:{number}: what is '{word}'?")
    for p in proofs:
        if not p.module or not p.steps or not p.holds or not p.mutants:
            fail(f"{p.name}: expected module, steps, holds and a mutant")
        for m in p.mutants:
            if not m.complete():
                fail(f"{p.name}, {m.name}: expected '-' and '+' lines")
            try:
                m.changed(source_of(m.file).read_text())
            except ValueError as e:
                fail(e)
    return proofs


def with_properties(module, text, proof):
    """text with the properties of the proof or of the module; or with what says that it may rest, and those of the module at
    rest."""
    proven = module == proof.module
    names = [f"rest_{module}"] * proven if proof.rests else [proof.name] * proven + [f"holds_{module}"]
    known = next((f.read_text() for f in (HERE / f"{name}.sv" for name in names) if f.exists()), "")
    if proof.rests and proven:
        known = f"(* keep *) logic f_moves;\n{known}assign f_moves = {proof.rests};\n"
    head, end, tail = text.rpartition("\nendmodule")
    return f"{head}\n{known}{end}{tail}"


def prepare(folder, proof, mutant, build):
    """The sources of a proof in `folder`, and what yosys reads them by."""
    for header in (*RTL.glob("*.svh"), build / "gen" / "hd_accel.svh", build / "gen" / "tiny" / "hd_config.svh"):
        if not header.exists():
            fail(f"no {header}: build the target 'gen' first")
        text = header.read_text()
        for name, value in proof.sizes if header.name == "hd_config.svh" else []:
            text = re.sub(rf"(localparam int {name} = )\w+", rf"\g<1>{value}", text)
        (folder / header.name).write_text(text)
    modules = [proof.module, *proof.more]
    for module in modules:
        text = source_of(f"{module}.sv").read_text()
        if mutant and mutant.file == f"{module}.sv":
            text = mutant.changed(text)
        for name, value in proof.sizes:
            inner, _, name = name.rpartition(".")
            if inner == module:
                text = re.sub(rf"(parameter int +{name} += )\w+", rf"\g<1>{value}", text)
        (folder / f"{module}.sv").write_text(with_properties(module, text, proof))
    sizes = " ".join(f"-set {name} {value}" for name, value in proof.sizes if not re.search(r"\.|^Cfg", name))
    return (f"read_verilog -sv -formal -I. {' '.join([*proof.defines, *(f'{m}.sv' for m in modules)])}; "
            + (f"chparam {sizes} {proof.module}; " if sizes else ""))


def yosys_run(yosys, script, folder, seconds):
    """Limit of the processor's time, so that a busy machine does no harm; a hundred times as long is too long for
    any."""
    done = subprocess.run(["prlimit", f"--cpu={seconds}", yosys, "-p", script], cwd=folder, capture_output=True, text=True,
                          timeout=100 * seconds, check=False)
    if done.returncode == -signal.SIGXCPU:
        raise subprocess.TimeoutExpired(yosys, seconds)
    return done


class Netlist:
    """The design that `script` reads, flat and in registers, to be given more cells."""
    def __init__(self, yosys, proof, script, folder, seconds):
        freed = "".join(f"cutpoint {proof.module}/{name}; " for name in proof.free)
        if freed:
            freed = f"hierarchy -top {proof.module}; rename -top {proof.module}; {freed}"
        done = yosys_run(yosys, f"{script}{freed}prep -flatten -top {proof.module}; "
                         f"memory_map; opt; dffunmap -srst-only; opt_clean; rename -top {proof.module}; "
                         f"write_json all.json", folder, seconds)
        if done.returncode:
            raise ValueError(done.stderr.strip() or done.stdout.strip())
        self.folder, self.design = folder, json.loads((folder / "all.json").read_text())
        self.top = self.design["modules"][proof.module]
        self.cells, self.names = self.top["cells"], self.top["netnames"]
        pins = [net["bits"] for net in self.names.values()]
        pins += [bits for cell in self.cells.values() for bits in cell["connections"].values()]
        self.free = itertools.count(1 + max(bit for bits in pins for bit in bits if isinstance(bit, int)))

    def bits(self, name):
        return self.names[name]["bits"]

    def cell(self, kind, **pins):
        """The output of a new cell."""
        y = next(self.free)
        widths = {f"{pin}_WIDTH": f"{len(bits):032b}" for pin, bits in pins.items()} | {"Y_WIDTH": f"{1:032b}"}
        self.cells[f"new${y}"] = {
            "type": kind, "connections": pins | {"Y": [y]}, "attributes": {},
            "port_directions": {pin: "input" for pin in pins} | {"Y": "output"},
            "parameters": widths | {f"{pin}_SIGNED": "0" for pin in pins}}
        return y

    def name(self, name, bit):
        self.names[name] = {"hide_name": 0, "bits": [bit], "attributes": {"keep": "1"}}

    def read(self):
        (self.folder / "more.json").write_text(json.dumps(self.design))
        return "read_json more.json; delete -output o:*; opt_clean; "


def held(netlist, proof):
    """Adds an assertion for each register on clk_i that `moves` does not name: while f_moves is 0 its enable is off, or it
    takes what it holds. Memories are registers by now, their words have enables."""
    excused = set()
    for pattern in proof.moves:
        names = fnmatch.filter(netlist.names, pattern)
        if not names:
            raise ValueError(f"moves: no register {pattern}")
        excused |= {bit for name in names for bit in netlist.bits(name)}
    for register in [c for c in netlist.cells.values() if c["type"] in ("$dff", "$dffe")]:
        pins = register["connections"]
        if pins["CLK"] != netlist.bits("clk_i") or set(pins["Q"]) <= excused:
            continue
        off = "0" if int(register["parameters"].get("EN_POLARITY", "1"), 2) else "1"
        still = netlist.cell("$eq", A=pins["EN"], B=[off]) if "EN" in pins else netlist.cell("$eq", A=pins["D"], B=pins["Q"])
        holds = netlist.cell("$or", A=netlist.bits("f_moves"), B=[still])
        netlist.cells[f"a_held${holds}"] = {
            "type": "$assert", "connections": {"A": [holds], "EN": netlist.bits("rst_ni")}, "attributes": {},
            "parameters": {}, "port_directions": {"A": "input", "EN": "input"}}


def parts(netlist, proof):
    """The script of a proof by parts: after a cycle in which all properties hold, those of `alone` hold one by one, then
    the others."""
    found = {name: [] for name in [*proof.alone, "the others"]}
    for name, c in list(netlist.cells.items()):
        if c["type"] == "$assert":
            off = netlist.cell("$logic_not", A=c["connections"]["EN"])
            found[name if name in proof.alone else "the others"].append(
                netlist.cell("$or", A=c["connections"]["A"], B=[off]))
            del netlist.cells[name]
    for name, bits in found.items():
        if not bits:
            raise ValueError(f"alone: no property {name}")
    netlist.name("f_all_hold", netlist.cell("$reduce_and", A=[bit for bits in found.values() for bit in bits]))
    script = "sat -set-assumes -set-at 1 rst_ni 0 -prove f_all_hold 1 -seq 1; "
    for number, bits in enumerate(found.values()):
        netlist.name(f"f_part{number}", netlist.cell("$reduce_and", A=bits))
        script += f"sat -set-assumes -seq 2 -set-at 1 f_all_hold 1 -prove f_part{number} 1 -prove-skip 1; "
    return netlist.read() + script


def induct(yosys, proof, script, folder, seconds, mutant=None):
    """Verdict of yosys on the design that `script` reads, as text: 'proven, length N', 'counterexample', or another
    result.
    Inputs named by `cases` are fixed, in all ways; that holds for inputs that change if the step needs one cycle alone.
    For a mutant (a planted one, or True) it looks for a counterexample, not for a proof."""
    sat = f"sat -prove-asserts -set-assumes -set-at 1 rst_ni 0 -seq {proof.steps + 1 if mutant else 1} "
    if not mutant:
        sat += f"-tempinduct -maxsteps {proof.steps} "
    cases = list(itertools.product("01", repeat=len(proof.cases)))
    if getattr(mutant, "name", None) in proof.at:
        cases = [proof.at[mutant.name]]
    try:
        netlist = Netlist(yosys, proof, script, folder, seconds)
        if proof.rests:
            held(netlist, proof)
        if proof.alone and not mutant:
            script, cases = parts(netlist, proof), []
        else:
            script = f"{netlist.read()}opt; "
        for values in cases:
            fixed = "".join(f"delete -input w:{name}; connect -set {name} 1'b{value}; "
                            for name, value in zip(proof.cases, values))
            script += f"design -save all; {fixed}opt; select -assert-min 1 t:$assert; {sat}; design -load all; "
        done = yosys_run(yosys, script, folder, seconds)
    except ValueError as e:
        return f"failed: {str(e).splitlines()[-1]}"
    except subprocess.TimeoutExpired:
        return f"not finished in {seconds} s"
    if "model found for base case: FAIL!" in done.stdout or (mutant and "model found: FAIL!" in done.stdout):
        return "counterexample"
    if "Reached maximum number of time steps" in done.stdout or (mutant and done.returncode == 0):
        return f"open: no proof and no counterexample within {proof.steps} steps"
    if proof.alone and done.returncode == 0:
        good, of = done.stdout.count("no model found: SUCCESS!"), len(proof.alone) + 1
        return f"proven, in {of} parts" if good == of + 1 else f"open: {good - 1} of {of} parts"
    if done.returncode == 0 and done.stdout.count("Induction step proven: SUCCESS!") == len(cases):
        length = max(map(int, re.findall(r"Base case for induction length ([0-9]+) proven", done.stdout)))
        if proof.cases and length > 1:
            return f"open: length {length}, and a case is one of a single cycle"
        return f"proven, length {length}"
    return f"failed: {(done.stderr.strip() or done.stdout.strip()).splitlines()[-1]}"


def run(yosys, proof, mutant, build, seconds):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        return induct(yosys, proof, prepare(folder, proof, mutant, build), folder, seconds, mutant)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="names, modules, sizes and mutants; nothing is run")
    parser.add_argument("--from", dest="source", type=pathlib.Path, default=HERE / "proofs.txt", metavar="FILE")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(os.environ.get("HEDDLE_BUILD", ROOT / "build")))
    parser.add_argument("--seconds", type=int, default=60)
    o = parser.parse_args()
    proofs = read_list(o.source)
    unknown = set(o.names) - {p.name for p in proofs}
    if unknown:
        fail(f"no proof is called {', '.join(sorted(unknown))}")
    proofs = [p for p in proofs if not o.names or p.name in o.names]
    if o.list:
        for p in proofs:
            print(f"{p.name:<12} {p.module:<16} {' '.join('='.join(s) for s in p.sizes):<36} "
                  f"{' '.join(m.name for m in p.mutants)}")
        return 0
    yosys = shutil.which(os.environ.get("YOSYS", "yosys"))
    if not yosys:
        print("no yosys: SKIPPED")
        return 77
    def timed(task):
        start = time.monotonic()
        verdict = run(yosys, *task, o.build, o.seconds)
        return verdict, time.monotonic() - start

    start, bad = time.monotonic(), 0
    tasks = [(p, m) for p in proofs for m in [None, *p.mutants]]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for (p, m), (verdict, seconds) in zip(tasks, pool.map(timed, tasks)):
            if m:
                rejected = verdict == "counterexample"
                bad += not rejected
                print(f"    mutant {m.name:<54} {seconds:5.1f} s  {'rejected' if rejected else 'NOT REJECTED: ' + verdict}",
                      flush=True)
            else:
                bad += not verdict.startswith("proven")
                print(f"{p.name:<12} {p.module:<16} {' '.join('='.join(s) for s in p.sizes):<36} {seconds:5.1f} s  {verdict}",
                      flush=True)
    print(f"{len(proofs)} proofs, {len(tasks) - len(proofs)} mutants, {bad} wrong; {time.monotonic() - start:.0f} s, "
          f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime:.0f} s of the processor")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
