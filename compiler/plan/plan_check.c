/* plan_check.c - independent check of the DRAM plan; shares only the result with arena_plan.c.
 * Visits the operators in order with the set of live tensors: a tensor is live from the operator
 * that writes it until no later operator reads it. At each operator the live tensors of the arena
 * must not overlap each other or the scratch of the operator's host kernel. */
#include "arena_plan.h"

static bool in_arena(const struct sched_program *p, uint32_t id)
{
    return p->place[id].in_memory && p->place[id].mem_region == HD_REGION_ARENA;
}

/* Return one more than the position of the last reader of each tensor or its aliases; 0 if no
 * operator reads it. */
static uint32_t *last_readers(const struct sched_program *p)
{
    const struct ir_graph *g = p->graph;
    uint32_t *last = ARENA_ARRAY(p->arena, uint32_t, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in && !g->op[i]->dead; k++)
            if (g->op[i]->in[k] != IR_NONE)
                last[sched_root(p, g->op[i]->in[k])] = i + 1;
    return last;
}

/* Update the set of live tensors for `s`: remove those without later readers and add the
   outputs. */
static void advance(const struct sched_program *p, struct sched_span s, const uint32_t *last,
                    bool *live)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t t = 0; t < g->n_tensor; t++)
        live[t] = live[t] && last[t] > s.first;
    for (uint32_t i = s.first; i <= s.last; i++)
        for (uint32_t k = 0; k < g->op[i]->n_out && !g->op[i]->dead; k++)
            if (in_arena(p, sched_root(p, g->op[i]->out[k])))
                live[sched_root(p, g->op[i]->out[k])] = true;
}

static enum status check_pair(const struct sched_program *p, uint32_t a, uint32_t b, struct diag *d)
{
    const struct sched_place *x = &p->place[a], *y = &p->place[b];

    if (x->mem_offset + x->mem_bytes <= y->mem_offset ||
        y->mem_offset + y->mem_bytes <= x->mem_offset)
        return ST_OK;
    return FAIL(d, ST_INTERNAL,
                "arena plan: tensors %u [%u, %u) and %u [%u, %u) are alive together and overlap", a,
                x->mem_offset, x->mem_offset + x->mem_bytes, b, y->mem_offset,
                y->mem_offset + y->mem_bytes);
}

static enum status check_bounds(const struct sched_program *p, struct diag *d)
{
    for (uint32_t i = 0; i < p->graph->n_tensor; i++) {
        const struct sched_place *s = &p->place[i];
        if (!in_arena(p, i))
            continue;
        if ((uint64_t)s->mem_offset + s->mem_bytes > p->arena_bytes || s->mem_offset % ARENA_ALIGN)
            return FAIL(
                d, ST_INTERNAL,
                "arena plan: tensor %u [%u, +%u) exceeds the arena of %u bytes or is not aligned",
                i, s->mem_offset, s->mem_bytes, p->arena_bytes);
    }
    return ST_OK;
}

static enum status check_scratch(const struct sched_program *p, uint32_t position, const bool *live,
                                 struct diag *d)
{
    uint32_t n = p->scratch_bytes[position];

    if (n == 0)
        return ST_OK;
    uint64_t begin = p->scratch[position], end = begin + n;
    if (end > p->arena_bytes || begin % ARENA_ALIGN)
        return FAIL(d, ST_INTERNAL,
                    "arena plan: the scratch of operator %u exceeds the arena or is not aligned",
                    position);
    for (uint32_t t = 0; t < p->graph->n_tensor; t++)
        if (live[t] && p->place[t].mem_offset < end &&
            p->place[t].mem_offset + p->place[t].mem_bytes > begin)
            return FAIL(d, ST_INTERNAL,
                        "arena plan: the scratch of operator %u [%llu, %llu) overlaps tensor %u",
                        position, (unsigned long long)begin, (unsigned long long)end, t);
    return ST_OK;
}

enum status arena_check(const struct sched_program *p, struct diag *d)
{
    const struct ir_graph *g = p->graph;
    bool *live = ARENA_ARRAY(p->arena, bool, g->n_tensor + 1);
    const uint32_t *last = last_readers(p);

    TRY(check_bounds(p, d));
    for (uint32_t i = 0; i < g->n_op; i++) {
        advance(p, sched_span_of(p, i), last, live);
        for (uint32_t a = 0; a < g->n_tensor; a++)
            for (uint32_t b = a + 1; b < g->n_tensor && live[a]; b++)
                if (live[b])
                    TRY(check_pair(p, a, b, d));
        TRY(check_scratch(p, i, live, d));
    }
    return ST_OK;
}
