/* alone.c - cost of one operator alone on the accelerator: a network of only that operator,
 * scheduled by rule and estimated as usual. Before the partition nothing else is known of an
 * operator. In a network its neighbours keep its tensors on chip or share its time. */
#include <string.h>

#include "sched_build.h"

/* Copy `t` into `g`: constants unchanged, all others as inputs. */
static uint32_t copy_tensor(struct ir_graph *g, const struct ir_tensor *t)
{
    struct ir_tensor *to = ir_tensor_new(g, t->name, t->type, t->rank, t->dim);
    const uint32_t id = to->id;

    *to = *t;
    to->id = id;
    to->producer = IR_NONE;
    to->is_output = false;
    to->role = t->role == IR_CONST ? IR_CONST : IR_INPUT;
    return id;
}

static uint32_t copy_input(struct ir_graph *to, const struct ir_graph *from, const struct ir_op *op,
                           const struct ir_op *copy, uint32_t i)
{
    uint32_t id;

    if (op->in[i] == IR_NONE)
        return IR_NONE;
    for (uint32_t k = 0; k < i; k++)
        if (op->in[k] == op->in[i])
            return copy->in[k];
    id = copy_tensor(to, from->tensor[op->in[i]]);
    if (to->tensor[id]->role == IR_INPUT)
        to->in[to->n_in++] = id;
    return id;
}

struct ir_graph *sched_alone_graph(struct arena *a, const struct ir_graph *from,
                                   const struct ir_op *op)
{
    struct ir_graph *g = ir_graph_new(a, "alone");
    struct ir_op *copy = ir_op_new(g, op->opcode, 0, op->n_in, op->n_out);

    g->n_row = 1;
    g->row = ARENA_NEW(a, struct ir_row);
    g->row[0] = (struct ir_row){.name = "", .op = "", .fused_into = IR_NONE};
    g->in = ARENA_ARRAY(a, uint32_t, op->n_in + 1);
    g->out = ARENA_ARRAY(a, uint32_t, op->n_out + 1);
    memcpy(copy->attr, op->attr, sizeof copy->attr);
    copy->fixed = op->fixed;
    for (uint32_t i = 0; i < op->n_in; i++)
        copy->in[i] = copy_input(g, from, op, copy, i);
    for (uint32_t i = 0; i < op->n_out; i++) {
        const uint32_t id = copy->out[i] = copy_tensor(g, from->tensor[op->out[i]]);

        g->tensor[id]->role = IR_VALUE;
        g->tensor[id]->producer = copy->id;
        g->tensor[id]->is_output = true;
        g->out[g->n_out++] = id;
    }
    return g;
}

/* Return the larger of the cycles in which ARRAY or VECTOR work and those in which weights
 * arrive. */
static uint64_t busy_cycles(const struct sched_program *p)
{
    uint64_t work = 0, weights = 0;

    for (uint32_t i = 0; i < p->n_stream; i++)
        for (uint32_t k = 0; k < p->stream[i].n; k++) {
            const struct sched_command *c = &p->stream[i].cmd[k];

            if (c->unit == HD_UNIT_ARRAY || c->unit == HD_UNIT_VECTOR)
                work += c->cost;
            else if (c->unit == HD_UNIT_WEIGHT)
                weights += c->cost;
        }
    return work > weights ? work : weights;
}

bool sched_alone(struct ir_graph *g, const struct hd_config *hw, const struct sched_options *o,
                 struct sched_alone *alone)
{
    struct diag d = {0};
    struct sched_program p = {.arena = g->arena, .graph = g, .hw = hw, .options = *o, .dry = true};

    for (uint32_t i = 0; i < g->n_op; i++)
        g->op[i]->target = g->op[i]->region = 0;
    p.knobs = ARENA_ARRAY(g->arena, struct sched_knobs, g->n_op + 1);
    if (sched_build(&p, &d) != ST_OK)
        return false;
    *alone = (struct sched_alone){p.est_cycles, busy_cycles(&p), p.stream[0].cmd[0].est_start};
    return true;
}
