/* core_targets.c - see core_targets.h. */
#include "core_targets.h"

#include <string.h>

#include "base/home.h"
#include "compiler/target/describe.h"

static enum status build(const struct job *job, struct core *core, struct diag *d)
{
    struct sim_paths paths = {
        .core = &core->verilog, .checked = job->options->checked, .output = job->options->output};
    struct hd_config config = {.hash = 0};

    TRY(home_find(job->arena, &paths.home, d));
    TRY(home_cache(job->arena, &paths.cache, d));
    strncpy(config.name, core->verilog.top, sizeof config.name - 1);
    enum status st = sim_build(job->arena, &paths, &config, &core->so, d);
    if (st != ST_OK)
        diag_prefix(d, "target %s: core %s", core->name, core->verilog.top);
    return st;
}

void core_targets_find(const struct job *job, struct core_targets *c)
{
    const struct target *target[TARGET_MAX];

    *c = (struct core_targets){.n = emit_outside_ports(job->p->emitted, target)};
    for (uint32_t i = 0; i < c->n; i++) {
        const struct describe *t = target[i]->desc->detail;
        struct sim_counter *counter = ARENA_ARRAY(job->arena, struct sim_counter, t->n_counter + 1);
        for (uint32_t k = 0; k < t->n_counter; k++)
            counter[k] = (struct sim_counter){t->counter[k].name, t->counter[k].port};
        c->core[i] =
            (struct core){.name = target[i]->name,
                          .verilog = {target[i]->desc->origin, t->core_top, t->verilog.name,
                                      t->verilog.n, t->n_counter, counter},
                          .memory_bytes = t->core_bytes};
    }
}

enum status core_targets_build(const struct job *job, struct core_targets *c, struct diag *d)
{
    for (uint32_t i = 0; i < c->n; i++)
        TRY(build(job, &c->core[i], d));
    return ST_OK;
}

enum status core_targets_open(struct core_targets *c, struct arena *a, const struct options *o,
                              struct diag *d)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct core *core = &c->core[i];
        uint32_t n_bytes = core->memory_bytes;
        struct hd_sim_options s = {.memory = arena_alloc(a, n_bytes),
                                   .memory_bytes = n_bytes,
                                   .latency = o->mem_latency,
                                   .bytes_per_cycle = o->mem_bytes,
                                   .stall_seed = o->stall_seed};
        char error[512] = "";
        core->sim = (struct sim_port){
            .memory = s.memory, .memory_bytes = n_bytes, .max_cycles = o->max_cycles};
        TRY(sim_load(core->so.path, core->so.source_hash, 0, &core->sim.api, d));
        core->sim.sim = core->sim.api->open(&s, error, sizeof error);
        if (!core->sim.sim)
            return FAIL(d, ST_INTERNAL, "cannot open the core of %s: %s", core->name, error);
        sim_port(&core->sim, false, &core->port);
        core->sim.api->totals(core->sim.sim, &core->seen);
        c->port[i] = &core->port;
    }
    return ST_OK;
}

void core_targets_note(const struct core_targets *c, const struct options *o)
{
    if (o->mem_latency == MEM_LATENCY && o->mem_bytes == 0 && o->stall_seed == 0)
        return;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->core[i].sim.api->memory_bits == 0)
            output_printf(o->output, OUTPUT_NOTE,
                          "target %s: core %s: its memory port has no ready/valid and answers in "
                          "the next cycle: --mem-latency, --mem-bytes and --stall-seed change "
                          "nothing for it (sim/core/README.md has the wide port)",
                          c->core[i].name, c->core[i].verilog.top);
}

void core_targets_seed(struct core_targets *c, uint64_t seed)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->core[i].sim.sim)
            c->core[i].sim.api->seed(c->core[i].sim.sim, seed);
}

void core_targets_close(struct core_targets *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->core[i].sim.sim)
            c->core[i].sim.api->close(c->core[i].sim.sim);
}

void core_targets_collect(struct core_targets *c, struct run_shared *shared, uint32_t row)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct core *core = &c->core[i];
        struct hd_sim_totals now, *seen = &core->seen;
        core->sim.api->totals(core->sim.sim, &now);
        shared->cycles += now.cycles - seen->cycles;
        shared->row[row].cycles += now.cycles - seen->cycles;
        shared->row[row].read_bytes += now.read_bytes - seen->read_bytes;
        shared->row[row].write_bytes += now.write_bytes - seen->write_bytes;
        for (uint32_t k = 0; k < HD_SIM_COUNTERS; k++)
            shared->row[row].core_counter[i][k] += now.counter[k] - seen->counter[k];
        shared->core_cycles += now.cycles - seen->cycles;
        shared->core_read_bytes += now.read_bytes - seen->read_bytes;
        shared->core_write_bytes += now.write_bytes - seen->write_bytes;
        *seen = now;
    }
}

const char *core_targets_detail(struct core_targets *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const char *why = c->core[i].sim.api->stuck_text(c->core[i].sim.sim);
        if (why && *why)
            return why;
    }
    return "";
}

const struct target *core_targets_outside(const struct job *job, uint32_t row)
{
    const struct ir_graph *g = job->p->graph;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead || op->row != row || op->target >= job->p->targets.n)
            continue;
        const struct target *t = job->p->targets.target[op->target];
        if (t->desc->outside && !t->desc->detail->estimator)
            return t;
    }
    return NULL;
}

bool core_targets_timed(const struct job *job, const char *name)
{
    for (uint32_t i = 0; i < job->p->targets.n; i++) {
        const struct target_desc *desc = job->p->targets.target[i]->desc;
        if (strcmp(job->p->targets.target[i]->name, name) == 0)
            return desc->accelerator || (desc->outside && desc->detail->core_top);
    }
    return false;
}
