"""Perplexity of a GGUF file on a text by the logits that heddle computes (CPU reference), and by NumPy in float32.

    perplexity.py HEDDLE MODEL.gguf FILE [HEDDLE-OPTION ...]

FILE has the tokens in its first line, with commas between them; perplexity.txt those of SmolLM2, and their text.

The first token is position 0; with --products=static of a file whose texts begin with a token, it has to be this one.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import llama_numpy


def perplexity(logits, tokens):
    z = logits.astype(np.float64)
    z -= z.max(-1, keepdims=True)
    z -= np.log(np.exp(z).sum(-1, keepdims=True))
    return np.exp(-z[np.arange(len(tokens)), tokens].mean())


def main():
    heddle, model, text, *options = sys.argv[1:]
    text = pathlib.Path(text).read_text().splitlines()[0]
    tokens, net = np.array([int(t) for t in text.split(",")], np.int32), llama_numpy.Llama(model)
    begins = net.settings.get("tokenizer.ggml.bos_token_id", -1) == tokens[0]
    first = 1 if begins and any("=static" in o for o in options) else 0
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(folder) / "in.npz"
        np.savez(given, token=tokens[first:-1].reshape(-1, 1, 1),
                 position=np.arange(first, len(tokens) - 1, dtype=np.int32).reshape(-1, 1, 1))
        subprocess.run([heddle, "run", model, "--engine=ref", "-i", given, "-o", folder, *options], check=True,
                       stdout=subprocess.DEVNULL)
        ours = np.fromfile(sorted(pathlib.Path(folder).glob("out*"))[0], "<f4").reshape(len(tokens) - 1 - first, -1)
    theirs = np.stack([net.step(t) for t in tokens[:-1]])[first:]
    wanted = tokens[first + 1:]
    print(f"{len(wanted)} tokens: heddle {perplexity(ours, wanted):.3f}, NumPy {perplexity(theirs, wanted):.3f}, "
          f"same most likely token {np.mean(ours.argmax(-1) == theirs.argmax(-1)):.3f}")


if __name__ == "__main__":
    main()
