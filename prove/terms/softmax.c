/* softmax.c - the rule of softmax: equal tables of exponentials and equal rows give equal results.
 * That the unit and the kernels compute alike from a table is proven apart (docs/PROOF.md). */
#include "rules.h"

void prove_softmax(struct prove *p, const int32_t e[256], const uint32_t *x, uint32_t n,
                   uint32_t *y)
{
    prove_uwide *word = ARENA_ARRAY(p->arena, prove_uwide, (size_t)n + 258);

    for (uint32_t i = 0; i < 256; i++)
        word[2 + i] = (uint32_t)e[i];
    for (uint32_t i = 0; i < n; i++)
        word[258 + i] = p->term[x[i]].element;
    const prove_uwide row = prove_hash(p, word, n + 258);
    for (uint32_t i = 0; i < n; i++) {
        const prove_uwide one[] = {9, row, p->term[x[i]].element};

        y[i] = prove_leaf(p, prove_hash(p, one, 3), -128, 127);
    }
}
