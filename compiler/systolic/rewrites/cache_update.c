/* cache_update.c - rewrite a variable that is read, updated by a part and assigned again as an
 * update in place, which writes only the bytes of that part. in: READ_VARIABLE, UPDATE_SLICE of its
 * result, ASSIGN_VARIABLE of that, no other operator with that variable between them. out:
 * UPDATE_VARIABLE, then READ_VARIABLE for readers of the updated value. */
#include "compiler/ir/rules.h"
#include "rewrites.h"

/* Return the first operator from position `from` on that uses the variable; NULL if none. */
static struct ir_op *next_with(const struct ir_graph *g, uint32_t from, uint32_t variable)
{
    for (uint32_t i = from; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in && !g->op[i]->dead; k++)
            if (g->op[i]->in[k] == variable)
                return g->op[i];
    return NULL;
}

/* Return true if the constant's start indices from dimension `at` on are such that the part starts
 * at 0. */
static bool start_at_0(const struct ir_graph *g, const struct ir_op *update,
                       const struct ir_tensor *numbers, uint32_t at)
{
    const struct ir_tensor *x = ir_in(g, update, 0), *part = ir_in(g, update, 1);

    for (uint32_t i = 0; i < ir_elements(numbers); i++)
        if (x->dim[at + i] > part->dim[at + i] && ir_const_i32(numbers, i) > 0)
            return false;
    return true;
}

/* Return the only computed operand of a CONCATENATION if all others are 0; *axis: the dimension of
 * its first number. Otherwise all numbers are computed. */
static uint32_t computed_part(const struct ir_graph *g, const struct ir_op *update, int32_t *axis)
{
    const struct ir_tensor *start = ir_in(g, update, 2);
    const struct ir_op *join = start->producer == IR_NONE ? NULL : g->op[start->producer];
    uint32_t at = 0, found = IR_NONE, found_at = 0;

    *axis = 0;
    if (!join || join->opcode != IR_OP_CONCATENATION || start->type != IR_I32)
        return start->id;
    for (uint32_t k = 0; k < join->n_in; k++) {
        const struct ir_tensor *t = ir_in(g, join, k);
        const bool constant = t->role == IR_CONST;

        if (constant ? !start_at_0(g, update, t, at) : found != IR_NONE)
            return start->id;
        found = constant ? found : t->id;
        found_at = constant ? found_at : at;
        at += (uint32_t)ir_elements(t);
    }
    if (found == IR_NONE)
        return start->id;
    *axis = (int32_t)found_at;
    return found;
}

static struct ir_op *only_assign(const struct ir_graph *g, const struct ir_op *read,
                                 const struct ir_op *update)
{
    struct ir_op *assign = next_with(g, read->id + 1, read->in[0]);

    return assign && assign->opcode == IR_OP_ASSIGN_VARIABLE && assign->in[0] == update->out[0]
               ? assign
               : NULL;
}

/* Replace the assignment by a read of the current value, right after the update. */
static void rewrite(struct ir_graph *g, struct ir_op *read, struct ir_op *update,
                    struct ir_op *assign)
{
    const uint32_t now = update->out[0], variable = read->in[0];
    int32_t axis;

    update->in[2] = computed_part(g, update, &axis);
    update->in[0] = variable;
    update->opcode = IR_OP_UPDATE_VARIABLE;
    update->attr[IR_AXIS] = axis;
    update->out[0] = assign->out[0];
    assign->opcode = IR_OP_READ_VARIABLE;
    assign->n_in = 1;
    assign->in[0] = variable;
    assign->out[0] = now;
    assign->row = read->row;
    ir_move_op(g, assign->id, update->id + 1);
    read->dead = ir_uses(g, read->out[0]) == 0 && !ir_out(g, read, 0)->is_output;
}

void sys_cache_update(struct ir_graph *g, struct ir_op *update, const struct lgl_options *o)
{
    const uint32_t made = ir_in(g, update, 0)->producer;
    struct ir_op *assign;

    (void)o;
    if (made == IR_NONE || g->op[made]->opcode != IR_OP_READ_VARIABLE)
        return;
    assign = only_assign(g, g->op[made], update);
    if (assign)
        rewrite(g, g->op[made], update, assign);
}
