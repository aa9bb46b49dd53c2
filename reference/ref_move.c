/* ref_move.c - operators that only move bytes: reshape, pad, concatenation, transpose, slice,
 * gather, variables. Elements of any size. */
#include <string.h>

#include "ref_kernels.h"

enum status ref_copy(const struct ref_call *c, struct diag *d)
{
    (void)d;
    memcpy(c->y[0], c->x[0], (size_t)ir_bytes(c->out[0]));
    return ST_OK;
}

/* The variable is operand 1; ref_run gives its bytes, which a call may change. */
enum status ref_assign(const struct ref_call *c, struct diag *d)
{
    (void)d;
    memcpy((uint8_t *)(uintptr_t)c->x[1], c->x[0], (size_t)ir_bytes(c->in[0]));
    c->y[0][0] = 1;
    return ST_OK;
}

/* Elements from the base to element i of a tensor of shape `dim`, `step` elements per index. */
static int64_t offset_of(uint32_t rank, const int32_t *dim, const int64_t *step, size_t i)
{
    int64_t offset = 0;

    for (uint32_t k = rank; k-- > 0;) {
        offset += (int64_t)(i % (size_t)dim[k]) * step[k];
        i /= (size_t)dim[k];
    }
    return offset;
}

static void strides_of(const struct ir_tensor *t, int64_t *stride)
{
    int64_t n = 1;

    for (uint32_t k = t->rank; k-- > 0;) {
        stride[k] = n;
        n *= t->dim[k];
    }
}

static int32_t param(const struct ref_call *c, uint32_t input, uint32_t i)
{
    int32_t v;

    memcpy(&v, c->x[input] + (size_t)i * 4, 4);
    return v;
}

/* y[i] = x[base + offset of i], elements. */
static void pick(const struct ref_call *c, int64_t base, const int64_t *step)
{
    const struct ir_tensor *y = c->out[0];
    const size_t n = (size_t)ir_elements(y), size = ir_type_bytes(y->type);

    for (size_t i = 0; i < n; i++)
        memcpy(c->y[0] + i * size,
               c->x[0] + (size_t)(base + offset_of(y->rank, y->dim, step, i)) * size, size);
}

/* Outside the input: `value`, else the zero point, which is 0 for what is not quantised. */
static void fill(const struct ref_call *c)
{
    const size_t size = ir_type_bytes(c->out[0]->type), n = (size_t)ir_elements(c->out[0]);
    const int32_t zero = ir_zero_point(c->out[0]);

    for (size_t i = 0; i < n; i++)
        if (c->op->n_in > 2)
            memcpy(c->y[0] + i * size, c->x[2], size);
        else if (size == 1)
            c->y[0][i] = (uint8_t)zero;
        else
            memset(c->y[0] + i * size, 0, size);
}

enum status ref_pad(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const size_t n = (size_t)ir_elements(x), size = ir_type_bytes(x->type);
    int64_t stride[IR_MAX_RANK], base = 0;

    (void)d;
    strides_of(c->out[0], stride);
    for (uint32_t k = 0; k < x->rank; k++)
        base += param(c, 1, 2 * k) * stride[k];
    fill(c);
    for (size_t i = 0; i < n; i++)
        memcpy(c->y[0] + (size_t)(base + offset_of(x->rank, x->dim, stride, i)) * size,
               c->x[0] + i * size, size);
    return ST_OK;
}

enum status ref_transpose(const struct ref_call *c, struct diag *d)
{
    int64_t stride[IR_MAX_RANK], step[IR_MAX_RANK];

    (void)d;
    strides_of(c->in[0], stride);
    for (uint32_t k = 0; k < c->out[0]->rank; k++)
        step[k] = stride[param(c, 1, k)];
    pick(c, 0, step);
    return ST_OK;
}

enum status ref_slice(const struct ref_call *c, struct diag *d)
{
    int64_t stride[IR_MAX_RANK], base = 0;

    (void)d;
    strides_of(c->in[0], stride);
    for (uint32_t k = 0; k < c->in[0]->rank; k++) {
        base += param(c, 1, k) * stride[k];
        stride[k] *= c->op->n_in > 2 ? param(c, 2, k) : 1;
    }
    pick(c, base, stride);
    return ST_OK;
}

/* Pieces of `axis` and everything inside it are one after another. */
enum status ref_concat(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    size_t outer = 1, n_in = c->op->n_in, at = 0;

    (void)d;
    for (int32_t k = 0; k < c->op->attr[IR_AXIS]; k++)
        outer *= (size_t)y->dim[k];
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < n_in; i++) {
            const size_t piece = (size_t)ir_bytes(c->in[i]) / outer;

            memcpy(c->y[0] + at, c->x[i] + o * piece, piece);
            at += piece;
        }
    return ST_OK;
}

/* y[outer, i, inner] = x[outer, index[i], inner]. */
/* Element i of operand k, int32 or int64. */
static int64_t integer_at(const struct ref_call *c, uint32_t k, size_t i)
{
    int64_t v = 0;
    int32_t narrow;

    if (c->in[k]->type == IR_I64) {
        memcpy(&v, c->x[k] + i * 8, 8);
        return v;
    }
    memcpy(&narrow, c->x[k] + i * 4, 4);
    return narrow;
}

/* Index i of operand 1 in a dimension of `size`: below 0 from the end, never outside. */
static size_t index_at(const struct ref_call *c, size_t i, int32_t size)
{
    int64_t v = integer_at(c, 1, i);

    v = v < 0 ? v + size : v;
    return v < 0 ? 0 : v >= size ? (size_t)size - 1 : (size_t)v;
}

/* Where part starts along dimension k; dimensions that operand 2 has no number of: 0. */
static int64_t start_at(const struct ref_call *c, uint32_t k)
{
    const uint32_t axis = (uint32_t)c->op->attr[IR_AXIS];
    const int64_t last = c->in[0]->dim[k] - c->in[1]->dim[k];
    int64_t start = 0;

    if (k >= axis && k - axis < ir_elements(c->in[2]))
        start = integer_at(c, 2, k - axis);
    return start < 0 ? 0 : start > last ? last : start;
}

/* y[i] = part[i - start] where that is inside of part, else x[i]. */
static void update(const struct ref_call *c, uint8_t *y)
{
    const struct ir_tensor *x = c->in[0], *part = c->in[1];
    const size_t bytes = ir_type_bytes(x->type), n = (size_t)ir_elements(x);

    for (size_t e = 0; e < n; e++) {
        size_t rest = e, from = 0, stride = 1;
        bool inside = true;

        for (uint32_t k = x->rank; k-- > 0;) {
            const int64_t start = start_at(c, k), at = (int64_t)(rest % (size_t)x->dim[k]);

            inside = inside && at >= start && at < start + part->dim[k];
            from += inside ? (size_t)(at - start) * stride : 0;
            stride *= (size_t)part->dim[k];
            rest /= (size_t)x->dim[k];
        }
        memmove(y + e * bytes, inside ? c->x[1] + from * bytes : c->x[0] + e * bytes, bytes);
    }
}

enum status ref_update_slice(const struct ref_call *c, struct diag *d)
{
    (void)d;
    update(c, c->y[0]);
    return ST_OK;
}

/* Operand 0 is a variable, as that of ref_assign. */
enum status ref_update_variable(const struct ref_call *c, struct diag *d)
{
    (void)d;
    update(c, (uint8_t *)(uintptr_t)c->x[0]);
    c->y[0][0] = 1;
    return ST_OK;
}

enum status ref_gather(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const uint32_t axis = (uint32_t)c->op->attr[IR_AXIS],
                   batch = (uint32_t)c->op->attr[IR_BATCH_DIMS];
    size_t batches = 1, outer = 1, inner = ir_type_bytes(x->type), at = 0, n;

    (void)d;
    for (uint32_t k = 0; k < x->rank; k++)
        *(k < batch ? &batches : k < axis ? &outer : &inner) *= k == axis ? 1 : (size_t)x->dim[k];
    n = (size_t)ir_elements(c->in[1]) / batches;
    for (size_t o = 0; o < batches * outer; o++)
        for (size_t i = 0; i < n; i++, at += inner)
            memcpy(c->y[0] + at,
                   c->x[0] +
                       (o * (size_t)x->dim[axis] + index_at(c, o / outer * n + i, x->dim[axis])) *
                           inner,
                   inner);
    return ST_OK;
}

enum status ref_gather_nd(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const size_t depth = (size_t)ir_dim_back(c->in[1], 0),
                 n = (size_t)ir_elements(c->in[1]) / depth;
    size_t inner = ir_type_bytes(x->type);

    (void)d;
    for (size_t k = depth; k < x->rank; k++)
        inner *= (size_t)x->dim[k];
    for (size_t i = 0; i < n; i++) {
        size_t from = 0;

        for (size_t k = 0; k < depth; k++)
            from = from * (size_t)x->dim[k] + index_at(c, i * depth + k, x->dim[k]);
        memcpy(c->y[0] + i * inner, c->x[0] + from * inner, inner);
    }
    return ST_OK;
}
