/* move.c - operators that only move bytes: reshape, pad, concatenation, transpose, slice. */
#include <string.h>

#include "kernels.h"

enum status ref_copy(const struct ref_call *c, struct diag *d)
{
    (void)d;
    memcpy(c->y[0], c->x[0], (size_t)ir_bytes(c->out[0]));
    return ST_OK;
}

/* Offset of element i of a tensor of shape `dim` after `step` bytes per index are counted. */
static size_t offset_of(uint32_t rank, const int32_t *dim, const size_t *step, size_t i)
{
    size_t offset = 0;

    for (uint32_t k = rank; k-- > 0;) {
        offset += i % (size_t)dim[k] * step[k];
        i /= (size_t)dim[k];
    }
    return offset;
}

static void strides_of(const struct ir_tensor *t, size_t *stride)
{
    size_t n = 1;

    for (uint32_t k = t->rank; k-- > 0;) {
        stride[k] = n;
        n *= (size_t)t->dim[k];
    }
}

static int32_t param(const struct ref_call *c, uint32_t i)
{
    int32_t v;

    memcpy(&v, c->x[1] + (size_t)i * 4, 4);
    return v;
}

/* Outside the input: the zero point. */
enum status ref_pad(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *y = c->out[0];
    const size_t n = (size_t)ir_elements(x);
    size_t stride[IR_MAX_RANK], base = 0;

    (void)d;
    strides_of(y, stride);
    for (uint32_t k = 0; k < x->rank; k++)
        base += (size_t)param(c, 2 * k) * stride[k];
    memset(c->y[0], y->quant.zero_point[0], (size_t)ir_elements(y));
    for (size_t i = 0; i < n; i++)
        c->y[0][base + offset_of(x->rank, x->dim, stride, i)] = c->x[0][i];
    return ST_OK;
}

enum status ref_transpose(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *y = c->out[0];
    const size_t n = (size_t)ir_elements(y);
    size_t stride[IR_MAX_RANK], step[IR_MAX_RANK];

    (void)d;
    strides_of(x, stride);
    for (uint32_t k = 0; k < y->rank; k++)
        step[k] = stride[param(c, k)];
    for (size_t i = 0; i < n; i++)
        c->y[0][i] = c->x[0][offset_of(y->rank, y->dim, step, i)];
    return ST_OK;
}

enum status ref_slice(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *y = c->out[0];
    const size_t n = (size_t)ir_elements(y);
    size_t stride[IR_MAX_RANK], base = 0;

    (void)d;
    strides_of(x, stride);
    for (uint32_t k = 0; k < x->rank; k++)
        base += (size_t)param(c, k) * stride[k];
    for (size_t i = 0; i < n; i++)
        c->y[0][i] = c->x[0][base + offset_of(y->rank, y->dim, stride, i)];
    return ST_OK;
}

/* Pieces of `axis` and everything inside it lie one after another. */
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
