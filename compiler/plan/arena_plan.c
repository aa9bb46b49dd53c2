/* arena_plan.c - see arena_plan.h. */
#include "arena_plan.h"

#include "place.h"

struct life {
    uint32_t first, last;
};

static void extend(struct life *l, struct sched_span s)
{
    if (s.first < l->first)
        l->first = s.first;
    if (s.last > l->last)
        l->last = s.last;
}

/* Compute live ranges; interleaved operators count as one, as do tensors that share bytes. */
static void lives(const struct sched_program *p, struct life *life)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t i = 0; i < g->n_tensor; i++)
        life[i] = (struct life){UINT32_MAX, 0};
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        for (uint32_t k = 0; k < op->n_in && !op->dead; k++)
            if (op->in[k] != IR_NONE)
                extend(&life[sched_root(p, op->in[k])], sched_span_of(p, i));
        for (uint32_t k = 0; k < op->n_out && !op->dead; k++)
            extend(&life[sched_root(p, op->out[k])], sched_span_of(p, i));
    }
}

enum status arena_plan(struct sched_program *p, struct diag *d)
{
    const struct ir_graph *g = p->graph;
    struct life *life = ARENA_ARRAY(p->arena, struct life, g->n_tensor + 1);
    struct place_set set;

    place_init(&set, p->arena);
    lives(p, life);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        struct sched_place *s = &p->place[i];
        if (s->in_memory && g->tensor[i]->role == IR_CONST)
            continue;
        if (s->in_memory && s->mem_region == 0)
            s->mem_region = HD_REGION_ARENA; /* streamed by the layout */
        if (s->in_memory && s->mem_region == HD_REGION_ARENA)
            place_add(&set, s->mem_bytes, life[i].first, life[i].last, &s->mem_offset);
    }
    p->scratch = ARENA_ARRAY(p->arena, uint32_t, g->n_op + 1);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (p->scratch_bytes[i])
            place_add(&set, p->scratch_bytes[i], i, i, &p->scratch[i]);
    uint64_t peak = place_solve(&set, p->cut ? SCHED_PAGE : ARENA_ALIGN, UINT64_MAX);
    if (peak > INT32_MAX)
        return FAIL(d, ST_NO_SPACE,
                    "the tensors between its operators and their scratch need %llu bytes at once, "
                    "at most 2147483647",
                    (unsigned long long)peak);
    p->arena_bytes = (uint32_t)peak;
    return ST_OK;
}

void arena_print(const struct sched_program *p, struct text *t)
{
    const struct ir_graph *g = p->graph;

    text_printf(t, "arena: %u bytes\n", p->arena_bytes);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        const struct sched_place *s = &p->place[i];
        if (s->in_memory && s->mem_region == HD_REGION_ARENA && g->tensor[i]->role != IR_CONST)
            text_printf(t, "tensor %u: [%u, %u)\n", i, s->mem_offset, s->mem_offset + s->mem_bytes);
    }
    for (uint32_t i = 0; i < g->n_op; i++)
        if (p->scratch_bytes[i])
            text_printf(t, "scratch of %s: [%u, %u)\n", g->row[g->op[i]->row].name, p->scratch[i],
                        p->scratch[i] + p->scratch_bytes[i]);
}
