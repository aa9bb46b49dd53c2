"""Whether a design is equal with and without a mutant. Most that are equal have no output that depends on the mutant:
yosys finds these in one run. For the others it makes a module with and without them into one circuit, and its ABC
proves that no output ever differs.

Registers start at 0, the inputs are free, reset among them, and all clocks are one. A memory of the RTL is outside: what it is
given (addresses and data only where it is enabled) must be equal, what it gives is an input of both. All mutants of a module are in one circuit:
a register holds the number, and is written into the file before each proof."""

import collections
import re
import subprocess
import threading

import netlist

BUILD_SECONDS, SECONDS = 600, 20  # of yosys for a module, of ABC for a mutant
LARGE = 400_000  # characters of RTLIL
BOX = """module {name} (input clk_i, input re_i, input [{a}-1:0] raddr_i, output [{w}-1:0] rdata_o,
    input we_i, input [{a}-1:0] waddr_i, input [{b}-1:0] be_i, input [{w}-1:0] wdata_i);
  wire [{b}-1:0] be = {{{b}{{we_i}}}} & be_i;
  wire [{w}-1:0] mask;
  genvar i;
  generate for (i = 0; i < {b}; i = i + 1) begin : gen_lane
    assign mask[i*{w}/{b} +: {w}/{b}] = {{({w}/{b}){{be[i]}}}};
  end endgenerate
  box_{name} u_box (.re_i(re_i), .raddr_i({{{a}{{re_i}}}} & raddr_i), .rdata_o(rdata_o), .waddr_i({{{a}{{|be}}}} & waddr_i),
                    .be_i(be), .wdata_i(mask & wdata_i));
endmodule
(* blackbox *) module box_{name} (input re_i, input [{a}-1:0] raddr_i, output [{w}-1:0] rdata_o, input [{a}-1:0] waddr_i,
    input [{b}-1:0] be_i, input [{w}-1:0] wdata_i);
endmodule
"""
NUMBER = """(* blackbox *) module hd_mutant (output [{0}:0] number_o);
endmodule
"""
WRAP = """module wrap (input clk, output trigger);
  reg [{0}:0] number = 0;
  always @(posedge clk) number <= number;
  miter u (.trigger(trigger), .\\in_u_mutant.number_o (number));
endmodule
"""
SIDE = """read_verilog boxes.v
read_ilang in.il
{change}hierarchy -top {name}
{flatten}cd {name}
expose -evert t:hd_* t:box_*
cd
memory_map
opt_clean
rename {name} {side}
delete * {side} %d
write_ilang {side}.il
"""
MITER = """read_ilang gold.il
read_ilang gate.il
miter -equiv -flatten gold gate miter
delete * miter %d
setundef -undriven -zero
setundef -zero
opt_expr
opt_merge
opt_clean
dffunmap
zinit -all
techmap
simplemap
aigmap
opt_merge
opt_clean
read_verilog wrap.v
proc
simplemap
hierarchy -top wrap
flatten
expose -input w:u.in_* w:u.in_u_mutant* %d
setundef -undriven -zero
setundef -zero
aigmap
write_aiger -zinit -map miter.map miter.aig
"""
# Bit by bit, so that a bit without readers goes.
UNREAD = """hierarchy -top {top}
flatten
delete */t:$assert */t:$assume */t:$cover
setundef -zero
opt_expr -fine
opt_clean -purge
simplemap t:$mux t:$pmux t:$dff t:$dffe t:$sdff t:$sdffe t:$and t:$or t:$xor t:$not t:$eqx
opt
opt_clean -purge
write_ilang unread.il
"""
# Find a difference within a few cycles first; otherwise merge equal registers by induction and prove the rest.
READ = "read {0}; zero; strash; scleanup; "
DIFFER, PROVE = READ + "bmc3 -F 4 -T 2", READ + "scorr; pdr -T {1}"


def box(module):
    """hd_ram at these parameters, without its memory."""
    wide = {m[2]: m[1] for m in re.finditer(r"^  wire width (\d+) (?:in|out)put \d+ \\(\S+)$", module.text, flags=re.M)}
    return BOX.format(name=module.name, a=wide.get("raddr_i", 1), w=wide.get("rdata_o", 1), b=wide.get("be_i", 1))


def build(yosys, folder, modules, name, mutants, flat):
    """miter.aig and miter.map in `folder`: trigger rises where module `name` with the mutant in effect is another."""
    top = netlist.WIDTH - 1
    folder.mkdir(parents=True, exist_ok=True)
    inside = sorted(netlist.reached(modules, name))
    rams = [k for k in inside if modules[k].base == "hd_ram" and k != name]
    (folder / "boxes.v").write_text(NUMBER.format(top) + "".join(box(modules[k]) for k in rams))
    (folder / "wrap.v").write_text(WRAP.format(top))
    (folder / "in.il").write_text("autoidx 100000\n" + "".join(
        netlist.with_selector(modules[k]) if k == name else modules[k].text for k in inside if k not in rams))
    numbered = "".join(f"mutate {m.text} -ctrl mutant {netlist.WIDTH} {m.number}\n" for m in mutants)
    for side, change in (("gold", ""), ("gate", numbered)):
        (folder / f"{side}.ys").write_text(SIDE.format(change=change, name=name, side=side, flatten="flatten\n" if flat else ""))
    (folder / "miter.ys").write_text(MITER)
    for script in ("gold", "gate", "miter"):
        subprocess.run([yosys, "-q", "-s", f"{script}.ys"], cwd=folder, capture_output=True, timeout=BUILD_SECONDS, check=True)


def selected(folder, number):
    """The circuit with `number` in its register. AIGER: a header, one line per latch (next value, then its first), the rest."""
    head, rest = (folder / "miter.aig").read_bytes().split(b"\n", 1)
    latches = int(head.split()[3])
    lines = rest.split(b"\n", latches)
    bits = {int(m[2]): int(m[1]) for m in re.finditer(r"^latch (\d+) (\d+) number$", (folder / "miter.map").read_text(), flags=re.M)}
    for bit, latch in bits.items():
        lines[latch] += b" 1" if number >> bit & 1 else b""
    (folder / f"{number}.aig").write_bytes(b"\n".join([head, *lines]))
    return f"{number}.aig"


def unread(yosys, folder, modules, top, mutants):
    """judge(mutant): "equal" and the top module if no output of it depends on the mutant. In the whole design each is switched on by an
    input of its own; after constants are folded and cells without readers are removed, no such input is left. Undefined
    bits are 0."""
    then = netlist.used()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "all.il").write_text(netlist.written(modules.values()))
    (folder / "unread.ys").write_text("read_ilang all.il\n" + "".join(
        f"mutate {m.text} -ctrl switch_{m.number} 1 1\n" for m in mutants) + UNREAD.format(top=top))
    subprocess.run([yosys, "-q", "-s", "unread.ys"], cwd=folder, capture_output=True, timeout=BUILD_SECONDS, check=True)
    left = set(re.findall(r"^ +connect .*switch_(\d+)\b", (folder / "unread.il").read_text(), flags=re.M))
    share = (netlist.used() - then) / len(mutants)
    return lambda m: (None if str(m.number) in left else f"equal {modules[top].base}", share)


class Judge:
    """judge(mutant): ("equal" and the modules around it that are, if not its own; or None, CPU seconds)."""

    def __init__(self, o, modules, mutants):
        self.o, self.modules, self.mutants = o, modules, mutants
        self.locks, self.built, self.users = collections.defaultdict(threading.Lock), {}, collections.defaultdict(set)
        for user, module in modules.items():
            for name in re.findall(r"^  cell \\(\w+) ", module.text, flags=re.M):
                self.users[name].add(user)

    def size(self, name):
        """Characters of a module and all in it."""
        module = self.modules.get(name)
        if not module or module.base == "hd_ram":
            return 0
        return len(module.text) + sum(map(self.size, re.findall(r"^  cell \\(\w+) ", module.text, flags=re.M)))

    def around(self, name, number):
        """The modules in which the mutant in module `name` is equal: itself, or all that have it, or have those; None: it is in none,
        or there is one in which it is not, or which is large."""
        if self.equal(name, number):
            return {name}
        found = set()
        for user in sorted(self.users[name]):
            more = self.around(user, number) if self.size(user) <= LARGE else None
            if not more:
                return None
            found |= more
        return found or None

    def folder(self, name):
        """Where the circuit of a module is, with the mutants of all in it; None if yosys made none in time. In a large
        one the instances are ports."""
        with self.locks[name]:
            if name not in self.built:
                self.built[name] = self.o.work / "equal" / name
                small = self.size(name) <= LARGE
                inside = netlist.reached(self.modules, name) if small else {name}
                mutants = [m for m in self.mutants if netlist.module_of(m.text) in inside]
                try:
                    build(self.o.yosys, self.built[name], self.modules, name, mutants, small)
                except subprocess.SubprocessError:
                    self.built[name] = None
            return self.built[name]

    def abc(self, folder, script):
        try:
            return subprocess.run([f"{self.o.yosys}-abc", "-c", script], cwd=folder, capture_output=True, text=True,
                                  timeout=4 * SECONDS, check=False).stdout
        except subprocess.TimeoutExpired:
            return ""

    def equal(self, name, number):
        folder = self.folder(name)
        if not folder:
            return False
        circuit = selected(folder, number)
        return ("was asserted" not in self.abc(folder, DIFFER.format(circuit))
                and "Property proved" in self.abc(folder, PROVE.format(circuit, SECONDS)))

    def __call__(self, m):
        then, own = netlist.used(), netlist.module_of(m.text)
        found = self.around(own, m.number)
        names = sorted({self.modules[k].base for k in found or set()} - {self.modules[own].base})
        return " ".join(["equal", *names]) if found else None, netlist.used() - then
