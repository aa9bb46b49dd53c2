"""breaches.py BUS TRACE: where a trace can be spoilt, a line each: cycle, signal, value, what the checkers must say."""
import sys

lines = open(sys.argv[2]).read().split("\n")
names = lines[0].split()
rows = [dict(zip(names, (int(v, 16) for v in line.split()))) for line in lines[1:] if line]


def first(what, skip=20):
    """The cycle of the first row from `skip` on for which what(row, row before) holds."""
    return next(i for i in range(skip, len(rows)) if what(rows[i], rows[i - 1]))


def held(channel):
    return first(lambda r, b: b[channel + "valid"] and not b[channel + "ready"])


def fires(channel, more=lambda r: True):
    """A handshake in its first cycle: nothing is held yet."""
    def fresh(r, b):
        held_before = b[channel + "valid"] and not b[channel + "ready"]
        return r[channel + "valid"] and r[channel + "ready"] and not held_before and more(r)
    return first(fresh)


def plant(cycle, signal, value, text):
    print(f"{cycle} {signal} {value:x} {text}")


def axi():
    for channel, signal in (("aw", "awaddr"), ("w", "wdata"), ("b", "bid"), ("ar", "arlen"), ("r", "rdata")):
        at = held(channel)
        plant(at, signal, rows[at][signal] ^ 1, f"{signal} changed while waiting for ready")
        plant(at, channel + "valid", 0, f"{channel}valid: expected valid until ready, found that it fell")
    at = fires("ar", lambda r: r["arlen"] > 3)
    plant(at, "araddr", 0xFF8, "crosses a 4 KiB boundary")
    plant(at, "arburst", 3, "arburst: expected FIXED, INCR or WRAP, found 3")
    plant(at, "arburst", 2, "of a WRAP burst, found")
    plant(at, "arsize", 4, "arsize: expected at most 8 bytes a beat, found 16")
    at = fires("w", lambda r: r["wlast"] == 0)
    plant(at, "wlast", 1, "wlast: beat")
    at = fires("w", lambda r: r["wlast"] == 1)
    plant(at, "wlast", 0, "wlast: beat")
    at = fires("r", lambda r: r["rlast"] == 0)
    plant(at, "rlast", 1, "rlast: beat")
    plant(at, "rid", rows[at]["rid"] ^ 8, "no such read")
    at = fires("b")
    plant(at, "bid", rows[at]["bid"] ^ 8, "no such write")
    at = first(lambda r, b: not r["bvalid"] and not b["bvalid"] and not b["wvalid"], 3)
    plant(at, "bvalid", 1, "no such write")
    plant(fires("w", lambda r: bin(r["wstrb"]).count("1") < 5), "wstrb", 0xFF, "expected strobes within")


def wishbone():
    at = first(lambda r, b: r["stb"] and not b["stb"])
    plant(at, "stall", 1, "stb: expected until ack, found that it fell")
    plant(at, "cyc", 0, "stb: expected with cyc, found alone")
    plant(at, "stb", 0, "ack: expected after a cycle with stb, found none")
    at = first(lambda r, b: not r["cyc"] and not b["cyc"])
    plant(at, "ack", 1, "ack: expected after a cycle with stb, found none")
    plant(at, "stb", 1, "stb: expected with cyc, found alone")


def apb():
    at = first(lambda r, b: r["penable"] and not r["pready"] and r["pwrite"]) + 1
    for signal in ("paddr", "pwrite", "pwdata"):
        plant(at, signal, rows[at][signal] ^ 1, f"{signal} changed before pready")
    plant(at, "penable", 0, "penable: expected after the setup until pready, found that it is 0")
    plant(at, "psel", 0, "psel: expected after the setup until pready, found that it fell")
    at = first(lambda r, b: r["psel"] and not r["penable"] and not r["pwrite"])
    plant(at, "penable", 1, "penable: expected after a cycle of setup, found at once")
    plant(at, "pstrb", 1, "pstrb: expected 0 for a read, found 0x1")
    at = first(lambda r, b: r["psel"] and not r["penable"] and r["pwrite"]) + 1
    plant(at, "penable", 0, "penable: expected after the setup until pready, found that it is 0")


{"axi": axi, "wishbone": wishbone, "apb": apb}[sys.argv[1]]()
