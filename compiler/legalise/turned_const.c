/* turned_const.c - see turned_const.h. */
#include "turned_const.h"

#include <string.h>

#include "new_ops.h"

uint32_t lgl_turned_const(struct ir_graph *g, const struct ir_tensor *t, uint32_t rank,
                          const int32_t *perm)
{
    const size_t size = ir_type_bytes(t->type), n = (size_t)ir_elements(t);
    int32_t dim[IR_MAX_RANK] = {0};
    size_t stride[IR_MAX_RANK] = {0}, all = 1;
    uint8_t *data;

    for (uint32_t k = 0; k < rank; k++)
        dim[perm[k]] = ir_dim_back(t, rank - 1 - k);
    for (uint32_t k = rank; k-- > 0;) {
        stride[k] = all;
        all *= (size_t)dim[k];
    }
    data = arena_alloc(g->arena, n * size);
    for (size_t i = 0; i < n; i++) {
        size_t rest = i, to = 0;

        for (uint32_t k = rank; k-- > 0;) {
            to += rest % (size_t)dim[perm[k]] * stride[perm[k]];
            rest /= (size_t)dim[perm[k]];
        }
        memcpy(data + to * size, t->data + i * size, size);
    }
    return lgl_constant_like(g, t, rank, dim, data)->id;
}

uint32_t lgl_turned_rows(struct ir_graph *g, const struct ir_tensor *t, uint32_t n, uint32_t rank,
                         const int32_t *perm)
{
    const int32_t *from = (const int32_t *)(const void *)t->data;
    int32_t value[2 * IR_MAX_RANK] = {0};

    for (uint32_t k = 0; k < rank; k++)
        for (uint32_t i = 0; i < n; i++)
            value[(uint32_t)perm[k] * n + i] = from[k * n + i];
    return lgl_new_constant(g, t->name, IR_I32, t->rank, t->dim, value)->id;
}

uint32_t lgl_turned_weights(struct ir_graph *g, const struct ir_tensor *w,
                            const struct ir_tensor *t, const int32_t *perm)
{
    const size_t k_n = (size_t)w->dim[1], size = ir_type_bytes(w->type);
    uint8_t *data = arena_alloc(g->arena, (size_t)ir_bytes(w));
    size_t stride[IR_MAX_RANK] = {0}, n = 1;

    for (uint32_t d = t->rank; d-- > 1;) /* dimension d of the source is dimension i of t */
        for (uint32_t i = 1; i < t->rank; i++)
            if (perm[i] == (int32_t)d) {
                stride[i] = n;
                n *= (size_t)t->dim[i];
            }
    for (size_t k = 0; k < k_n; k++) {
        size_t rest = k, to = 0;

        for (uint32_t i = t->rank; i-- > 1;) {
            to += rest % (size_t)t->dim[i] * stride[i];
            rest /= (size_t)t->dim[i];
        }
        for (size_t o = 0; o < (size_t)w->dim[0]; o++)
            memcpy(data + (o * k_n + to) * size, w->data + (o * k_n + k) * size, size);
    }
    return lgl_constant_like(g, w, 2, w->dim, data)->id;
}
