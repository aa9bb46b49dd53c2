"""cortex_m4.py - cycles of a Cortex-M4 with single-precision FPU, without wait states, by the table of its Technical
Reference Manual (Arm 100166, instruction set summary and FPU). Where the table has a range: division 7 of 2 to 12, the
refill of the pipeline at a taken branch 2 of 1 to 3. Not compared with a core."""
import emulated

DIVIDE = 7
REFILL = 2
FIXED = {"udiv": DIVIDE, "sdiv": DIVIDE, "vdiv": 14, "vsqrt": 14, "vmla": 3, "vmls": 3, "vnmla": 3, "vnmls": 3,
         "vfma": 3, "vfms": 3, "vfnma": 3, "vfnms": 3, "tbb": 2, "tbh": 2}
SINGLE = ("ldr", "str")  # with b, h, sb, sh
MANY = ("ldm", "stm", "push", "pop", "vpush", "vpop", "vldm", "vstm")
CONDITIONS = {"eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"}


def registers(operands):
    """Return the number of registers in a list in braces."""
    return operands[operands.index("{"):].count(",") + 1


def cycles_of(word, operands, after_access):
    """Cycles of one instruction; after_access: the one before it is a single load or store."""
    name = word.split(".")[0]
    if name.startswith(MANY):
        return 1 + registers(operands)
    if name.startswith(("ldrd", "strd")):
        return 3
    if name.startswith(("vldr", "vstr")):
        return 2
    if name.startswith(SINGLE):
        inside = operands.partition("[")[2].partition("]")[0].split(",")
        indexed = len(inside) > 1 and "#" not in inside[1]
        return 1 if after_access or (name.startswith("str") and not indexed) else 2
    if name[-2:] in CONDITIONS and name[:-2] in FIXED:
        name = name[:-2]
    return FIXED.get(name, 1)


def count(lines):
    cycles, after = 0, False
    for _, _, word, operands in lines:
        cycles += cycles_of(word, operands, after)
        after = word.startswith(SINGLE) and not word.startswith(("ldrd", "strd"))
    return {"instructions": len(lines), "cycles": cycles}


def cycles(counts):
    return counts["cycles"] + counts["taken"] * REFILL


MACHINE = emulated.Machine("arm-none-eabi-",
                           ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"], "cortex-m",
                           ["qemu-system-arm", "-M", "mps2-an386"], count)
