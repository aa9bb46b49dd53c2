"""recorded.py - a trace of a bus: a line of names, then a line of values for each rising edge after reset."""
from cocotb.triggers import RisingEdge


async def record(dut, prefix, names, path):
    with open(path, "w") as out:
        out.write(" ".join(names) + "\n")
        while True:
            await RisingEdge(dut.clk)
            if dut.rst.value == 1:
                continue
            # before the edge's effects: models of cocotb drive after it
            values = [getattr(dut, prefix + n).value for n in names]
            out.write(" ".join(format(int(v), "x") if v.is_resolvable else "0" for v in values) + "\n")
