/* memory_use.c - see memory_use.h. Lifetimes come from the operators alone, places from the plan.
 */
#include "memory_use.h"

/* Range of operator positions; empty if first > last. */
struct life {
    uint32_t first, last;
};

static bool is_activation(const struct ir_tensor *t)
{
    return t->role == IR_VALUE || t->role == IR_INPUT;
}

static void extend(struct life *l, struct sched_span s)
{
    l->first = s.first < l->first ? s.first : l->first;
    l->last = s.last > l->last ? s.last : l->last;
}

/* Return the tensor whose bytes `t` shares: for the result of a RESHAPE its input, for a view
 * (program/view.c) its root. Without a program only RESHAPEs are considered. */
static uint32_t home(const struct ir_graph *g, const struct sched_program *p, uint32_t t)
{
    return p ? sched_root(p, ir_storage(g, t)) : ir_storage(g, t);
}

/* Compute lifetimes by home tensor. spans: interleaved operators count as one; may be NULL. */
static struct life *lives(struct arena *a, const struct ir_graph *g, const struct sched_program *p,
                          const struct sched_span *spans)
{
    struct life *life = ARENA_ARRAY(a, struct life, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_tensor; i++)
        life[i] = (struct life){UINT32_MAX, 0};
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        struct sched_span s = spans ? spans[i] : (struct sched_span){i, i};
        for (uint32_t k = 0; k < op->n_in && !op->dead; k++)
            if (op->in[k] != IR_NONE)
                extend(&life[home(g, p, op->in[k])], s);
        for (uint32_t k = 0; k < op->n_out && !op->dead; k++)
            extend(&life[home(g, p, op->out[k])], s);
    }
    for (uint32_t i = 0; i < g->n_in; i++) {
        struct life *l = &life[home(g, p, g->in[i])];
        l->first = l->first == UINT32_MAX ? UINT32_MAX : 0;
    }
    for (uint32_t i = 0; i < g->n_out && g->n_op; i++) {
        struct life *l = &life[home(g, p, g->out[i])];
        l->last = l->first == UINT32_MAX ? 0 : g->n_op - 1;
    }
    return life;
}

static bool alive(struct life l, uint32_t position)
{
    return l.first <= position && position <= l.last;
}

static uint64_t live_at(const struct ir_graph *g, const struct life *life, uint32_t position)
{
    uint64_t sum = 0;

    for (uint32_t t = 0; t < g->n_tensor; t++)
        if (is_activation(g->tensor[t]) && alive(life[t], position))
            sum += ir_bytes(g->tensor[t]);
    return sum;
}

uint64_t memory_live_bound(struct arena *a, const struct ir_graph *g)
{
    const struct life *life = lives(a, g, NULL, NULL);
    uint64_t *change = ARENA_ARRAY(a, uint64_t, g->n_op + 1), live = 0, bound = 0;

    for (uint32_t t = 0; t < g->n_tensor; t++)
        if (is_activation(g->tensor[t]) && life[t].first <= life[t].last) {
            change[life[t].first] += ir_bytes(g->tensor[t]);
            change[life[t].last + 1] -= ir_bytes(g->tensor[t]);
        }
    for (uint32_t i = 0; i < g->n_op; i++) {
        live += change[i];
        bound = live > bound ? live : bound;
    }
    return bound;
}

uint64_t memory_live_at(struct arena *a, const struct ir_graph *g, const struct sched_span *spans,
                        uint32_t position)
{
    return live_at(g, lives(a, g, NULL, spans), position);
}

/* Tensors with bytes of their own, by home: the first, and after each the next; IR_NONE ends. */
struct members {
    uint32_t *first, *next;
};

static struct members members_of(const struct sched_program *p)
{
    const struct ir_graph *g = p->graph;
    struct members m = {ARENA_ARRAY(p->arena, uint32_t, g->n_tensor + 1),
                        ARENA_ARRAY(p->arena, uint32_t, g->n_tensor + 1)};

    for (uint32_t t = 0; t < g->n_tensor; t++)
        m.first[t] = IR_NONE;
    for (uint32_t t = g->n_tensor; t-- > 0;)
        if (ir_storage(g, t) == t) {
            const uint32_t at = home(g, p, t);
            m.next[t] = m.first[at];
            m.first[at] = t;
        }
    return m;
}

/* Return the bytes of tensors with home `t` that are written or read at `position` or live across
 * it. */
static uint64_t live_of(const struct ir_graph *g, const struct members *m, const struct life *own,
                        uint32_t t, uint32_t position)
{
    const uint64_t whole = ir_bytes(g->tensor[t]);
    uint64_t sum = 0;

    for (uint32_t k = m->first[t]; k != IR_NONE && sum < whole; k = m->next[k])
        if (alive(own[k], position))
            sum += ir_bytes(g->tensor[k]);
    return sum < whole ? sum : whole;
}

/* own: lifetime of each tensor without its aliases. */
static void add_held(const struct sched_program *p, struct memory_use *use)
{
    const struct ir_graph *g = p->graph;
    const struct life *life = lives(p->arena, g, p, p->span), *own = lives(p->arena, g, NULL, NULL);
    const struct members members = members_of(p);

    for (uint32_t t = 0; t < g->n_tensor; t++) {
        const struct sched_place *s = &p->place[t];
        const bool on_chip = s->on_chip && !s->inside;
        const uint64_t whole = s->mem_bytes;
        struct life held = {UINT32_MAX, 0};

        if (!is_activation(g->tensor[t]) || home(g, p, t) != t)
            continue;
        if (s->in_memory && life[t].first <= life[t].last)
            extend(&held, (struct sched_span){life[t].first, life[t].last});
        if (on_chip && s->first <= s->last)
            extend(&held, (struct sched_span){s->first, s->last});
        for (uint32_t i = held.first; i <= held.last && i < g->n_op; i++) {
            const bool memory = s->in_memory && alive(life[t], i);
            const bool chip = on_chip && alive((struct life){s->first, s->last}, i);
            if (!memory && !chip)
                continue;
            const uint64_t live = live_of(g, &members, own, t, i);
            use->at[i].live += live < whole ? live : whole;
            use->at[i].held += whole;
            use->at[i].copies += memory && chip ? whole : 0;
            use->at[i].padding += chip ? whole / s->mem_pitch * s->pitch - whole : 0;
        }
    }
}

static void add_buffers(const struct sched_program *p, struct memory_use *use)
{
    for (uint32_t i = 0; i < p->graph->n_op; i++) {
        struct sched_span s = sched_span_of(p, i);
        for (uint32_t k = s.first; k <= s.last; k++)
            use->at[i].buffers += p->buffer_bytes[k];
        use->at[i].buffers += p->scratch_bytes[i];
    }
}

static bool on_accelerator(const struct ir_op *op)
{
    return !op->dead && op->region != IR_NONE;
}

/* By tensor: accesses of the accelerator's operators and of others. */
struct touched {
    bool made, read; /* by the accelerator */
    bool read_there; /* read by another operator or by the caller */
};

static void add_compulsory(const struct sched_program *p, struct memory_use *use)
{
    const struct ir_graph *g = p->graph;
    struct touched *by = ARENA_ARRAY(p->arena, struct touched, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        bool here = on_accelerator(op);
        for (uint32_t k = 0; k < op->n_in && !op->dead; k++)
            if (op->in[k] != IR_NONE)
                *(here ? &by[op->in[k]].read : &by[op->in[k]].read_there) = true;
        for (uint32_t k = 0; k < op->n_out && here; k++)
            by[op->out[k]].made = true;
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        by[g->out[i]].read_there = true;
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        uint64_t n = ir_border_bytes(g->tensor[i]);
        use->weights += by[i].read && g->tensor[i]->role == IR_CONST ? n : 0;
        use->read += by[i].read && !by[i].made && g->tensor[i]->role != IR_CONST ? n : 0;
        use->write += by[i].made && by[i].read_there ? n : 0;
    }
}

struct memory_use memory_use_of(const struct sched_program *p)
{
    struct memory_use use = {0};

    use.at = ARENA_ARRAY(p->arena, struct memory_at, p->graph->n_op + 1);
    add_held(p, &use);
    add_buffers(p, &use);
    add_compulsory(p, &use);
    for (uint32_t i = 0; i < p->graph->n_op; i++) {
        const struct memory_at *m = &use.at[i];
        use.bound_at = m->live > use.at[use.bound_at].live ? i : use.bound_at;
        use.peak_at = m->held > use.at[use.peak_at].held ? i : use.peak_at;
        use.copies = m->copies > use.copies ? m->copies : use.copies;
        use.padding = m->padding > use.padding ? m->padding : use.padding;
        use.buffers = m->buffers > use.buffers ? m->buffers : use.buffers;
    }
    return use;
}
