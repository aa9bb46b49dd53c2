"""Designs in which mutants run: a Verilated program for each bench of tests/hw, and the simulator's model, each with
every mutant of its modules in it. HD_MUTANT=NUMBER selects one (0, or none set: the design as it is), so a mutant costs
a run, not a build."""

import hashlib
import os
import pathlib
import pickle
import re
import resource
import shutil
import subprocess

import netlist

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HW, RTL = ROOT / "tests" / "hw", ROOT / "hw" / "rtl"
# Cheapest first, with arguments; of long benches only a part. A mutant runs in each bench that contains its module with
# its parameters.
BENCHES = {"pe": [], "reader": [], "segment": [], "acc": [], "recip": [], "weights": [], "weight_spad": [], "regs": [], "fetch": [],
           "dma": [], "requant": [], "spad": ["1", "20000"], "vector": ["1", "300"], "array": [], "frame": ["1", "10"]}
# For mutants that survive all others: benches in full, or with another seed; `frame` with 2^16 commands per unit.
LONG = {"spad": [[]], "vector": [[]], **{name: [["2"], ["3"]] for name in ("fetch", "requant", "weight_spad", "dma")},
        "array": [["random", "2", "320"]], "frame": [[], ["1", "1", "long"]]}
SELECT_SV = """module hd_mutant (output logic [%d:0] number_o);
  import "DPI-C" function int hd_mutant_number();
  initial number_o = hd_mutant_number();
endmodule
""".replace("%d", str(netlist.WIDTH - 1))
SELECT_CPP = """#include <cstdlib>
extern "C" __attribute__((visibility("default"))) int hd_mutant_number()
{
    const char *text = getenv("HD_MUTANT");

    return text ? atoi(text) : 0;
}
"""


class Failed(Exception):
    pass


def call(command, folder, seconds=None, **env):
    """(exit status, CPU seconds, output); `seconds` of CPU at most (status -24: SIGXCPU)."""
    def limit():
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    log = pathlib.Path(folder) / f"log.{os.getpid()}.{env.get('HD_MUTANT', 'build')}"
    with open(log, "wb") as out:
        child = subprocess.Popen([str(c) for c in command], cwd=folder, stdout=out, stderr=subprocess.STDOUT, preexec_fn=limit,
                                 env={**os.environ, **{k: str(v) for k, v in env.items()}})
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text(errors="replace")
    log.unlink()
    return child.returncode, used.ru_utime + used.ru_stime, text


class Design:
    """One program. name: bench or layers; modules: their names; base: CPU seconds without a mutant."""

    def __init__(self, name, folder, modules, command):
        self.name, self.folder, self.modules, self.command, self.base, self.env = name, folder, modules, command, 0.0, {}

    def other(self, arguments):
        """The same program with other arguments."""
        found = Design(self.name, self.folder, self.modules, [self.command[0], *arguments])
        found.env = self.env
        return found

    def kills(self, number):
        """(what was seen or None, CPU seconds) of a mutant."""
        status, used, _ = call(self.command, self.folder, 4 * self.base + 1, HD_MUTANT=number, **self.env)
        if status == 0:
            return None, used
        return f"{self.name}{' (time)' if status in (-24, -9) else ''}", used

    def check(self):
        status, self.base, text = call(self.command, self.folder, **self.env)
        if status:
            raise Failed(f"{self.name}, nothing mutated: exit {status}\n{text[-2000:]}")


def sources(build, folder):
    """RTL and headers of tiny in a separate folder (yosys splits its -I at spaces)."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.sv*"):
        old.unlink()
    for f in (*RTL.rglob("*.sv*"), build / "gen" / "hd_accel.svh", build / "gen" / "tiny" / "hd_config.svh"):
        if not f.exists():
            raise Failed(f"no {f}: build the target 'gen' first")
        shutil.copy(f, folder)
    return folder


def rewritten(path, text):
    """Write only if it differs, so that nothing is rebuilt."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def elaborated(o, rtl, files, top):
    """Return netlist.elaborate's result, cached as long as its inputs are unchanged."""
    h = hashlib.sha256((HERE / "netlist.py").read_bytes() + f"{files} {top}".encode())
    for f in sorted(rtl.glob("*.sv*")):
        h.update(f.read_bytes())
    kept = o.work / f"{top}-{h.hexdigest()[:16]}"
    if not kept.exists():
        kept.write_bytes(pickle.dumps(netlist.elaborate(o.yosys, rtl, files, top)))
    return pickle.loads(kept.read_bytes())


def bench(name, o, rtl, design, mutants, asked):
    """The Design of a bench, built; None: it has none of the modules asked for. design: modules of hd_top."""
    folder = o.work / name
    folder.mkdir(parents=True, exist_ok=True)
    program = next(HW.glob(f"*/{name}_tb.cpp"))
    own = program.with_name(f"{name}_bench.sv")
    extra = [own] if own.exists() else []
    if name == "frame":  # Verilator reads it: the units are the bench's
        there = set(re.findall(r"^module (hd_\w+)", own.read_text(), flags=re.M))
        leave = [k for k, m in design.items() if m.base in there]
        top = next(k for k in design if design[k].base == "hd_top")
        modules = design
        seen = netlist.reached({k: m for k, m in design.items() if k not in leave}, top)
        verilog_top, plain = "frame_bench", {m.name: m.base for m in design.values() if m.base in there | {"hd_top"}}
    else:
        if extra:
            shutil.copy(own, rtl)
        wanted = f"{name}_bench" if extra else f"hd_{name}"
        modules = elaborated(o, rtl, [*sorted(f.name for f in RTL.rglob("*.sv")), *(f.name for f in extra)], wanted)
        for f in extra:
            (rtl / f.name).unlink()
        top = next(k for k in modules if modules[k].base == wanted)
        modules = {k: design.get(k, modules[k]) for k in sorted(netlist.reached({**modules, **design}, top))
                   if k in design or k in modules}
        verilog_top, plain, extra, leave, seen = top, {}, [], [], set(modules) & set(design)
    if not asked & set(seen):
        return None
    mine = [(n, m) for n, m in mutants if netlist.module_of(m) in seen]
    text = netlist.selectable(o.yosys, folder, modules.values(), top, mine, leave).read_text()
    for stub in leave:  # the bench's stubs have no mutants
        text = re.sub(rf"(\b{stub} \S+ \([^;]*?)\n *\.mutant\(mutant\),", r"\1", text)
    rewritten(folder / "bench.v", re.sub(r"\b(" + "|".join([*plain, "$^"]) + r")\b", lambda m: plain.get(m[1], m[1]), text))
    rewritten(folder / "hd_mutant.sv", SELECT_SV)
    rewritten(folder / "hd_mutant.cpp", SELECT_CPP)
    config = (rtl / "hd_config.svh").read_text()
    macros = " ".join(f"-D{k}={v}" for k, v in re.findall(r"^localparam .*(Cfg\w+) = (\d+);", config, flags=re.M))
    command = ["verilator", "--cc", "--exe", "--prefix", "Vbench", "--top-module", verilog_top, "-O3", "--x-assign", "fast",
               "--x-initial", "fast", "--output-split", "2000", "--output-split-cfuncs", "500", "-Wno-fatal", "-Wno-lint",
               "-Wno-style", "-sv", "-DHD_GATE_CLOCKS", f"-I{rtl}", "--Mdir", "obj", "-CFLAGS",
               f"-std=c++17 -I{ROOT} -I{o.build / 'gen'} {macros}", "hd_mutant.sv", "bench.v", *extra,
               program, "hd_mutant.cpp"]
    h = hashlib.sha256(repr(command).encode())
    for f in [folder / "bench.v", folder / "hd_mutant.sv", *extra, rtl / "hd_config.svh", rtl / "hd_accel.svh"]:
        h.update(f.read_bytes())
    of = folder / "obj" / "verilated.sha256"
    if not of.exists() or of.read_text() != h.hexdigest():  # rewritten files of Verilator are compiled again
        made(call(command, folder), f"verilating {name}")
        of.write_text(h.hexdigest())
    common = o.work / "common"  # Verilator's own library is the same for all
    common.mkdir(exist_ok=True)
    for f in common.iterdir():
        if not (folder / "obj" / f.name).exists():
            shutil.copy(f, folder / "obj")
    made(call(["make", "-s", "-C", "obj", "-f", "Vbench.mk", f"-j{o.jobs}", "OPT_FAST=-O1", "OPT_SLOW=-O0", "Vbench"], folder),
         f"building {name}")
    for f in (folder / "obj").glob("verilated*.o"):
        shutil.copy(f, common)
    found = Design(name, folder, seen, [folder / "obj" / "Vbench", *BENCHES[name]])
    found.env = {"BENCH_FIRST": 1}
    return found


def layers(o, rtl, design, mutants):
    """random_layers with a model of the mutated hd_top in the place of hw/rtl: a tree of links."""
    folder = o.work / "layers"
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    (home / "hw" / "rtl").mkdir(parents=True)
    for f in ROOT.iterdir():
        if f.name not in ("hw", "sim", "build", ".git"):
            (home / f.name).symlink_to(f)
    for f in (ROOT / "hw").iterdir():
        if f.name != "rtl":
            (home / "hw" / f.name).symlink_to(f)
    shutil.copytree(ROOT / "sim", home / "sim")
    triggers = home / "sim" / "triggers.cpp"  # eval(): its knowledge of clocks comes from the RTL
    triggers.write_text(triggers.read_text().replace("== 5006000", "== 0"))
    for f in rtl.glob("*.svh"):
        if f.name.startswith("hd_") and (RTL / f.name).exists():
            shutil.copy(f, home / "hw" / "rtl")
    top = next(k for k in design if design[k].base == "hd_top")
    text = netlist.selectable(o.yosys, folder, design.values(), top, mutants).read_text()
    (home / "hw" / "rtl" / "hd_top.v").write_text(re.sub(rf"\b{top}\b", "hd_top", text))
    (home / "hw" / "rtl" / "hd_mutant.sv").write_text(SELECT_SV)
    (home / "sim" / "hd_mutant.cpp").write_text(SELECT_CPP)
    command = [o.build / "random_layers", "--hw", "tiny", "--engine", "func,rtl", "--quiet", "--seed", "1", "--count"]
    found = Layers("layers", folder, set(design), command)
    found.env = {"HEDDLE_HOME": home, "XDG_CACHE_HOME": folder / "cache"}
    return found


class Layers(Design):
    """Run 40 layers from seed 1 in runs of growing length, so that a mutant that the first layer reveals costs one. One that takes more
    cycles than without it is killed, as e2e/numbers/slow_bars has it."""

    parts = ((1, 1), (2, 3), (5, 8), (13, 28))  # first seed, layers

    def run(self, part, seconds=None, **env):
        """(exit status, CPU seconds, output, cycles)."""
        first, count = part
        status, used, text = call([*self.command, str(count), "--seed", str(first)], self.folder, seconds, **env, **self.env)
        cycles = re.search(r", (\d+) cycles, ", text)
        return status, used, text, int(cycles[1]) if cycles else 0

    def kills(self, number):
        total = 0.0
        for part in self.parts:
            status, used, _, cycles = self.run(part, 4 * self.base * part[1] / 40 + 2, HD_MUTANT=number)
            total += used
            if status or cycles > self.cycles[part]:
                return f"layers{' (time)' if status in (-24, -9) else '' if status else ' (cycles)'}", total
        return None, total

    def check(self):
        made(self.run((1, 1))[:3], "layers")  # builds the model
        self.cycles, self.base = {}, 0.0
        for part in self.parts:
            status, used, text, self.cycles[part] = self.run(part)
            if status or not self.cycles[part]:
                raise Failed(f"layers, nothing mutated: exit {status}\n{text[-2000:]}")
            self.base += used


def made(done, what):
    if done[0]:
        raise Failed(f"{what}: exit {done[0]}\n{done[2][-2000:]}")
