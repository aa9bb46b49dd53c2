/* partition_groups.c - see partition_groups.h. */
#include "partition_groups.h"

#include <string.h>

static struct partition_candidate *answer(const struct partition *p, uint32_t i, uint32_t t)
{
    return (struct partition_candidate *)(uintptr_t)&p->candidate[i * p->targets->n + t];
}

static void add(struct partition *p, struct ir_graph *g, uint32_t t,
                const struct target_group *group)
{
    struct partition_group *to = &p->group_of_ops[p->n_group];
    const double cycles =
        target_report_cycles(p->targets->target[t], p->targets, p->hw, group->cycles);

    *to = (struct partition_group){
        group->name, t, group->n, ARENA_ARRAY(g->arena, struct ir_op *, group->n), cycles, false};
    for (uint32_t k = 0; k < group->n; k++) {
        to->op[k] = g->op[group->op[k]];
        p->in_group[group->op[k] * p->targets->n + t] = p->n_group;
    }
    p->n_group++;
}

void groups_find(struct partition *p, struct ir_graph *g, const bool *kept)
{
    const uint32_t n = p->targets->n;
    struct target_groups list[TARGET_MAX] = {{0}};
    uint32_t most = 0;

    for (uint32_t t = 0; t < n; t++) {
        const struct target *target = p->targets->target[t];
        const struct target_question q = {g->arena, g, NULL, target, target_hw(target, p->hw),
                                          p->memory};
        if (target->desc->groups)
            list[t] = target->desc->groups(&q, kept);
        for (uint32_t i = 0; i < g->n_op && list[t].why; i++)
            if (list[t].why[i])
                answer(p, i, t)->why = list[t].why[i];
        most += list[t].n;
    }
    p->in_group = ARENA_ARRAY(g->arena, uint32_t, (size_t)g->n_op * n + 1);
    for (uint32_t i = 0; i < g->n_op * n; i++)
        p->in_group[i] = IR_NONE;
    p->group_of_ops = ARENA_ARRAY(g->arena, struct partition_group, most + 1);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t k = 0; k < list[t].n; k++)
            add(p, g, t, &list[t].group[k]);
}

bool groups_may(const struct partition *p, uint32_t i, uint32_t t)
{
    return !answer(p, i, t)->why || p->in_group[i * p->targets->n + t] != IR_NONE;
}

void groups_take(const struct partition *p, struct ir_graph *g, uint32_t k, bool *fixed)
{
    const struct partition_group *group = &p->group_of_ops[k];

    for (uint32_t i = 0; i < group->n; i++) {
        group->op[i]->target = group->target;
        for (uint32_t at = 0; at < g->n_op && fixed; at++)
            fixed[at] = fixed[at] || g->op[at] == group->op[i];
    }
}

double groups_adjust(const struct partition *p, uint32_t k)
{
    const struct partition_group *group = &p->group_of_ops[k];
    double own = 0, never = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < group->n; i++) {
        const struct partition_candidate *c = answer(p, group->op[i]->id, group->target);
        if (group->op[i]->target != group->target)
            continue;
        n++;
        own += c->why ? 0 : c->cost;
        never += c->why ? GROUPS_NEVER : 0;
    }
    return n == group->n ? group->cycles - own : never;
}

static bool whole(const struct partition_group *group)
{
    for (uint32_t i = 0; i < group->n; i++)
        if (group->op[i]->target != group->target)
            return false;
    return true;
}

static const char *only_in(const struct ir_graph *g, const struct partition_group *group,
                           uint32_t i)
{
    const struct ir_op *other = group->op[i + 1 < group->n ? group->n - 1 : 0];

    return arena_printf(g->arena, "only in %s with %s, %.0f cycles together", group->name,
                        g->row[other->row].name, group->cycles);
}

void groups_close(struct partition *p, struct ir_graph *g)
{
    uint32_t call = 0;

    for (uint32_t k = 0; k < p->n_group; k++) {
        struct partition_group *group = &p->group_of_ops[k];
        group->chosen = whole(group);
        for (uint32_t i = 0; i < group->n; i++) {
            struct partition_candidate *c = answer(p, group->op[i]->id, group->target);
            const double cycles = i + 1 < group->n ? 0 : group->cycles;
            if (group->chosen) {
                *c = (struct partition_candidate){.cost = cycles, .alone = cycles, .group = group};
                group->op[i]->call = call;
            } else if (c->why) {
                c->why = only_in(g, group, i);
            }
        }
        call += group->chosen;
    }
}

/* Make a call's operators adjacent: the others come before them, since only the call's last
 * operator waits for them. */
static void bring_together(struct ir_graph *g, const struct partition_group *group)
{
    struct ir_op **order = ARENA_ARRAY(g->arena, struct ir_op *, g->n_op + 1);
    const struct ir_op *last = group->op[group->n - 1];
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        for (uint32_t k = 0; k < group->n && g->op[i] == last; k++)
            order[n++] = group->op[k];
        if (g->op[i]->call != last->call)
            order[n++] = g->op[i];
    }
    memcpy(g->op, order, n * sizeof(struct ir_op *));
}

enum status groups_bring_together(const struct partition *p, struct ir_graph *g, struct diag *d)
{
    for (uint32_t k = 0; k < p->n_group; k++)
        if (p->group_of_ops[k].chosen)
            bring_together(g, &p->group_of_ops[k]);
    return ir_link(g, d);
}
