/* copies.c - see copies.h. An operand is copied before its view operator reads it. A result is made
 * under another name, which is used by all readers that can read it, and copied for the others. */
#include "copies.h"

#include "compiler/systolic/layout/views.h"
#include "sched_build.h"

struct copies {
    struct ir_graph *g;
    struct ir_op **op; /* the new order */
    uint32_t n;
};

static uint32_t like(struct ir_graph *g, uint32_t id)
{
    const struct ir_tensor *t = g->tensor[id];
    struct ir_tensor *copy = ir_tensor_new(g, t->name, t->type, t->rank, t->dim);

    copy->quant = t->quant;
    return copy->id;
}

static struct ir_op *copy_op(struct ir_graph *g, const struct ir_op *of, uint32_t from, uint32_t to)
{
    struct ir_op *op = ir_make_copy(g, of->row, 1, 1);

    g->n_op--; /* inserted again at its new position */
    op->in[0] = from;
    op->out[0] = to;
    op->target = of->target;
    op->region = of->region;
    op->fixed = (struct ir_fixed){.act_min = INT8_MIN, .act_max = INT8_MAX};
    return op;
}

static void read_instead(struct ir_graph *g, uint32_t old, uint32_t made, const struct ir_op *by)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        for (uint32_t k = 0; !op->dead && k < op->n_in; k++)
            if (op->in[k] == old && op->region != IR_NONE && op->target == by->target &&
                views_reads_parts(g, op, k))
                op->in[k] = made;
    }
}

/* Return true if the operator takes a part of tensor `id` alone: a SLICE. */
static bool takes_part(const struct ir_graph *g, const struct ir_op *op, uint32_t id)
{
    return !op->dead && op->n_in > 0 && op->in[0] == id && views_form(op->opcode) &&
           ir_elements(ir_out(g, op, 0)) < ir_elements(g->tensor[id]);
}

/* One copy serves all operators that take parts of it. */
static void before(struct copies *c, struct ir_op *op, uint32_t in)
{
    const uint32_t from = op->in[in], to = like(c->g, from);
    const bool part = in == 0 && takes_part(c->g, op, from);

    c->op[c->n++] = copy_op(c->g, op, from, to);
    op->in[in] = to;
    for (uint32_t i = op->id; part && i < c->g->n_op; i++) {
        struct ir_op *next = c->g->op[i];
        if (next->target == op->target && next->region == op->region &&
            takes_part(c->g, next, from))
            next->in[0] = to;
    }
}

static void after(struct copies *c, struct ir_op *op)
{
    const uint32_t to = op->out[0];

    op->out[0] = like(c->g, to);
    read_instead(c->g, to, op->out[0], op);
    c->op[c->n++] = copy_op(c->g, op, op->out[0], to);
}

/* Insert the copy and shift the operators that follow by one. */
static enum status mend(struct ir_graph *g, struct views_edge edge, struct diag *d)
{
    struct copies c = {g, ARENA_ARRAY(g->arena, struct ir_op *, g->n_op + 2), 0};
    const uint32_t n = g->n_op;

    for (uint32_t i = 0; i < n; i++) {
        struct ir_op *op = g->op[i];
        if (i == edge.op && edge.in != VIEWS_RESULT)
            before(&c, op, edge.in);
        c.op[c.n++] = op;
        if (i == edge.op && edge.in == VIEWS_RESULT)
            after(&c, op);
    }
    g->op = c.op;
    g->n_op = g->cap_op = c.n;
    return ir_link(g, d);
}

/* Find the first loose edge; later ones depend on it. */
static bool find(struct ir_graph *g, uint32_t target, const struct hd_config *hw,
                 struct views_edge *edge, struct diag *d)
{
    struct arena *own = arena_beside(g->arena);
    struct sched_program p = {.arena = own, .graph = g, .hw = hw, .only = target + 1};
    struct views_edges loose;
    bool any;

    (void)sched_places(&p, d);
    loose = views_find(&p);
    any = loose.n > 0;
    if (any)
        *edge = loose.edge[0];
    arena_free(own);
    return any;
}

enum status copies_insert(struct ir_graph *g, uint32_t target, const struct hd_config *hw,
                          struct diag *d)
{
    struct views_edge edge;
    uint32_t most = 1;

    for (uint32_t i = 0; i < g->n_op; i++)
        most += 2 * (g->op[i]->n_in + 1);
    while (find(g, target, hw, &edge, d)) {
        if (most-- == 0)
            return FAIL(d, ST_INTERNAL, "copies: operator %s still needs one",
                        g->row[g->op[edge.op]->row].name);
        TRY(mend(g, edge, d));
    }
    return ST_OK;
}
