/* partition_search.c - the cheapest assignment of operators to targets that local moves find.
 * cost = sum of the operators' costs + for each tensor the transfers between the targets that make
 * and read it + the start of each submission, which a run of neighbours on one accelerator is. From two starts (first target that takes it; cheapest alone) runs of neighbouring
 * operators are moved to another target while that helps. Exact for chains whose best runs are no
 * longer than RUN; groups (partition_groups.h) are moved whole; deterministic; only a strict gain moves anything, so list order breaks ties. */
#include <string.h>

#include "partition_groups.h"

#define RUN  16 /* longest run of operators that one move takes */
#define GAIN 1e-6

struct readers {
    uint32_t n;
    const uint32_t *op; /* positions */
};

struct search {
    struct partition *p;
    struct ir_graph *g;
    const bool *fixed;
    struct readers *readers; /* by tensor */
    uint32_t *stamp, now;    /* by tensor: counted already */
    uint32_t *group_stamp;   /* by group, likewise */
};

static uint32_t target_of(const struct partition *p, uint32_t producer)
{
    return producer == IR_NONE ? p->targets->n - 1 : p->graph->op[producer]->target;
}

static double moved(const struct partition *p, uint32_t target, uint64_t n_bytes)
{
    const struct target *t = p->targets->target[target];

    return target_report_cycles(t, p->targets, p->hw,
                                t->desc->transfer(t, target_hw(t, p->hw), &p->memory, n_bytes));
}

/* Once out of its producer's memory, once into that of each other target that reads it. */
static double transfer(const struct partition *p, uint32_t id, const struct readers *r)
{
    const struct ir_tensor *t = p->graph->tensor[id];

    if (t->role == IR_CONST)
        return 0;
    uint32_t from = target_of(p, t->producer), seen = 1u << from;
    bool leaves = t->is_output;
    double cost = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t to = p->graph->op[r->op[i]]->target;
        leaves = leaves || to != from;
        if (!(seen >> to & 1))
            cost += moved(p, to, ir_bytes(t));
        seen |= 1u << to;
    }
    return cost + (leaves ? moved(p, from, ir_bytes(t)) : 0);
}

static struct readers *all_readers(const struct ir_graph *g)
{
    struct readers *r = ARENA_ARRAY(g->arena, struct readers, g->n_tensor + 1);
    uint32_t **list = ARENA_ARRAY(g->arena, uint32_t *, g->n_tensor + 1);

    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < g->n_op; i++)
            for (uint32_t k = 0; !g->op[i]->dead && k < g->op[i]->n_in; k++) {
                uint32_t id = g->op[i]->in[k];
                if (id == IR_NONE)
                    continue;
                if (pass == 0) {
                    r[id].n++;
                    continue;
                }
                if (!list[id]) {
                    r[id].op = list[id] = ARENA_ARRAY(g->arena, uint32_t, r[id].n);
                    r[id].n = 0;
                }
                list[id][r[id].n++] = i;
            }
    return r;
}

double partition_transfer(const struct partition *p, uint32_t id)
{
    struct readers *r = all_readers(p->graph);

    return transfer(p, id, &r[id]);
}

static double once(struct search *s, uint32_t id)
{
    if (id == IR_NONE || s->stamp[id] == s->now)
        return 0;
    s->stamp[id] = s->now;
    return transfer(s->p, id, &s->readers[id]);
}

/* The cost of the groups that operator i may be part of, each once. */
static double groups(struct search *s, uint32_t i)
{
    double cost = 0;

    for (uint32_t t = 0; t < s->p->targets->n; t++) {
        const uint32_t k = s->p->in_group[i * s->p->targets->n + t];
        if (k == IR_NONE || s->group_stamp[k] == s->now)
            continue;
        s->group_stamp[k] = s->now;
        cost += groups_adjust(s->p, k);
    }
    return cost;
}

/* The cost of the operator at position i as the first of a submission; a view has no command. */
static double start_of(const struct search *s, uint32_t i)
{
    const uint32_t n = s->p->targets->n, target = s->g->op[i]->target;
    const double start = s->p->candidate[i * n + target].start;

    for (uint32_t k = i; k-- > 0 && start > 0;) {
        const struct ir_op *before = s->g->op[k];
        if (!before->dead && before->target != target)
            return start;
        if (!before->dead && s->p->candidate[k * n + target].start > 0)
            return 0;
    }
    return start;
}

/* The same for the first operator with commands after position `last`, if no operator of the host is
 * between them: the one whose start depends on where `last` is. */
static double start_after(const struct search *s, uint32_t last)
{
    const uint32_t n = s->p->targets->n;

    for (uint32_t i = last + 1; i < s->g->n_op; i++) {
        const struct ir_op *op = s->g->op[i];
        if (!op->dead && s->p->candidate[i * n + op->target].start > 0)
            return start_of(s, i);
        if (!op->dead && op->target + 1 == n)
            return 0;
    }
    return 0;
}

/* All costs that operators [first, last] have a part in. */
static double local(struct search *s, uint32_t first, uint32_t last)
{
    const uint32_t n = s->p->targets->n;
    double cost = start_after(s, last);

    s->now++;
    for (uint32_t i = first; i <= last; i++) {
        const struct ir_op *op = s->g->op[i];
        if (op->dead)
            continue;
        cost += s->p->candidate[i * n + op->target].cost + start_of(s, i) + groups(s, i);
        for (uint32_t k = 0; k < op->n_in; k++)
            cost += once(s, op->in[k]);
        for (uint32_t k = 0; k < op->n_out; k++)
            cost += once(s, op->out[k]);
    }
    return cost;
}

/* Move operators [first, last] to `target`; false if one of them may not go there or nothing
 * changes. */
static bool move(struct search *s, uint32_t first, uint32_t last, uint32_t target, uint32_t *old)
{
    bool changes = false;

    for (uint32_t i = first; i <= last; i++) {
        const struct ir_op *op = s->g->op[i];
        if (op->dead || op->target == target)
            continue;
        if (s->fixed[i] || !groups_may(s->p, i, target))
            return false;
        changes = true;
    }
    for (uint32_t i = first; i <= last && changes; i++) {
        old[i - first] = s->g->op[i]->target;
        s->g->op[i]->target = target;
    }
    return changes;
}

static bool try_run(struct search *s, uint32_t first, uint32_t last)
{
    uint32_t old[RUN];

    for (uint32_t t = 0; t < s->p->targets->n; t++) {
        double before = local(s, first, last);
        if (!move(s, first, last, t, old))
            continue;
        if (local(s, first, last) < before - GAIN)
            return true;
        for (uint32_t i = first; i <= last; i++)
            s->g->op[i]->target = old[i - first];
    }
    return false;
}

/* All operators of group k to `target`, those that it does not take alone to the host. */
static void move_group(struct search *s, uint32_t k, uint32_t target)
{
    const struct partition_group *group = &s->p->group_of_ops[k];
    const uint32_t n = s->p->targets->n;

    for (uint32_t i = 0; i < group->n; i++) {
        const bool takes =
            target == group->target || !s->p->candidate[group->op[i]->id * n + target].why;
        group->op[i]->target = takes ? target : n - 1;
    }
}

/* Move a group to its target or, if it is there, away from it. */
static bool try_group(struct search *s, uint32_t k)
{
    const struct partition_group *group = &s->p->group_of_ops[k];
    const uint32_t first = group->op[0]->id, last = group->op[group->n - 1]->id;
    uint32_t *old = ARENA_ARRAY(s->g->arena, uint32_t, group->n);

    for (uint32_t i = 0; i < group->n; i++) {
        old[i] = group->op[i]->target;
        if (s->fixed[group->op[i]->id])
            return false;
    }
    for (uint32_t t = 0; t < s->p->targets->n; t++) {
        const double before = local(s, first, last);
        move_group(s, k, t);
        if (local(s, first, last) < before - GAIN)
            return true;
        for (uint32_t i = 0; i < group->n; i++)
            group->op[i]->target = old[i];
    }
    return false;
}

static double improve(struct search *s)
{
    bool better = true;

    for (uint32_t round = 0; better && round < 64; round++) {
        better = false;
        for (uint32_t k = 0; k < s->p->n_group; k++)
            better = try_group(s, k) || better;
        for (uint32_t i = 0; i < s->g->n_op; i++)
            for (uint32_t n = 0; n < RUN && i + n < s->g->n_op; n++)
                better = try_run(s, i, i + n) || better;
    }
    return s->g->n_op ? local(s, 0, s->g->n_op - 1) : 0;
}

static void start(struct search *s, bool cheapest)
{
    uint32_t n = s->p->targets->n;

    for (uint32_t i = 0; i < s->g->n_op; i++) {
        const struct partition_candidate *c = &s->p->candidate[i * n];
        uint32_t best = n - 1;
        for (uint32_t t = n; t-- > 0;)
            if (!c[t].why && (!cheapest || c[t].cost <= c[best].cost))
                best = t;
        if (!s->fixed[i] && !s->g->op[i]->dead)
            s->g->op[i]->target = best;
    }
}

void partition_search(struct partition *p, struct ir_graph *g, const bool *fixed)
{
    struct search s = {p, g, fixed, all_readers(g), NULL, 0, NULL};
    uint32_t *first = ARENA_ARRAY(g->arena, uint32_t, g->n_op + 1);

    s.stamp = ARENA_ARRAY(g->arena, uint32_t, g->n_tensor + 1);
    s.group_stamp = ARENA_ARRAY(g->arena, uint32_t, p->n_group + 1);
    start(&s, false);
    double in_order = improve(&s);
    for (uint32_t i = 0; i < g->n_op; i++)
        first[i] = g->op[i]->target;
    start(&s, true);
    p->total = improve(&s);
    if (p->total < in_order - GAIN)
        return;
    p->total = in_order;
    for (uint32_t i = 0; i < g->n_op; i++)
        g->op[i]->target = first[i];
}
