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

uint32_t prove_pool_cells(const struct hdk_pool *p, const uint32_t *x, uint64_t e, uint32_t *cell)
{
    const uint64_t channel = e % p->channels, pixel = e / p->channels;
    const int64_t ox = (int64_t)(pixel % p->out_w), oy = (int64_t)(pixel / p->out_w % p->out_h);
    const uint32_t *from =
        x + pixel / p->out_w / p->out_h * p->in_h * p->in_w * p->channels + channel;
    uint32_t cells = 0;

    for (int64_t ky = 0; ky < p->kernel_h; ky++)
        for (int64_t kx = 0; kx < p->kernel_w; kx++) {
            const int64_t iy = oy * p->stride_y - p->pad_top + ky,
                          ix = ox * p->stride_x - p->pad_left + kx;
            if (iy >= 0 && iy < p->in_h && ix >= 0 && ix < p->in_w)
                cell[cells++] = from[(iy * p->in_w + ix) * p->channels];
        }
    return cells;
}
