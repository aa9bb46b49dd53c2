"""rv32.py - executes a network's C on an emulated RV32IM core and counts, layer by layer, what it
executed. qemu's log names each block of instructions it enters (-d exec,nochain) and lists each block
once (in_asm): counting blocks is counting instructions, exactly and the same every time."""
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GCC = "riscv64-unknown-elf-gcc"
# Extra cycles of the core: of an instruction that wants the result of the load or multiplication just before
# it (one less for each instruction in between), of each division, of each taken branch or jump.
MODEL = {"load": 2, "multiply": 2, "divide": 33, "taken": 5}
MACHINE = ["-march=rv32im", "-mabi=ilp32", "-std=c11", "-ffreestanding", "-ffunction-sections",
           "-fdata-sections"]
KERNELS = "-O3"  # what the package's CMakeLists.txt gives kernels; the emitted code has -O2
CLASSES = ("instructions", "waits", "divides", "taken")
LOADS = {"lb", "lbu", "lh", "lhu", "lw"}
STORES = {"sb", "sh", "sw"}
MULTIPLIES = {"mul", "mulh", "mulhu", "mulhsu"}
DIVIDES = {"div", "divu", "rem", "remu"}
JUMPS = {"jal", "jalr", "j", "jr", "ret", "call", "tail"}
CONDITIONAL = {"beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez", "blez", "bgez", "bltz",
               "bgtz", "bgt", "ble", "bgtu", "bleu"}
SCRIPT = """MEMORY { ram (rwx) : ORIGIN = 0x80000000, LENGTH = 96M }
ENTRY(start)
SECTIONS {
  .text : { *(.text.start) *(.text .text.* .rodata .rodata.* .srodata .srodata.*) } > ram
  .data : { *(.data .data.* .sdata .sdata.*) . = ALIGN(4); } > ram
  .bss (NOLOAD) : { bss_start = .; *(.sbss .sbss.* .bss .bss.* COMMON) . = ALIGN(4); bss_end = .; } > ram
  .stack (NOLOAD) : { . = ALIGN(16); . += 64K; stack_top = .; } > ram
}
"""


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def compile_kernels(folder, package, flags=KERNELS):
    """The kernels of a package as one archive, which serves every other package too."""
    kernels = os.path.join(package, "runtime", "kernels")
    made = []
    for name in sorted(os.listdir(kernels)):
        if name.endswith(".c"):
            made.append(os.path.join(folder, name[:-2] + ".o"))
            run([GCC, *MACHINE, flags, "-I", os.path.join(package, "runtime"), "-c", os.path.join(kernels, name), "-o", made[-1]])
    library = os.path.join(folder, "libkernels.a")
    run(["riscv64-unknown-elf-ar", "crs", library, *made])
    return library


def link(folder, package, library):
    with open(os.path.join(folder, "rv32.ld"), "w") as f:
        f.write(SCRIPT)
    program = os.path.join(folder, "net")
    sources = [os.path.join(package, n) for n in ("model.c", "constants.c", "constants.S")
               if os.path.exists(os.path.join(package, n))]
    run([GCC, *MACHINE, "-O2", "-fno-tree-loop-distribute-patterns", "-I", package, "-I",
         os.path.join(package, "runtime"), "-Wa,-I" + package, "-nostdlib", "-Wl,--gc-sections",
         "-T", os.path.join(folder, "rv32.ld"), os.path.join(HERE, "rv32.c"), *sources, library,
         "-lgcc", "-o", program])
    return program


REGISTERS = re.compile(r"\b(zero|ra|sp|gp|tp|[ats]\d+)\b")


def waits(lines, model):
    """Cycles that instructions of a block wait for the result of a load or a multiplication in it."""
    ready, now, waited = {}, 0, 0
    for _, _, word, operands in lines:
        registers = REGISTERS.findall(operands)
        writes = registers[:1] if word not in STORES and word not in CONDITIONAL and word not in JUMPS else []
        needed = max([ready.get(r, 0) for r in registers[len(writes):]] + [now])
        waited += needed - now
        now = needed + 1
        for r in writes:
            ready[r] = now + (model["load"] if word in LOADS else model["multiply"] if word in MULTIPLIES else 0)
    return waited


class Block:
    """A run of instructions that qemu translated together: counts, and where the next one would be."""

    def __init__(self, lines, model):
        last = lines[-1]
        self.counts = {"instructions": len(lines), "waits": waits(lines, model),
                       "divides": sum(l[2] in DIVIDES for l in lines), "taken": sum(l[2] in JUMPS for l in lines)}
        self.end = last[0] + last[1]
        self.conditional = last[2] in CONDITIONAL


def cycles(counts, model):
    return (counts["instructions"] + counts["waits"] + counts["divides"] * model["divide"] +
            counts["taken"] * model["taken"])


def emulate(program):
    """Counts of each stretch between two calls of mark()."""
    symbols = run(["riscv64-unknown-elf-nm", program])
    mark = int(re.search(r"^(\w+) \w mark$", symbols, re.M).group(1), 16)
    command = ["qemu-system-riscv32", "-M", "virt", "-bios", "none", "-display", "none", "-m", "128",
               "-serial", "none", "-monitor", "none", "-kernel", program, "-d", "in_asm,exec,nochain"]
    qemu = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    stretches = cut(qemu.stderr, mark)
    if qemu.wait() != 0:
        raise SystemExit(f"{program}: qemu exit {qemu.returncode}")
    return stretches


ASM = re.compile(r"^0x([0-9a-f]+):\s+([0-9a-f]+)\s+(\S+)([^#]*)")


def cut(log, mark):
    blocks, lines, visits, stretches = {}, [], None, []
    last = None
    for line in log:
        if line.startswith("Trace"):
            if lines:
                blocks[lines[0][0]] = Block(lines, MODEL)
                lines = []
            start = line.index("/") + 1
            at = int(line[start:line.index("/", start)], 16)
            if at == mark:
                if visits is not None:
                    stretches.append(visits)
                visits = {}
                last = None
            if visits is not None and at != mark:
                key = (last, at)
                visits[key] = visits.get(key, 0) + 1
            last = at
        else:
            found = ASM.match(line)
            if found:
                lines.append((int(found.group(1), 16), len(found.group(2)) // 2, found.group(3), found.group(4)))
            elif line.startswith("IN:") and lines:
                blocks[lines[0][0]] = Block(lines, MODEL)
                lines = []
    return [add_up(v, blocks) for v in stretches]


def add_up(visits, blocks):
    total = dict.fromkeys(CLASSES, 0)
    for (last, at), n in visits.items():
        for kind, count in blocks[at].counts.items():
            total[kind] += n * count
        if last in blocks and blocks[last].conditional and blocks[last].end != at:
            total["taken"] += n
    return total


def measure(package, library, folder=None):
    with tempfile.TemporaryDirectory() as own:
        return emulate(link(folder or own, package, library))
