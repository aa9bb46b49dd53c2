/* exchange.c - find the tensors that the host and a device exchange around a submission if they do
 * not share memory. in: places, regions. out: the tensors that are copied. */
#include "sched_program.h"

/* Return true if `op` runs on the host or on another device than the one that runs `mine`. */
static bool elsewhere(const struct ir_op *op, const struct ir_op *mine)
{
    return !op->dead && (op->region == IR_NONE || op->target != mine->target);
}

/* An output that is a view of an input or a constant is not written. */
static bool others_read(const struct ir_graph *g, uint32_t tensor, const struct ir_op *mine)
{
    if (g->tensor[tensor]->role == IR_INPUT || g->tensor[tensor]->role == IR_CONST)
        return false;
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; elsewhere(g->op[i], mine) && k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == tensor)
                return true;
    return g->tensor[tensor]->is_output;
}

static bool others_write(const struct ir_graph *g, uint32_t tensor, const struct ir_op *mine)
{
    const struct ir_tensor *t = g->tensor[tensor];

    if (t->role == IR_INPUT)
        return true;
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; elsewhere(g->op[i], mine) && k < g->op[i]->n_out; k++)
            if (g->op[i]->out[k] == tensor)
                return true;
    return false;
}

static bool only_tells_where(const struct ir_graph *g, const struct ir_op *op, uint32_t in)
{
    return sched_window_op(g, op) && sched_window_start(op) == in;
}

struct exchange {
    const struct sched_program *p;
    struct sched_exchange *of;
    bool *seen; /* by tensor */
};

static void add(struct exchange *e, uint32_t tensor)
{
    if (e->p->place[tensor].in_memory)
        e->of->tensor[e->of->n++] = tensor;
}

static bool has_submission(const struct sched_program *p, uint32_t region)
{
    for (uint32_t s = 0; s < p->n_stream; s++)
        if (p->stream[s].region == region)
            return true;
    return false;
}

/* Return the variable whose bytes the operand has: itself, or the one that it reads in place, if
 * that read has no submission. IR_NONE if there is none. */
static uint32_t variable_of(const struct exchange *e, uint32_t operand)
{
    const struct ir_graph *g = e->p->graph;

    if (g->tensor[operand]->role == IR_VARIABLE)
        return operand;
    const uint32_t root = sched_root(e->p, operand), producer = g->tensor[root]->producer;
    if (producer == IR_NONE || !ir_is_read(g->op[producer]) ||
        e->p->place[root].mem_region != sched_state_region(g) ||
        has_submission(e->p, g->op[producer]->region))
        return IR_NONE;
    return g->op[producer]->in[0];
}

static void add_operator(struct exchange *e, const struct ir_op *op, bool in)
{
    const struct ir_graph *g = e->p->graph;

    for (uint32_t k = 0; k < op->n_in; k++) { /* the host may have reset it */
        const uint32_t id = op->in[k] == IR_NONE ? IR_NONE : variable_of(e, op->in[k]);
        if (id == IR_NONE || e->seen[id])
            continue;
        e->seen[id] = true;
        add(e, id);
    }
    for (uint32_t k = 0; k < (in ? op->n_in : op->n_out); k++) {
        uint32_t id = in ? op->in[k] : op->out[k];
        if (in && only_tells_where(g, op, k))
            continue;
        if (id != IR_NONE)
            id = sched_root(e->p, id);
        if (id == IR_NONE || e->seen[id])
            continue;
        e->seen[id] = true;
        if (in ? others_write(g, id, op) : others_read(g, id, op))
            add(e, id);
    }
}

/* Return true if the region of `s` has another submission before it, or else after it. */
static bool continues(const struct sched_program *p, const struct sched_stream *s, bool before)
{
    const uint32_t at = (uint32_t)(s - p->stream);

    return before ? at > 0 && s[-1].region == s->region
                  : at + 1 < p->n_stream && s[1].region == s->region;
}

struct sched_exchange sched_exchange(struct arena *a, const struct sched_program *p,
                                     const struct sched_stream *s, bool in)
{
    const struct ir_graph *g = p->graph;
    struct sched_exchange of = {0, ARENA_ARRAY(a, uint32_t, g->n_tensor + 1)};
    struct exchange e = {p, &of, ARENA_ARRAY(a, bool, g->n_tensor + 1)};

    for (uint32_t i = 0; i < g->n_op && !continues(p, s, in); i++)
        if (!g->op[i]->dead && g->op[i]->region == s->region)
            add_operator(&e, g->op[i], in);
    return of;
}

bool sched_output_copied(const struct sched_program *p, uint32_t output)
{
    const struct ir_graph *g = p->graph;
    const uint32_t id = g->out[output];

    return g->tensor[id]->role != IR_VALUE ||
           p->place[id].mem_region != HD_REGION_IO + g->n_in + output;
}
