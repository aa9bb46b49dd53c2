"""wishbone_traffic.py - random pipelined cycles between cocotbext-wishbone's master and slave, as a trace. Environment: TRACE,
SEED."""
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.wishbone.driver import WBOp, WishboneMaster
from cocotbext.wishbone.monitor import WishboneSlave
from recorded import record

NAMES = "cyc stb we adr datwr datrd sel ack stall".split()


def draws(rng, of):
    while True:
        yield of(rng)


@cocotb.test()
async def traffic(dut):
    rng = random.Random(int(os.environ["SEED"]))
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    master = WishboneMaster(dut, "wb", dut.clk, timeout=200)
    WishboneSlave(dut, "wb", dut.clk, datgen=draws(rng, lambda r: r.randrange(2**32)),
                  waitreplygen=draws(rng, lambda r: r.randrange(4))) # it loses requests that it stalls
    for _ in range(4):
        await RisingEdge(dut.clk)
    cocotb.start_soon(record(dut, "wb_", NAMES, os.environ["TRACE"]))
    dut.rst.value = 0
    for _ in range(60):
        await master.send_cycle([WBOp(adr=4 * rng.randrange(1000), idle=rng.randrange(3), acktimeout=100, sel=rng.randrange(1, 16),
                                      dat=rng.choice([None, rng.randrange(2**32)])) for _ in range(rng.randrange(1, 6))])
