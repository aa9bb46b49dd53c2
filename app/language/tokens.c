/* tokens.c - see tokens.h. A token's text has a printable character for each byte, as GPT-2's
 * tokenizer has them. A text is split into words; the letters of a word are merged in pairs, the pair
 * first whose merge is first in the file. */
#include "tokens.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

enum { CONTROL = 3 }; /* type of a token without text */

/* Places of strings in a list, by hash. */
struct table {
    const struct gguf_string *list;
    uint32_t n, n_slot, *slot; /* place + 1; 0: empty */
};

struct tokens {
    struct arena *a;
    struct table token, merge;
    const struct gguf_setting *type;
    bool single_digits; /* each digit is a word */
    double begin, end;  /* tokens; -1: none */
};

/* Tokens of a text so far. */
struct found {
    int32_t *id;
    uint32_t n;
};

/* --- strings by place --- */

static uint32_t *slot_of(const struct table *t, struct gguf_string s)
{
    uint32_t k = text_hash(TEXT_HASH, s.text, s.n) & (t->n_slot - 1);

    while (t->slot[k] && (t->list[t->slot[k] - 1].n != s.n ||
                          memcmp(t->list[t->slot[k] - 1].text, s.text, s.n) != 0))
        k = (k + 1) & (t->n_slot - 1);
    return &t->slot[k];
}

/* Return the place of `s`; t->n: it has none. */
static uint32_t place_of(const struct table *t, struct gguf_string s)
{
    const uint32_t k = *slot_of(t, s);

    return k ? k - 1 : t->n;
}

static enum status fill(struct arena *a, const struct gguf *f, const char *key, struct table *t,
                        struct diag *d)
{
    struct gguf_string *list;

    TRY(gguf_strings(f, key, &list, &t->n, d));
    t->list = list;
    for (t->n_slot = 16; t->n_slot < 2 * t->n && t->n_slot < 1u << 31;)
        t->n_slot *= 2;
    t->slot = ARENA_ARRAY(a, uint32_t, t->n_slot);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t *slot = slot_of(t, list[i]);
        if (!*slot)
            *slot = i + 1;
    }
    return ST_OK;
}

enum status tokens_open(struct arena *a, const struct gguf *f, struct tokens **tokens,
                        struct diag *d)
{
    const char *model = gguf_text(f, "tokenizer.ggml.model", "");
    const char *words = gguf_text(f, "tokenizer.ggml.pre", "gpt-2");
    struct tokens *t = *tokens = ARENA_NEW(a, struct tokens);

    if (strcmp(model, "gpt2") != 0)
        return FAIL(d, ST_UNSUPPORTED, "tokenizer.ggml.model: expected gpt2, found '%.40s'", model);
    t->single_digits = strcmp(words, "smollm") == 0;
    if (!t->single_digits && strcmp(words, "gpt-2") != 0)
        return FAIL(d, ST_UNSUPPORTED,
                    "tokenizer.ggml.pre: expected gpt-2 or smollm, found '%.40s'", words);
    t->a = a;
    TRY(fill(a, f, "tokenizer.ggml.tokens", &t->token, d));
    TRY(fill(a, f, "tokenizer.ggml.merges", &t->merge, d));
    t->type = gguf_find(f, "tokenizer.ggml.token_type");
    if (t->type && (!t->type->is_array || t->type->type == GGUF_STRING || t->type->n != t->token.n))
        return FAIL(d, ST_MODEL, "tokenizer.ggml.token_type: expected %u numbers", t->token.n);
    t->end = gguf_number(f, "tokenizer.ggml.eos_token_id", -1);
    t->begin = gguf_number(f, "tokenizer.ggml.add_bos_token", 0) != 0
                   ? gguf_number(f, "tokenizer.ggml.bos_token_id", -1)
                   : -1;
    if (t->begin >= t->token.n)
        return FAIL(d, ST_MODEL, "tokenizer.ggml.bos_token_id: expected less than %u", t->token.n);
    return ST_OK;
}

/* --- bytes and their characters --- */

static bool is_printable(uint32_t byte)
{
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

/* Return the character of a byte: itself if it is printable, otherwise the next one from 256 on. */
static uint32_t character_of(uint32_t byte)
{
    uint32_t n = 256;

    for (uint32_t i = 0; i < byte; i++)
        n += !is_printable(i);
    return is_printable(byte) ? byte : n;
}

/* Write a character below 2048 as UTF-8; return its bytes. */
static size_t put(char *to, uint32_t c)
{
    if (c < 128) {
        *to = (char)c;
        return 1;
    }
    to[0] = (char)(0xc0 | c >> 6);
    to[1] = (char)(0x80 | (c & 63));
    return 2;
}

static bool is_control(const struct tokens *t, uint32_t id)
{
    return t->type && gguf_element(t->type, id) == CONTROL;
}

const char *tokens_text(const struct tokens *t, int32_t id)
{
    char one[2], *text;
    size_t n = 0;

    if (id < 0 || (uint32_t)id >= t->token.n || is_control(t, (uint32_t)id))
        return "";
    const struct gguf_string s = t->token.list[id];
    text = arena_alloc(t->a, s.n + 1);
    for (size_t i = 0; i < s.n;) {
        uint32_t byte = 0;
        size_t size = 1;

        for (; byte < 256; byte++) {
            size = put(one, character_of(byte));
            if (size <= s.n - i && memcmp(one, s.text + i, size) == 0)
                break;
        }
        text[n++] = byte < 256 ? (char)byte : s.text[i];
        i += byte < 256 ? size : 1;
    }
    return text;
}

bool tokens_end(const struct tokens *t, int32_t id)
{
    return (double)id == t->end;
}

/* --- words to tokens --- */

/* Return the place in the file of the merge of two neighbours, `n` and `m` bytes from `s` on. */
static uint32_t merge_of(const struct tokens *t, char *pair, const char *s, size_t n, size_t m)
{
    memcpy(pair, s, n);
    pair[n] = ' ';
    memcpy(pair + n + 1, s + n, m);
    return place_of(&t->merge, (struct gguf_string){pair, n + 1 + m});
}

static enum status add_word(struct tokens *t, const char *word, size_t n, struct found *f,
                            struct diag *d)
{
    char *text = arena_alloc(t->a, 2 * n + 1), *pair = arena_alloc(t->a, 2 * n + 2), *p = text;
    size_t *size = ARENA_ARRAY(t->a, size_t, n + 1), parts = n;

    for (size_t i = 0; i < n; i++)
        p += size[i] = put(p, character_of((uint8_t)word[i]));
    for (;;) {
        uint32_t best = t->merge.n;
        size_t at = 0;

        p = text;
        for (size_t i = 0; i + 1 < parts; p += size[i++]) {
            const uint32_t k = merge_of(t, pair, p, size[i], size[i + 1]);
            at = k < best ? i : at;
            best = k < best ? k : best;
        }
        if (best == t->merge.n)
            break;
        size[at] += size[at + 1];
        memmove(&size[at + 1], &size[at + 2], (parts - at - 2) * sizeof *size);
        parts--;
    }
    p = text;
    for (size_t i = 0; i < parts; p += size[i++]) {
        const uint32_t id = place_of(&t->token, (struct gguf_string){p, size[i]});
        if (id == t->token.n)
            return FAIL(d, ST_USAGE, "the prompt: no token has '%.*s'", (int)size[i], p);
        f->id[f->n++] = (int32_t)id;
    }
    return ST_OK;
}

/* --- a text to words --- */

enum kind { SPACE, DIGIT, LETTER, OTHER };

/* Return the kind of the character at `s`: beyond ASCII a letter, except in the blocks of Latin-1's
 * signs and of general punctuation (U+2000 to U+207F). */
static enum kind kind_of(const char *s)
{
    const uint8_t b = (uint8_t)*s;

    if (b == 0xc2 || (b == 0xe2 && ((uint8_t)s[1] & 0xfe) == 0x80))
        return OTHER;
    if (b >= 128 || isalpha(b))
        return LETTER;
    return isspace(b) ? SPACE : isdigit(b) ? DIGIT : OTHER;
}

static size_t same_kind(const char *s, size_t n)
{
    const enum kind kind = kind_of(s);
    size_t k = 0;

    while (k < n && kind_of(s + k) == kind)
        do
            k++;
        while (k < n && ((uint8_t)s[k] & 0xc0) == 0x80);
    return k;
}

/* Return the length of the first word of `n` bytes: an English ending, or characters of one kind with
 * the blank before them; blanks otherwise. */
static size_t word_of(const char *s, size_t n)
{
    static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    size_t k;

    for (uint32_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n >= strlen(endings[i]) && memcmp(s, endings[i], strlen(endings[i])) == 0)
            return strlen(endings[i]);
    if (n > 1 && *s == ' ' && kind_of(s + 1) != SPACE)
        return 1 + same_kind(s + 1, n - 1);
    k = same_kind(s, n);
    return kind_of(s) == SPACE && k < n && k > 1 ? k - 1 : k;
}

static enum status add_words(struct tokens *t, const char *s, size_t n, struct found *f,
                             struct diag *d)
{
    while (n > 0) {
        size_t part = 0, word;

        while (t->single_digits && part < n && kind_of(s + part) != DIGIT)
            part++;
        part = !t->single_digits ? n : part ? part : 1; /* a digit, or what is before it */
        for (size_t i = 0; i < part; i += word) {
            word = word_of(s + i, part - i);
            TRY(add_word(t, s + i, word, f, d));
        }
        s += part;
        n -= part;
    }
    return ST_OK;
}

/* Return the control token that `text` begins with, the longest; t->token.n: none. */
static uint32_t control_at(const struct tokens *t, const char *text)
{
    uint32_t best = t->token.n;

    for (uint32_t i = 0; i < t->token.n; i++) {
        const struct gguf_string s = t->token.list[i];
        if (s.n > 0 && s.text[0] == *text && is_control(t, i) && strncmp(text, s.text, s.n) == 0 &&
            (best == t->token.n || s.n > t->token.list[best].n))
            best = i;
    }
    return best;
}

enum status tokens_of(struct tokens *t, const char *text, int32_t **list, uint32_t *n,
                      struct diag *d)
{
    struct found f = {ARENA_ARRAY(t->a, int32_t, strlen(text) + 2), 0};
    const char *from = text;

    if (t->begin >= 0)
        f.id[f.n++] = (int32_t)t->begin;
    while (*text) {
        const uint32_t id = control_at(t, text);

        if (id == t->token.n) {
            text++;
            continue;
        }
        TRY(add_words(t, from, (size_t)(text - from), &f, d));
        f.id[f.n++] = (int32_t)id;
        text += t->token.list[id].n;
        from = text;
    }
    TRY(add_words(t, from, (size_t)(text - from), &f, d));
    *list = f.id;
    *n = f.n;
    return ST_OK;
}
