"""rv32.py - the RV32IM core that host_cycles.def is measured on."""
import re

import emulated

# Extra cycles of the core: of an instruction that wants the result of the load or multiplication just before
# it (one less for each instruction in between), of each division, of each taken branch or jump.
MODEL = {"load": 2, "multiply": 2, "divide": 33, "taken": 5}
LOADS = {"lb", "lbu", "lh", "lhu", "lw"}
STORES = {"sb", "sh", "sw"}
MULTIPLIES = {"mul", "mulh", "mulhu", "mulhsu"}
DIVIDES = {"div", "divu", "rem", "remu"}
JUMPS = {"jal", "jalr", "j", "jr", "ret", "call", "tail"}
CONDITIONAL = {"beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez", "blez", "bgez", "bltz",
               "bgtz", "bgt", "ble", "bgtu", "bleu"}
REGISTERS = re.compile(r"\b(zero|ra|sp|gp|tp|[ats]\d+)\b")


def waits(lines):
    """Return the cycles for which instructions of a block wait for the result of a load or a multiplication in it."""
    ready, now, waited = {}, 0, 0
    for _, _, word, operands in lines:
        registers = REGISTERS.findall(operands)
        writes = registers[:1] if word not in STORES and word not in CONDITIONAL and word not in JUMPS else []
        needed = max([ready.get(r, 0) for r in registers[len(writes):]] + [now])
        waited += needed - now
        now = needed + 1
        for r in writes:
            ready[r] = now + (MODEL["load"] if word in LOADS else MODEL["multiply"] if word in MULTIPLIES else 0)
    return waited


def count(lines):
    return {"instructions": len(lines), "waits": waits(lines), "divides": sum(l[2] in DIVIDES for l in lines)}


def cycles(counts):
    return (counts["instructions"] + counts["waits"] + counts["divides"] * MODEL["divide"] +
            counts["taken"] * MODEL["taken"])


MACHINE = emulated.Machine("riscv64-unknown-elf-", ["-march=rv32im", "-mabi=ilp32"], "riscv",
                           ["qemu-system-riscv32", "-M", "virt", "-bios", "none", "-m", "128"], count)
