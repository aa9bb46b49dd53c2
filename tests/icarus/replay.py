"""replay.py - cocotb: a trace of record.c against hd_top; memory and master are cocotbext-axi's.

Environment: TRACE; WANT, the file of the output's bytes; VERDICT, the file that gets one line if all is as expected;
SEED; STALLS, a percentage for each channel as `ar=40 w=80`: the share of cycles in which the other side is not ready,
or shows nothing (s_ar, s_r, s_aw, s_w, s_b: of the registers); FAULT as `read 0x1000` or `write 0x1000`: the access of
that byte is answered with SLVERR, the error registers (code, unit, command, address) must read ERROR, and then the same
runs without the fault."""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, First, RisingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam
from cocotbext.axi.stream import StreamSource

CONTROL, STATUS, ERRORS, CYCLES_LO, CYCLES_HI = 0xc, 0x10, (0x24, 0x28, 0x2c, 0x30), 0x34, 0x38
SOFT_RESET, DONE, ERROR = 2, 2, 4
AROUND = 64  # bytes after the last region that must not be written
LIMIT = 6000  # cycles of a submission


def read_trace(path):
    with open(path, encoding="ascii") as lines:
        for op, *args in map(str.split, lines):
            yield op, *(bytes.fromhex(a) if op == "to_device" and i else int(a, 0) for i, a in enumerate(args))


class Bench:
    def __init__(self, dut, seed):
        self.dut, self.seed, self.held, self.fault = dut, seed, {}, None
        reset = {"reset": dut.rst_ni, "reset_active_level": False}
        self.ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, size=2**40, **reset)
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk_i, **reset)
        sides = {"": self.ram, "s_": self.registers}
        self.channels = {
            prefix + name: getattr(interface, f"{name}_channel")
            for prefix, side in sides.items()
            for interface, names in ((side.read_if, ("ar", "r")), (side.write_if, ("aw", "w", "b")))
            for name in names}
        for side in sides.values():
            side.read_if.log.setLevel("WARNING")
            side.write_if.log.setLevel("WARNING")
        self.ram.write_if.w_channel.recv = self.checked(self.ram.write_if.w_channel.recv)
        self.ram.read_if._read = self.faulty("read", self.ram.read_if._read)
        self.ram.write_if._write = self.faulty("write", self.ram.write_if._write)

    def pauses(self, name, percent):
        """Draw for every cycle; count those in which a transfer waits for it."""
        draw, channel = random.Random(f"{self.seed} {name}"), self.channels[name]
        self.held[name] = 0
        while True:
            pause = draw.randrange(100) < percent
            waits = not channel.empty() if isinstance(channel, StreamSource) else channel.valid.value == 1
            self.held[name] += pause and waits
            yield pause

    @staticmethod
    def checked(recv):
        """Bytes without a strobe may be unknown, which AxiRam refuses; those with one must not."""
        async def recv_known():
            beat = await recv()
            data = beat.wdata.binstr.lower()
            for lane, strobe in enumerate(reversed(beat.wstrb.binstr)):
                byte = data[len(data) - 8 * lane - 8:len(data) - 8 * lane]
                assert strobe == "0" or set(byte) <= {"0", "1"}, f"W: byte {lane} of {data} is unknown, its strobe set"
            beat.wdata = int(data.replace("x", "0").replace("z", "0"), 2)
            return beat
        return recv_known

    def faulty(self, kind, access):
        """Whatever is raised here becomes SLVERR."""
        async def access_or_fault(address, more):
            n_bytes = more if kind == "read" else len(more)
            if self.fault and self.fault[0] == kind and address <= self.fault[1] < address + n_bytes:
                raise OSError("planted")
            return await access(address, more)
        return access_or_fault

    async def begin(self, stalls):
        for name, percent in stalls.items():
            self.channels[name].set_pause_generator(self.pauses(name, percent))
        self.dut.rst_ni.value = 0
        cocotb.start_soon(Clock(self.dut.clk_i, 2, "ns").start())
        await ClockCycles(self.dut.clk_i, 4)
        self.dut.rst_ni.value = 1
        await ClockCycles(self.dut.clk_i, 2)

    async def interrupt(self):
        if self.dut.irq_o.value != 1:
            await First(RisingEdge(self.dut.irq_o), ClockCycles(self.dut.clk_i, LIMIT))
        assert self.dut.irq_o.value == 1, f"no interrupt after {LIMIT} cycles"
        left = [name for name in ("aw", "w", "r", "b") if not self.channels[name].empty()]
        assert not left, f"interrupt before the end of the transfers of channels {left}"

    async def replay(self, trace, want):
        """Returns the cycles; None: after the fault's interrupt. All memory of the trace is compared: the output, and
        that nothing else was written (a network with an arena would write there, too)."""
        base = min(args[0] for op, *args in trace if op == "to_device")
        end = next(args[0] + args[1] for op, *args in trace if op == "from_device")
        image = bytearray(random.Random(f"{self.seed} memory").randbytes(end + AROUND - base))
        self.ram.write(base, image)
        cycles = 0
        for op, *args in trace:
            if op == "write":
                await self.registers.write_dword(*args)
            elif op == "read":
                got = await self.registers.read_dword(args[0])
                if args[0] in (CYCLES_LO, CYCLES_HI):  # the recorder has no clock
                    cycles += got << (32 if args[0] == CYCLES_HI else 0)
                else:
                    assert got == args[1], f"register {args[0]:#x}: expected {args[1]:#x}, found {got:#x}"
            elif op == "to_device":
                self.ram.write(*args)
                image[args[0] - base:args[0] - base + len(args[1])] = args[1]
            elif op == "from_device":
                assert args[1] == len(want), f"expected {len(want)} bytes of output, found {args[1]}"
                image[args[0] - base:args[0] - base + args[1]] = want
            elif op == "wait_irq":
                await self.interrupt()
                if self.fault:
                    return None
            else:
                raise ValueError(op)
        found = self.ram.read(base, len(image))
        differ = [base + i for i in range(len(image)) if image[i] != found[i]]
        assert not differ, f"{len(differ)} bytes differ, of output or elsewhere, from {differ[0]:#x} on"
        return cycles

    async def errors(self):
        assert await self.registers.read_dword(STATUS) == DONE | ERROR
        cause, command, low, high = [await self.registers.read_dword(r) for r in ERRORS]
        await self.registers.write_dword(CONTROL, SOFT_RESET)
        await ClockCycles(self.dut.clk_i, 100)
        return f"code {cause & 255} unit {cause >> 8} command {command} address {high << 32 | low:#x}"


@cocotb.test()
async def replay(dut):
    seed = os.environ["SEED"]
    stalls = {k: int(v) for k, v in (s.split("=") for s in os.environ.get("STALLS", "").split())}
    bench, trace, told = Bench(dut, seed), list(read_trace(os.environ["TRACE"])), ""
    with open(os.environ["WANT"], "rb") as file:
        want = file.read()
    await bench.begin(stalls)
    if "FAULT" in os.environ:
        kind, address = os.environ["FAULT"].split()
        bench.fault = kind, int(address, 0)
        await bench.replay(trace, want)
        bench.fault, told = None, await bench.errors()
        assert told == os.environ["ERROR"], f"expected {os.environ['ERROR']}, found {told}"
        told = f"{told}; then "
    cycles = await bench.replay(trace, want)
    assert not stalls or any(bench.held.values()), "nothing was held up"
    held = ", ".join(f"{name} {n}" for name, n in bench.held.items())
    with open(os.environ["VERDICT"], "w", encoding="ascii") as file:
        file.write(f"{told}{len(want)} bytes equal, {cycles} cycles{'; held up: ' * bool(held)}{held}\n")
