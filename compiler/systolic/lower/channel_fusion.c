/* channel_fusion.c - lower operators interleaved by channels. A pool over the whole image reads all
 * rows, but one channel tile of it needs only the same tile of its input. ARRAY therefore computes
 * a group of channels; VECTOR processes the same group (a sum, a table, the pool) while ARRAY
 * computes the next. The pool's result overwrites the first pixel of the channel tiles that it has
 * read, so no more bytes are held than if the operators ran one by one. */
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
