"""Read and write GGUF files of version 3: settings, and tensors as float32 arrays, without packages except NumPy.

write(path, settings, tensors): tensors maps a name to (type, array); types as TYPES. read(path): the same two
dictionaries, with the values that the blocks hold.
"""

import struct

import numpy as np

TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 8, "BF16": 30}
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
ALIGNMENT = 32


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<Q", len(s)) + s


def setting(value):
    """A value with its type: bool, int, float, str, or a list of ints or strings."""
    if isinstance(value, list):
        kind = STRING if isinstance(value[0], (str, bytes)) else I32
        each = [text(v) if kind == STRING else struct.pack("<i", v) for v in value]
        return struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(each)
    if isinstance(value, str):
        return struct.pack("<I", STRING) + text(value)
    kind = BOOL if isinstance(value, bool) else U32 if isinstance(value, int) else F32
    return struct.pack("<I" + NUMBERS[kind], kind, value)


def halves(q):
    """Codes [..,32] of 4 bits as bytes [..,16]: the first 16 are the lower halves."""
    return (q[..., :16] | q[..., 16:] << 4).astype(np.uint8)


def pack(kind, x):
    x = np.asarray(x, np.float32)
    if kind == "F32":
        return x.tobytes()
    if kind == "F16":
        return x.astype(np.float16).tobytes()
    if kind == "BF16":
        return (x.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    b = x.reshape(-1, 32)
    if kind == "Q8_0":
        scale = (np.abs(b).max(1, keepdims=True) / 127).astype(np.float16)
        parts = [scale, np.rint(b / np.maximum(scale.astype(np.float32), 1e-9)).clip(-127, 127).astype(np.int8)]
    elif kind == "Q4_0":
        scale = (b[np.arange(len(b)), np.abs(b).argmax(1)][:, None] / -8).astype(np.float16)
        codes = np.rint(b / np.where(scale == 0, 1, scale).astype(np.float32)) + 8
        parts = [scale, halves(codes.clip(0, 15).astype(np.uint8))]
    else:
        low = b.min(1, keepdims=True).astype(np.float16)
        scale = ((b.max(1, keepdims=True) - low) / 15).astype(np.float16)
        codes = np.rint((b - low) / np.where(scale == 0, 1, scale).astype(np.float32))
        parts = [scale, low, halves(codes.clip(0, 15).astype(np.uint8))]
    return np.concatenate([p.view(np.uint8).reshape(len(b), -1) for p in parts], 1).tobytes()


def unpack(kind, data, shape):
    if kind == "F32":
        return np.frombuffer(data, "<f4").reshape(shape)
    if kind == "F16":
        return np.frombuffer(data, "<f2").astype(np.float32).reshape(shape)
    if kind == "BF16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    raw = np.frombuffer(data, np.uint8).reshape(-1, {"Q8_0": 34, "Q4_0": 18, "Q4_1": 20}[kind])
    scale = raw[:, :2].copy().view("<f2").astype(np.float32)
    if kind == "Q8_0":
        return (scale * raw[:, 2:].view(np.int8)).astype(np.float32).reshape(shape)
    q = raw[:, -16:]
    codes = np.concatenate([q & 15, q >> 4], 1).astype(np.float32)
    if kind == "Q4_0":
        return (scale * (codes - 8)).astype(np.float32).reshape(shape)
    return (scale * codes + raw[:, 2:4].copy().view("<f2").astype(np.float32)).reshape(shape)


def n_bytes(kind, n):
    return n * {"F32": 4, "F16": 2, "BF16": 2}[kind] if kind in ("F32", "F16", "BF16") else \
        n // 32 * {"Q8_0": 34, "Q4_0": 18, "Q4_1": 20}[kind]


def write(path, settings, tensors):
    head = [struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(settings))]
    head += [text(key) + setting(value) for key, value in settings.items()]
    body, at = [], 0
    for name, (kind, x) in tensors.items():
        head.append(text(name) + struct.pack("<I", x.ndim) + struct.pack(f"<{x.ndim}Q", *x.shape[::-1])
                    + struct.pack("<IQ", TYPES[kind], at))
        data = pack(kind, x)
        body.append(data + bytes(-len(data) % ALIGNMENT))
        at += len(body[-1])
    start = b"".join(head)
    with open(path, "wb") as f:
        f.write(start + bytes(-len(start) % ALIGNMENT) + b"".join(body))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value[0]

    def text(self):
        n = self.take("Q")
        self.at += n
        return bytes(self.data[self.at - n:self.at])

    def value(self, kind):
        if kind == ARRAY:
            kind, n = self.take("I"), self.take("Q")
            return [self.value(kind) for _ in range(n)]
        return self.text() if kind == STRING else self.take(NUMBERS[kind])


def read(path):
    """Return the settings, texts as bytes, and the tensors by name."""
    with open(path, "rb") as f:
        r = Reader(f.read())
    assert r.take("4s") == b"GGUF"
    assert r.take("I") in (2, 3)
    n_tensor, n_setting = r.take("Q"), r.take("Q")
    settings = {r.text().decode(): r.value(r.take("I")) for _ in range(n_setting)}
    places = []
    for _ in range(n_tensor):
        name, rank = r.text().decode(), r.take("I")
        shape = [r.take("Q") for _ in range(rank)][::-1]
        places.append((name, shape, r.take("I"), r.take("Q")))
    start = r.at + -r.at % settings.get("general.alignment", ALIGNMENT)
    kinds = {v: k for k, v in TYPES.items()}
    return settings, {name: unpack(kinds[kind], r.data[start + at:start + at + n_bytes(kinds[kind], int(np.prod(shape)))], shape)
                      for name, shape, kind, at in places}
