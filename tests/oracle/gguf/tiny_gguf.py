"""Write tests/compiler/import/gguf/tiny.gguf, an untrained network with a tensor of each type, and the logits of ten
tokens (token i is 5 i mod 48) by llama_numpy.py, as float32.

    tiny_gguf.py FOLDER
"""

import pathlib
import sys

import numpy as np

import llama_numpy
from llama_numpy import gguf_file

WIDTH, INNER, HEADS, KV, LAYERS, TOKENS = 32, 64, 4, 2, 2, 48


def main():
    folder, rng = pathlib.Path(sys.argv[1]), np.random.default_rng(47)

    def random(*shape):
        return rng.normal(0, 1 / np.sqrt(shape[-1]), shape).astype(np.float32)

    head = WIDTH // HEADS
    tensors = {"token_embd.weight": ("Q8_0", 5 * random(TOKENS, WIDTH)), "output_norm.weight": ("F32", 1 + random(WIDTH))}
    for i in range(LAYERS):
        tensors |= {f"blk.{i}.{name}.weight": (kind, x) for name, kind, x in [
            ("attn_norm", "F32", 1 + random(WIDTH)), ("attn_q", "Q4_1", 2 * random(WIDTH, WIDTH)),
            ("attn_k", "Q4_0", 2 * random(KV * head, WIDTH)), ("attn_v", "Q8_0", random(KV * head, WIDTH)),
            ("attn_output", "F16", random(WIDTH, WIDTH)), ("ffn_norm", "F32", 1 + random(WIDTH)),
            ("ffn_gate", "BF16", random(INNER, WIDTH)), ("ffn_up", "Q4_1", random(INNER, WIDTH)),
            ("ffn_down", "F16", random(WIDTH, INNER))]}
    settings = {"general.architecture": "llama", "llama.block_count": LAYERS, "llama.context_length": 16,
                "llama.embedding_length": WIDTH, "llama.feed_forward_length": INNER, "llama.attention.head_count": HEADS,
                "llama.attention.head_count_kv": KV, "llama.attention.layer_norm_rms_epsilon": 1e-5,
                "llama.rope.freq_base": 10000.0, "llama.rope.dimension_count": head}
    gguf_file.write(folder / "tiny.gguf", settings, tensors)
    net = llama_numpy.Llama(folder / "tiny.gguf")
    np.stack([net.step(5 * i % TOKENS) for i in range(10)]).astype("<f4").tofile(folder / "logits.bin")


if __name__ == "__main__":
    main()
