/* onnx_shape.c - shapes that must fit each other. */
#include "onnx_import.h"

bool ox_broadcast(const struct ox_shape *a, const struct ox_shape *b, struct ox_shape *y)
{
    y->rank = a->rank > b->rank ? a->rank : b->rank;
    for (uint32_t back = 0; back < y->rank; back++) {
        const int32_t m = back < a->rank ? a->dim[a->rank - 1 - back] : 1;
        const int32_t n = back < b->rank ? b->dim[b->rank - 1 - back] : 1;

        if (m != n && m != 1 && n != 1)
            return false;
        y->dim[y->rank - 1 - back] = m > n ? m : n;
    }
    return true;
}

enum status ox_common_shape(struct ox *m, const struct ox_shape *a, const struct ox_shape *b,
                            struct ox_shape *y)
{
    if (ox_broadcast(a, b, y))
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "shapes %s and %s do not broadcast",
                ir_shape_text(m->arena, a->rank, a->dim), ir_shape_text(m->arena, b->rank, b->dim));
}

/* Equal types, and shapes that differ along `axis` only; their sum is a valid dimension. */
enum status ox_check_parts(struct ox *m, uint32_t n, const uint32_t *id, uint32_t axis, bool types)
{
    const struct ir_tensor *first = m->g->tensor[id[0]];
    int64_t size = first->rank ? first->dim[axis] : 0;

    for (uint32_t i = 1; i < n; i++) {
        const struct ir_tensor *t = m->g->tensor[id[i]];

        if (t->rank != first->rank || (types && t->type != first->type))
            return FAIL(m->d, ST_MODEL, "part %u: expected %u dimensions of %s, found %u of %s", i,
                        first->rank, ir_type_name(first->type), t->rank, ir_type_name(t->type));
        for (uint32_t k = 0; k < t->rank; k++)
            if (k != axis && t->dim[k] != first->dim[k])
                return FAIL(m->d, ST_MODEL, "part %u: shapes %s and %s differ outside axis %u", i,
                            ir_shape_text(m->arena, first->rank, first->dim),
                            ir_shape_text(m->arena, t->rank, t->dim), axis);
        size += t->dim[axis];
        if (size > INT32_MAX)
            return FAIL(m->d, ST_MODEL, "part %u: the parts have more than 2147483647 in all", i);
    }
    return ST_OK;
}
