/* walk.c - see walk.h. */
#include "walk.h"

uint64_t prove_walk_values(const uint32_t *shape, const uint32_t *stride)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < 4; i++)
        last += (uint64_t)(shape[i] - 1) * stride[i];
    return last + 1;
}

uint64_t prove_walk_at(const uint32_t *shape, const uint32_t *stride, uint64_t element)
{
    uint64_t at = 0;

    for (uint32_t i = 4; i-- > 0; element /= shape[i])
        at += element % shape[i] * stride[i];
    return at;
}

uint64_t prove_mean_cells(const struct hdk_mean *p)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < 4; i++)
        n *= p->reduce[i] ? 1 : p->shape[i];
    return n;
}

uint64_t prove_mean_cell(const struct hdk_mean *p, uint64_t element)
{
    uint64_t at = 0, step = 1;

    for (uint32_t i = 4; i-- > 0; element /= p->shape[i]) {
        at += p->reduce[i] ? 0 : element % p->shape[i] * step;
        step *= p->reduce[i] ? 1 : p->shape[i];
    }
    return at;
}
