/* places.c - find the tensors in memory and their regions: every tensor that the host or another
 * device reads or writes, except tensors between other devices. in: op->region. out: place[] with
 * in_memory, mem_region, mem_bytes; scratch_bytes. */
#include "host_layer.h"
#include "sched_build.h"

static void mark_memory(struct sched_program *p, uint32_t id, uint32_t region)
{
    struct sched_place *s = &p->place[id];

    if (s->in_memory && s->mem_region != HD_REGION_ARENA)
        return; /* inputs and outputs stay in their own regions */
    s->in_memory = true;
    s->mem_region = region;
}

/* Return, by tensor, whether an operator that is not on another device uses it. */
static bool *concerned(const struct sched_program *p)
{
    const struct ir_graph *g = p->graph;
    bool *is = ARENA_ARRAY(p->arena, bool, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead || (op->region != IR_NONE && !sched_owns(p, op)))
            continue;
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] != IR_NONE)
                is[op->in[k]] = true;
        for (uint32_t k = 0; k < op->n_out; k++)
            is[op->out[k]] = true;
    }
    return is;
}

/* Return true if the value that the operator at `position` reads of a variable can be the
 * variable's own bytes for all its readers: nothing writes these bytes later, and only the program
 * reads the tensor. */
static bool reads_in_place(const struct sched_program *p, uint32_t position)
{
    const struct ir_graph *g = p->graph;
    const struct ir_op *read = g->op[position];

    if (read->dead || !ir_is_read(read) || !sched_owns(p, read))
        return false;
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in && !g->op[i]->dead; k++) {
            const uint32_t id = g->op[i]->in[k];
            if (id == IR_NONE)
                continue;
            if (i > position && id == read->in[0] && !ir_is_read(g->op[i]))
                return false;
            if (ir_storage(g, id) == read->out[0] && !sched_owns(p, g->op[i]))
                return false;
        }
    for (uint32_t i = 0; i < g->n_out; i++)
        if (ir_storage(g, g->out[i]) == read->out[0])
            return false;
    return true;
}

/* Place the variables that operators of the program use in a separate region, which persists
 * between inferences. */
static void mark_state(struct sched_program *p)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++) {
            const uint32_t id = g->op[i]->in[k];
            if (id == IR_NONE || g->tensor[id]->role != IR_VARIABLE || !sched_owns(p, g->op[i]))
                continue;
            mark_memory(p, id, sched_state_region(g));
            p->place[id].mem_offset = (uint32_t)sched_state_offset(g, id);
            if (!reads_in_place(p, i))
                continue;
            mark_memory(p, g->op[i]->out[0], sched_state_region(g));
            p->place[g->op[i]->out[0]].mem_offset = p->place[id].mem_offset;
        }
}

enum status sched_places(struct sched_program *p, struct diag *d)
{
    const struct ir_graph *g = p->graph;
    const bool *mine;

    (void)d;
    if (p->like) {
        p->place = arena_memdup(p->arena, p->like->place, g->n_tensor * sizeof *p->place);
        p->scratch_bytes = p->like->scratch_bytes;
        return ST_OK;
    }
    mine = concerned(p);
    p->place = ARENA_ARRAY(p->arena, struct sched_place, g->n_tensor + 1);
    p->scratch_bytes = host_scratches(p->arena, g);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        p->place[i].mem_bytes = (uint32_t)ir_border_bytes(g->tensor[i]);
        p->place[i].flip = g->tensor[i]->flipped;
        p->place[i].quantised = g->tensor[i]->quantised ? g->tensor[i] : NULL;
    }
    for (uint32_t i = 0; i < g->n_in; i++)
        mark_memory(p, g->in[i], HD_REGION_IO + i);
    for (uint32_t i = 0; i < g->n_out; i++)
        if (g->tensor[g->out[i]]->role == IR_VALUE)
            mark_memory(p, g->out[i], HD_REGION_IO + g->n_in + i);
    mark_state(p);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead || sched_owns(p, op))
            continue;
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] != IR_NONE && mine[op->in[k]] && g->tensor[op->in[k]]->role == IR_VALUE &&
                !ir_inside_call(g, op->in[k]))
                mark_memory(p, op->in[k], HD_REGION_ARENA);
        for (uint32_t k = 0; k < op->n_out; k++)
            if (mine[op->out[k]] && !ir_inside_call(g, op->out[k]))
                mark_memory(p, op->out[k], HD_REGION_ARENA);
    }
    return ST_OK;
}

void sched_print_places(const struct sched_program *p, struct text *t)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t i = 0; i < g->n_tensor; i++) {
        const struct sched_place *s = &p->place[i];
        uint32_t io = s->mem_region - HD_REGION_IO;
        if (!s->in_memory)
            continue;
        text_printf(t, "tensor %u: %u bytes in ", i, s->mem_bytes);
        if (s->mem_region == HD_REGION_ARENA)
            text_add(t, "the arena\n");
        else if (io < g->n_in)
            text_printf(t, "input %u\n", io);
        else if (io == g->n_in + g->n_out)
            text_add(t, "the state\n");
        else
            text_printf(t, "output %u\n", io - g->n_in);
    }
}
