/* core_targets.c - see core_targets.h. */
#include "core_targets.h"

#include <string.h>

#include "base/home.h"
#include "base/random.h"
#include "compiler/target/describe.h"

static enum status build(const struct job *job, struct core *core, struct diag *d)
{
    struct sim_paths paths = {.core = &core->verilog,
                              .checked = job->options->checked,
                              .coverage = job->options->coverage != NULL,
                              .output = job->options->output};
    struct hd_config config = {.hash = 0};

    TRY(home_find(job->arena, &paths.home, d));
    TRY(home_cache(job->arena, &paths.cache, d));
    strncpy(config.name, core->verilog.top, sizeof config.name - 1);
    enum status st = sim_build(job->arena, &paths, &config, &core->so, d);
    if (st != ST_OK)
        diag_prefix(d, "target %s: core %s", core->name, core->verilog.top);
    return st;
}

void core_targets_declare(struct arena *a, const struct describe_ports *ports,
                          struct sim_core *core)
{
    static const enum sim_declare kind[] = {
        [PORT_IS_CLOCK] = SIM_CLOCK,
        [PORT_IS_RESET_LOW] = SIM_RESET_LOW,
        [PORT_IS_RESET_HIGH] = SIM_RESET_HIGH,
        [PORT_IS_IRQ_HIGH] = SIM_IRQ_HIGH,
        [PORT_IS_IRQ_LOW] = SIM_IRQ_LOW,
        [PORT_IS_IRQ_RISING] = SIM_IRQ_RISING,
        [PORT_IS_IRQ_FALLING] = SIM_IRQ_FALLING,
        [PORT_IS_REGISTERS] = SIM_REGISTERS,
        [PORT_IS_NAMED] = SIM_NAME,
        [PORT_IS_CONSTANT] = SIM_CONSTANT,
    };
    struct sim_declared *to = ARENA_ARRAY(a, struct sim_declared, ports->n + 1);

    for (uint32_t i = 0; i < ports->n; i++) {
        const struct describe_port *p = &ports->port[i];
        to[i] = (struct sim_declared){kind[p->kind], p->port, p->as, p->a, p->b};
    }
    core->n_declared = ports->n;
    core->declared = to;
}

/* A netlist with mutants in the place of the core's Verilog; its parameters have their values. */
static void take_netlist(struct arena *a, const char *folder, struct sim_core *core)
{
    static const char *const netlist[] = {"netlist.v"};
    struct sim_declared *const more = ARENA_ARRAY(a, struct sim_declared, core->n_declared + 1);

    if (core->n_declared)
        memcpy(more, core->declared, core->n_declared * sizeof *more);
    static const struct sim_counter effect[] = {{"effect", CORE_EFFECT_PORT}};

    more[core->n_declared] = (struct sim_declared){.kind = SIM_MUTANT, .port = CORE_MUTANT_PORT};
    core->n_counter = 1;
    core->counter = effect;
    core->folder = folder;
    core->verilog = netlist;
    core->n_verilog = 1;
    core->n_include = core->n_list = core->n_parameter = core->n_array = 0;
    core->declared = more;
    core->n_declared++;
}

void core_targets_verilog(struct arena *a, const struct target *target, struct core *core)
{
    const struct describe *t = target->desc->detail;
    struct sim_counter *counter = ARENA_ARRAY(a, struct sim_counter, t->n_counter + 1);
    const char **parameter = ARENA_ARRAY(a, const char *, t->n_parameter + 1);
    const char **array = ARENA_ARRAY(a, const char *, HDK_MEMORIES);
    uint32_t n_array = 0;

    for (uint32_t k = 1; t->device && k < t->device->n_memory; k++)
        if (t->device->memory[k].array)
            array[n_array++] = t->device->memory[k].array;
    for (uint32_t k = 0; k < t->n_counter; k++)
        counter[k] = (struct sim_counter){t->counter[k].name, t->counter[k].port};
    for (uint32_t k = 0; k < t->n_parameter; k++)
        parameter[k] = describe_parameter_text(a, target, &t->parameter[k]);
    *core = (struct core){.name = target->name,
                          .verilog = {.folder = target->desc->origin,
                                      .top = t->core_top,
                                      .verilog = t->verilog.name,
                                      .n_verilog = t->verilog.n,
                                      .n_counter = t->n_counter,
                                      .counter = counter,
                                      .n_parameter = t->n_parameter,
                                      .parameter = parameter,
                                      .n_include = t->verilog_includes.n,
                                      .include = t->verilog_includes.name,
                                      .n_list = t->verilog_lists.n,
                                      .list = t->verilog_lists.name,
                                      .n_array = n_array,
                                      .array = array},
                          .memory_bytes = t->core_bytes,
                          .copies_uncounted = target->desc->own_memory && !t->device &&
                                              t->transfer_fixed <= 0 && t->transfer_per_byte <= 0,
                          .n_unit = t->device ? t->device->n_unit : 1,
                          .on_host = t->on_host};
    for (uint32_t k = 0; t->device && k < t->device->n_memory; k++)
        core->array[k] = t->device->memory[k].array;
    core_targets_declare(a, &t->ports, &core->verilog);
}

void core_targets_find(const struct job *job, struct core_targets *c)
{
    const struct target *target[TARGET_MAX];

    *c = (struct core_targets){.n = emit_outside_ports(job->p->emitted, target)};
    for (uint32_t i = 0; i < c->n; i++) {
        const struct target_clock clock = target_clock(target[i], &job->p->targets, &job->p->hw);

        core_targets_verilog(job->arena, target[i], &c->core[i]);
        c->core[i].opened.clock[0] = clock.own;
        c->core[i].opened.clock[1] = clock.report;
        if (job->options->netlist)
            take_netlist(job->arena, job->options->netlist, &c->core[i].verilog);
    }
}

enum status core_targets_build(const struct job *job, struct core_targets *c, struct diag *d)
{
    for (uint32_t i = 0; i < c->n; i++)
        TRY(build(job, &c->core[i], d));
    return ST_OK;
}

/* With a seed of stalls the memory begins with noise; else with 0. */
static void fill(uint8_t *memory, uint32_t n_bytes, uint64_t seed)
{
    for (uint32_t i = 0; i < n_bytes && seed; i++)
        memory[i] = (uint8_t)random_next(&seed);
}

static enum status open_sim(struct core *core, struct diag *d)
{
    char error[512] = "";

    fill(core->opened.memory, core->memory_bytes, core->opened.stall_seed);
    struct hd_sim *const sim = core->sim.api->open(&core->opened, error, sizeof error);
    if (!sim)
        return FAIL(d, ST_INTERNAL, "cannot open the core of %s: %s", core->name, error);
    core->sim.sim = sim;
    if (core->fault.kind)
        core->sim.api->bus_fault(sim, &core->fault);
    core->sim.api->totals(core->sim.sim, &core->seen);
    return ST_OK;
}

/* hd_port.inspect: bytes of an array of the Verilog. */
static int inspect(const struct hd_port *port, uint32_t memory, void *host, uint64_t device,
                   size_t n_bytes)
{
    const struct sim_port *const sim = port->ctx;
    const struct core *const core = sim->core;
    uint64_t all = 0;
    const uint8_t *const bytes =
        core->array[memory] ? sim->api->array(sim->sim, core->array[memory], &all) : NULL;

    if (bytes && device <= all && n_bytes <= all - device)
        memcpy(host, bytes + device, n_bytes);
    return 0;
}

enum status core_targets_open(struct core_targets *c, struct arena *a, const struct options *o,
                              struct diag *d)
{
    c->output = o->output;
    for (uint32_t i = 0; i < c->n; i++) {
        struct core *core = &c->core[i];
        uint32_t n_bytes = core->memory_bytes;
        core->opened =
            (struct hd_sim_options){.memory = arena_alloc(a, n_bytes),
                                    .memory_bytes = n_bytes,
                                    .latency = o->mem_latency,
                                    .bytes_per_cycle = o->mem_bytes,
                                    .stall_seed = o->stall_seed,
                                    .max_cycles = o->max_cycles,
                                    .irq_of_unit = core->n_unit > 1,
                                    .mutant = o->mutant,
                                    .coverage = o->coverage,
                                    .clock = {core->opened.clock[0], core->opened.clock[1]},
                                    .watchdog_cycles = options_still_cycles(o)};
        core->fault = (struct hd_sim_bus_fault){.kind = o->bus_fault, .beat = o->bus_fault_beat};
        core->sim = (struct sim_port){
            .memory = core->opened.memory, .memory_bytes = n_bytes, .max_cycles = o->max_cycles};
        TRY(sim_load(core->so.path, core->so.source_hash, 0, &core->sim.api, d));
        TRY(open_sim(core, d));
        if (core->on_host != (core->sim.api->instruction != NULL))
            return FAIL(d, ST_USAGE,
                        "target %s: expected \"host\": true in target.json and a core with the "
                        "ports of a CFU or of PCPI, or neither; found %s",
                        core->name, core->on_host ? "\"host\" only" : "the ports only");
        sim_port(&core->sim, false, &core->port);
        core->sim.core = core;
        core->port.inspect = inspect;
        c->port[i] = &core->port;
    }
    return ST_OK;
}

enum status core_targets_restart(struct core_targets *c, uint64_t seed, struct diag *d)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct hd_sim *const was = c->core[i].sim.sim;

        c->core[i].opened.stall_seed = seed;
        TRY(open_sim(&c->core[i], d));
        c->core[i].sim.api->close(was);
    }
    return ST_OK;
}

void core_targets_note(const struct core_targets *c, const struct options *o)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->core[i].copies_uncounted)
            output_printf(o->output, OUTPUT_NOTE,
                          "target %s: copies (to_device, from_device) and its C take no time in "
                          "these numbers: --host=iss counts them, \"transfer\" in target.json "
                          "estimates them",
                          c->core[i].name);
    if (o->mem_latency == MEM_LATENCY && o->mem_bytes == 0 && o->stall_seed == 0)
        return;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->core[i].sim.api->memory_bits == 0)
            output_printf(
                o->output, OUTPUT_NOTE,
                "target %s: core %s: its memory port has no ready/valid and answers in "
                "the next cycle: --mem-latency and --mem-bytes change nothing for it, and "
                "--stall-seed only its start values (sim/core/README.md has the wide "
                "port)",
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

static void note_fault(const struct core *core, const struct output *out, struct run_shared *to)
{
    const struct hd_sim_bus_fault *const f = &core->fault;

    if (f->happened && !to->fault_happened)
        output_printf(
            out, OUTPUT_NOTE,
            "target %s: core %s: --bus-fault happened at 0x%llx, in the burst from 0x%llx",
            core->name, core->verilog.top, (unsigned long long)f->address,
            (unsigned long long)f->burst);
    to->fault_happened = to->fault_happened || f->happened;
    if (to->fault_beats < f->beats)
        to->fault_beats = f->beats;
}

void core_targets_collect(struct core_targets *c, struct run_shared *shared, uint32_t row)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct core *core = &c->core[i];
        struct hd_sim_totals now, *seen = &core->seen;

        if (core->on_host)
            continue;
        note_fault(core, c->output, shared);
        core->sim.api->totals(core->sim.sim, &now);
        shared->cycles += now.time - seen->time;
        shared->row[row].cycles += now.time - seen->time;
        shared->row[row].read_bytes += now.read_bytes - seen->read_bytes;
        shared->row[row].write_bytes += now.write_bytes - seen->write_bytes;
        for (uint32_t k = 0; k < HD_SIM_COUNTERS; k++)
            shared->row[row].core_counter[i][k] += now.counter[k] - seen->counter[k];
        shared->core_cycles += now.cycles - seen->cycles;
        shared->core_register_reads += now.register_reads - seen->register_reads;
        shared->core_read_bytes += now.read_bytes - seen->read_bytes;
        shared->core_write_bytes += now.write_bytes - seen->write_bytes;
        *seen = now;
    }
}

const char *core_targets_detail(const struct core_targets *c)
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
            return desc->accelerator ||
                   (desc->outside && desc->detail->core_top && !desc->detail->on_host);
    }
    return false;
}
