/* knob_windows.c - see knob_windows.h. A window is the commands of the operators around one, in the
 * layout of all. Windows are tried in rounds while they gain. */
#include "knob_windows.h"

#include <string.h>

struct windows_memory windows_memory(const struct sched_program *p)
{
    const uint32_t n = p->graph->n_op + 1;

    return (struct windows_memory){.changed = ARENA_ARRAY(p->arena, uint32_t, n),
                                   .tried = ARENA_ARRAY(p->arena, uint32_t, n),
                                   .kept = ARENA_ARRAY(p->arena, struct sched_knobs, n)};
}

bool windows_due(const struct search *s, const struct windows_memory *m, uint32_t op,
                 uint32_t first, uint32_t end)
{
    bool due = m->tried[op] == 0;

    for (uint32_t i = first; i < end; i++)
        due = due || m->changed[i] > m->tried[op];
    if (due)
        memcpy(&m->kept[first], &s->p->knobs[first], (end - first) * sizeof *m->kept);
    return due;
}

void windows_tried(const struct search *s, struct windows_memory *m, uint32_t op, uint32_t first,
                   uint32_t end)
{
    m->tried[op] = ++m->now;
    for (uint32_t i = first; i < end; i++)
        if (memcmp(&m->kept[i], &s->p->knobs[i], sizeof *m->kept) != 0)
            m->changed[i] = m->now;
}

/* The state of the windows. */
struct windows {
    struct sched_knobs *kept;    /* the best knobs of the whole program, */
    uint64_t whole;              /* its score */
    uint64_t at[SEARCH_BATCHES]; /* by batch: commands scheduled and score one round ago */
    uint64_t before[SEARCH_BATCHES];
    struct windows_memory memory;
    uint32_t *twin; /* by operator: the last equal operator before it, or IR_NONE */
    bool *repeated; /* by operator: true if it has the knobs of that equal operator */
};

/* Return a hash of an operator's kind and the sizes of its operands and results. */
static uint64_t looks(const struct ir_graph *g, const struct ir_op *op)
{
    uint64_t hash = trials_mix(op->opcode, op->dead);

    for (uint32_t k = 0; k < op->n_in + op->n_out; k++) {
        const struct ir_tensor *t = k < op->n_in ? ir_in(g, op, k) : ir_out(g, op, k - op->n_in);
        for (uint32_t back = 0; t && back < 4; back++)
            hash = trials_mix(hash, (uint64_t)ir_dim_back(t, back));
    }
    return hash;
}

/* Return what each operator looks like. */
static uint64_t *all_looks(const struct sched_program *p)
{
    uint64_t *own = ARENA_ARRAY(p->arena, uint64_t, p->graph->n_op + 1);

    for (uint32_t i = 0; i < p->graph->n_op; i++)
        own[i] = looks(p->graph, p->graph->op[i]);
    return own;
}

uint32_t windows_period(const struct sched_program *p, uint32_t *twin)
{
    const uint32_t n = p->graph->n_op;
    const uint64_t *own = all_looks(p);
    uint32_t period = 0, most = 0;

    for (uint32_t k = 2; k <= n / 2; k++) {
        uint32_t equal = 0;
        for (uint32_t i = k; i < n; i++)
            equal += own[i] == own[i - k];
        if (equal > most + k) { /* twice the period has fewer, about one period's number */
            most = equal;
            period = k;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        twin[i] = period && i >= period && own[i] == own[i - period] ? i - period : IR_NONE;
    return period;
}

/* Find equal operators with equal neighbours, in blocks that repeat. */
static uint32_t *find_twins(const struct sched_program *p)
{
    const uint32_t n = p->graph->n_op;
    const uint64_t *own = all_looks(p);
    uint64_t *all = ARENA_ARRAY(p->arena, uint64_t, n + 1);
    uint32_t *twin = ARENA_ARRAY(p->arena, uint32_t, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k <= 2 * SEARCH_REACH; k++)
            all[i] = trials_mix(all[i], i + k >= SEARCH_REACH && i + k < n + SEARCH_REACH
                                            ? own[i + k - SEARCH_REACH]
                                            : 0);
        twin[i] = i;
        while (twin[i]-- > 0 && all[twin[i]] != all[i])
            ;
    }
    return twin;
}

/* Return true if the whole program gains by the changes since w->kept; otherwise restore
 * w->kept. */
static bool holds(struct search *s, struct windows *w)
{
    size_t n_bytes = s->p->graph->n_op * sizeof *w->kept;
    uint64_t cycles = trials_score(s->trials, 0, 0, s->p->knobs);

    if (cycles >= w->whole) {
        memcpy(s->p->knobs, w->kept, n_bytes);
        return false;
    }
    memcpy(w->kept, s->p->knobs, n_bytes);
    w->whole = cycles;
    return true;
}

/* Copy the knobs of the operators tried to equal operators from `first` on, once. Return true if
 * the whole program gains. */
static bool repeat_blocks(struct search *s, struct windows *w, uint32_t first)
{
    bool any = false;

    for (uint32_t i = first; i < s->p->graph->n_op; i++) {
        const uint32_t from = w->twin[i];
        if (w->repeated[i] || from == IR_NONE || !(w->memory.tried[from] || w->repeated[from]))
            continue;
        any = any || memcmp(&s->p->knobs[i], &s->p->knobs[from], sizeof *s->p->knobs) != 0;
        s->p->knobs[i] = s->p->knobs[from];
        w->repeated[i] = true;
    }
    return any && holds(s, w);
}

/* Search the operator's knobs among its neighbours if one of these has changed since the last
 * try. */
static void one_window(struct search *s, struct windows *w, uint32_t op)
{
    uint32_t first, end;

    windows_around(s, op, SEARCH_REACH, &first, &end);
    if (s->between[op] || !windows_due(s, &w->memory, op, first, end))
        return;
    moves_begin(s, first, end);
    (void)moves_operator(s, op);
    (void)moves_cascade_of_three(s, op);
    (void)moves_strips_with_room(s, op);
    windows_tried(s, &w->memory, op, first, end);
}

/* Return true if the gain since this batch was last tried, per work, is less than five parts in
 * SEARCH_LITTLE of the average of all work. */
static bool gained_little(const struct search *s, struct windows *w, uint32_t batch)
{
    const uint64_t all = s->trials->commands, since = all - w->at[batch], cycles = w->whole >> 32,
                   gain = (w->before[batch] >> 32) - cycles;
    const bool little = w->at[batch] != 0 && gain * SEARCH_LITTLE * all < 5 * cycles * since;

    w->at[batch] = all;
    w->before[batch] = w->whole;
    return little;
}

void windows_descend(struct search *s)
{
    const uint32_t n = s->p->graph->n_op, batch = div_up(n, SEARCH_BATCHES);
    struct arena *a = s->p->arena;
    struct windows w = {.kept = ARENA_ARRAY(a, struct sched_knobs, n + 1),
                        .whole = UINT64_MAX,
                        .memory = windows_memory(s->p),
                        .twin = find_twins(s->p),
                        .repeated = ARENA_ARRAY(a, bool, n + 1)};
    bool better = holds(s, &w);

    while (better) {
        better = false;
        for (uint32_t i = 0; i < n; i++) {
            one_window(s, &w, i);
            if (i % batch != batch - 1 && i + 1 != n)
                continue;
            better |= holds(s, &w);
            if (s->trials->commands * n > s->limit * (i + 1)) /* the limit is reached before all are
                                                               * tried */
                better |= repeat_blocks(s, &w, i + 1);
            if (gained_little(s, &w, i / batch) || s->trials->commands >= s->limit)
                return;
        }
    }
}
