/* cut_part.c - a part of an operator as an operator of its own, alone in a graph: what targets are asked about, and what
 * calls are written of. */
#include <string.h>

#include "compiler/ir/extract.h"
#include "cut.h"

struct cut_alone cut_alone(struct arena *a, const struct ir_graph *g, const struct ir_op *op)
{
    struct ir_graph *graph = ir_extract(a, g, op->id, op->id).graph;

    return (struct cut_alone){g, op, graph, graph->op[0]};
}

uint64_t cut_elements(const struct cut_box *b)
{
    return (uint64_t)b->n[0] * b->n[1] * b->n[2] * b->n[3];
}

bool cut_contiguous(const uint32_t all[CUT_AXES], const struct cut_box *b, uint64_t *at)
{
    bool inside = false, whole = true;

    *at = 0;
    for (uint32_t i = 0; i < CUT_AXES; i++) {
        *at = *at * all[i] + b->from[i];
        whole = whole && (!inside || b->n[i] == all[i]);
        inside = inside || b->n[i] > 1;
    }
    return whole;
}

/* Elements [from, from + n) of dimension `axis`, and their scales. */
static void slice(struct arena *a, struct ir_tensor *t, uint32_t axis, uint32_t from, uint32_t n,
                  bool data)
{
    const size_t bytes = ir_type_bytes(t->type);
    size_t outer = 1, inner = bytes;

    for (uint32_t i = 0; i < t->rank; i++) {
        outer *= i < axis ? (size_t)t->dim[i] : 1;
        inner *= i > axis ? (size_t)t->dim[i] : 1;
    }
    const size_t all = (size_t)t->dim[axis];
    t->dim[axis] = (int32_t)n;
    if (t->quant.n > 1 && t->quant.axis == axis) {
        t->quant.scale += from;
        t->quant.zero_point += from;
        t->quant.n = n;
    }
    if (!data || n == all)
        return;
    uint8_t *to = arena_alloc(a, outer * n * inner);
    for (size_t i = 0; i < outer; i++)
        memcpy(to + i * n * inner, t->data + (i * all + from) * inner, n * inner);
    t->data = to;
}

/* The operand as it is in the whole, constants with all their bytes. */
static struct ir_tensor *again(const struct cut_alone *c, uint32_t i)
{
    const struct ir_tensor *of = ir_in(c->whole, c->of, i);
    struct ir_tensor *t = ir_in(c->graph, c->op, i);

    if (!of)
        return NULL;
    t->rank = of->rank;
    memcpy(t->dim, of->dim, sizeof t->dim);
    t->quant = of->quant;
    t->data = of->data;
    return t;
}

static void set_box(struct ir_tensor *t, const struct cut_form *f, const struct cut_box *b)
{
    if (f->kind == CUT_DENSE) {
        t->rank = 2;
        t->dim[0] = (int32_t)b->n[0];
        t->dim[1] = (int32_t)b->n[3];
        return;
    }
    for (uint32_t i = 0; i < t->rank; i++)
        t->dim[i] = (int32_t)b->n[CUT_AXES - t->rank + i];
}

static void set_weights(const struct cut_alone *c, const struct cut_form *f,
                        const struct cut_part *p, bool data)
{
    struct arena *a = c->graph->arena;
    struct ir_tensor *w = again(c, 1), *bias = again(c, 2);
    const struct ir_fixed *whole = &c->of->fixed;
    const uint32_t from = p->y.from[3], n = p->y.n[3];

    slice(a, w, f->out_axis, from, n, data);
    if (f->mixes)
        slice(a, w, f->in_axis, p->x.from[3], p->x.n[3], data);
    if (bias)
        slice(a, bias, bias->rank - 1, from, n, data);
    c->op->fixed = *whole;
    if (whole->n > 1) {
        c->op->fixed.multiplier = whole->multiplier + from;
        c->op->fixed.shift = whole->shift + from;
        c->op->fixed.n = n;
    }
}

void cut_shape(const struct cut_alone *c, const struct cut_form *f, const struct cut_part *p,
               bool data)
{
    static const enum ir_attr before[] = {IR_PAD_TOP, IR_PAD_LEFT},
                              after[] = {IR_PAD_BOTTOM, IR_PAD_RIGHT};
    struct ir_tensor *y = ir_out(c->graph, c->op, 0);

    for (uint32_t i = 0; i < f->n_operands; i++)
        set_box(again(c, i), f, &p->x);
    y->rank = ir_out(c->whole, c->of, 0)->rank;
    set_box(y, f, &p->y);
    if (f->product)
        set_weights(c, f, p, data);
    for (uint32_t d = 0; d < 2 && f->kind == CUT_WINDOWS; d++) {
        c->op->attr[before[d]] = (int32_t)p->before[d];
        c->op->attr[after[d]] = (int32_t)p->after[d];
    }
}

void cut_range(const struct describe_cut *cut, uint32_t i, struct cut_range *r)
{
    static const enum describe_cut_dim order[] = {CUT_IN_CHANNELS, CUT_CHANNELS, CUT_COLUMNS,
                                                  CUT_ROWS, CUT_BATCH};

    for (uint32_t k = 0; k < CUT_DIMS; k++) {
        const uint32_t d = order[k], size = cut->size[d];
        const uint32_t n = cut_steps(cut->all[d], size);

        r->from[d] = i % n * size;
        r->n[d] = cut_size(cut->all[d], r->from[d], size);
        i /= n;
    }
}
