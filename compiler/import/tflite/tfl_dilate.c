/* tfl_dilate.c - merge SPACE_TO_BATCH_ND, a convolution and BATCH_TO_SPACE_ND, which converters
 * wrote before the format had dilation, into a dilated convolution. Its pads are the paddings minus
 * the crops. */
#include <string.h>

#include "compiler/ir/rules.h"
#include "tfl_import.h"

static const char *name_of(const struct tfl_importer *m, uint32_t i)
{
    return m->g->row[i].op;
}

/* Return the operator before `last` that computes file tensor `t`; IR_NONE if there is none of that
 * name. */
static uint32_t maker(const struct tfl_importer *m, int32_t t, uint32_t last, const char *name)
{
    for (uint32_t i = last; i-- > 0;)
        if (m->file->op[i].out.n == 1 && m->file->op[i].out.v[0] == t)
            return strcmp(name_of(m, i), name) == 0 ? i : IR_NONE;
    return IR_NONE;
}

/* Return the only reader of file tensor `t`, which is not a graph output; IR_NONE if there are
 * several or its name differs. */
static uint32_t only_reader(const struct tfl_importer *m, int32_t t, const char *name)
{
    uint32_t reader = IR_NONE, n = 0;

    for (uint32_t i = 0; i < m->file->n_operator; i++)
        for (uint32_t k = 0; k < m->file->op[i].in.n; k++)
            if (m->file->op[i].in.v[k] == t) {
                reader = i;
                n++;
            }
    for (uint32_t i = 0; i < m->file->out.n; i++)
        n += m->file->out.v[i] == t;
    return n == 1 && reader != IR_NONE && strcmp(name_of(m, reader), name) == 0 &&
                   m->file->op[reader].in.n == 3 && m->file->op[reader].in.v[0] == t &&
                   m->file->op[reader].out.n == 1
               ? reader
               : IR_NONE;
}

static bool is_plain(const struct tfl_operator *src)
{
    const struct tfl_options *o = &src->options;

    return o->padding == 1 && o->stride_h == 1 && o->stride_w == 1 && o->dilation_h == 1 &&
           o->dilation_w == 1;
}

/* Set the dilated form's attributes; return false if a pad would be negative. */
static bool set_window(struct ir_op *op, const struct tfl_blocks *to, const struct tfl_blocks *back)
{
    int32_t pad[2][2];

    if (to->n != 2 || back->n != 2)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < 2; k++) {
            pad[i][k] = to->edge[i][k] - back->edge[i][k];
            if (to->block[i] != back->block[i] || pad[i][k] < 0)
                return false;
        }
    op->attr[IR_DILATION_H] = to->block[0];
    op->attr[IR_DILATION_W] = to->block[1];
    op->attr[IR_PAD_TOP] = pad[0][0];
    op->attr[IR_PAD_BOTTOM] = pad[0][1];
    op->attr[IR_PAD_LEFT] = pad[1][0];
    op->attr[IR_PAD_RIGHT] = pad[1][1];
    return true;
}

enum status tfl_dilate(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const uint32_t self = op->row, first = maker(m, src->in.v[0], self, "SPACE_TO_BATCH_ND");
    const uint32_t last = only_reader(m, src->out.v[0], "BATCH_TO_SPACE_ND");
    struct tfl_blocks to, back;
    struct ir_tensor *y = ir_out(m->g, op, 0), *whole;
    struct diag quiet = {.status = ST_OK};
    struct ir_op trial = *op;
    uint32_t x, out;

    if (first == IR_NONE || last == IR_NONE || last <= self || !is_plain(src))
        return ST_OK;
    TRY(tfl_value(m, &m->file->op[first], 0, &x));
    TRY(tfl_blocks_of(m, &m->file->op[first], m->g->tensor[x], &to));
    TRY(tfl_blocks_of(m, &m->file->op[last], y, &back));
    TRY(tfl_follow(m, last)); /* its output is made here */
    TRY(tfl_result(m, &m->file->op[last], 0, &out));
    whole = m->g->tensor[out];
    if (!set_window(&trial, &to, &back) || ir_want_moved(y, whole, &quiet) != ST_OK)
        return ST_OK;
    *op = trial;
    op->in[0] = x;
    op->out[0] = out;
    y->producer = IR_NONE;
    whole->producer = op->id;
    m->merged[last] = true;
    m->g->row[last].fused_into = self;
    if (only_reader(m, src->in.v[0], name_of(m, self)) != IR_NONE)
        m->g->row[first].fused_into = self;
    return ST_OK;
}
