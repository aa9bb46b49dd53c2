/* onnx_const_move.c - constants moved without looking at their elements: Expand and Tile (of
 * computed tensors too), Concat, Slice, Gather. */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

static struct ox_shape shape_of(const struct ox_const *c)
{
    struct ox_shape s = {.rank = c->rank};

    memcpy(s.dim, c->dim, sizeof s.dim);
    return s;
}

/* Element of `c` for place `at` of its dimensions. */
static uint64_t offset_of(const struct ox_const *c, const int64_t *at)
{
    uint64_t offset = 0;

    for (uint32_t k = 0; k < c->rank; k++)
        offset = offset * (uint64_t)c->dim[k] + (uint64_t)at[k];
    return offset;
}

static void place_of(const struct ox_const *c, uint64_t element, int64_t *at)
{
    for (uint32_t k = c->rank; k-- > 0;) {
        at[k] = (int64_t)(element % (uint64_t)c->dim[k]);
        element /= (uint64_t)c->dim[k];
    }
}

static void copy(struct ox_const *to, uint64_t k, const struct ox_const *from, uint64_t at)
{
    const size_t size = ox_type_bytes(to->type);

    memcpy((uint8_t *)(uintptr_t)to->data + k * size, (const uint8_t *)from->data + at * size,
           size);
}

/* Expand and Tile: element k of each dimension is the input's k modulo its size. */
static enum status repeated(struct ox *m, const struct ox_const *x, const struct ox_shape *y)
{
    struct ox_const to, wide = *x;
    int64_t at[IR_MAX_RANK];

    wide.rank = y->rank;
    for (uint32_t i = 0; i < y->rank; i++)
        wide.dim[i] = i + x->rank < y->rank ? 1 : x->dim[i + x->rank - y->rank];
    TRY(ox_const_new(m, &to, x->type, y->rank, y->dim));
    for (uint64_t k = 0; k < to.n; k++) {
        place_of(&to, k, at);
        for (uint32_t i = 0; i < y->rank; i++)
            at[i] %= wide.dim[i];
        copy(&to, k, x, offset_of(&wide, at));
    }
    ox_set_const(m, 0, &to);
    return ST_OK;
}

/* The shape of Expand (`expands`) or Tile of an input of shape `x`. */
static enum status repeated_shape(struct ox *m, const struct ox_shape *x, bool expands,
                                  struct ox_shape *y)
{
    const char *what = expands ? "shape" : "repeats";
    const struct ox_const *c;
    struct ox_shape by;

    TRY(ox_want_const(m, 1, what, &c));
    TRY(ox_read_shape(m, c, &by));
    if (expands ? !ox_broadcast(x, &by, y) : by.rank != x->rank)
        return FAIL(m->d, ST_MODEL, "%s %s does not fit input %s", what,
                    ir_shape_text(m->arena, by.rank, by.dim),
                    ir_shape_text(m->arena, x->rank, x->dim));
    if (!expands)
        *y = *x;
    for (uint32_t i = 0; i < y->rank; i++) {
        const int64_t n = expands ? y->dim[i] : (int64_t)x->dim[i] * by.dim[i];

        if (n < 1 || n > INT32_MAX ||
            (expands && i + by.rank >= y->rank && by.dim[i + by.rank - y->rank] == 0))
            return FAIL(m->d, ST_UNSUPPORTED, "%s leaves %lld in dimension %u", what, (long long)n,
                        i);
        y->dim[i] = (int32_t)n;
    }
    return ST_OK;
}

/* Computed: a gather for each dimension that grows. */
enum status ox_tile(struct ox *m)
{
    const bool expands = strcmp(m->op, "Expand") == 0;
    const struct ox_value *v = ox_in(m, 0);
    struct ox_shape s, y;
    struct ox_value *x;
    uint32_t id;

    if (v && v->kind == OX_CONST && !v->real && v->c.n != 0) {
        s = shape_of(&v->c);
        TRY(repeated_shape(m, &s, expands, &y));
        return repeated(m, &v->c, &y);
    }
    if (v && v->kind == OX_PENDING) {
        s = v->deferred->shape;
        TRY(repeated_shape(m, &s, expands, &y));
        if (y.rank == s.rank && memcmp(y.dim, s.dim, s.rank * sizeof *s.dim) == 0)
            return ox_identity(m);
    }
    TRY(ox_moved(m, &x));
    s = ox_shape_of(m, x->tensor);
    TRY(repeated_shape(m, &s, expands, &y));
    if (!ir_shape_ok(y.rank, y.dim, m->g->tensor[x->tensor]->type))
        return FAIL(m->d, ST_MODEL, "result %s is too large",
                    ir_shape_text(m->arena, y.rank, y.dim));
    id = x->tensor;
    if (y.rank != s.rank) {
        struct ox_shape wide = {.rank = y.rank, .dim = {1, 1, 1, 1, 1, 1}};

        memcpy(wide.dim + y.rank - s.rank, s.dim, s.rank * sizeof *s.dim);
        id = ox_reshape(m, ox_inner(m, ox_out(m, 0)->name, "wide"), id, wide);
    }
    for (uint32_t k = 0; k < y.rank; k++) {
        const int32_t n = m->g->tensor[id]->dim[k];
        int32_t *index;

        if (n == y.dim[k])
            continue;
        index = ARENA_ARRAY(m->arena, int32_t, (size_t)y.dim[k]);
        for (int32_t i = 0; i < y.dim[k]; i++)
            index[i] = i % n;
        id = ox_gather(m, ox_inner(m, ox_out(m, 0)->name, "axis"), id, k, 1, &y.dim[k], index);
    }
    ox_set_tensor(m, 0, id, x->real);
    return ST_OK;
}

/* The elements of x to move: codes, which keep the one scale of dequantised values, or numbers. */
static struct ox_const elements_of(struct ox *m, const struct ox_value *x)
{
    return x->real && x->quant.n != 1 ? ox_const_values(m, &x->c, &x->quant) : x->c;
}

/* Output 0: constant `c` of elements of x. */
static void set_moved(struct ox *m, const struct ox_value *x, const struct ox_const *c)
{
    struct ox_value *y = ox_out(m, 0);

    ox_set_const(m, 0, c);
    y->real = x->real && x->quant.n == 1;
    if (y->real)
        y->quant = x->quant;
}

enum status ox_concat_const(struct ox *m)
{
    const uint32_t n = (uint32_t)m->node->n_input;
    struct ox_const *c = ARENA_ARRAY(m->arena, struct ox_const, n), to;
    const struct ox_value *first = ox_in(m, 0);
    int64_t at[IR_MAX_RANK], size = 0;
    bool one_scale = true;
    uint64_t done = 0;
    uint32_t axis;

    for (uint32_t i = 0; i < n; i++)
        one_scale = one_scale && ox_in(m, i)->real && ox_in(m, i)->c.type == first->c.type &&
                    ox_same_quant(&ox_in(m, i)->quant, &first->quant);
    for (uint32_t i = 0; i < n; i++) {
        TRY(ox_const_input(m, i, &c[i]));
        c[i] = one_scale ? ox_in(m, i)->c : c[i];
        TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 1), c[0].rank, &axis));
        if (c[i].rank != c[0].rank || c[i].type != c[0].type)
            return FAIL(m->d, ST_MODEL, "part %u: expected %u dimensions of %s, found %u of %s", i,
                        c[0].rank, ox_type_name(c[0].type), c[i].rank, ox_type_name(c[i].type));
        for (uint32_t k = 0; k < c[0].rank; k++)
            if (k != axis && c[i].dim[k] != c[0].dim[k])
                return FAIL(m->d, ST_MODEL, "part %u: shapes %s and %s differ outside axis %u", i,
                            ir_shape_text(m->arena, c[0].rank, c[0].dim),
                            ir_shape_text(m->arena, c[i].rank, c[i].dim), axis);
        size += c[i].dim[axis];
    }
    to = c[0];
    to.dim[axis] = (int32_t)(size > INT32_MAX ? INT32_MAX : size);
    TRY(ox_const_new(m, &to, c[0].type, c[0].rank,
                     (const int32_t[IR_MAX_RANK]){to.dim[0], to.dim[1], to.dim[2], to.dim[3],
                                                  to.dim[4], to.dim[5]}));
    for (uint32_t i = 0; i < n; done += (uint64_t)c[i++].dim[axis])
        for (uint64_t k = 0; k < c[i].n; k++) {
            place_of(&c[i], k, at);
            at[axis] += (int64_t)done;
            copy(&to, offset_of(&to, at), &c[i], k);
        }
    if (one_scale)
        set_moved(m, first, &to);
    else
        ox_set_const(m, 0, &to);
    return ST_OK;
}

enum status ox_slice_const(struct ox *m, const struct ox_value *v, const int32_t *begin,
                           const int32_t *size, const int32_t *step)
{
    const struct ox_const c = elements_of(m, v), *x = &c;
    struct ox_const to;
    int64_t at[IR_MAX_RANK];

    TRY(ox_const_new(m, &to, x->type, x->rank, size));
    for (uint64_t k = 0; k < to.n; k++) {
        place_of(&to, k, at);
        for (uint32_t i = 0; i < x->rank; i++)
            at[i] = begin[i] + at[i] * step[i];
        copy(&to, k, x, offset_of(x, at));
    }
    set_moved(m, v, &to);
    return ST_OK;
}

enum status ox_gather_const(struct ox *m, const struct ox_value *v, const struct ox_const *index)
{
    const struct ox_const c = elements_of(m, v), *x = &c;
    struct ox_shape y = {0};
    struct ox_const to;
    uint64_t inner = 1;
    uint32_t axis;

    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), x->rank, &axis));
    if (x->rank - 1 + index->rank > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "indices: found shape %s",
                    ir_shape_text(m->arena, index->rank, index->dim));
    y.rank = x->rank - 1 + index->rank;
    for (uint32_t i = 0; i < y.rank; i++)
        y.dim[i] = i < axis                 ? x->dim[i]
                   : i < axis + index->rank ? index->dim[i - axis]
                                            : x->dim[i + 1 - index->rank];
    for (uint32_t i = axis + 1; i < x->rank; i++)
        inner *= (uint64_t)x->dim[i];
    TRY(ox_const_new(m, &to, x->type, y.rank, y.dim));
    for (uint64_t k = 0; k < to.n; k++) {
        int64_t i = ox_int(index, k / inner % index->n);

        if (i < -(int64_t)x->dim[axis] || i >= x->dim[axis])
            return FAIL(m->d, ST_MODEL, "index %lld is outside a dimension of %d", (long long)i,
                        x->dim[axis]);
        i += i < 0 ? x->dim[axis] : 0;
        copy(&to, k, x,
             (k / inner / index->n * (uint64_t)x->dim[axis] + (uint64_t)i) * inner + k % inner);
    }
    set_moved(m, v, &to);
    return ST_OK;
}
