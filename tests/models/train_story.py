"""Train story/model.gguf: a Llama of three layers that knows story/text.txt by heart. NumPy alone, some minutes.

    train_story.py [STEPS]
"""

import collections
import pathlib
import re
import sys

import numpy as np

import gguf_file

WIDTH, INNER, HEADS, KV, LAYERS, MERGES, CONTEXT, BATCH, BASE, EPS = 64, 160, 4, 2, 3, 160, 128, 8, 10000.0, 1e-5
HEAD = WIDTH // HEADS
FOLDER = pathlib.Path(__file__).parent / "story"
WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")


def characters():
    """The printable character of each byte, as in GPT-2's tokenizer."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in own]
    return {b: chr(b) for b in own} | {b: chr(256 + i) for i, b in enumerate(rest)}


def merged(word, pair):
    out = []
    for s in word:
        out[-1:] = [out[-1] + s] if out and (out[-1], s) == pair else [*out[-1:], s]
    return tuple(out)


def byte_pairs(text):
    """Tokens, merges, and the text as tokens' numbers."""
    chars = characters()
    words = [tuple(chars[b] for b in w.encode()) for w in WORDS.findall(text)]
    tokens, merges = [*chars.values()], []
    for _ in range(MERGES):
        count = collections.Counter(p for w in words for p in zip(w, w[1:]))
        pair = max(sorted(count), key=count.__getitem__)
        merges.append(" ".join(pair))
        tokens.append("".join(pair))
        words = [merged(w, pair) for w in words]
    number = {t: i for i, t in enumerate(tokens)}
    return tokens, merges, np.array([number[s] for w in words for s in w])


# --- the network, forward and backward; activations [batch, positions, ..], weights [out, in] ---

def norm(x, g):
    r = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + EPS)
    return x * r * g, (x, r, g)


def norm_back(dy, saved):
    x, r, g = saved
    d = dy * g
    return r * d - x * r ** 3 * (d * x).mean(-1, keepdims=True), (dy * x * r).sum((0, 1))


def turn(x, sign):
    """RoPE of neighbouring pairs of [batch, heads, positions, head]; sign -1: back."""
    angle = np.arange(x.shape[2])[:, None] * BASE ** (-np.arange(0, HEAD, 2) / HEAD)
    c, s = np.cos(angle).astype(np.float32), sign * np.sin(angle).astype(np.float32)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape)


def heads(x, n):
    return x.reshape(*x.shape[:2], n, HEAD).transpose(0, 2, 1, 3)


def flat(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def grad(dy, x):
    return np.einsum("bto,bti->oi", dy, x, optimize=True)


def layer(x, w):
    h, n1 = norm(x, w["attn_norm"])
    q, k, v = turn(heads(h @ w["attn_q"].T, HEADS), 1), turn(heads(h @ w["attn_k"].T, KV), 1), heads(h @ w["attn_v"].T, KV)
    kk, vv = (np.repeat(z, HEADS // KV, 1) for z in (k, v))
    p = q @ kk.transpose(0, 1, 3, 2) / np.float32(np.sqrt(HEAD)) + np.triu(np.full(2 * x.shape[1:2], -1e9, np.float32), 1)
    p = np.exp(p - p.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    o = flat(p @ vv)
    x1 = x + o @ w["attn_output"].T
    h2, n2 = norm(x1, w["ffn_norm"])
    g, u = h2 @ w["ffn_gate"].T, h2 @ w["ffn_up"].T
    s = 1 / (1 + np.exp(-g))
    return x1 + (g * s * u) @ w["ffn_down"].T, (h, n1, q, kk, vv, p, o, h2, n2, g, u, s)


def shared(d):
    """Gradients of keys or values that heads share."""
    return d.reshape(d.shape[0], KV, HEADS // KV, *d.shape[2:]).sum(2)


def layer_back(dx, w, saved):
    h, n1, q, kk, vv, p, o, h2, n2, g, u, s = saved
    a = dx @ w["ffn_down"]
    du, dg = a * g * s, a * u * s * (1 + g * (1 - s))
    d = {"ffn_down": grad(dx, g * s * u), "ffn_up": grad(du, h2), "ffn_gate": grad(dg, h2)}
    dh, d["ffn_norm"] = norm_back(dg @ w["ffn_gate"] + du @ w["ffn_up"], n2)
    dx = dx + dh
    d["attn_output"] = grad(dx, o)
    do = heads(dx @ w["attn_output"], HEADS)
    dp = do @ vv.transpose(0, 1, 3, 2)
    ds = p * (dp - (dp * p).sum(-1, keepdims=True)) / np.float32(np.sqrt(HEAD))
    dq, dk = flat(turn(ds @ kk, -1)), flat(turn(shared(ds.transpose(0, 1, 3, 2) @ q), -1))
    dv = flat(shared(p.transpose(0, 1, 3, 2) @ do))
    d |= {"attn_q": grad(dq, h), "attn_k": grad(dk, h), "attn_v": grad(dv, h)}
    dh, d["attn_norm"] = norm_back(dq @ w["attn_q"] + dk @ w["attn_k"] + dv @ w["attn_v"], n1)
    return dx + dh, d


def loss_and_gradients(w, x, y):
    table, saved = w["token_embd"], []
    a = table[x]
    for i in range(LAYERS):
        a, s = layer(a, {k.removeprefix(f"blk.{i}."): v for k, v in w.items()})
        saved.append(s)
    h, n = norm(a, w["output_norm"])
    z = h @ table.T
    z = np.exp(z - z.max(-1, keepdims=True))
    z /= z.sum(-1, keepdims=True)
    at = (*np.indices(y.shape), y)
    loss = -np.log(z[at] + 1e-9).mean()
    z[at] -= 1
    z /= y.size
    d = {"token_embd": grad(z, h)}
    da, d["output_norm"] = norm_back(z @ table, n)
    for i in reversed(range(LAYERS)):
        da, own = layer_back(da, {k.removeprefix(f"blk.{i}."): v for k, v in w.items()}, saved[i])
        d |= {f"blk.{i}.{k}": v for k, v in own.items()}
    np.add.at(d["token_embd"], x, da)
    return loss, d


def first_weights(rng, n):
    def random(rows, columns):
        return rng.normal(0, 0.7 / np.sqrt(columns), (rows, columns)).astype(np.float32)

    w = {"token_embd": 0.2 * random(n, WIDTH) * 8, "output_norm": np.ones(WIDTH, np.float32)}
    for i in range(LAYERS):
        w |= {f"blk.{i}.{k}": v for k, v in {
            "attn_norm": np.ones(WIDTH, np.float32), "ffn_norm": np.ones(WIDTH, np.float32),
            "attn_q": random(WIDTH, WIDTH), "attn_k": random(KV * HEAD, WIDTH), "attn_v": random(KV * HEAD, WIDTH),
            "attn_output": random(WIDTH, WIDTH), "ffn_gate": random(INNER, WIDTH), "ffn_up": random(INNER, WIDTH),
            "ffn_down": random(WIDTH, INNER)}.items()}
    return w


def train(w, ids, steps, rng):
    """Adam on windows of the text, from its begin or any place."""
    m, v = ({k: np.zeros_like(x) for k, x in w.items()} for _ in range(2))
    for t in range(1, steps + 1):
        begin = rng.integers(0, len(ids) - CONTEXT, BATCH) * (rng.random(BATCH) > 0.1)
        cut = ids[begin[:, None] + np.arange(CONTEXT + 1)]
        loss, d = loss_and_gradients(w, cut[:, :-1], cut[:, 1:])
        rate = 3e-3 * min(1, t / 50) * (0.03 + 0.97 * (1 - t / steps))
        for k in w:
            m[k] = 0.9 * m[k] + 0.1 * d[k]
            v[k] = 0.98 * v[k] + 0.02 * d[k] ** 2
            w[k] -= (rate * (m[k] / (1 - 0.9 ** t) / (np.sqrt(v[k] / (1 - 0.98 ** t)) + 1e-8))).astype(np.float32)
        if t % 50 == 0:
            print(f"step {t}: loss {loss:.3f}", flush=True)


def main():
    text, rng = (FOLDER / "text.txt").read_text(), np.random.default_rng(47)
    tokens, merges, ids = byte_pairs(text)
    w = first_weights(rng, len(tokens))
    train(w, ids, int(sys.argv[1]) if len(sys.argv) > 1 else 250, rng)
    kinds = {k + ".weight": ("F32" if x.ndim == 1 else "Q8_0", x) for k, x in w.items()}
    gguf_file.write(FOLDER / "model.gguf", {
        "general.architecture": "llama", "general.name": "story", "llama.block_count": LAYERS,
        "llama.context_length": CONTEXT, "llama.embedding_length": WIDTH, "llama.feed_forward_length": INNER,
        "llama.attention.head_count": HEADS, "llama.attention.head_count_kv": KV,
        "llama.attention.layer_norm_rms_epsilon": EPS, "llama.rope.freq_base": BASE, "llama.rope.dimension_count": HEAD,
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.merges": merges}, kinds)


if __name__ == "__main__":
    main()
