"""axi_traffic.py - random traffic between cocotbext-axi's manager and its memory, as a trace. Environment: TRACE, SEED."""
import itertools
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiRam
from recorded import record

CHANNELS = {
    "aw": "id addr len size burst lock cache prot valid ready",
    "w": "data strb last valid ready",
    "b": "id resp valid ready",
    "ar": "id addr len size burst lock cache prot valid ready",
    "r": "id data resp last valid ready",
}
NAMES = [c + s for c, signals in CHANNELS.items() for s in signals.split()]


def pauses(seed):
    r = random.Random(seed)
    return (r.random() < 0.3 for _ in itertools.count())


@cocotb.test()
async def traffic(dut):
    rng = random.Random(int(os.environ["SEED"]))
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    master = AxiMaster(AxiBus.from_prefix(dut, "axi"), dut.clk, dut.rst)
    ram = AxiRam(AxiBus.from_prefix(dut, "axi"), dut.clk, dut.rst, size=2**16)
    channels = [master.write_if.aw_channel, master.write_if.w_channel, master.write_if.b_channel,
                master.read_if.ar_channel, master.read_if.r_channel, ram.write_if.aw_channel, ram.write_if.w_channel,
                ram.write_if.b_channel, ram.read_if.ar_channel, ram.read_if.r_channel]
    for i, channel in enumerate(channels):
        channel.set_pause_generator(pauses(i + 100 * int(os.environ["SEED"])))
    for _ in range(4):
        await RisingEdge(dut.clk)
    cocotb.start_soon(record(dut, "axi_", NAMES, os.environ["TRACE"]))
    dut.rst.value = 0
    await RisingEdge(dut.clk)
    pending = []
    for _ in range(60):
        at, n, size = rng.randrange(60000), rng.randrange(1, 700), rng.randrange(4)
        if rng.random() < 0.5:
            pending.append(cocotb.start_soon(master.write(at, bytes(rng.randrange(256) for _ in range(n)), size=size)))
        else:
            pending.append(cocotb.start_soon(master.read(at, n, size=size)))
        if len(pending) > 5:
            await pending.pop(0)
    for task in pending:
        await task
    for _ in range(10):
        await RisingEdge(dut.clk)
