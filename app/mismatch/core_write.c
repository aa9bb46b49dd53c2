/* core_write.c - see core_write.h. The inference runs again and each write of the core to its
 * memory is recorded. When the target's C copies the wrong value to the host, the last write to
 * its source is the one. The results of a layer's parts are copied one after another, so the value
 * is found by its place among all bytes copied. A further run writes waves around that cycle. */
#include "core_write.h"

#include <string.h>

#include "again.h"
#include "app/build/object.h"
#include "app/compare/compare_layers.h"
#include "app/engine/core_targets.h"
#include "app/engine/waves.h"
#include "base/file.h"
#include "base/text.h"
#include "compiler/cut/cut.h"
#include "instruction.h"

enum { BEFORE_CYCLES = 200, AFTER_CYCLES = 20 };

struct writes {
    struct run *run;
    struct core *core;
    uint32_t number, n_calls; /* the call, from 1; of all of the target's in an inference */
    uint32_t part, n_parts;   /* the part of the layer, from 1 */
    uint64_t at, n_bytes;     /* parts: place of the value in their results, bytes of all */
    uint64_t n_copied;        /* bytes copied in the call */
    uint32_t of, step;        /* the value's step; number of steps entered */
    uint64_t *written;        /* by byte of the core's memory: cycle of the last write; 0: none */
    const uint8_t *value;
    bool active, found;
    uint64_t begin, cycle, device; /* cycle of the call's start; of the write; its address */
    const struct job *filmed;      /* the job whose options ask for waves, or NULL */
    struct waves waves;
    enum status st;
    struct diag *d;
};

static void record(void *ctx, const struct hd_sim_commit *w)
{
    struct writes *s = ctx;

    for (uint32_t i = 0; i < w->n_bytes; i++)
        if ((w->strobe >> i & 1) && w->address + i < s->core->memory_bytes)
            s->written[w->address + i] = w->cycle;
}

static void copied(void *ctx, const void *host, uint64_t device, size_t n_bytes)
{
    struct writes *s = ctx;
    const struct compare_first *first = &s->run->results.layers.first;
    const uint64_t at =
        s->n_parts > 1 ? s->at - s->n_copied : (uint64_t)(uintptr_t)s->value - (uintptr_t)host;

    if (!s->active)
        return;
    s->n_copied += n_bytes;
    if ((s->n_parts == 1 && !s->value) || at >= n_bytes)
        return;
    s->device = device + at;
    s->cycle = s->written[s->device];
    s->found = s->cycle != 0 && ((const uint8_t *)host)[at] == first->got[0];
}

static void step(void *ctx, struct runner *p, uint32_t layer)
{
    struct writes *s = ctx;
    const struct sim_port *sim = &s->core->sim;
    struct hd_sim_totals now = {0};

    if (s->step == 0 && s->filmed) {
        s->st = waves_open(&s->waves, s->filmed, s->run->measured.cores, p->v, p->n_device, s->d);
        s->waves.mark = s->cycle;
        sim->api->trace_window(sim->sim, 0, s->cycle > BEFORE_CYCLES ? s->cycle - BEFORE_CYCLES : 1,
                               s->cycle + AFTER_CYCLES);
    } else if (s->step == 0) {
        sim->api->commits(sim->sim, record, s);
        s->core->sim.copied = copied;
        s->core->sim.copied_ctx = s;
    }
    s->active = s->step++ == s->of;
    if (s->filmed && s->st == ST_OK)
        waves_call(&s->waves, layer);
    else if (s->active) {
        sim->api->totals(sim->sim, &now);
        s->begin = now.cycles;
        s->value = compare_first_address(&s->run->results, p);
    }
}

static void end(void *ctx, struct runner *p)
{
    struct writes *s = ctx;
    struct run_shared *unused = ARENA_NEW(p->job->arena, struct run_shared);

    if (!s->filmed || s->st != ST_OK)
        return;
    waves_inference_end(&s->waves);
    s->st = waves_close(&s->waves, unused, s->d);
}

static enum status again(struct writes *s, const struct job *job, struct diag *d)
{
    const struct sched_program *program = job->p->program;
    struct sim_model sim[SCHED_MAX_DEVICES];
    struct again of = {.job = job,
                       .cores = s->run->measured.cores,
                       .inference = s->run->results.first_wrong,
                       .engine = ENGINE_RTL,
                       .sim = sim,
                       .step = step,
                       .end = end,
                       .ctx = s};

    TRY(run_compile(job->arena, job->p->emitted, &of.so, d));
    for (uint32_t k = 0; k < program->n_device && program->n_stream; k++)
        TRY(device_model(job->arena, s->run->job.options, program->device[k].hw, &sim[k], d));
    s->step = 0;
    s->n_copied = 0;
    s->d = d;
    TRY(again_run(&of, d));
    return s->st;
}

static void waves_lines(struct writes *s, const char *folder, struct diag *d)
{
    const struct job *job = &s->run->job;
    struct options o = *job->options;
    struct job *own = arena_memdup(job->arena, job, sizeof *job);
    struct diag why = {0};

    o.waves = arena_printf(job->arena, "layer:%s",
                           job->p->graph->row[compare_first_row(job, &s->run->results)].name);
    own->options = &o;
    own->out_dir = folder;
    s->filmed = own;
    if (file_make_dirs(folder, &why) != ST_OK || again(s, own, &why) != ST_OK) {
        diag_line(d, "waves of that call: none: %s", why.text);
        return;
    }
    diag_line(d, "waves of %s, %d cycles before it to %d after it, marker A at that write:",
              s->core->verilog.top, BEFORE_CYCLES, AFTER_CYCLES);
    diag_line(d, "  %s", waves_command(job->arena, folder));
}

static struct core *core_of(const struct run *run, const struct target *own)
{
    struct core_targets *cores = run->measured.cores;

    for (uint32_t i = 0; run->job.options->engine == ENGINE_RTL && cores && i < cores->n; i++)
        if (strcmp(cores->core[i].name, own->name) == 0)
            return &cores->core[i];
    return NULL;
}

/* Find the part that has element `index` of the result. */
static void find_part(struct writes *s, const struct ir_op *op, uint64_t index)
{
    const struct ir_graph *g = s->run->job.p->graph;
    struct cut_form form;
    uint32_t at[CUT_AXES];
    struct cut_range range;
    struct cut_part part;

    (void)cut_form(g, op, op->cut->pattern->accumulate, &form);
    for (uint32_t k = CUT_AXES; k-- > 0; index /= form.y[k])
        at[k] = (uint32_t)(index % form.y[k]);
    for (uint32_t i = 0; i < op->cut->n_parts; i++) {
        bool inside = true;
        uint64_t in_box = 0;
        cut_range(op->cut, i, &range);
        (void)cut_part_of(&form, &range, &part);
        for (uint32_t k = 0; k < CUT_AXES; k++) {
            inside = inside && at[k] >= part.y.from[k] && at[k] - part.y.from[k] < part.y.n[k];
            in_box = in_box * part.y.n[k] + (at[k] - part.y.from[k]);
        }
        const uint32_t size =
            part.last ? ir_type_bytes(ir_out(g, op, 0)->type) : (uint32_t)sizeof(int32_t);
        if (inside && part.last) {
            s->part = i + 1;
            s->at = s->n_bytes + in_box * size;
        }
        s->n_bytes += cut_elements(&part.y) * size;
    }
}

/* Number the target's calls. Those of a layer's parts count one by one. */
static void find_call(struct writes *s)
{
    const struct ir_graph *g = s->run->job.p->graph;
    const struct compare_first *first = &s->run->results.layers.first;
    const struct ir_op *const of = g->op[first->position];

    s->part = s->n_parts = 1;
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead || op->target != of->target || !ir_ends_call(g, i))
            continue;
        if (s->number == 0 && i >= first->position) {
            if (op->cut) {
                s->n_parts = op->cut->n_parts;
                find_part(s, op, first->index);
            }
            s->number = s->n_calls + s->part;
        }
        s->n_calls += op->cut ? op->cut->n_parts : 1;
    }
}

void core_write_lines(struct run *run, const struct target *own, const char *folder, struct diag *d)
{
    struct writes s = {
        .run = run, .core = core_of(run, own), .of = compare_first_step(&run->results)};
    struct diag why = {0};

    if (s.of == IR_NONE)
        return;
    find_call(&s);
    const char *part = s.n_parts == 1 ? ""
                                      : arena_printf(run->job.arena, ", part %u of %u of the layer",
                                                     s.part, s.n_parts);
    diag_line(d, "computed by target %s: call %u of %u in an inference%s", own->name, s.number,
              s.n_calls, part);
    if (!s.core || s.core->on_host || own->desc->detail->blocks) /* its results are the host's */
        return;
    if (own->desc->detail->device)
        instruction_lines(run, own, s.core, s.of, d);
    s.written = ARENA_ARRAY(run->job.arena, uint64_t, s.core->memory_bytes + 1);
    if (again(&s, &run->job, &why) != ST_OK)
        diag_line(d, "the cycle of its write: unknown: %s", why.text);
    else if (!s.found || (s.n_parts > 1 && s.n_copied != s.n_bytes))
        diag_line(d, "the cycle of its write: unknown: its C does not copy that value from the "
                     "core's memory, or earlier inferences change it; copy each piece with "
                     "from_device straight to its place in the output");
    else {
        diag_line(d, "%s wrote it to 0x%llx of its memory in cycle %llu of %s (%llu in all)",
                  s.core->verilog.top, (unsigned long long)s.device,
                  (unsigned long long)(s.cycle - s.begin),
                  s.n_parts == 1 ? "the call" : "the layer's calls", (unsigned long long)s.cycle);
        if (folder && !run->job.options->waves)
            waves_lines(&s, folder, d);
    }
}
