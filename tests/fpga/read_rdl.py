"""read_rdl.py RDL ACCEL HEADER REGISTERS [WORDS] - registers.rdl as PeakRDL's compiler reads it, against accel.json and the C
header: name, address, count, access, reset and fields of every register, the names of an enum's values. With a
configuration's hash that REGISTERS.md lists. WORDS: what tiny's registers were read as after reset, bytes in hexadecimal:
against the resets. Prints differences and what was compared; exit status 1: there are any."""
import json
import re
import sys

from systemrdl import RDLCompiler
from systemrdl.node import RegNode
from systemrdl.rdltypes import AccessType, OnWriteType

ACCESS = {"ro": (AccessType.r, None), "wo": (AccessType.w, None), "rw": (AccessType.rw, None),
          "w1c": (AccessType.rw, OnWriteType.woclr)}


def read(path):
    """name: (address, count, {field: (lsb, bits, access, reset, never changes, enum)}) by the compiler"""
    compiler = RDLCompiler()
    compiler.compile_file(path)
    with open(sys.argv[4], encoding="utf-8") as page:
        config_hash = int(re.search(r"^\| `tiny` .* (0x\w+) \|$", page.read(), re.M)[1], 16)
    top = compiler.elaborate(parameters={"CONFIG_HASH": config_hash}).top
    found = {}
    for reg in top.children(unroll=False):
        assert isinstance(reg, RegNode) and reg.get_property("regwidth") == 32
        fields = {}
        for f in reg.fields():
            encode = f.get_property("encode")
            fields[f.inst_name] = (f.lsb, f.width, f.get_property("sw"), f.get_property("onwrite"),
                                   f.get_property("reset"), not f.is_hw_writable and not f.is_sw_writable,
                                   encode and {e.name: e.value for e in encode})
        first = reg.raw_absolute_address if not reg.is_array else reg.raw_address_offset
        assert not reg.is_array or reg.array_stride == 4
        found[reg.inst_name] = first, reg.array_dimensions[0] if reg.is_array else 0, fields
    return found, config_hash


def truth(config_hash):
    """The same from accel.json, by the rules of hw/gen/README.md"""
    with open(sys.argv[2], encoding="utf-8") as file:
        accel = json.load(file)
    constants = {name: c["value"] for name, c in accel["constants"].items()} | {"config_hash": config_hash}
    wanted, address = {}, 0
    for reg in accel["registers"]:
        value, lsb, fields = constants[reg["reset"]] if "reset" in reg else 0, 0, {}
        for f in reg.get("fields", [{"name": "value", "bits": 32}]):
            values = {name: i for i, name in enumerate(accel["enums"][f["enum"]]["values"])} if "enum" in f else None
            fields[f["name"]] = (lsb, f["bits"], *ACCESS[reg["access"]], value >> lsb & (1 << f["bits"]) - 1,
                                 "reset" in reg, values)
            lsb += f["bits"]
        wanted[reg["name"]] = address, reg.get("count", 0), fields
        address += 4 * max(1, reg.get("count", 1))
    return wanted


def after_reset(found, words):
    """Differences, register by register, from words that hardware has given"""
    for name, (address, count, fields) in found.items():
        want = sum(reset << lsb for lsb, _, _, _, reset, *_ in fields.values())
        for at in range(address, address + 4 * max(1, count), 4):
            if words[at:at + 4] != want.to_bytes(4, "little"):
                yield f"{name} at {at:#x}: expected {want:#x} after reset, found {words[at:at + 4][::-1].hex()}"


def header():
    """HD_NAME: value, of the C header"""
    with open(sys.argv[3], encoding="utf-8") as file:
        return {name: int(value.rstrip("uU"), 0)
                for name, value in re.findall(r"\b(HD_\w+)(?:\(i\))?[ =]+\(?(0x\w+|\d+u?)\b", file.read())}


def main():
    found, config_hash = read(sys.argv[1])
    wanted, macros = truth(config_hash), header()
    wrong = [f"registers: expected {list(wanted)}, found {list(found)}"] if list(wanted) != list(found) else []
    for name, reg in wanted.items():
        address, count, fields = found.get(name, (None, None, {}))
        macro = f"HD_REG_{name.upper()}"
        if found.get(name) != reg:
            wrong.append(f"{name}: expected {reg}, found {found.get(name)}")
        if (macros.get(macro), macros.get(macro + "_COUNT", 0)) != (address, count):
            wrong.append(f"{name}: the C header has {macros.get(macro)}, {macros.get(macro + '_COUNT', 0)} of them; "
                         f"the RDL {address}, {count}")
        for field, (lsb, bits, *_) in fields.items():
            if field == "value":
                continue
            bits_of = f"HD_{name.upper()}_{field.upper()}"
            pair = macros.get(bits_of + "_LSB"), macros.get(bits_of + "_MASK")
            if pair != (lsb, (1 << bits) - 1 << lsb):
                wrong.append(f"{name}.{field}: the C header has {pair}, the RDL bits {lsb + bits - 1}:{lsb}")
    if len(sys.argv) > 5:
        wrong += after_reset(found, bytes.fromhex(sys.argv[5]))
    print("\n".join(wrong + [f"{len(found)} registers, {sum(len(r[2]) for r in found.values())} fields compared"]))
    return 1 if wrong else 0


sys.exit(main())
