"""Write texts and the tokens that PyPI tokenizers has of them with the vocabulary of a GGUF file, for
tests/app/language: a line each, the numbers, then the text with its ends of lines as \\n.

    story_texts.py MODEL.gguf
"""

import json
import sys

from llama_numpy import gguf_file
from tokenizers import Tokenizer, models, pre_tokenizers

TEXTS = ["Once upon a time", " Once  upon", "the weaver's loom, they'll see!", "it's I've we're 'tis rock'n'roll", "a\n\nb \n c  ",
         "x1 12  345,6", "\t\ttabs and  blanks   ", "été über straße", "日本", "“curly” – it’s…",
         "Wait... what?! (yes)", "a+b=c; d/e", "", " ", "  ", "\n"]


def main():
    settings, _ = gguf_file.read(sys.argv[1])
    tokens = [t.decode() for t in settings["tokenizer.ggml.tokens"]]
    merges = [tuple(m.decode().split(" ")) for m in settings["tokenizer.ggml.merges"]]
    t = Tokenizer(models.BPE(vocab={s: i for i, s in enumerate(tokens)}, merges=merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    for text in TEXTS:
        print(*t.encode(text).ids, "|", json.dumps(text, ensure_ascii=False)[1:-1])


if __name__ == "__main__":
    main()
