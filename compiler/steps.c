/* steps.c - the functions of the rows STEP of passes.def. */
#include "steps.h"

#include <string.h>

#include "compiler/import/foreign.h"
#include "compiler/import/gguf/gguf_llama.h"
#include "compiler/import/ir_text.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/import/tosa/tosa.h"
#include "compiler/systolic/lower/lower.h"
#include "compiler/systolic/schedule/sched_build.h"
#include "compiler/systolic/timing/estimate.h"
#include "compiler/target/describe.h"
#include "reference/islands/ref_islands.h"

/* --- import --- */

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_strndup(a, path, (size_t)(slash - path) + 1) : ".";
}

/* Import two graphs: the compiler's, in which the importer fuses the islands, and the reference's,
 * which finds them itself in the file's nodes. */
static enum status import_onnx(struct pipeline *p, struct diag *d)
{
    const struct pipeline_model *m = &p->model;
    struct onnx_options onnx = {.input_shapes = p->options.input_shapes,
                                .fallback = p->options.fallback,
                                .exact = p->options.legalise.rounding == LGL_ROUND_ONNX};
    struct ir_graph *literal;
    enum status st;

    if (text_ends(m->path, ".gguf"))
        TRY(gguf_llama(p->arena, m->data, m->n_bytes, &p->options.gguf, &onnx, d));
    if (p->options.allow_external_data)
        onnx.folder = folder_of(p->arena, m->path);
    TRY(onnx_import(p->arena, m->name, m->data, m->n_bytes, &onnx, &p->graph, d));
    onnx.literal = true;
    st = onnx_import(p->arena, m->name, m->data, m->n_bytes, &onnx, &literal, d);
    if (st == ST_OK)
        st = ref_islands(p->arena, literal, onnx.exact, &p->reference, d);
    if (st != ST_OK)
        diag_prefix(d, "the reference's graph");
    else
        ref_islands_rows(p->reference, p->graph);
    return st;
}

/* The reference's graph has each operator by itself. */
static enum status import_tosa(struct pipeline *p, struct diag *d)
{
    const struct pipeline_model *m = &p->model;
    struct tosa_options o = {.twice = p->options.tosa_twice};

    TRY(tosa_import(p->arena, m->name, m->data, m->n_bytes, &o, &p->graph, d));
    o.literal = true;
    return tosa_import(p->arena, m->name, m->data, m->n_bytes, &o, &p->reference, d);
}

/* Select the importer by the file's suffix: .ir is the IR's text form, .onnx is ONNX, .tosa is
 * TOSA, all others are TFLite. */
enum status step_import(struct pipeline *p, struct diag *d)
{
    const struct pipeline_model *m = &p->model;
    const struct tfl_choice tflite = {p->options.signature, p->options.input_shapes};

    TRY(foreign_refuse(p->arena, m->path, m->data, m->n_bytes, d));
    if (p->options.signature && (text_ends(m->path, ".onnx") || text_ends(m->path, ".gguf") ||
                                 text_ends(m->path, ".tosa") || text_ends(m->path, ".ir")))
        return FAIL(d, ST_USAGE, "--signature is for .tflite files");
    if (text_ends(m->path, ".onnx"))
        return import_onnx(p, d);
    if (p->options.input_shapes &&
        (text_ends(m->path, ".gguf") || text_ends(m->path, ".tosa") || text_ends(m->path, ".ir")))
        return FAIL(d, ST_USAGE,
                    "--input-shapes is for .onnx and .tflite files: the shapes of others are "
                    "fixed");
    if (text_ends(m->path, ".gguf"))
        return import_onnx(p, d);
    if (text_ends(m->path, ".tosa"))
        return import_tosa(p, d);
    if (text_ends(m->path, ".ir"))
        TRY(ir_text_import(p->arena, m->data, m->n_bytes, &p->graph, d));
    else
        TRY(tfl_import_with(p->arena, m->name, m->data, m->n_bytes, &tflite, &p->graph, d));
    p->reference = ir_copy(p->arena, p->graph);
    return ST_OK;
}

enum status step_verify(const struct pipeline *p, const char *step, struct diag *d)
{
    return ir_verify(p->graph, step, d);
}

/* --- partition --- */

enum status step_partition(struct pipeline *p, struct diag *d)
{
    struct partition_options how = p->options.partition;

    p->legal = ir_copy(p->arena, p->graph);
    how.memory =
        (struct target_memory){p->options.schedule.mem_latency, p->options.schedule.mem_bytes};
    return partition_with(p->graph, &p->targets, &p->hw, &how, &p->partition, d);
}

enum status step_check_partition(const struct pipeline *p, const char *step, struct diag *d)
{
    TRY(ir_verify(p->graph, step, d));
    return partition_check(p->graph, &p->targets, d);
}

/* --- described devices --- */

struct settled {
    bool *mine;
    struct hdk_layer *layer;
    double *cycles;
    uint32_t failed;
};

/* Plan the operators of target `t` with knobs[i], 0 by rule, which become those chosen. Return NULL
 * or why operator s->failed has no plan. */
static const char *settled_of(struct arena *a, const struct pipeline *p, uint32_t t,
                              struct sched_knobs *knobs, struct settled *s)
{
    const struct target *target = p->targets.target[t];
    const struct ir_graph *g = p->graph;

    *s = (struct settled){ARENA_ARRAY(a, bool, g->n_op + 1),
                          ARENA_ARRAY(a, struct hdk_layer, g->n_op + 1),
                          ARENA_ARRAY(a, double, g->n_op + 1), 0};
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct target_question q = {a, g, g->op[i], target, &p->hw, {0, 0}};
        s->mine[i] = g->op[i]->target == t && describe_device_of(&q);
    }
    return described_settle(a, g, s->mine, target->desc->detail->device, knobs, s->layer, s->cycles,
                            &s->failed);
}

static bool is_described(const struct pipeline *p, uint32_t t)
{
    return p->targets.target[t]->desc->outside && p->targets.target[t]->desc->detail->device;
}

bool pipeline_described(const struct pipeline *p, struct arena *a, const struct sched_knobs *knobs,
                        double *cycles)
{
    struct sched_knobs *own = arena_memdup(a, knobs, p->graph->n_op * sizeof *knobs);
    struct settled s;

    *cycles = 0;
    for (uint32_t t = 0; t < p->targets.n; t++) {
        if (!is_described(p, t))
            continue;
        if (settled_of(a, p, t, own, &s))
            return false;
        for (uint32_t i = 0; i < p->graph->n_op; i++)
            *cycles += s.mine[i] ? s.cycles[i] : 0;
    }
    return true;
}

static enum status settle(struct pipeline *p, uint32_t t, struct diag *d)
{
    struct ir_graph *g = p->graph;
    const struct sched_knobs *given = p->options.schedule.knobs;
    struct sched_knobs *knobs = ARENA_ARRAY(p->arena, struct sched_knobs, g->n_op + 1);
    struct settled s;

    if (given)
        memcpy(knobs, given, g->n_op * sizeof *given);
    const char *why = settled_of(p->arena, p, t, knobs, &s);
    if (why && given)
        return FAIL(d, ST_USAGE, "%s does not fit with these knobs: %s; lower them, or 0: by rule",
                    g->row[g->op[s.failed]->row].name, why);
    if (why)
        return FAIL(d, ST_INTERNAL, "%s: %s", g->row[g->op[s.failed]->row].name, why);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (s.mine[i]) {
            g->op[i]->layer = &s.layer[i];
            p->program->knobs[i] = knobs[i];
            partition_set_cost(&p->partition, i, s.cycles[i]);
        }
    return ST_OK;
}

enum status step_settle(struct pipeline *p, struct diag *d)
{
    for (uint32_t t = 0; t < p->targets.n; t++)
        if (is_described(p, t))
            TRY(settle(p, t, d));
    return ST_OK;
}

/* --- the device program --- */

/* Return the number of accelerators that have operators. */
static uint32_t devices(const struct pipeline *p, struct sched_device device[SCHED_MAX_DEVICES])
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < p->targets.n; t++) {
        bool used = false;
        for (uint32_t i = 0; i < p->graph->n_op; i++)
            used = used || (!p->graph->op[i]->dead && p->graph->op[i]->target == t);
        if (used && p->targets.target[t]->desc->accelerator)
            device[n++] = (struct sched_device){t, target_hw(p->targets.target[t], &p->hw)};
    }
    return n;
}

enum status step_devices(struct pipeline *p, struct diag *d)
{
    struct sched_device device[SCHED_MAX_DEVICES] = {{IR_NONE, &p->hw}};
    uint32_t n = devices(p, device);

    (void)d;
    p->program = sched_new(p->arena, p->graph, device, n ? n : 1, &p->options.schedule);
    return ST_OK;
}

enum status step_knobs(struct pipeline *p, struct diag *d)
{
    (void)d;
    for (uint32_t k = 0; k < sched_parts(p->program); k++) {
        struct sched_program *part = sched_part(p->program, k);
        sched_choose(part);
        sched_segment(part);
        for (uint32_t i = 0; i < p->graph->n_op; i++)
            if (sched_owns(part, p->graph->op[i]))
                p->program->knobs[i] = part->knobs[i];
    }
    return ST_OK;
}

enum status step_join(struct pipeline *p, struct diag *d)
{
    (void)d;
    sched_join(p->program);
    p->partition.row_estimate = p->program->row_estimate;
    sched_slow_rows(p->program, p->graph);
    if (p->partition.graph) /* a graph partitioned elsewhere has targets already */
        partition_name_rows(&p->partition, p->graph);
    return ST_OK;
}

enum status step_check_program(const struct pipeline *p, const char *step, struct diag *d)
{
    (void)step;
    return lower_written(p->program, d);
}

/* --- emit --- */

enum status step_emit(struct pipeline *p, struct diag *d)
{
    return emit_run(p->arena, p->graph, &p->targets, p->program, &p->emitted, d);
}
