/* extract.c - see extract.h. */
#include "extract.h"

#include <string.h>

struct extract {
    struct arena *a;
    const struct ir_graph *from;
    struct ir_graph *to;
    uint32_t first, last;
    uint32_t *name; /* by tensor of `from`: its number, or IR_NONE */
    uint32_t *row;  /* by row */
    uint32_t *in, *out;
};

static bool is_inside(const struct extract *x, const struct ir_tensor *t)
{
    return t->producer != IR_NONE && t->producer >= x->first && t->producer <= x->last;
}

static bool others_read(const struct extract *x, uint32_t id)
{
    for (uint32_t i = 0; i < x->from->n_op; i++)
        for (uint32_t k = 0; k < x->from->op[i]->n_in && (i < x->first || i > x->last); k++)
            if (x->from->op[i]->in[k] == id)
                return true;
    return x->from->tensor[id]->is_output;
}

static uint32_t tensor(struct extract *x, uint32_t id)
{
    if (id == IR_NONE || x->name[id] != IR_NONE)
        return id == IR_NONE ? IR_NONE : x->name[id];
    const struct ir_tensor *t = x->from->tensor[id];
    struct ir_tensor *new = ir_tensor_new(x->to, t->name, t->type, t->rank, t->dim);
    new->quant = t->quant;
    new->role = t->role == IR_CONST ? IR_CONST : is_inside(x, t) ? IR_VALUE : IR_INPUT;
    new->data = t->role == IR_CONST ? t->data : NULL;
    if (new->role == IR_INPUT) {
        x->in[x->to->n_in] = id;
        x->to->in[x->to->n_in++] = new->id;
    }
    if (new->role == IR_VALUE && others_read(x, id)) {
        new->is_output = true;
        x->out[x->to->n_out] = id;
        x->to->out[x->to->n_out++] = new->id;
    }
    return x->name[id] = new->id;
}

static uint32_t row(struct extract *x, uint32_t r)
{
    if (x->row[r] == IR_NONE) {
        x->row[r] = x->to->n_row;
        x->to->row[x->to->n_row] = x->from->row[r];
        x->to->row[x->to->n_row++].fused_into = IR_NONE;
    }
    return x->row[r];
}

static void add_op(struct extract *x, const struct ir_op *op)
{
    struct ir_op *new = ir_op_new(x->to, op->opcode, row(x, op->row), op->n_in, op->n_out);

    memcpy(new->attr, op->attr, sizeof new->attr);
    new->fixed = op->fixed;
    for (uint32_t k = 0; k < op->n_in; k++)
        new->in[k] = tensor(x, op->in[k]);
    for (uint32_t k = 0; k < op->n_out; k++) {
        new->out[k] = tensor(x, op->out[k]);
        x->to->tensor[new->out[k]]->producer = new->id;
    }
}

static uint32_t *nothing(struct arena *a, uint32_t n)
{
    uint32_t *list = ARENA_ARRAY(a, uint32_t, n + 1);

    for (uint32_t i = 0; i < n; i++)
        list[i] = IR_NONE;
    return list;
}

struct ir_part ir_extract(struct arena *a, const struct ir_graph *g, uint32_t first, uint32_t last)
{
    struct extract x = {.a = a,
                        .from = g,
                        .to = ir_graph_new(a, g->name),
                        .first = first,
                        .last = last,
                        .name = nothing(a, g->n_tensor),
                        .row = nothing(a, g->n_row),
                        .in = nothing(a, g->n_tensor),
                        .out = nothing(a, g->n_tensor)};

    x.to->in = nothing(a, g->n_tensor);
    x.to->out = nothing(a, g->n_tensor);
    x.to->row = ARENA_ARRAY(a, struct ir_row, g->n_row + 1);
    for (uint32_t i = first; i <= last; i++)
        add_op(&x, g->op[i]);
    return (struct ir_part){x.to, x.in, x.out};
}
