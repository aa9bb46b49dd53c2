"""emulated.py - executes a network's C on an emulated bare processor and counts, part by part of hd_model.run, what it
executed. qemu's log names each block of instructions it enters (-d exec,nochain) and lists each block once (in_asm):
counting blocks is counting instructions, exactly and the same every time."""
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = "-O3"  # what the package's CMakeLists.txt gives kernels; the emitted code has -O2
FLAGS = ["-std=c11", "-ffreestanding", "-ffunction-sections", "-fdata-sections"]
STACK_BYTES = 65536
ASM = re.compile(r"^0x([0-9a-f]+):\s+((?:[0-9a-f]+ )*[0-9a-f]+)\s+(\S+)([^#@;]*)")


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Machine:
    """A processor. tools: prefix of gcc's; flags: of its C; bare: the start-up code in the package; qemu: the command
    before -kernel; count(lines): what the instructions of a block count, as a dictionary, where each of lines is
    (address, bytes, mnemonic, operands). add_up adds "taken": how often a block was left for another than the next."""

    def __init__(self, tools, flags, bare, qemu, count):
        self.tools, self.flags, self.bare, self.qemu, self.count = tools, flags, bare, qemu, count

    def compile_kernels(self, folder, package, flags=KERNELS):
        """The kernels of a package as one archive, which serves every other package too."""
        kernels = os.path.join(package, "runtime", "kernels")
        made = []
        for name in sorted(os.listdir(kernels)):
            if name.endswith(".c"):
                made.append(os.path.join(folder, name[:-2] + ".o"))
                run([self.tools + "gcc", *self.flags, *FLAGS, flags, "-I", os.path.join(package, "runtime"), "-c",
                     os.path.join(kernels, name), "-o", made[-1]])
        library = os.path.join(folder, "libkernels.a")
        run([self.tools + "ar", "crs", library, *made])
        return library

    def link(self, folder, package, library):
        program, bare = os.path.join(folder, "net"), os.path.join(package, "bare")
        sources = [os.path.join(package, n) for n in ("model.c", "commands.c", "constants.c", "constants.S")
                   if os.path.exists(os.path.join(package, n))]
        run([self.tools + "gcc", *self.flags, *FLAGS, "-O2", "-fno-tree-loop-distribute-patterns", "-I", package, "-I",
             os.path.join(package, "runtime"), "-Wa,-I" + package, "-nostdlib", "-Wl,--gc-sections",
             f"-Wl,--defsym=STACK_BYTES={STACK_BYTES}", "-T", os.path.join(bare, self.bare + ".ld"),
             os.path.join(bare, self.bare + ".c"), os.path.join(bare, "memory.c"), os.path.join(HERE, "bare_layers.c"), *sources,
             library, "-lgcc", "-o", program])
        return program

    def emulate(self, program):
        """Counts of each stretch between two calls of mark()."""
        symbols = run([self.tools + "nm", program])
        mark = int(re.search(r"^(\w+) \w mark$", symbols, re.M).group(1), 16)
        command = [*self.qemu, "-display", "none", "-serial", "none", "-monitor", "none", "-semihosting-config",
                   "enable=on,target=native", "-kernel", program, "-d", "in_asm,exec,nochain"]
        qemu = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        stretches = self.cut(qemu.stderr, mark)
        if qemu.wait() != 0:
            raise SystemExit(f"{program}: qemu exit {qemu.returncode}")
        return stretches

    def cut(self, log, mark):
        blocks, lines, visits, stretches = {}, [], None, []
        last = None

        def block():
            if lines:
                blocks[lines[0][0]] = (self.count(lines), lines[-1][0] + lines[-1][1])
                lines.clear()

        for line in log:
            if line.startswith("Trace"):
                block()
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
                    lines.append((int(found.group(1), 16), len(found.group(2).replace(" ", "")) // 2, found.group(3),
                                  found.group(4)))
                elif line.startswith("IN:"):
                    block()
        return [add_up(v, blocks) for v in stretches]

    def measure(self, package, library, folder=None):
        with tempfile.TemporaryDirectory() as own:
            return self.emulate(self.link(folder or own, package, library))


def add_up(visits, blocks):
    total = {"taken": 0}
    for (last, at), n in visits.items():
        for kind, count in blocks[at][0].items():
            total[kind] = total.get(kind, 0) + n * count
        if last in blocks and blocks[last][1] != at:
            total["taken"] += n
    return total
