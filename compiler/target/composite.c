/* composite.c - find a composite of a target.json in a graph: from its last step back along the
 * edges. If two operands of a step may be exchanged, both orders are tried. The refusal reported is
 * that of the order that matched the most steps. */
#include <string.h>

#include "base/text.h"
#include "describe.h"
#include "refuse.h"

struct ir_op composite_op(const struct ir_graph *g, const struct composite_match *m, uint32_t step)
{
    struct ir_op op = *g->op[m->op[step]];
    const struct ir_fixed *f = &op.fixed;

    if (!m->swapped[step])
        return op;
    op.in = arena_memdup(g->arena, op.in, op.n_in * sizeof *op.in);
    op.in[0] = g->op[m->op[step]]->in[1];
    op.in[1] = g->op[m->op[step]]->in[0];
    if (f->n < 2) /* one scale for both */
        return op;
    int32_t *multiplier = arena_memdup(g->arena, f->multiplier, f->n * sizeof *multiplier);
    int8_t *shift = arena_memdup(g->arena, f->shift, f->n * sizeof *shift);
    for (uint32_t i = 0; i < 2; i++) {
        multiplier[i] = f->multiplier[1 - i];
        shift[i] = f->shift[1 - i];
    }
    op.fixed.multiplier = multiplier;
    op.fixed.shift = shift;
    return op;
}

static uint32_t position_of(const struct ir_graph *g, const struct ir_op *op)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        if (g->op[i] == op)
            return i;
    return IR_NONE;
}

/* Find the operator that makes the value of an inner edge. Only the composite's steps may read that
 * value, so it has as many readers as the edge. */
static const char *find_maker(const struct describe_composite *c, const struct target_question *q,
                              uint32_t step, struct composite_match *m)
{
    const struct ir_graph *g = q->graph;
    const uint32_t edge = c->step[step].out, id = m->tensor[edge];
    const struct ir_tensor *t = g->tensor[id];
    const char *const want = ir_op_info(c->step[step].pattern.opcode)->name;
    uint32_t i = 0, n = 0;

    while (i < g->n_op && (g->op[i]->dead || g->op[i]->out[0] != id))
        i++;
    if (i == g->n_op)
        REFUSE(q, "edge '%s' is %s, expected the output of %s", c->edge[edge],
               t->role == IR_CONST ? "a constant" : "an input of the network", want);
    m->op[step] = i;
    if (g->op[i]->opcode != c->step[step].pattern.opcode)
        REFUSE(q, "edge '%s' is the output of %s, expected one of %s", c->edge[edge],
               ir_op_info(g->op[i]->opcode)->name, want);
    if (t->is_output)
        REFUSE(q, "edge '%s' is an output of the network as well", c->edge[edge]);
    for (uint32_t s = 0; s < c->n_step; s++)
        for (uint32_t k = 0; k < c->step[s].n_in; k++)
            n += c->step[s].in[k] == edge;
    if (ir_uses(g, id) == n)
        return NULL;
    for (i = 0; i < g->n_op; i++) { /* find the reader that is not a step */
        bool inside = false, reads = false;
        for (uint32_t s = step + 1; s < c->n_step; s++)
            inside = inside || m->op[s] == i;
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            reads = reads || g->op[i]->in[k] == id;
        if (reads && !inside && !g->op[i]->dead)
            break;
    }
    if (i == g->n_op)
        REFUSE(q, "edge '%s' is read by a step that does not have it", c->edge[edge]);
    REFUSE(q, "edge '%s' is read by %s as well", c->edge[edge], g->row[g->op[i]->row].name);
}

/* Bind a step to an operator: check its rules, and bind its operands to the edges that the step
 * reads. */
static const char *bind(const struct describe_composite *c, const struct target_question *q,
                        uint32_t step, struct composite_match *m)
{
    const struct describe_step *s = &c->step[step];
    const struct ir_op op = composite_op(q->graph, m, step);
    struct target_question one = *q;

    one.op = &op;
    if (!describe_has_weights(op.opcode) && op.n_in != s->n_in)
        REFUSE(q, "step '%s' has %u operands, expected %u", s->name, op.n_in, s->n_in);
    const char *why = describe_step_refusal(s, &one);
    if (why)
        REFUSE(q, "step '%s': %s", s->name, why);
    for (uint32_t k = 0; k < s->n_in; k++) {
        uint32_t *at = &m->tensor[s->in[k]];
        if (*at != IR_NONE && *at != op.in[k])
            REFUSE(
                q, "edge '%s' is not what step '%s' reads, which is the output of %s",
                c->edge[s->in[k]], s->name,
                q->graph->tensor[op.in[k]]->producer == IR_NONE
                    ? "no operator"
                    : q->graph->row[q->graph->op[q->graph->tensor[op.in[k]]->producer]->row].name);
        *at = op.in[k];
    }
    return NULL;
}

/* Match with the operands of the steps in `turns` exchanged, one bit each. *left: the step that
 * failed. */
static const char *try_turns(const struct describe_composite *c, const struct target_question *q,
                             uint32_t turns, struct composite_match *m, uint32_t *left)
{
    for (uint32_t i = 0; i < COMPOSITE_EDGES; i++)
        m->tensor[i] = IR_NONE;
    m->op[c->n_step - 1] = position_of(q->graph, q->op);
    m->tensor[c->step[c->n_step - 1].out] = q->op->out[0];
    for (*left = c->n_step; *left > 0; --*left) {
        const uint32_t s = *left - 1;
        if (s + 1 < c->n_step)
            ASK(find_maker(c, q, s, m));
        m->swapped[s] = turns >> s & 1;
        ASK(bind(c, q, s, m));
    }
    return NULL;
}

const char *composite_refusal(const struct describe_composite *c, const struct target_question *q,
                              struct composite_match *m)
{
    uint32_t may = 0, furthest = COMPOSITE_STEPS + 1, left;
    const char *first = NULL;

    if (c->step[c->n_step - 1].pattern.opcode != q->op->opcode)
        return "";
    for (uint32_t s = 0; s < c->n_step; s++)
        may |=
            ir_op_info(c->step[s].pattern.opcode)->commutes && c->step[s].n_in == 2 ? 1u << s : 0;
    for (uint32_t turns = 0;; turns = (turns - may) & may) { /* visit all subsets of `may` */
        const char *why = try_turns(c, q, turns, m, &left);
        if (!why)
            return NULL;
        if (left < furthest)
            first = why;
        furthest = left < furthest ? left : furthest;
        if (turns == may)
            return first;
    }
}

static bool in_match(const struct describe_composite *c, const struct composite_match *m,
                     uint32_t position)
{
    for (uint32_t s = 0; s < c->n_step; s++)
        if (m->op[s] == position)
            return true;
    return false;
}

const struct describe_composite *composite_of(const struct target_question *q,
                                              struct composite_match *m)
{
    const struct describe *d = describe_of(q->target);
    const struct ir_graph *g = q->graph;
    uint32_t n = 0, last = 0;

    if (q->op->call == IR_NONE)
        return NULL;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && g->op[i]->call == q->op->call) {
            n++;
            last = i;
        }
    struct target_question end = *q;
    end.op = g->op[last];
    for (uint32_t i = 0; i < d->n_composite; i++) {
        const struct describe_composite *c = &d->composite[i];
        bool all = c->n_step == n && composite_refusal(c, &end, m) == NULL;
        for (uint32_t s = 0; all && s < n; s++)
            all = g->op[m->op[s]]->call == q->op->call;
        if (all)
            return c;
    }
    return NULL;
}

static double cycles(const struct describe_composite *c, const struct target_question *q,
                     const struct composite_match *m)
{
    const struct ir_graph *g = q->graph;
    double amount[COST_TERMS] = {0};

    for (uint32_t s = 0; s < c->n_step; s++) {
        struct target_values v;
        double one[COST_TERMS];
        target_values_of(g, g->op[m->op[s]], &v);
        target_amounts(&v, one);
        amount[COST_MAC] += one[COST_MAC];
        amount[COST_WINDOW] += one[COST_WINDOW];
        amount[COST_W_BYTE] += one[COST_W_BYTE];
    }
    for (uint32_t e = 0; e < c->n_edge; e++) {
        bool inner = false;
        for (uint32_t s = 0; s + 1 < c->n_step; s++)
            inner = inner || c->step[s].out == e;
        const bool out = c->step[c->n_step - 1].out == e;
        const struct ir_tensor *t = g->tensor[m->tensor[e]];
        amount[out ? COST_OUT_BYTE : COST_IN_BYTE] += inner ? 0 : (double)ir_bytes(t);
        amount[COST_OUTPUT] += out ? (double)ir_elements(t) : 0;
    }
    amount[COST_FIXED] = 1;
    amount[COST_BYTE] = amount[COST_IN_BYTE] + amount[COST_W_BYTE] + amount[COST_OUT_BYTE];
    return target_cycles(c->cost, amount);
}

static void add_group(struct arena *a, struct target_groups *list, struct target_group *to,
                      const struct describe_composite *c, const struct target_question *q,
                      const struct composite_match *m)
{
    uint32_t *op = ARENA_ARRAY(a, uint32_t, c->n_step), n = 0;

    for (uint32_t i = 0; i < q->graph->n_op; i++)
        if (in_match(c, m, i))
            op[n++] = i;
    to[list->n++] = (struct target_group){c->name, n, op, cycles(c, q, m)};
}

/* Find composites: longest first, then in the file's order; each is searched from the graph's
 * end. */
struct target_groups composite_groups(const struct target_question *q, const bool *closed)
{
    const struct describe *d = describe_of(q->target);
    const struct ir_graph *g = q->graph;
    bool *taken = arena_memdup(q->arena, closed, g->n_op * sizeof *closed);
    struct target_group *group = ARENA_ARRAY(q->arena, struct target_group, g->n_op + 1);
    struct target_groups list = {.group = group};

    for (uint32_t n = COMPOSITE_STEPS; n > 1; n--)
        for (uint32_t k = 0; k < d->n_composite; k++)
            for (uint32_t i = g->n_op; i-- > 0 && d->composite[k].n_step == n;) {
                struct target_question one = *q;
                struct composite_match m;
                one.op = g->op[i];
                bool free = !g->op[i]->dead && !taken[i] &&
                            composite_refusal(&d->composite[k], &one, &m) == NULL;
                for (uint32_t s = 0; free && s < n; s++)
                    free = !taken[m.op[s]];
                for (uint32_t s = 0; free && s < n; s++)
                    taken[m.op[s]] = true;
                if (free)
                    add_group(q->arena, &list, group, &d->composite[k], q, &m);
            }
    return list;
}
