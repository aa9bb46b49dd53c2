/* cut_form.c - what an operator can be cut along, and which part of its operands a part of its result reads. */
#include "compiler/systolic/layout/geometry.h"
#include "cut.h"

static void sizes(const struct ir_tensor *t, uint32_t size[CUT_AXES])
{
    for (uint32_t i = 0; i < CUT_AXES; i++)
        size[i] = (uint32_t)ir_dim_back(t, CUT_AXES - 1 - i);
}

/* Rows of a matrix are the batch. */
static bool dense(const struct ir_graph *g, const struct ir_op *op, struct cut_form *f)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0), *w = ir_in(g, op, 1);
    const uint32_t out = op->attr[IR_WEIGHTS_KO] ? 1 : 0;
    const uint32_t oc = (uint32_t)w->dim[out], k = (uint32_t)w->dim[1 - out];
    const uint32_t rows = (uint32_t)(ir_elements(y) / oc);

    if (w->rank != 2 || ir_elements(x) != (uint64_t)rows * k || op->attr[IR_DIGITS])
        return false;
    f->kind = CUT_DENSE;
    f->mixes = true;
    for (uint32_t i = 0; i < CUT_AXES; i++)
        f->x[i] = f->y[i] = 1;
    f->x[0] = f->y[0] = rows;
    f->x[3] = k;
    f->y[3] = oc;
    f->out_axis = out;
    f->in_axis = 1 - out;
    return true;
}

static bool windows(const struct ir_graph *g, const struct ir_op *op, struct cut_form *f)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    struct geo geo;

    if (!geo_of(g, op, &geo) ||
        (geo.kind != GEO_POOL && geo.kind != GEO_CONV && geo.kind != GEO_DEPTHWISE) ||
        ir_in(g, op, 0)->rank != 4 || op->attr[IR_PADDING] != IR_PADDING_EXPLICIT)
        return false;
    f->kind = CUT_WINDOWS;
    f->kernel[0] = geo.kh;
    f->kernel[1] = geo.kw;
    f->stride[0] = geo.sy;
    f->stride[1] = geo.sx;
    f->dilation[0] = geo.dy ? geo.dy : 1;
    f->dilation[1] = geo.dx ? geo.dx : 1;
    f->pad[0] = (uint32_t)geo.pt;
    f->pad[1] = (uint32_t)geo.pl;
    f->pad_after[0] = (uint32_t)op->attr[IR_PAD_BOTTOM];
    f->pad_after[1] = (uint32_t)op->attr[IR_PAD_RIGHT];
    f->mixes = geo.kind == GEO_CONV;
    f->per_channel = geo.kind == GEO_DEPTHWISE ? f->y[3] / f->x[3] : 1;
    f->out_axis = op->attr[IR_WEIGHTS_KO] || geo.kind == GEO_DEPTHWISE ? 3 : 0;
    f->in_axis = op->attr[IR_WEIGHTS_KO] ? 2 : 3;
    return geo.pt >= 0 && geo.pl >= 0 &&
           (geo.kind != GEO_CONV || w->dim[f->in_axis] == (int32_t)f->x[3]) &&
           (geo.kind == GEO_CONV || f->y[3] == f->x[3] * f->per_channel);
}

/* Each operand has the result's shape. */
static bool same_shapes(const struct ir_graph *g, const struct ir_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!ir_in(g, op, i) || !ir_same_shape(ir_in(g, op, i), ir_out(g, op, 0)))
            return false;
    return op->n_in <= CUT_OPERANDS;
}

/* A reduction over dimensions other than the channels. */
static bool over_axes(const struct ir_graph *g, const struct ir_op *op, struct cut_form *f)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    f->kind = CUT_OVER_AXES;
    return ir_op_has(op->opcode, IR_KEEP_DIMS) && x->rank > 0 &&
           !(op->attr[IR_AXIS] >> (x->rank - 1) & 1) && f->x[3] == f->y[3];
}

static bool without_weights(const struct ir_graph *g, const struct ir_op *op, struct cut_form *f)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);
    struct geo geo;

    if (ir_op_has(op->opcode, IR_AXIS))
        return over_axes(g, op, f);
    f->n_operands = op->n_in;
    f->kind = CUT_POINTWISE;
    if (info->any_layout && !info->moves && same_shapes(g, op))
        return true;
    f->kind = CUT_PER_ROW;
    return same_shapes(g, op) && geo_of(g, op, &geo) && geo.kind == GEO_SOFTMAX;
}

static bool find_kind(const struct ir_graph *g, const struct ir_op *op, struct cut_form *f)
{
    f->n_operands = 1;
    f->product = describe_has_weights(op->opcode);
    if (f->product && !ir_op_has(op->opcode, IR_STRIDE_H))
        return dense(g, op, f);
    if (ir_op_has(op->opcode, IR_STRIDE_H))
        return windows(g, op, f);
    return !ir_op_info(op->opcode)->weights && without_weights(g, op, f);
}

bool cut_form(const struct ir_graph *g, const struct ir_op *op, bool accumulate, struct cut_form *f)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    *f = (struct cut_form){.per_channel = 1};
    if (!x || op->n_out != 1 || x->rank > CUT_AXES || y->rank > CUT_AXES)
        return false;
    sizes(x, f->x);
    sizes(y, f->y);
    if (!find_kind(g, op, f))
        return false;
    for (uint32_t i = 0; i < CUT_DIMS; i++)
        f->all[i] = 1;
    for (uint32_t i = 0; i < CUT_AXES - 1 && f->kind != CUT_OVER_AXES; i++)
        f->all[i] = f->y[i];
    if (f->kind != CUT_PER_ROW)
        f->all[CUT_CHANNELS] = f->y[3] / f->per_channel;
    if (accumulate)
        f->all[CUT_IN_CHANNELS] = f->x[3];
    return true;
}

/* Input [from, from + n) of windows, and what is left of the padding. */
static bool read_windows(const struct cut_form *f, uint32_t d, const struct cut_range *r,
                         struct cut_part *p)
{
    const uint32_t axis = CUT_ROWS + d;
    const int64_t reach =
        (int64_t)(r->n[axis] - 1) * f->stride[d] + (int64_t)(f->kernel[d] - 1) * f->dilation[d] + 1;
    const int64_t begin = (int64_t)r->from[axis] * f->stride[d] - (int64_t)f->pad[d],
                  end = begin + reach;
    const int64_t from = begin < 0 ? 0 : begin, to = end > f->x[axis] ? f->x[axis] : end;

    if (from >= to)
        return false;
    p->x.from[axis] = (uint32_t)from;
    p->x.n[axis] = (uint32_t)(to - from);
    p->before[d] = (uint32_t)(from - begin);
    p->after[d] = (uint32_t)(end - to);
    return true;
}

/* The rows, or columns, that windows read. */
static bool read_axis(const struct cut_form *f, uint32_t d, const struct cut_range *r,
                      struct cut_part *p)
{
    const uint32_t axis = CUT_ROWS + d;

    if (f->kind == CUT_WINDOWS && r->n[axis] < f->all[axis])
        return read_windows(f, d, r, p);
    if (f->kind == CUT_WINDOWS) {
        p->before[d] = f->pad[d];
        p->after[d] = f->pad_after[d];
    }
    if (f->kind == CUT_WINDOWS || f->kind == CUT_OVER_AXES)
        p->x.n[axis] = f->x[axis];
    return true;
}

bool cut_part_of(const struct cut_form *f, const struct cut_range *r, struct cut_part *p)
{
    const uint32_t m = f->per_channel;

    *p = (struct cut_part){.first = r->from[CUT_IN_CHANNELS] == 0,
                           .last = r->from[CUT_IN_CHANNELS] + r->n[CUT_IN_CHANNELS] ==
                                   f->all[CUT_IN_CHANNELS]};
    for (uint32_t i = 0; i < CUT_AXES; i++) {
        p->x.from[i] = p->y.from[i] = r->from[i];
        p->x.n[i] = p->y.n[i] = r->n[i];
    }
    if (f->kind == CUT_PER_ROW)
        p->x.n[3] = p->y.n[3] = f->y[3];
    if (f->kind == CUT_OVER_AXES)
        for (uint32_t i = 0; i + 1 < CUT_AXES; i++) {
            p->x.n[i] = f->x[i];
            p->y.n[i] = f->y[i];
        }
    p->y.from[3] = r->from[CUT_CHANNELS] * m;
    p->y.n[3] = f->kind == CUT_PER_ROW ? f->y[3] : r->n[CUT_CHANNELS] * m;
    if (f->mixes) {
        const bool cut = f->all[CUT_IN_CHANNELS] > 1;
        p->x.from[3] = cut ? r->from[CUT_IN_CHANNELS] : 0;
        p->x.n[3] = cut ? r->n[CUT_IN_CHANNELS] : f->x[3];
    }
    return read_axis(f, 0, r, p) && read_axis(f, 1, r, p);
}
