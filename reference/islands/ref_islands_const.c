/* ref_islands_const.c - weights, biases and numbers that the file has as constants: float32,
 * quantised and DEQUANTIZEd, and either times a constant (alpha and beta of Gemm). */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

/* A constant of the file: `t` times `factor`. */
struct constant {
    const struct ir_tensor *t; /* quantised, or float32 */
    float factor;
};

static const struct ir_op *producer(const struct isl *s, uint32_t file_id)
{
    const uint32_t op = s->from->tensor[file_id]->producer;

    return op == IR_NONE ? NULL : s->from->op[op];
}

static bool find_constant(const struct isl *s, uint32_t file_id, struct constant *c)
{
    const struct ir_tensor *t = s->from->tensor[file_id];
    const struct ir_op *op = producer(s, file_id);

    if (t->role == IR_CONST) {
        *c = (struct constant){t, 1};
        return true;
    }
    if (op != NULL && op->opcode == IR_OP_DEQUANTIZE) {
        *c = (struct constant){s->from->tensor[op->in[0]], 1};
        return c->t->role == IR_CONST;
    }
    if (op == NULL || op->opcode != IR_OP_MUL || s->from->tensor[op->in[1]]->role != IR_CONST ||
        ir_elements(s->from->tensor[op->in[1]]) != 1 || !find_constant(s, op->in[0], c))
        return false;
    memcpy(&c->factor, s->from->tensor[op->in[1]]->data, sizeof c->factor);
    return true;
}

bool isl_is_const(const struct isl *s, uint32_t file_id)
{
    struct constant c;

    return find_constant(s, file_id, &c) && c.factor == 1;
}

/* Quantised value i. */
static int32_t at(const struct ir_tensor *t, size_t i)
{
    int32_t v;

    if (t->type == IR_I32)
        memcpy(&v, t->data + 4 * i, sizeof v);
    else
        v = t->type == IR_I8 ? (int8_t)t->data[i] : t->data[i];
    if (t->type == IR_I16)
        v = ((const int16_t *)(const void *)t->data)[i];
    return v;
}

/* Index of element i's scale. */
static size_t scale_at(const struct ir_tensor *t, size_t i)
{
    if (t->quant.n < 2)
        return 0;
    for (uint32_t k = t->rank; k-- > t->quant.axis + 1;)
        i /= (size_t)t->dim[k];
    return i % t->quant.n;
}

const float *isl_values(struct isl *s, const struct ir_tensor *t)
{
    const size_t n = (size_t)ir_elements(t);
    float *v = ARENA_ARRAY(s->arena, float, n);

    for (size_t i = 0; i < n; i++) {
        const size_t k = scale_at(t, i);

        v[i] = t->quant.scale[k] * (float)((int64_t)at(t, i) - t->quant.zero_point[k]);
    }
    return v;
}

enum status isl_read_numbers(struct isl *s, uint32_t file_id, int32_t channels, const double **v)
{
    struct constant c;
    double *to;

    *v = NULL;
    if (!find_constant(s, file_id, &c) || (c.t->type == IR_I32 && c.t->quant.n == 0))
        return ST_OK;
    if (ir_elements(c.t) != 1 && ir_elements(c.t) != (uint64_t)channels)
        return FAIL(s->d, ST_MODEL, "'%.80s': expected 1 or %d numbers, found %llu", c.t->name,
                    channels, (unsigned long long)ir_elements(c.t));
    to = ARENA_ARRAY(s->arena, double, (size_t)channels);
    for (size_t i = 0; i < (size_t)channels; i++) {
        const size_t from = ir_elements(c.t) == 1 ? 0 : i, k = scale_at(c.t, from);
        float f;

        if (c.t->type == IR_F32) {
            memcpy(&f, c.t->data + 4 * from, sizeof f);
            to[i] = (double)f;
        } else {
            to[i] = (double)c.t->quant.scale[k] *
                    ((double)at(c.t, from) - (double)c.t->quant.zero_point[k]);
        }
        to[i] *= (double)c.factor;
    }
    *v = to;
    return ST_OK;
}

/* [K,OC] as [OC,K]. */
static const void *by_rows(struct isl *s, const struct isl_weights *w, const uint8_t *from)
{
    const size_t n = (size_t)w->dim[0], k = (size_t)w->dim[1], size = ir_type_bytes(w->type);
    uint8_t *to = arena_alloc(s->arena, n * k * size);

    for (size_t row = 0; row < k; row++)
        for (size_t col = 0; col < n; col++)
            memcpy(to + (col * k + row) * size, from + (row * n + col) * size, size);
    return to;
}

static void read_scales(struct isl *s, const struct constant *c, struct isl_weights *w)
{
    float *scale = ARENA_ARRAY(s->arena, float, c->t->quant.n);

    for (uint32_t i = 0; i < c->t->quant.n; i++)
        scale[i] = c->factor == 1 ? c->t->quant.scale[i] : c->t->quant.scale[i] * c->factor;
    w->n_scale = c->t->quant.n;
    w->scale = scale;
    w->zero = c->t->quant.zero_point;
}

/* Quantised, but not with a scale for each sum: the values. Floats times their factor. */
static const void *float_data(struct isl *s, const struct constant *c, const struct isl_weights *w)
{
    struct ir_tensor t = *c->t;
    const size_t n = (size_t)ir_elements(c->t);
    float *v;

    if (t.type != IR_F32) {
        t.quant.scale = w->scale;
        return isl_values(s, &t);
    }
    v = arena_memdup(s->arena, t.data, n * sizeof *v);
    for (size_t i = 0; i < n && c->factor != 1; i++)
        v[i] *= c->factor;
    return v;
}

static void read_shape(const struct ir_tensor *t, bool by_column, struct isl_weights *w)
{
    const bool dense = t->rank == 2;

    w->dim[0] = t->dim[by_column ? 1 : 0];
    w->dim[1] = t->dim[by_column ? 0 : 1];
    w->dim[2] = t->rank == 4 ? t->dim[2] : 1;
    w->dim[3] = dense ? 1 : t->dim[t->rank - 1];
}

enum status isl_read_weights(struct isl *s, const struct ir_op *op, struct isl_weights *w)
{
    const bool by_column = op->attr[IR_WEIGHTS_KO] != 0;
    struct constant c;

    if (op->n_in < 2 || !find_constant(s, op->in[1], &c) || c.t->rank < 2 || c.t->rank > 4)
        return FAIL(s->d, ST_UNSUPPORTED, "weights: expected a constant of 2 to 4 dimensions");
    *w = (struct isl_weights){.type = c.t->type, .data = c.t->data};
    read_shape(c.t, by_column, w);
    if (c.t->type != IR_F32)
        read_scales(s, &c, w);
    if (c.t->type == IR_F32 || c.t->type == IR_I16 ||
        (w->n_scale > 1 && c.t->quant.axis != (by_column ? 1 : 0))) {
        w->data = float_data(s, &c, w);
        w->type = IR_F32;
    }
    if (by_column)
        w->data = by_rows(s, w, w->data);
    return ST_OK;
}

struct isl_weights isl_float_weights(struct isl *s, const struct isl_weights *w)
{
    const size_t each = (size_t)w->dim[1] * (size_t)w->dim[2] * (size_t)w->dim[3];
    const size_t n = (size_t)w->dim[0] * each;
    struct isl_weights f = *w;
    float *v;

    if (w->type == IR_F32)
        return f;
    v = ARENA_ARRAY(s->arena, float, n);
    for (size_t i = 0; i < n; i++) {
        const size_t k = w->n_scale > 1 ? i / each : 0;
        const int32_t q =
            w->type == IR_I8 ? ((const int8_t *)w->data)[i] : ((const uint8_t *)w->data)[i];

        v[i] = w->scale[k] * (float)(q - w->zero[k]);
    }
    f.type = IR_F32;
    f.data = v;
    f.n_scale = 0;
    return f;
}
