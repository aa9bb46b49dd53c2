/* int16.c - int16 activations. An element is the integer that its two bytes are, 256 * upper + lower + 128 with the lower
 * byte's top bit flipped; a sum of products of elements is a polynomial of theirs. What is made of it, and of elements, is opaque: of equal parameters and arguments it is equal. */
#include "rules.h"

prove_uwide prove_i16(struct prove *p, const uint32_t x[2])
{
    struct prove_sum s = {0};

    prove_add(&s, p, x[1], 0, 256);
    prove_add(&s, p, prove_flip(p, x[0]), 128, 1);
    return prove_value(&s);
}

const prove_uwide *prove_i16s(struct prove *p, const uint32_t *x, size_t n)
{
    prove_uwide *e = ARENA_ARRAY(p->arena, prove_uwide, n + 1);

    for (size_t i = 0; i < n; i++)
        e[i] = prove_i16(p, x + 2 * i);
    return e;
}

void prove_opaque(struct prove *p, const struct prove_opaque *o, uint32_t *y, uint32_t n)
{
    prove_uwide word[PROVE_PARAMETERS + PROVE_ARGUMENTS + 2] = {15, (prove_uwide)o->rule};

    for (uint32_t i = 0; i < PROVE_PARAMETERS; i++)
        word[2 + i] = (uint64_t)o->parameter[i];
    for (uint32_t i = 0; i < PROVE_ARGUMENTS; i++)
        word[2 + PROVE_PARAMETERS + i] = o->of[i];
    const prove_uwide all = prove_hash(p, word, sizeof word / sizeof *word);
    for (uint32_t b = 0; b < n; b++)
        y[b] = prove_leaf(p, prove_hash(p, (const prove_uwide[]){16, all, b}, 3), -128, 127);
}

void prove_sum32(struct prove *p, const struct prove_sum *s, uint32_t y[4])
{
    const struct prove_opaque o = {PROVE_SUM_32, {0}, {prove_value(s)}};

    prove_opaque(p, &o, y, 4);
}
