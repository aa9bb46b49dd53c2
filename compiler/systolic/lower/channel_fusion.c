/* channel_fusion.c - operators interleaved by channels: a pool over the whole image reads all rows,
 * but of one channel tile only what the same tile of its input is. So ARRAY makes a group of
 * channels, VECTOR takes the same ones on (a sum, a table, the pool) while ARRAY makes the next.
 * The result of a pool takes the place of the first pixel that it reads: of each channel tile that
 * is read by then, so that no more bytes are held than by one operator after the other. */
#include "lower.h"

static enum status one_by_one(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    TRY(lower_array(l, plan));
    for (uint32_t i = 1; i < n; i++)
        TRY(lower_vector(l, &plan[i]));
    return ST_OK;
}

enum status lower_slices(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    if (!layout_slices_whole(plan, n))
        return one_by_one(l, plan, n);
    struct nest *nest = lower_array_begin(l, plan);
    for (uint32_t i = 1; i < n; i++)
        lower_vector_begin(l, &plan[i]);
    for (struct lower_slice s = {0}; lower_array_slice(nest, &s);)
        for (uint32_t i = 1; i < n; i++)
            lower_vector_slice(l, &plan[i], &s);
    return ST_OK;
}
