/* partition.c - see partition.h. */
#include "partition.h"

#include <fnmatch.h>
#include <string.h>

#include "base/json/json_doc.h"
#include "compiler/cut/cut.h"
#include "compiler/systolic/schedule/copies.h"
#include "compiler/target/describe.h"
#include "partition_groups.h"
#include "partition_halves.h"
#include "partition_uint8.h"

/* Return why the schedule had no place on target `t` for row `row`, or NULL. */
static const char *unfit(const struct partition_options *o, uint32_t row, uint32_t t)
{
    for (uint32_t k = 0; k < o->n_unfit; k++)
        if (o->unfit[k].row == row && o->unfit[k].target == t)
            return o->unfit[k].why;
    return NULL;
}

/* Ask target `t` about the operator of `q`. */
static struct partition_candidate ask_one(const struct partition *p,
                                          const struct target_question *q, uint32_t t,
                                          const struct partition_options *o)
{
    const struct target_desc *desc = q->target->desc;
    struct partition_candidate c = {.why = desc->refusal(q)};
    struct target_cost cost = {0, 0, 0};

    c.cut = c.why ? cut_find(q) : o->sums && q->op->row % 2 ? cut_sums(q) : NULL;
    c.why = c.cut ? NULL : c.why;
    if (!c.why)
        c.why = unfit(o, q->op->row, t);
    if (c.cut)
        cost.cycles = cost.alone = c.cut->cycles;
    else if (!c.why)
        cost = desc->cost(q);
    c.cost = target_report_cycles(q->target, p->targets, p->hw, cost.cycles);
    c.alone = target_report_cycles(q->target, p->targets, p->hw, cost.alone);
    c.start = cost.start;
    return c;
}

static void ask_each(struct partition *p, struct ir_graph *g, const struct partition_options *o)
{
    uint32_t n = p->targets->n;
    struct partition_candidate *c =
        ARENA_ARRAY(g->arena, struct partition_candidate, (size_t)g->n_op * n + 1);

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t t = 0; t < n && !g->op[i]->dead; t++) {
            const struct target *target = p->targets->target[t];
            const struct target_question q = {
                g->arena, g, g->op[i], target, target_hw(target, p->hw), p->memory};

            c[i * n + t] = ask_one(p, &q, t, o);
        }
    p->candidate = c;
}

/* Numbers of the operators that some pattern of `t` admits, "0,1,5". */
static const char *let_through(const struct partition *p, const struct ir_graph *g,
                               const struct target *t)
{
    const struct describe *detail = describe_of(t);
    struct text list;

    text_init(&list, g->arena);
    text_add(&list, "");
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct target_question q = {g->arena, g, g->op[i], t, target_hw(t, p->hw), p->memory};
        bool taken = false;
        for (uint32_t k = 0; k < detail->n_pattern && !g->op[i]->dead; k++)
            taken = taken || (detail->pattern[k].opcode == g->op[i]->opcode &&
                              !describe_refusal(&detail->pattern[k], &q));
        if (taken)
            text_printf(&list, "%s%u", list.length ? "," : "", i);
    }
    return list.data;
}

static enum status ask(struct partition *p, struct ir_graph *g, const struct partition_options *o,
                       struct diag *d)
{
    enum status st = ST_OK;

    for (uint32_t t = 0; t < p->targets->n && st == ST_OK; t++) {
        const struct target *target = p->targets->target[t];
        if (target->desc->detail && target->desc->detail->estimator)
            st = estimator_ask(g->arena, target, g, let_through(p, g, target), d);
    }
    if (st == ST_OK)
        ask_each(p, g, o);
    for (uint32_t t = 0; t < p->targets->n; t++)
        estimator_forget(p->targets->target[t]);
    return st;
}

/* --- --offload, --keep-on-host --- */

static bool matches(const struct ir_graph *g, const struct ir_op *op, const char *name, size_t n)
{
    const char *pattern = arena_strndup(g->arena, name, n);

    for (uint32_t r = 0; r < g->n_row; r++)
        if ((r == op->row || g->row[r].fused_into == op->row) &&
            fnmatch(pattern, g->row[r].name, 0) == 0)
            return true;
    return false;
}

static enum status no_match(const struct ir_graph *g, const char *option, const char *name,
                            struct diag *d)
{
    const char **words = ARENA_ARRAY(g->arena, const char *, g->n_row + 1);

    for (uint32_t i = 0; i < g->n_row; i++)
        words[i] = g->row[i].name;
    const char *near = json_doc_near(name, words, g->n_row);
    return FAIL(d, ST_USAGE, "%s: no operator '%s' that computes anything; %s%s%s", option, name,
                near ? "did you mean '" : "heddle inspect lists them", near ? near : "",
                near ? "'?" : "");
}

/* The target that must take position i: the named one, else the first but the host that does. */
static enum status force(struct partition *p, struct ir_graph *g, uint32_t i, const char *target,
                         bool *fixed, struct diag *d)
{
    const struct partition_candidate *c = &p->candidate[i * p->targets->n];
    struct text why;

    text_init(&why, g->arena);
    for (uint32_t t = 0; t + 1 < p->targets->n; t++) {
        if (target && strcmp(p->targets->target[t]->name, target) != 0)
            continue;
        if (!c[t].why) {
            g->op[i]->target = t;
            fixed[i] = true;
            return ST_OK;
        }
        if (groups_may(p, i, t)) {
            groups_take(p, g, p->in_group[i * p->targets->n + t], fixed);
            return ST_OK;
        }
        text_printf(&why, "%s%s: %s", why.length ? "; " : "", p->targets->target[t]->name,
                    c[t].why);
    }
    return FAIL(d, ST_USAGE, "--offload: %s cannot go to %s: %s", g->row[g->op[i]->row].name,
                target ? target : "an accelerator",
                why.length ? why.data : "it is not selected (--target)");
}

static enum status keep(struct partition *p, struct ir_graph *g, const struct partition_options *o,
                        bool *fixed, struct diag *d)
{
    for (uint32_t k = 0; k < o->n_keep; k++) {
        bool found = false;
        for (uint32_t i = 0; i < g->n_op; i++)
            if (!g->op[i]->dead && matches(g, g->op[i], o->keep[k], strlen(o->keep[k]))) {
                found = fixed[i] = true;
                g->op[i]->target = p->targets->n - 1;
                g->op[i]->reason = PARTITION_KEPT;
            }
        if (!found)
            return no_match(g, "--keep-on-host", o->keep[k], d);
    }
    return ST_OK;
}

static enum status offload(struct partition *p, struct ir_graph *g,
                           const struct partition_options *o, bool *fixed, struct diag *d)
{
    for (uint32_t k = 0; k < o->n_offload; k++) {
        const char *name = o->offload[k], *equals = strrchr(name, '=');
        size_t n = equals ? (size_t)(equals - name) : strlen(name);
        bool found = false;
        for (uint32_t i = 0; i < g->n_op; i++) {
            if (g->op[i]->dead || partition_at_border(g, g->op[i]) ||
                !matches(g, g->op[i], name, n))
                continue;
            if (fixed[i] && g->op[i]->reason)
                return FAIL(d, ST_USAGE, "%s is named by --offload and by --keep-on-host",
                            g->row[g->op[i]->row].name);
            TRY(force(p, g, i, equals ? equals + 1 : NULL, fixed, d));
            found = true;
        }
        if (!found)
            return no_match(g, "--offload", arena_strndup(g->arena, name, n), d);
    }
    return ST_OK;
}

static void first_that_takes(struct partition *p, struct ir_graph *g, const bool *fixed)
{
    bool *taken = arena_memdup(g->arena, fixed, g->n_op * sizeof *fixed);

    for (uint32_t t = 0; t < p->targets->n; t++) {
        for (uint32_t k = 0; k < p->n_group; k++) {
            bool free = p->group_of_ops[k].target == t;
            for (uint32_t i = 0; i < p->group_of_ops[k].n && free; i++)
                free = !taken[p->group_of_ops[k].op[i]->id];
            if (free)
                groups_take(p, g, k, taken);
        }
        for (uint32_t i = 0; i < g->n_op; i++)
            if (!taken[i] && !p->candidate[i * p->targets->n + t].why) {
                g->op[i]->target = t;
                taken[i] = true;
            }
    }
}

/* --- reasons, regions, rows --- */

/* The reason why it is on the host: the refusal of each target before it. */
static const char *reason(const struct partition *p, const struct ir_graph *g, uint32_t i)
{
    const struct partition_candidate *c = &p->candidate[i * p->targets->n];
    uint32_t host = p->targets->n - 1;
    const struct ir_tensor *x = ir_in(g, g->op[i], 0), *y = ir_out(g, g->op[i], 0);
    bool real = x && x->type == IR_F32 && y->type == IR_F32;
    struct text t;

    if (host == 0)
        return real ? "float32; no accelerator was named" : "no accelerator was named";
    text_init(&t, g->arena);
    text_add(&t, real ? "float32; " : "");
    for (uint32_t k = 0; k < host; k++) {
        text_printf(&t, "%s%s: ", k ? "; " : "", p->targets->target[k]->name);
        if (c[k].why)
            text_add(&t, c[k].why);
        else
            text_printf(&t, "%.0f cycles and the transfers, %.0f on the host", c[k].cost,
                        c[host].cost);
    }
    return t.data;
}

/* Scratch bytes that the call of an external target needs; the host's kernels know theirs. */
static uint32_t scratch(const struct partition *p, const struct ir_graph *g, const struct ir_op *op)
{
    const struct target *t = p->targets->target[op->target];
    const struct target_question q = {g->arena, g, op, t, target_hw(t, p->hw), p->memory};

    return t->desc->outside && op->call == IR_NONE ? describe_scratch(&q) : 0;
}

static void set_regions(const struct partition *p, struct ir_graph *g)
{
    uint32_t region = 0, last = IR_NONE;

    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        bool accelerator = p->targets->target[op->target]->desc->accelerator;
        if (last != IR_NONE && (!accelerator || op->target != last))
            region++;
        last = accelerator ? op->target : IR_NONE;
        op->region = accelerator ? region : IR_NONE;
        op->cut = op->call == IR_NONE ? p->candidate[i * p->targets->n + op->target].cut : NULL;
        op->scratch = scratch(p, g, op);
        if (op->target + 1 < p->targets->n)
            op->reason = NULL;
        else if (!op->reason)
            op->reason = reason(p, g, i);
    }
}

uint32_t partition_group(const struct partition *p, uint32_t i)
{
    const struct ir_op *op = p->graph->op[i];

    return p->group && op->region != IR_NONE ? p->group[op->row] : IR_NONE;
}

static double group_cycles(const struct partition *p, uint32_t group)
{
    double cycles = 0;

    for (uint32_t row = 0; row < p->graph->n_row; row++)
        if (p->group[row] == group)
            cycles += (double)p->row_estimate[row];
    return cycles;
}

void partition_set_cost(struct partition *p, uint32_t i, double cycles)
{
    const uint32_t t = p->graph->op[i]->target;
    struct partition_candidate *c =
        (struct partition_candidate *)(uintptr_t)&p->candidate[i * p->targets->n + t];

    c->cost = target_report_cycles(p->targets->target[t], p->targets, p->hw, cycles);
}

double partition_cycles(const struct partition *p, uint32_t i)
{
    const struct ir_graph *g = p->graph;
    const struct ir_op *op = g->op[i];

    if (!p->targets->target[op->target]->desc->accelerator || !p->row_estimate)
        return p->candidate[i * p->targets->n + op->target].cost;
    if (partition_group(p, i) != IR_NONE)
        return group_cycles(p, partition_group(p, i));
    for (uint32_t k = 0; k < i; k++)
        if (!g->op[k]->dead && g->op[k]->row == op->row && g->op[k]->region != IR_NONE)
            return 0;
    return (double)p->row_estimate[op->row];
}

/* Move the answers with their operators; an operator that was not asked about is in its place. */
static void move_answers(struct partition *p, const struct ir_graph *g, struct ir_op *const *old,
                         uint32_t n_old)
{
    const uint32_t n = p->targets->n;
    struct partition_candidate *c =
        ARENA_ARRAY(g->arena, struct partition_candidate, (size_t)g->n_op * n + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        uint32_t k = 0;
        while (k < n_old && old[k] != g->op[i])
            k++;
        for (uint32_t t = 0; t < n; t++)
            if (k < n_old)
                c[i * n + t] = p->candidate[k * n + t];
            else if (t != g->op[i]->target)
                c[i * n + t].why = "it is a copy for another target";
    }
    p->candidate = c;
}

/* Return true if the host runs it, and it depends only on the network's inputs and on operators
 * marked in `early`. */
static bool comes_first(const struct partition *p, const struct ir_graph *g, const struct ir_op *op,
                        const bool *early)
{
    bool first = op->target + 1 == p->targets->n && !ir_op_info(op->opcode)->has_state;

    for (uint32_t k = 0; k < op->n_in && first; k++)
        first = op->in[k] == IR_NONE || g->tensor[op->in[k]]->role != IR_VALUE || early[op->in[k]];
    return first;
}

/* Move operators first that would divide an accelerator's: a decoder's position, its mask. */
static enum status host_first(struct partition *p, struct ir_graph *g, struct diag *d)
{
    struct ir_op **old = arena_memdup(g->arena, g->op, g->n_op * sizeof(struct ir_op *));
    struct ir_op **rest = ARENA_ARRAY(g->arena, struct ir_op *, g->n_op + 1);
    bool *early = ARENA_ARRAY(g->arena, bool, g->n_tensor + 1);
    const uint32_t n_old = g->n_op;
    uint32_t n = 0, n_rest = 0;

    for (uint32_t i = 0; i < n_old; i++) {
        const bool first = comes_first(p, g, old[i], early);
        for (uint32_t k = 0; k < old[i]->n_out; k++)
            early[old[i]->out[k]] = first;
        if (first)
            g->op[n++] = old[i];
        else
            rest[n_rest++] = old[i];
    }
    for (uint32_t i = 0; i < n_rest; i++)
        g->op[n + i] = rest[i];
    for (uint32_t i = 0; i < n_old; i++)
        if (g->op[i] != old[i]) {
            TRY(ir_link(g, d));
            move_answers(p, g, old, n_old);
            break;
        }
    return ST_OK;
}

/* Now that targets are known: what LOAD and STORE flip needs no operator, what is read of variables
 * comes late. */
static enum status rearrange(struct partition *p, struct ir_graph *g, struct diag *d)
{
    struct ir_op **old = arena_memdup(g->arena, g->op, g->n_op * sizeof(struct ir_op *));
    const uint32_t n_old = g->n_op;
    const bool flips = partition_border(p->targets, g), halves = partition_halves(p->targets, g);
    bool late;

    if (flips || halves) /* partition_late_reads goes by what makes a tensor */
        TRY(ir_link(g, d));
    late = partition_late_reads(p->targets, g);
    if (late)
        TRY(ir_link(g, d));
    if (flips || halves || late)
        move_answers(p, g, old, n_old);
    return ST_OK;
}

/* Insert the copies that each accelerator needs, and the flips that uint8 patterns need. */
static enum status insert_copies(struct partition *p, struct ir_graph *g, struct diag *d)
{
    struct ir_op **old = arena_memdup(g->arena, g->op, g->n_op * sizeof(struct ir_op *));
    const uint32_t n_old = g->n_op;

    for (uint32_t t = 0; t < p->targets->n; t++) {
        const struct target *target = p->targets->target[t];
        if (target->desc->accelerator)
            TRY(copies_insert(g, t, target_hw(target, p->hw), d));
    }
    TRY(partition_uint8(p, g, d));
    TRY(groups_bring_together(p, g, d));
    for (uint32_t i = 0; i < g->n_op || i < n_old; i++)
        if (i >= g->n_op || i >= n_old || g->op[i] != old[i]) {
            move_answers(p, g, old, n_old);
            break;
        }
    return ST_OK;
}

enum status partition_with(struct ir_graph *g, const struct target_list *targets,
                           const struct hd_config *hw, const struct partition_options *o,
                           struct partition *p, struct diag *d)
{
    bool *fixed = ARENA_ARRAY(g->arena, bool, g->n_op + 1);

    *p = (struct partition){.graph = g, .targets = targets, .hw = hw, .memory = o->memory};
    for (uint32_t i = 0; i < g->n_op; i++) {
        g->op[i]->reason = NULL;
        g->op[i]->call = IR_NONE;
        g->op[i]->cut = NULL;
    }
    for (uint32_t i = 0; i < g->n_row; i++)
        g->row[i].target = NULL;
    TRY(ask(p, g, o, d));
    TRY(keep(p, g, o, fixed, d));
    groups_find(p, g, fixed);
    TRY(offload(p, g, o, fixed, d));
    if (o->mode == PARTITION_PRIORITY)
        first_that_takes(p, g, fixed);
    else
        partition_search(p, g, fixed);
    TRY(rearrange(p, g, d));
    groups_close(p, g);
    TRY(host_first(p, g, d));
    set_regions(p, g);
    partition_name_rows(p, g);
    return insert_copies(p, g, d);
}

enum status partition_run(struct ir_graph *g, const struct target_list *targets,
                          const struct hd_config *hw, struct diag *d)
{
    const struct partition_options o = {0};
    struct partition p;

    return partition_with(g, targets, hw, &o, &p, d);
}

enum status partition_check(const struct ir_graph *g, const struct target_list *targets,
                            struct diag *d)
{
    const struct ir_op *last = NULL;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        if (op->target >= targets->n)
            return FAIL(d, ST_INTERNAL, "partition: %s: target %u of %u", g->row[op->row].name,
                        op->target, targets->n);
        if (targets->target[op->target]->desc->accelerator != (op->region != IR_NONE))
            return FAIL(d, ST_INTERNAL, "partition: %s: target %s %s a region",
                        g->row[op->row].name, targets->target[op->target]->name,
                        op->region == IR_NONE ? "without" : "with");
        if (last && op->region != IR_NONE &&
            (op->region < last->region ||
             (op->region == last->region && op->target != last->target)))
            return FAIL(d, ST_INTERNAL, "partition: %s: region %u after region %u of target %s",
                        g->row[op->row].name, op->region, last->region,
                        targets->target[last->target]->name);
        last = op->region != IR_NONE ? op : last;
    }
    return ST_OK;
}
