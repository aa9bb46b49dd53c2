"""The verdicts of the proofs of tests/formal on a mutant."""

import pathlib
import re
import sys
import tempfile

import netlist

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "formal"))

import prove  # noqa: E402

SECONDS = 120  # of a run of yosys


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
                if prove.induct(o.yosys, proof, "script mutate.ys; ", folder, SECONDS, True) == "counterexample":
                    return f"proof {proof.name}"
        return None

    def judge(m):
        then = netlist.used()
        for proof in listed:
            if m.module in (proof.module, *proof.more):
                found = one(m, proof)
                if found:
                    return found, netlist.used() - then
        return None, netlist.used() - then
    return judge
