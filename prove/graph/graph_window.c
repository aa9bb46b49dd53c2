/* graph_window.c - pools, reductions, softmax. */
#include "graph.h"

#include "kernels/hdk.h"

static bool is_byte(const struct ir_tensor *t)
{
    return t->type == IR_I8 || t->type == IR_U8;
}

static uint32_t stored(const struct prove_op *o, uint32_t t)
{
    return o->out->type == IR_U8 ? prove_flip(o->p, t) : t;
}

/* The cells of output i inside the image. */
uint32_t prove_window_cells(const struct prove_op *o, const uint32_t *x, size_t i, uint32_t *cell)
{
    const struct ir_tensor *from = o->in[0], *y = o->out;
    const int32_t *a = o->op->attr;
    const int32_t channel = (int32_t)(i % (size_t)y->dim[3]),
                  pixel = (int32_t)(i / (size_t)y->dim[3]), ox = pixel % y->dim[2],
                  oy = pixel / y->dim[2] % y->dim[1], n = pixel / y->dim[2] / y->dim[1];
    uint32_t cells = 0;

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t iy = oy * a[IR_STRIDE_H] - o->k->pad_top + ky,
                          ix = ox * a[IR_STRIDE_W] - o->k->pad_left + kx;

            if (iy >= 0 && iy < from->dim[1] && ix >= 0 && ix < from->dim[2])
                cell[cells++] =
                    x[((n * from->dim[1] + iy) * from->dim[2] + ix) * from->dim[3] + channel];
        }
    return cells;
}

bool prove_graph_window(const struct prove_op *o)
{
    const bool average = o->op->opcode == IR_OP_AVERAGE_POOL2D;
    const int32_t flip = o->out->type == IR_U8 ? 128 : 0;

    if ((!average && o->op->opcode != IR_OP_MAX_POOL2D) || !is_byte(o->in[0]) || o->k->n_real ||
        o->k->rescale || o->in[0]->type != o->out->type)
        return false;
    const size_t n = (size_t)ir_elements(o->out);
    const uint32_t *x = prove_signed(o, o->in[0], o->x[0]);
    uint32_t *cell = ARENA_ARRAY(
        o->p->arena, uint32_t, (size_t)o->op->attr[IR_KERNEL_H] * (size_t)o->op->attr[IR_KERNEL_W]);
    for (size_t i = 0; i < n; i++) {
        const uint32_t cells = prove_window_cells(o, x, i, cell);
        struct prove_sum s = {0};

        if (cells == 0)
            return false;
        if (average && o->k->n) {
            for (uint32_t c = 0; c < cells; c++)
                prove_add(&s, o->p, cell[c], -prove_zero(o->in[0]), 1);
            o->y[i] = prove_rounded(o, &s, 0);
            continue;
        }
        o->y[i] = stored(
            o, average ? prove_mean_of(o->p, cell, cells, flip || o->op->attr[IR_ROUND_UP],
                                       o->k->low - flip, o->k->high - flip)
                       : prove_most_of(o->p, cell, cells, o->k->low - flip, o->k->high - flip));
    }
    return true;
}

bool prove_graph_reduce(const struct prove_op *o)
{
    const enum ir_opcode code = o->op->opcode;
    const bool mean = code == IR_OP_MEAN || code == IR_OP_SUM;
    const uint32_t mask = (uint32_t)o->op->attr[IR_AXIS];

    if ((!mean && code != IR_OP_REDUCE_MAX && code != IR_OP_REDUCE_MIN) || !is_byte(o->in[0]) ||
        o->in[0]->type != o->out->type || (o->k && o->k->n_real))
        return false;
    const size_t n_out = (size_t)ir_elements(o->out), n = (size_t)ir_elements(o->in[0]) / n_out;
    const uint32_t *x = prove_signed(o, o->in[0], o->x[0]);
    uint32_t *cell = ARENA_ARRAY(o->p->arena, uint32_t, n);
    for (size_t i = 0; i < n_out; i++) {
        const size_t base = ref_pick(o->in[0], ~mask, i);
        struct prove_sum s = {0};

        for (size_t c = 0; c < n; c++) {
            cell[c] = x[base + ref_pick(o->in[0], mask, c)];
            prove_add(&s, o->p, cell[c], -prove_zero(o->in[0]), 1);
        }
        o->y[i] =
            mean ? prove_rounded(o, &s, 0)
                 : stored(o, prove_extremum(o->p,
                                            code == IR_OP_REDUCE_MAX ? PROVE_GREATEST : PROVE_LEAST,
                                            cell, (uint32_t)n));
    }
    return true;
}

/* The 256 results of softmax as the operator's own bytes, int8 inside. */
static void rescale(const struct prove_op *o, int8_t table[256])
{
    const struct ref_call c = {.op = o->op, .out = &o->out, .k = o->k};
    const int32_t lowest = ref_lowest(o->out->type);

    for (int32_t i = 0; i < 256; i++)
        table[i] = (int8_t)((o->k->rescale ? ref_rescaled(&c, lowest + i) - lowest : i) - 128);
}

bool prove_graph_softmax(const struct prove_op *o)
{
    const size_t n = (size_t)ir_elements(o->out);

    if (o->op->opcode != IR_OP_SOFTMAX || !is_byte(o->in[0]) || !is_byte(o->out) || o->k->n_real ||
        o->k->n < 1)
        return false;
    const size_t cols = (size_t)ir_dim_back(o->in[0], 0);
    const uint32_t *x = prove_signed(o, o->in[0], o->x[0]);
    const int32_t shift = o->k->shift[0];
    const struct hdk_softmax p = {1, (uint32_t)cols, o->k->multiplier[0], shift,
                                  -(int32_t)((INT64_C(31) << 26) >> shift)};
    int32_t e[256];
    int8_t table[256];

    rescale(o, table);
    for (int32_t i = 0; i < 256; i++)
        e[(256 - i) % 256] = hdk_softmax_exp(&p, -i);
    for (size_t row = 0; row < n; row += cols)
        prove_softmax(o->p, e, x + row, (uint32_t)cols, o->y + row);
    for (size_t i = 0; i < n; i++)
        o->y[i] = stored(o, prove_table(o->p, table, o->y[i]));
    return true;
}
