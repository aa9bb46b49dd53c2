/* tosa_fuse.c - make the one operator of each group that tosa_match.c found. */
#include <string.h>

#include "tosa_group.h"

/* Return a tensor of the type and shape of the file's tensor `t`, of zero point `zero`. */
static uint32_t output(struct tosa *m, uint32_t t, int32_t zero)
{
    const struct tosa_tensor *want = &m->file->tensor[t];
    const uint32_t y = tosa_new(m, IR_I8, want->shape.n, want->shape.v);

    tosa_set_zero(m, y, zero);
    return y;
}

/* Constant weights with `n` scales of 1 along `axis`. */
static uint32_t weights(struct tosa *m, uint32_t id, uint32_t n, uint32_t axis)
{
    const struct ir_tensor *w = m->g->tensor[id];
    const uint32_t y = tosa_const(m, w->type, w->rank, w->dim, w->data);
    float *scale = ARENA_ARRAY(m->arena, float, n);

    for (uint32_t i = 0; i < n; i++)
        scale[i] = 1;
    m->g->tensor[y]->quant = (struct ir_quant){n, axis, scale, ARENA_ARRAY(m->arena, int32_t, n)};
    return y;
}

static uint32_t fused_conv(struct tosa *m, uint32_t n, uint32_t y)
{
    const bool depthwise = m->op->code == TOSA_DEPTHWISE_CONV2D;
    struct tosa_conv_parts c;

    if (!tosa_geometry(m, &c))
        return 0;
    if (n != 1 && n != (uint32_t)c.channels)
        return TOSA_FAIL(m, ST_MODEL, "RESCALE: expected 1 or %d multipliers, found %u", c.channels,
                         n);
    const uint32_t in[3] = {tosa_with_zero(m, tosa_in(m, 0), c.in_zero),
                            weights(m, c.weights, n, depthwise ? 3 : 0),
                            tosa_reshape(m, c.bias, 1, &c.channels)};
    return depthwise ? tosa_make_depthwise_conv2d(m, 3, in, y, c.attr)
                     : tosa_make_conv2d(m, 3, in, y, c.attr);
}

static uint32_t fused_matmul(struct tosa *m, uint32_t y)
{
    uint32_t in[2];

    for (uint32_t i = 0; i < 2; i++)
        in[i] = tosa_with_zero(m, tosa_in(m, i), (int32_t)tosa_value(m, m->op, 2 + i));
    return tosa_make_batch_matmul(m, 2, in, y, NULL);
}

/* The dimensions that the REDUCE_SUMs leave are 1. */
static uint32_t fused_mean(struct tosa *m, const struct group *g, uint32_t y)
{
    const struct operand *o = &g->operand[0];
    const uint32_t x = tosa_with_zero(m, m->id[o->source], o->zero);
    const struct ir_tensor *t = m->g->tensor[x];
    int32_t attr[IR_ATTR_COUNT] = {[IR_KEEP_DIMS] = 1}, dim[IR_MAX_RANK];
    uint32_t inner, at = m->at;

    memcpy(dim, t->dim, sizeof dim);
    for (; m->file->op[at].code == TOSA_REDUCE_SUM; at = m->reader[m->file->op[at].out[0]]) {
        const int32_t axis = m->file->op[at].a.axis;

        if (axis < 0 || axis >= (int32_t)t->rank)
            return TOSA_FAIL(m, ST_MODEL, "axis: expected 0 to %d, found %d", (int32_t)t->rank - 1,
                             axis);
        attr[IR_AXIS] |= 1 << axis;
        dim[axis] = 1;
    }
    inner = tosa_new(m, IR_I8, t->rank, dim);
    m->g->tensor[inner]->quant = m->g->tensor[y]->quant;
    return tosa_make_mean(m, 1, &x, inner, attr);
}

/* The multipliers, shifts and clamp of the operator just made. */
static void set_fixed(struct tosa *m, const struct group *g)
{
    const float bounds[2] = {(float)(g->low - g->zero), (float)(g->high - g->zero)};
    uint32_t n, n_shift;
    struct ir_op *op;
    int32_t *multiplier;
    int8_t *shift;

    if (m->st != ST_OK)
        return;
    op = m->g->op[m->g->n_op - 1];
    const int64_t *v = tosa_values(m, &m->file->op[g->rescale], 1, &n);
    const int64_t *s = tosa_values(m, &m->file->op[g->rescale], 2, &n_shift);

    if (g->n)
        n = g->n;
    multiplier = ARENA_ARRAY(m->arena, int32_t, n);
    shift = ARENA_ARRAY(m->arena, int8_t, n);
    for (uint32_t i = 0; i < n; i++) {
        multiplier[i] = g->n ? g->multiplier[i] : (int32_t)v[i];
        shift[i] = g->n ? g->shift[i] : (int8_t)(31 - s[i]);
    }
    op->fixed = (struct ir_fixed){.n = n, .multiplier = multiplier, .shift = shift};
    if (g->clamp != TOSA_NONE && ir_op_has(op->opcode, IR_ACTIVATION)) {
        op->attr[IR_ACTIVATION] = IR_ACT_CLIP;
        memcpy(&op->attr[IR_CLIP_LOW_BITS], &bounds[0], 4);
        memcpy(&op->attr[IR_CLIP_HIGH_BITS], &bounds[1], 4);
    }
    m->g->row[op->row].macs += ir_macs(m->g, op);
}

static uint32_t fused_sum(struct tosa *m, const struct group *g, uint32_t y)
{
    uint32_t n, in[2];

    (void)tosa_values(m, &m->file->op[g->rescale], 1, &n);
    if (m->op->code == TOSA_CONV2D || m->op->code == TOSA_DEPTHWISE_CONV2D)
        return fused_conv(m, n, y);
    if (m->op->code == TOSA_MATMUL)
        return fused_matmul(m, y);
    if (m->op->code != TOSA_ADD && m->op->code != TOSA_SUB && m->op->code != TOSA_MUL)
        return fused_mean(m, g, y);
    for (uint32_t k = 0; k < 2; k++)
        in[k] = tosa_with_zero(m, m->id[g->operand[k].source], g->operand[k].zero);
    return m->op->code == TOSA_ADD   ? tosa_make_add(m, 2, in, y, NULL)
           : m->op->code == TOSA_SUB ? tosa_make_sub(m, 2, in, y, NULL)
                                     : tosa_make_mul(m, 2, in, y, NULL);
}

/* Rows of what became part of the operator at `to`. */
static void set_rows(struct tosa *m, uint32_t last, uint32_t to)
{
    for (uint32_t i = 0; i < last + 1; i++) {
        const struct tosa_tensor *t;

        if (m->group[i] != last || i == to)
            continue;
        t = &m->file->tensor[m->file->op[i].out[0]];
        m->g->row[m->row[i]].fused_into = m->row[to];
        m->g->row[m->row[i]].tensor = t->name;
        m->g->row[m->row[i]].shape = ir_shape_text(m->arena, t->shape.n, t->shape.v);
    }
}

static uint32_t fused_alone(struct tosa *m, const struct group *g, uint32_t y)
{
    const uint32_t x = tosa_in(m, 0);
    int32_t attr[IR_ATTR_COUNT];

    if (g->table) {
        (void)tosa_make_lut(m, 1, &x, y, NULL);
        if (m->st == ST_OK)
            m->g->op[m->g->n_op - 1]->fixed.table = g->table;
        return y;
    }
    tosa_pool_window(m, attr);
    attr[IR_ROUND_UP] = g->up;
    m->g->tensor[y]->quant = m->g->tensor[x]->quant;
    return tosa_make_average_pool_2d(m, 1, &x, y, attr);
}

uint32_t tosa_fused(struct tosa *m)
{
    const struct tosa_operator *const last = m->op;
    const struct tosa_tensor *want = &m->file->tensor[last->out[0]];
    const struct group *const g = m->found[m->at];
    uint32_t y;

    if (g->sum == TOSA_NONE)
        return fused_alone(m, g, output(m, last->out[0], 0));
    set_rows(m, m->at, g->sum);
    m->at = g->sum;
    m->op = &m->file->op[g->sum];
    y = fused_sum(m, g, output(m, last->out[0], g->zero));
    set_fixed(m, g);
    m->op = last;
    return m->st == ST_OK ? tosa_reshape_to(m, y, want->shape.n, want->shape.v) : 0;
}
