/* lstm.c - the rules of an LSTM. A byte of a scaled sum, and what a cell makes of such bytes, are opaque: of equal
 * parameters and arguments they are equal. */
#include "rules.h"

enum { OF_BYTE = 17, OF_CELL, OF_CELL_BYTE };

uint32_t prove_wide_byte(struct prove *p, const struct prove_sum *s, const struct prove_scale *by,
                         uint32_t n, uint32_t byte)
{
    const prove_uwide word[] = {
        OF_BYTE, prove_value(s), (uint32_t)by->multiplier, (uint32_t)by->shift, (uint32_t)by->z, n,
        byte};

    return prove_leaf(p, prove_hash(p, word, sizeof word / sizeof *word), -128, 127);
}

void prove_cell(struct prove *p, const struct prove_cell *c, uint32_t y[3])
{
    enum { PARAMETERS = 6, BYTES = PROVE_X_BYTES + PROVE_H_BYTES };
    prove_uwide word[PARAMETERS + BYTES * PROVE_GATES + 2] = {OF_CELL,
                                                              (uint32_t)c->shift,
                                                              (uint32_t)c->bound,
                                                              (uint32_t)c->out.multiplier,
                                                              (uint32_t)c->out.shift,
                                                              (uint32_t)c->out.z};
    uint32_t n = PARAMETERS;

    for (uint32_t b = 0; b < BYTES; b++)
        for (uint32_t g = 0; g < PROVE_GATES; g++)
            word[n++] =
                p->term[b < PROVE_X_BYTES ? c->x[b][g] : c->h[b - PROVE_X_BYTES][g]].element;
    word[n++] = p->term[c->state[0]].element;
    word[n++] = p->term[c->state[1]].element;
    const prove_uwide all = prove_hash(p, word, n);
    for (uint32_t k = 0; k < 3; k++)
        y[k] =
            prove_leaf(p, prove_hash(p, (const prove_uwide[]){OF_CELL_BYTE, all, k}, 3), -128, 127);
}
