/* account.c - see account.h. */
#include "account.h"

#include "compiler/host/host_cycles.h"
#include "compiler/target/describe.h"

/* Return true if the operator executes. RESHAPE shares its input's memory, and a view (view.c) its
 * input's bytes, so neither executes. */
static bool executes(const struct pipeline *p, const struct ir_op *op)
{
    const struct target_desc *desc;

    if (op->dead || op->target >= p->targets.n)
        return false;
    desc = p->targets.target[op->target]->desc;
    if (desc->accelerator)
        return !p->program || !sched_is_view(p->program, op);
    return desc->outside || !ir_is_reshape(op);
}

static bool has_core(const struct target *t)
{
    return t->desc->outside && t->desc->detail->core_top && !t->desc->detail->on_host;
}

static bool on_host(const struct target *t)
{
    return t->desc == &target_host_desc || (t->desc->outside && t->desc->detail->on_host);
}

static struct account_part part_of(const struct pipeline *p, uint32_t position)
{
    const struct ir_op *op = p->graph->op[position];
    const struct target *t = p->targets.target[op->target];
    struct account_part part = {.op = op, .target = t, .host = on_host(t)};
    const double cost = p->partition.candidate[position * p->targets.n + op->target].cost;

    if (t->desc == &target_host_desc)
        part.host_cycles = host_cycles(p->graph, op);
    else if (part.host)
        part.host_cycles = (uint64_t)cost;
    else if (t->desc->outside)
        part.outside_cycles = cost;
    return part;
}

/* Attribute the file's MACs to the operators that execute them, by their formulas. If these give
 * less, a pass found the rest unnecessary. If they give more, a pass widened the operator (groups
 * to all channels, a pool to a convolution), and the added MACs are not the file's. */
static void share_macs(const struct ir_graph *g, uint64_t macs, struct account_layer *l)
{
    uint64_t all = 0, left;
    uint32_t last = 0; /* that multiplies */

    for (uint32_t i = 0; i < l->n_part; i++) {
        l->part[i].macs = ir_macs(g, l->part[i].op);
        all += l->part[i].macs;
        last = l->part[i].macs ? i : last;
    }
    l->folded_macs = all < macs ? macs - all : 0;
    left = macs - l->folded_macs;
    for (uint32_t i = 0; i < l->n_part; i++) {
        struct account_part *part = &l->part[i];

        if (all > macs)
            part->macs = (uint64_t)((double)macs * ((double)part->macs / (double)all));
        if (part->macs > left || i == last)
            part->macs = left;
        left -= part->macs;
        *(part->host ? &l->host_macs : &l->accelerator_macs) += part->macs;
    }
}

static void add_parts(struct arena *a, const struct pipeline *p, struct account *c)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t i = 0; i < g->n_op; i++)
        if (executes(p, g->op[i]))
            c->layer[g->op[i]->row].n_part++;
    for (uint32_t r = 0; r < g->n_row; r++) {
        c->layer[r].part = ARENA_ARRAY(a, struct account_part, c->layer[r].n_part + 1);
        c->layer[r].n_part = 0;
    }
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct account_layer *l = &c->layer[g->op[i]->row];
        if (!executes(p, g->op[i]))
            continue;
        struct account_part part = part_of(p, i);
        l->part[l->n_part++] = part;
        l->n_accelerator += !part.host;
        l->host_cycles += part.host_cycles;
        c->untimed =
            c->untimed || (!part.host && part.target->desc->outside && !has_core(part.target));
    }
}

/* Count the crossings. Operators run in the graph's order, those of one region as one
 * submission. */
static uint32_t crossings_of(const struct pipeline *p)
{
    const struct ir_graph *g = p->graph;
    bool submitted = false, host_since = false;
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (!executes(p, op))
            continue;
        const struct target *t = p->targets.target[op->target];
        if (!t->desc->accelerator && !has_core(t)) {
            host_since = true;
            continue;
        }
        n += submitted && host_since;
        submitted = true;
        host_since = false;
    }
    return n;
}

/* Count the commands of each layer, and those of ARRAY or VECTOR, whichever has more. */
static void count_commands(struct arena *a, const struct sched_program *p, struct account *c)
{
    uint32_t(*by_unit)[HD_UNIT_COUNT] = arena_array(a, c->n_layer + 1u, sizeof *by_unit);

    for (uint32_t k = 0; k < p->n_stream; k++)
        for (uint32_t i = 0; i < p->stream[k].n; i++) {
            const struct sched_command *cmd = &p->stream[k].cmd[i];

            by_unit[cmd->row][cmd->unit]++;
            c->layer[cmd->row].commands += cmd->unit != HD_UNIT_FETCH;
        }
    for (uint32_t r = 0; r < c->n_layer; r++) {
        const uint32_t *n = by_unit[r];

        c->layer[r].tiles =
            n[HD_UNIT_ARRAY] > n[HD_UNIT_VECTOR] ? n[HD_UNIT_ARRAY] : n[HD_UNIT_VECTOR];
        c->commands += c->layer[r].commands;
        c->tiles += c->layer[r].tiles;
    }
}

struct account *account_of(struct arena *a, const struct pipeline *p)
{
    const struct ir_graph *g = p->graph;
    struct account *c = ARENA_NEW(a, struct account);
    uint32_t *group = ARENA_ARRAY(a, uint32_t, g->n_row + 1);

    *c = (struct account){.n_layer = g->n_row};
    c->layer = ARENA_ARRAY(a, struct account_layer, g->n_row + 1);
    c->n_group = p->program ? sched_groups(p->program, group) : 0;
    add_parts(a, p, c);
    for (uint32_t r = 0; r < g->n_row; r++) {
        struct account_layer *l = &c->layer[r];
        l->group = p->program ? group[r] : IR_NONE;
        share_macs(g, g->row[r].macs, l);
        c->accelerator_macs += l->accelerator_macs;
        c->host_macs += l->host_macs;
        c->folded_macs += l->folded_macs;
        c->host_cycles += l->host_cycles;
    }
    if (p->program)
        count_commands(a, p->program, c);
    c->crossings = crossings_of(p);
    return c;
}

double account_outside(const struct account *all)
{
    double sum = 0;

    for (uint32_t i = 0; i < all->n_layer; i++)
        for (uint32_t k = 0; k < all->layer[i].n_part; k++)
            sum += all->layer[i].part[k].outside_cycles;
    return sum;
}
