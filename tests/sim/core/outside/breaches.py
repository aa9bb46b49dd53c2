"""breaches.py TRACE: where a trace can be spoilt, a line each: cycle, signal, value, what the checkers must say."""
import sys

lines = open(sys.argv[1]).read().split("\n")
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
