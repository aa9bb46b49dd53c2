/* partition_halves.c - see partition_halves.h. */
#include "partition_halves.h"

#include <string.h>

#include "compiler/legalise/new_ops.h"
#include "compiler/systolic/halves/halves.h"

struct halves {
    const struct target_list *targets;
    struct ir_graph *g;
    uint32_t *half;    /* by tensor: what has it as halves, or IR_NONE */
    bool *whole;       /* by tensor: made as int16 */
    uint32_t *same;    /* by tensor: the halves that it is a copy of, or IR_NONE */
    uint32_t *reader;  /* by tensor: row of an operator on the array that reads it, or IR_NONE */
    struct ir_op **op; /* the new order */
    uint32_t n;
};

static bool on_array(const struct halves *h, const struct ir_op *op)
{
    return !op->dead && h->targets->target[op->target]->desc->accelerator && halves_kind(h->g, op);
}

/* Take an operator back from the graph's end, for the host: it has its place in the new order. */
static struct ir_op *for_host(struct halves *h, struct ir_op *op)
{
    h->g->n_op--;
    op->target = h->targets->n - 1;
    op->region = IR_NONE;
    op->reason = "int16 to and from the array";
    return op;
}

static void convert(struct halves *h, uint32_t row, uint32_t from, uint32_t to)
{
    h->op[h->n++] = for_host(h, lgl_make_halves(h->g, row, 1, &from, h->g->tensor[to]));
}

/* Both forms have a name: the tensor's own is the whole one's. */
static const char *name_of(const struct halves *h, uint32_t id)
{
    return arena_printf(h->g->arena, "%s/halves", h->g->tensor[id]->name);
}

/* Make tensor `id` whole, which the array made as halves. */
static void want_whole(struct halves *h, uint32_t id)
{
    if (id == IR_NONE || h->whole[id] || h->half[id] == IR_NONE)
        return;
    h->whole[id] = true;
    if (strcmp(h->g->tensor[h->half[id]]->name, h->g->tensor[id]->name) == 0)
        h->g->tensor[h->half[id]]->name = name_of(h, id);
    convert(h, h->g->op[h->g->tensor[id]->producer]->row, h->half[id], id);
}

/* Make tensor `id`, which is whole, halves if the array reads it. */
static void want_half(struct halves *h, uint32_t id)
{
    h->whole[id] = true;
    if (h->reader[id] == IR_NONE)
        return;
    h->half[id] = halves_of(h->g, h->g->tensor[id], name_of(h, id))->id;
    convert(h, h->reader[id], id, h->half[id]);
}

/* Return true if halves of x are those of y: a RESHAPE moves nothing then. */
static bool same_halves(const struct ir_tensor *x, const struct ir_tensor *y)
{
    int32_t a[4], b[4];

    ir_halves_shape(x, a);
    ir_halves_shape(y, b);
    return memcmp(a, b, sizeof a) == 0;
}

/* A HALVES of the graph converts nothing where the array makes and reads halves: it is dead then. */
static void unite(struct halves *h, struct ir_op *op)
{
    const uint32_t x = op->in[0], y = op->out[0];

    if (ir_in(h->g, op, 0)->type == IR_I8 && h->reader[y] != IR_NONE) {
        h->half[y] = x;
        op->dead = true;
    } else if (ir_in(h->g, op, 0)->type == IR_I16 && h->half[x] != IR_NONE) {
        h->same[y] = h->half[x];
        op->dead = true;
    }
}

static void place(struct halves *h, struct ir_op *op, bool array)
{
    const struct ir_tensor *x = op->n_in ? ir_in(h->g, op, 0) : NULL;

    if (!op->dead && ir_is_reshape(op) && h->half[x->id] != IR_NONE && !h->whole[x->id] &&
        same_halves(x, ir_out(h->g, op, 0))) {
        h->half[op->out[0]] = h->half[x->id];
        op->dead = true;
    }
    if (!op->dead && op->opcode == IR_OP_HALVES)
        unite(h, op);
    for (uint32_t k = 0; k < op->n_in; k++)
        if (op->in[k] != IR_NONE && h->same[op->in[k]] != IR_NONE)
            op->in[k] = h->same[op->in[k]];
    for (uint32_t k = 0; k < op->n_in && !array && !op->dead; k++)
        want_whole(h, op->in[k]);
    h->op[h->n++] = op;
    if (array) {
        h->half[op->out[0]] = halves_of(h->g, ir_out(h->g, op, 0), ir_out(h->g, op, 0)->name)->id;
        return;
    }
    for (uint32_t k = 0; k < op->n_out && !op->dead; k++)
        want_half(h, op->out[k]);
}

/* A RESHAPE on the host from tensor `from` to `to`, in the new order. */
static void reshape(struct halves *h, uint32_t row, uint32_t from, uint32_t to)
{
    struct ir_tensor *const *t = h->g->tensor;

    place(h, for_host(h, lgl_new_reshape(h->g, row, t[from], t[to])), false);
}

/* Let a dense layer whose tensors have other rows than its product read and write tensors of these rows; return those it
 * had in own[2]. */
static void take_rows(struct ir_graph *g, struct ir_op *op, uint32_t own[2])
{
    uint32_t *const of[2] = {&op->in[0], &op->out[0]};

    own[0] = own[1] = IR_NONE;
    if (halves_has_rows(g, op))
        return;
    for (uint32_t i = 0; i < 2; i++) {
        const struct ir_tensor *t = g->tensor[*of[i]];
        struct ir_tensor *rows;
        int32_t dim[2];

        halves_rows(t, ir_in(g, op, 1)->dim[1 - i], dim);
        rows = ir_tensor_new(g, arena_printf(g->arena, "%s/rows", t->name), IR_I16, 2, dim);
        rows->quant = t->quant;
        rows->producer = op->id;
        own[i] = *of[i];
        *of[i] = rows->id;
    }
}

/* Fill in the new order. own: by operator, its tensors where it has others now. */
static void order(struct halves *h, const bool *array, uint32_t (*own)[2])
{
    const struct ir_graph *g = h->g;
    const uint32_t n = g->n_op;

    for (uint32_t i = 0; i < g->n_in; i++)
        want_half(h, g->in[i]);
    for (uint32_t i = 0; i < n; i++) {
        struct ir_op *op = g->op[i];

        if (own[i][0] != IR_NONE)
            reshape(h, op->row, own[i][0], op->in[0]);
        place(h, op, array[i]);
        if (own[i][0] != IR_NONE)
            reshape(h, op->row, op->out[0], own[i][1]);
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        want_whole(h, g->out[i]);
}

static void turn(const struct halves *h, struct ir_op *op)
{
    const struct ir_tensor **x =
        ARENA_ARRAY(h->g->arena, const struct ir_tensor *, halves_operands(h->g, op));

    for (uint32_t k = 0; k < halves_operands(h->g, op); k++)
        if (h->half[op->in[k]] != IR_NONE)
            x[k] = h->g->tensor[h->half[op->in[k]]];
    halves_turn(h->g, op, x, h->g->tensor[h->half[op->out[0]]]);
}

bool partition_halves(const struct target_list *targets, struct ir_graph *g)
{
    const uint32_t n = g->n_op, n_tensor = 2 * g->n_tensor + 4 * n + 1;
    struct halves h = {.targets = targets, .g = g};
    bool *array = ARENA_ARRAY(g->arena, bool, n + 1), any = false;
    uint32_t(*own)[2] = (uint32_t(*)[2])ARENA_ARRAY(g->arena, uint32_t, 2 * (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        any |= array[i] = on_array(&h, g->op[i]);
    if (!any)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        own[i][0] = IR_NONE;
        if (array[i])
            take_rows(g, g->op[i], own[i]);
    }
    h.half = ARENA_ARRAY(g->arena, uint32_t, n_tensor);
    h.reader = ARENA_ARRAY(g->arena, uint32_t, n_tensor);
    h.same = ARENA_ARRAY(g->arena, uint32_t, n_tensor);
    h.whole = ARENA_ARRAY(g->arena, bool, n_tensor);
    h.op = ARENA_ARRAY(g->arena, struct ir_op *, n + n_tensor);
    for (uint32_t i = 0; i < n_tensor; i++)
        h.half[i] = h.same[i] = h.reader[i] = IR_NONE;
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t k = 0; array[i] && k < halves_operands(g, g->op[i]); k++)
            h.reader[g->op[i]->in[k]] = g->op[i]->row;
    order(&h, array, own);
    for (uint32_t i = 0; i < n; i++)
        if (array[i])
            turn(&h, g->op[i]);
    g->op = h.op;
    g->n_op = g->cap_op = h.n;
    return true;
}
