/* stats_layers.c - layers and groups of a stats file; docs/REPORT.md explains each member. A layer
 * that runs interleaved with others has no wall cycles, only busy cycles of ARRAY and VECTOR; its
 * group has wall cycles. Thus the cycles of layers without a group and of groups add up to the
 * total, and no layer includes another's time. */
#include <string.h>

#include "account.h"
#include "app/engine/core_targets.h"
#include "compiler/plan/memory_use.h"
#include "compiler/target/describe.h"
#include "energy.h"
#include "hd_accel_tables.h"
#include "numbers.h"
#include "stats_layers.h"
#include "stats_member.h"

static void add_target(struct share *to, const struct job *job, const struct run_measured *m,
                       const struct account_part *part)
{
    const struct target *t = part->target;
    const struct hd_config *hw = target_hw(t, &job->p->hw);
    const struct target_clock clock = target_clock(t, &job->p->targets, &job->p->hw);
    double width = t->desc->accelerator ? (double)hw->rows * hw->columns
                                        : describe_of(t)->macs_per_cycle * clock.own / clock.report;

    to->on_units = to->on_units || t->desc->accelerator;
    to->timed = to->timed || (stats_timed(job, m) && core_targets_timed(job, t->name));
    to->peak = (to->peak || !to->estimated) && width > 0;
    to->estimated = true;
    to->estimate += (uint64_t)part->outside_cycles;
    to->multipliers = width > to->multipliers ? width : to->multipliers;
}

static struct share share_of(const struct stats *s, uint32_t row)
{
    const struct job *job = s->job;
    const struct run_measured *m = s->measured;
    const struct account_layer *l = &s->account->layer[row];
    struct share share = {.macs = l->accelerator_macs};

    for (uint32_t i = 0; i < l->n_part; i++)
        if (!l->part[i].host)
            add_target(&share, job, m, &l->part[i]);
    if (share.on_units && job->p->program)
        share.estimate += job->p->program->row_estimate[row];
    if (!share.timed)
        return share;
    share.cycles = m->shared->row[row].cycles;
    memcpy(share.counter, m->shared->row[row].counter, sizeof share.counter);
    return share;
}

static void add_share(struct share *to, const struct share *from)
{
    to->peak = (to->peak || !to->estimated) && from->peak;
    to->timed = to->timed || from->timed;
    to->on_units = to->on_units || from->on_units;
    to->estimated = true;
    to->macs += from->macs;
    to->cycles += from->cycles;
    to->estimate += from->estimate;
    to->multipliers = from->multipliers > to->multipliers ? from->multipliers : to->multipliers;
    for (uint32_t u = 0; u < HD_SIM_UNITS; u++)
        for (uint32_t k = 0; k < HD_SIM_KINDS; k++)
            to->counter[u][k] += from->counter[u][k];
}

static struct share group_of(const struct stats *s, uint32_t group)
{
    struct share all = {0};

    for (uint32_t i = 0; i < s->account->n_layer; i++)
        if (s->account->layer[i].group == group) {
            struct share one = share_of(s, i);
            add_share(&all, &one);
        }
    return all;
}

/* Return the multiplications that were possible in the cycles; 0: none or unknown. For the array
 * this is a strict bound: its cycles contain each of its steps. A core's rate is stated in its
 * target.json; if a core exceeds it, no figure is given. */
static double capacity(const struct stats *s, const struct share *share)
{
    double most = share->peak ? share->multipliers * (double)share->cycles : 0;

    return (double)share->macs * s->job->n <= most || share->on_units ? most : 0;
}

static double utilisation(const struct stats *s, uint64_t macs, const struct share *share)
{
    double most = share->timed ? capacity(s, share) : 0;

    return most > 0 ? (double)macs * s->job->n / most : 0;
}

static void add_capacity(const struct stats *s, const struct share *share, double *macs,
                         double *most)
{
    if (!share->timed || capacity(s, share) <= 0)
        return;
    *macs += (double)share->macs * s->job->n;
    *most += capacity(s, share);
}

double stats_utilisation(const struct stats *s)
{
    double macs = 0, most = 0;

    for (uint32_t i = 0; i < s->account->n_layer; i++) {
        struct share one = share_of(s, i);
        if (s->account->layer[i].group == IR_NONE)
            add_capacity(s, &one, &macs, &most);
    }
    for (uint32_t i = 0; i < s->account->n_group; i++) {
        struct share all = group_of(s, i);
        add_capacity(s, &all, &macs, &most);
    }
    return most > 0 ? macs / most : 0;
}

uint64_t stats_estimate(const struct stats *s)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < s->account->n_layer; i++)
        sum += share_of(s, i).estimate;
    return sum;
}

uint64_t stats_likely(const struct stats *s)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < s->account->n_layer; i++) {
        const struct share share = share_of(s, i);
        sum += share.timed ? share.cycles : share.estimate * s->job->n;
    }
    return sum;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_text(cJSON *o, const char *name, const char *text)
{
    if (text)
        cJSON_AddStringToObject(o, name, text);
    else
        cJSON_AddNullToObject(o, name);
}

static void add_mean_or_null(cJSON *o, const char *name, bool is, uint64_t sum, uint32_t n)
{
    if (is)
        stats_mean(o, name, sum, n);
    else
        cJSON_AddNullToObject(o, name);
}

/* Add the units' activity during a layer or group. */
static void add_units(cJSON *o, const struct share *share, uint32_t n)
{
    cJSON *units = cJSON_AddObjectToObject(o, "counters");

    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
        cJSON *unit = cJSON_AddObjectToObject(units, hd_unit_names[u]);
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k])
                stats_mean(unit, hd_counter_names[u][k], share->counter[u][k], n);
    }
}

/* Add the counters of core `i` for a layer, or for all layers (IR_NONE). */
static void add_core(const struct job *job, const struct run_measured *m, cJSON *all, uint32_t i,
                     uint32_t row)
{
    const struct core *core = &m->cores->core[i];
    cJSON *one = cJSON_AddObjectToObject(all, core->name);

    for (uint32_t k = 0; k < core->verilog.n_counter; k++) {
        uint64_t sum = 0;
        for (uint32_t r = 0; r < job->p->graph->n_row; r++)
            if (row == IR_NONE || row == r)
                sum += m->shared->row[r].core_counter[i][k];
        stats_mean(one, core->verilog.counter[k].name, sum, job->n);
    }
}

static bool has_part(const struct account_layer *l, const char *target)
{
    for (uint32_t i = 0; i < l->n_part; i++)
        if (strcmp(l->part[i].target->name, target) == 0)
            return true;
    return false;
}

/* Add the counters of the cores that a layer runs on; of all cores (IR_NONE). Without cores no
 * member is added. */
static void add_cores(const struct stats *s, cJSON *o, uint32_t row)
{
    const struct core_targets *cores = stats_timed(s->job, s->measured) ? s->measured->cores : NULL;
    cJSON *all = NULL;

    for (uint32_t i = 0; cores && i < cores->n; i++) {
        if (cores->core[i].verilog.n_counter == 0 ||
            (row != IR_NONE && !has_part(&s->account->layer[row], cores->core[i].name)))
            continue;
        all = all ? all : cJSON_AddObjectToObject(o, "core_counters");
        add_core(s->job, s->measured, all, i, row);
    }
}

/* Set the largest bytes of activations alive at the layer's operators, and of those that the plan
 * holds. */
static void find_memory(const struct memory_at *at, uint32_t row, struct numbers *v)
{
    const struct ir_graph *g = v->job->p->graph;

    for (uint32_t i = 0; at && i < g->n_op; i++) {
        if (g->op[i]->dead || g->op[i]->row != row)
            continue;
        v->memory = true;
        v->live = at[i].live > v->live ? at[i].live : v->live;
        v->held = at[i].held > v->held ? at[i].held : v->held;
    }
}

/* Add the parts. Cycles of a part on the host come from the model, or, if simulated, from the
 * layer if it has only this part. On an accelerator they are the layer's if it has only this
 * part there. */
static void add_parts(const struct stats *s, cJSON *o, uint32_t row_index,
                      const struct share *share)
{
    const struct account_layer *const l = &s->account->layer[row_index];
    const struct run_row *row = s->measured->shared ? &s->measured->shared->row[row_index] : NULL;
    cJSON *list = cJSON_AddArrayToObject(o, "parts");
    bool known = share->timed && l->n_accelerator == 1 && l->group == IR_NONE;

    for (uint32_t i = 0; i < l->n_part; i++) {
        const struct account_part *part = &l->part[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "op", ir_op_info(part->op->opcode)->name);
        cJSON_AddStringToObject(one, "target", part->target->name);
        stats_count(one, "macs", part->macs);
        if (part->host && s->job->options->host == HOST_NATIVE)
            stats_count(one, "cycles", part->host_cycles);
        else if (part->host)
            add_mean_or_null(one, "cycles", l->n_part == 1 && s->measured->shared->host.by_row,
                             row->host_cycles, s->job->n);
        else
            add_mean_or_null(one, "cycles", known, share->cycles, s->job->n);
        if (part->host && part->target->desc != &target_host_desc)
            cJSON_AddTrueToObject(one, "host");
        cJSON_AddItemToArray(list, one);
    }
}

static struct numbers numbers_of(const struct stats *s, const struct memory_at *at, uint32_t i)
{
    static const struct run_row no_row;
    const struct job *job = s->job;
    const struct run_measured *m = s->measured;
    const struct account_layer *l = &s->account->layer[i];
    const struct share share = share_of(s, i),
                       whole = l->group == IR_NONE ? share : group_of(s, l->group);
    struct numbers v = {.job = job,
                        .layer = l,
                        .row = m->shared ? &m->shared->row[i] : &no_row,
                        .share = share,
                        .utilisation = utilisation(s, share.macs, &whole),
                        .own = l->group == IR_NONE,
                        .units = share.timed && share.on_units,
                        .native = job->options->host == HOST_NATIVE,
                        .by_row = m->shared && m->shared->host.by_row};

    find_memory(at, i, &v);
    return v;
}

static cJSON *layer_json(const struct stats *s, const struct memory_at *at, uint32_t i)
{
    const struct job *job = s->job;
    const struct ir_row *r = &job->p->graph->row[i];
    const struct account_layer *l = &s->account->layer[i];
    const struct numbers v = numbers_of(s, at, i);
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "name", r->name);
    cJSON_AddStringToObject(o, "op", r->op);
    cJSON_AddStringToObject(o, "tensor", r->tensor ? r->tensor : "");
    cJSON_AddStringToObject(o, "shape", r->shape ? r->shape : "");
    cJSON_AddStringToObject(o, "target", r->target && l->n_part ? r->target : "none");
    add_text(o, "fused_into",
             r->fused_into == IR_NONE ? NULL : job->p->graph->row[r->fused_into].name);
    if (v.own)
        cJSON_AddNullToObject(o, "group");
    else
        stats_count(o, "group", l->group);
    numbers_add(o, &v, COLUMN_CYCLES);
    numbers_add(o, &v, COLUMN_WORK);
    add_text(o, "reason", r->reason);
    if (r->slow)
        add_text(o, "slow", r->slow);
    add_parts(s, o, i, &v.share);
    numbers_add(o, &v, COLUMN_MEMORY);
    add_cores(s, o, i);
    if (s->actions && l->n_accelerator)
        energy_add(o, s->measured->energy, &s->actions[i]);
    numbers_add(o, &v, COLUMN_BUS);
    if (v.units && v.own)
        add_units(o, &v.share, job->n);
    return o;
}

static cJSON *group_json(const struct stats *s, uint32_t k)
{
    struct numbers v = {.job = s->job, .share = group_of(s, k)};
    cJSON *o = cJSON_CreateObject(), *members = cJSON_AddArrayToObject(o, "members");

    v.utilisation = utilisation(s, v.share.macs, &v.share);
    for (uint32_t i = 0; i < s->account->n_layer; i++)
        if (s->account->layer[i].group == k)
            cJSON_AddItemToArray(members, cJSON_CreateNumber(i));
    numbers_add(o, &v, COLUMN_CYCLES);
    numbers_add(o, &v, COLUMN_WORK);
    if (v.share.timed)
        add_units(o, &v.share, s->job->n);
    return o;
}

void stats_layers(const struct stats *s, cJSON *o)
{
    const struct sched_program *p = s->job->p->program;
    const struct memory_at *at = p ? memory_use_of(p).at : NULL;
    cJSON *layers = cJSON_AddArrayToObject(o, "layers"),
          *groups = cJSON_AddArrayToObject(o, "groups");

    for (uint32_t i = 0; i < s->account->n_layer; i++)
        cJSON_AddItemToArray(layers, layer_json(s, at, i));
    for (uint32_t k = 0; k < s->account->n_group; k++)
        cJSON_AddItemToArray(groups, group_json(s, k));
    add_cores(s, o, IR_NONE);
}
