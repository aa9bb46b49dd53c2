/* match.c - find the pattern of a target that accepts an operator, and its cost: patterns in the
 * file's order, then the target's shared object. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "describe.h"

const struct describe_pattern *describe_match(const struct target_question *q, const char **why)
{
    const struct describe *t = describe_of(q->target);
    struct text all;

    text_init(&all, q->arena);
    for (uint32_t i = 0; i < t->n_pattern; i++) {
        const struct describe_pattern *p = &t->pattern[i];
        if (p->opcode != q->op->opcode)
            continue;
        const char *reason = describe_refusal(p, q);
        if (!reason)
            reason = native_refusal(p, q);
        if (!reason)
            reason = estimator_refusal(q);
        if (!reason)
            return p;
        if (strcmp(p->name, ir_op_info(p->opcode)->name) == 0)
            text_printf(&all, "%s%s", all.length ? ", " : "", reason);
        else
            text_printf(&all, "%s%s: %s", all.length ? ", " : "", p->name, reason);
    }
    for (uint32_t i = 0; i < t->n_composite; i++) {
        struct composite_match m;
        const char *reason = composite_refusal(&t->composite[i], q, &m);
        if (reason && *reason)
            text_printf(&all, "%s%s: %s", all.length ? ", " : "", t->composite[i].name, reason);
    }
    if (!all.length)
        text_printf(&all, "no pattern for %s", ir_op_info(q->op->opcode)->name);
    *why = all.data;
    return NULL;
}

const struct describe_pattern *describe_pattern_of(const struct target_question *q)
{
    const char *why;

    return q->op->cut ? q->op->cut->pattern : describe_match(q, &why);
}

const struct described_device *describe_device_of(const struct target_question *q)
{
    const struct target_desc *desc = q->target->desc;
    const struct ir_op *op = q->op;

    return desc->outside && desc->detail->device && !op->dead && op->call == IR_NONE &&
                   !describe_pattern_of(q)->call
               ? desc->detail->device
               : NULL;
}

uint32_t describe_pattern_scratch(const struct describe_pattern *p, const struct target_question *q)
{
    struct target_values values = {{0}};

    if (!p || !p->scratch)
        return 0;
    describe_values(p, q->graph, q->op, &values);
    return describe_size(q->target, p->scratch, &values);
}

uint32_t describe_scratch(const struct target_question *q)
{
    const struct describe_cut *cut = q->op->cut;

    return cut ? cut->n_bytes : describe_pattern_scratch(describe_pattern_of(q), q);
}

double describe_pattern_cost(const struct describe_pattern *p, const struct target_question *q)
{
    struct target_values values = {{0}};
    double amount[COST_TERMS];

    if (!p)
        return 0;
    if (describe_of(q->target)->estimator)
        return estimator_cost(q);
    double own = native_cost(p, q);
    if (own >= 0)
        return own;
    if (!p->call)
        return describe_plan(q, &own) ? 0 : own;
    target_values_of(q->graph, q->op, &values);
    target_amounts(&values, amount);
    return target_cycles(p->cost, amount);
}

struct target_cost describe_cost(const struct target_question *q)
{
    const double cycles =
        q->op->cut ? q->op->cut->cycles : describe_pattern_cost(describe_pattern_of(q), q);

    return (struct target_cost){cycles, cycles, 0};
}

double describe_transfer(const struct target *t, const struct hd_config *hw,
                         const struct target_memory *m, uint64_t n_bytes)
{
    const struct describe *detail = describe_of(t);

    (void)hw;
    (void)m;
    return detail->transfer_fixed + detail->transfer_per_byte * (double)n_bytes;
}

double describe_tolerance(struct arena *a, const struct ir_graph *g, const struct target_list *list,
                          const struct hd_config *hw)
{
    double squares = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        const struct target *t = op->target < list->n ? list->target[op->target] : NULL;
        if (op->dead || !t || !t->desc->outside)
            continue;
        const struct target_question q = {a, g, op, t, target_hw(t, hw), {0, 0}};
        struct composite_match m;
        const struct describe_composite *c = composite_of(&q, &m);
        if (c) {
            squares += ir_ends_call(g, i) ? c->tolerance * c->tolerance : 0;
            continue;
        }
        const struct describe_pattern *p = describe_pattern_of(&q);
        squares += p ? p->tolerance * p->tolerance : 0;
    }
    return sqrt(squares);
}

const char *describe_label(struct arena *a, const struct target *t)
{
    return t->desc->detail && t->desc->detail->estimator
               ? arena_printf(a, "%s (not simulated)", t->name)
               : t->name;
}

const char *describe_refuses(const struct target_question *q)
{
    const char *why = NULL;

    if (describe_match(q, &why) && describe_of(q->target)->region_call)
        why = "only in a region";
    return why;
}
