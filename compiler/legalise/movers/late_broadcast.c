/* late_broadcast.c - compute values before they are repeated: a padding mask of S values, which exporters make
 * S x S, and what a layer after a global pool makes of each repeated value.
 * in: operators that make each value from one of each operand, of which operands repeat theirs along a dimension (a
 * GATHER of the only element, many times; a constant of equal elements).  out: operators of fewer values, GATHERs
 * after them. An operator of two operands whose result the other one spans reads what was repeated. */
#include <string.h>

#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum { OPERANDS = 3 };

/* The operands of an operator that makes each value from one of each; 0: of another. */
static uint32_t operands_of(const struct ir_op *op)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);
    const bool converts =
        info->keeps_values && !info->moves && !info->any_shape && info->in.most == 1;

    if (op->dead || op->n_out != 1)
        return 0;
    if (converts || (op->fixed.table && op->n_in == 1))
        return 1;
    const uint32_t n = info->types == TYPE_BOOL ? op->n_in : lgl_float_operands(op);
    return n == op->n_in ? n : 0;
}

/* Return the GATHER that makes t by repeating the only element of a dimension, or NULL. */
static struct ir_op *repeats(const struct ir_graph *g, const struct ir_tensor *t)
{
    struct ir_op *op = t->producer == IR_NONE ? NULL : g->op[t->producer];
    const struct ir_tensor *x, *index;

    if (!op || op->dead || !ir_gathers(op) || op->attr[IR_BATCH_DIMS] != 0)
        return NULL;
    x = ir_in(g, op, 0);
    index = ir_in(g, op, 1);
    return index->role == IR_CONST && index->rank == 1 && x->rank == t->rank &&
                   x->dim[op->attr[IR_AXIS]] == 1
               ? op
               : NULL;
}

static bool is_alike(const struct ir_tensor *t)
{
    const size_t each = ir_type_bytes(t->type);

    for (uint64_t i = 1; i < ir_elements(t); i++)
        if (memcmp(t->data, t->data + i * each, each) != 0)
            return false;
    return true;
}

/* Return what t repeats, or t. A constant stays; *alike: its elements are equal. */
static const struct ir_tensor *unrepeated(const struct ir_graph *g, const struct ir_tensor *t,
                                          bool *alike)
{
    const struct ir_op *op;

    while ((op = repeats(g, t)) != NULL)
        t = ir_in(g, op, 0);
    *alike = t->role == IR_CONST && t->quant.n <= 1 && is_alike(t);
    return t;
}

/* GATHERs that nothing reads any more go to `row`. */
static void drop(struct ir_graph *g, const struct ir_tensor *t, uint32_t row)
{
    struct ir_op *op;

    while ((op = repeats(g, t)) != NULL && !t->is_output && ir_uses(g, t->id) == 0) {
        bool alone = op->row != row;

        op->dead = true;
        for (uint32_t i = 0; i < g->n_op; i++)
            alone = alone && (g->op[i]->dead || g->op[i]->row != op->row);
        if (alone)
            g->row[op->row].fused_into = row;
        t = ir_in(g, op, 0);
    }
}

/* y = x repeated along the dimensions that are larger in y. */
static void repeat(struct ir_graph *g, uint32_t row, const struct ir_tensor *x, struct ir_tensor *y)
{
    int32_t dim[IR_MAX_RANK];

    memcpy(dim, x->dim, sizeof dim);
    for (uint32_t i = 0; i < y->rank; i++) {
        struct ir_tensor *to = y;

        if (dim[i] == y->dim[i])
            continue;
        dim[i] = y->dim[i];
        if (memcmp(dim, y->dim, y->rank * sizeof *dim) != 0) {
            to = ir_tensor_new(g, y->name, y->type, y->rank, dim);
            to->quant = y->quant;
        }
        lgl_new_gather(g, row, x, i, ARENA_ARRAY(g->arena, int32_t, (size_t)dim[i]), to);
        x = to;
    }
}

/* Rewrite the operator; false: its operands repeat nothing that it could do without. */
static bool compute_first(struct ir_graph *g, const struct lgl_options *o, struct ir_op *op)
{
    const uint32_t n = operands_of(op);
    const struct ir_tensor *from[OPERANDS];
    struct ir_tensor *y = ir_out(g, op, 0), *fewer;
    int32_t dim[IR_MAX_RANK];
    bool alike[OPERANDS], repeated = false;

    for (uint32_t i = 0; i < y->rank; i++)
        dim[i] = 1;
    for (uint32_t k = 0; k < n; k++) {
        from[k] = unrepeated(g, ir_in(g, op, k), &alike[k]);
        repeated = repeated || from[k] != ir_in(g, op, k) || (alike[k] && n > 1);
        for (uint32_t i = 0; i < y->rank && !alike[k]; i++)
            if (ir_dim_back(from[k], y->rank - 1 - i) > 1)
                dim[i] = y->dim[i];
    }
    if (!repeated || y->rank == 0)
        return false;
    const bool same = memcmp(dim, y->dim, y->rank * sizeof *dim) == 0;
    bool changed = !same;
    for (uint32_t k = 0; k < n; k++) {
        const struct ir_tensor *was = ir_in(g, op, k), *now = from[k];

        if (same && ir_is_code(y->type) && o->array_rows == 0)
            now = was; /* other devices may take operands of the result's shape alone */
        else if (!same && alike[k] && ir_elements(now) > 1)
            now = lgl_constant_like(g, now, 1, (const int32_t[]){1}, now->data);
        changed = changed || now != was;
        op->in[k] = now->id;
        drop(g, was, op->row);
    }
    if (same)
        return changed;
    fewer = ir_tensor_new(g, y->name, y->type, y->rank, dim);
    fewer->quant = y->quant;
    op->out[0] = fewer->id;
    fewer->producer = op->id;
    repeat(g, op->row, fewer, y);
    return true;
}

enum status lgl_late_broadcast(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->n_op; i++)
            changed = (operands_of(g->op[i]) > 0 && compute_first(g, o, g->op[i])) || changed;
        TRY(ir_link(g, d));
    }
    return ST_OK;
}
