"""A Llama-family GGUF file in float32 by NumPy, one token after another: the oracle of --products=float.

    llama_numpy.py MODEL.gguf TOKEN,TOKEN,.. [--tokens N] [--out FILE]

Appends the N most likely tokens, prints all, and writes the logits of each step as float32.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "models"))

import gguf_file  # noqa: E402


class Llama:
    def __init__(self, path):
        self.settings, self.w = gguf_file.read(path)
        s = {k.removeprefix("llama."): v for k, v in self.settings.items()}
        self.layers, self.heads = s["block_count"], s["attention.head_count"]
        self.kv, self.eps = s.get("attention.head_count_kv", self.heads), s["attention.layer_norm_rms_epsilon"]
        self.head = s["embedding_length"] // self.heads
        self.freq = s.get("rope.freq_base", 10000.0) ** (-np.arange(0, self.head, 2) / self.head)
        self.keys, self.values = [[] for _ in range(self.layers)], [[] for _ in range(self.layers)]
        self.position = 0

    def norm(self, x, name):
        return x / np.sqrt(np.mean(x * x) + np.float32(self.eps)) * self.w[name]

    def rope(self, x):
        """Turn neighbouring pairs of each head."""
        angle = self.position * self.freq
        c, s = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
        x = x.reshape(-1, self.head // 2, 2)
        return np.stack([x[..., 0] * c - x[..., 1] * s, x[..., 0] * s + x[..., 1] * c], -1).reshape(-1, self.head)

    def layer(self, i, x):
        w = {k.removeprefix(f"blk.{i}."): v for k, v in self.w.items() if k.startswith(f"blk.{i}.")}
        h = self.norm(x, f"blk.{i}.attn_norm.weight")
        q = self.rope(w["attn_q.weight"] @ h)
        self.keys[i].append(self.rope(w["attn_k.weight"] @ h))
        self.values[i].append((w["attn_v.weight"] @ h).reshape(-1, self.head))
        k, v = np.stack(self.keys[i], 1), np.stack(self.values[i], 1)  # [kv, positions, head]
        q = q.reshape(self.kv, -1, self.head) / np.sqrt(np.float32(self.head))
        p = q @ k.transpose(0, 2, 1)
        p = np.exp(p - p.max(-1, keepdims=True))
        x = x + w["attn_output.weight"] @ ((p / p.sum(-1, keepdims=True)) @ v).reshape(-1)
        h = self.norm(x, f"blk.{i}.ffn_norm.weight")
        g = w["ffn_gate.weight"] @ h
        return x + w["ffn_down.weight"] @ (g / (1 + np.exp(-g)) * (w["ffn_up.weight"] @ h))

    def step(self, token):
        x = self.w["token_embd.weight"][token]
        for i in range(self.layers):
            x = self.layer(i, x)
        self.position += 1
        return self.w.get("output.weight", self.w["token_embd.weight"]) @ self.norm(x, "output_norm.weight")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("prompt")
    parser.add_argument("--tokens", type=int, default=0)
    parser.add_argument("--out")
    args = parser.parse_args()
    net, tokens, logits = Llama(args.model), [int(t) for t in args.prompt.split(",")], []
    n = len(tokens) + args.tokens
    while len(logits) < n - (args.tokens > 0):
        logits.append(net.step(tokens[len(logits)]))
        if len(logits) == len(tokens) < n:
            tokens.append(int(np.argmax(logits[-1])))
    print(",".join(map(str, tokens)))
    if args.out:
        np.stack(logits).astype("<f4").tofile(args.out)


if __name__ == "__main__":
    main()
