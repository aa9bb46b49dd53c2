"""apb_traffic.py - random accesses between cocotbext-apb's master and its memory, as a trace. Environment: TRACE, SEED."""
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.apb import ApbBus, ApbMaster, ApbRam
from recorded import record

NAMES = "psel penable pwrite paddr pwdata prdata pstrb pready pslverr".split()


@cocotb.test()
async def traffic(dut):
    seed = int(os.environ["SEED"])
    rng = random.Random(seed)
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    master = ApbMaster(ApbBus.from_prefix(dut, "apb"), dut.clk, seednum=seed)
    ram = ApbRam(ApbBus.from_prefix(dut, "apb"), dut.clk, size=2**16)
    master.enable_backpressure(seed)
    ram.enable_backpressure(seed)
    for _ in range(4):
        await RisingEdge(dut.clk)
    cocotb.start_soon(record(dut, "apb_", NAMES, os.environ["TRACE"]))
    dut.rst.value = 0
    for _ in range(200):
        at = 4 * rng.randrange(1000)
        if rng.random() < 0.5:
            await master.write(at, rng.randrange(2**32), strb=rng.randrange(1, 16))
        else:
            await master.read(at)
