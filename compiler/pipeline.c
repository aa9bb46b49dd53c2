/* pipeline.c - see pipeline.h. */
#include "pipeline.h"

#include "app/tune/tune.h"
#include "base/file.h"
#include "base/home.h"
#include "compiler/import/ir_text.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/schedule/sched.h"
#include "hw/gen/accel.h"
#include "phases.h"
#include "reference/ref_islands.h"

#include <string.h>

#define MODEL_MAX_BYTES ((size_t)512 << 20)

enum status pipeline_config(struct arena *a, const char *hw, struct hd_config *config,
                            struct diag *d)
{
    const char *home;
    const struct accel *accel;

    TRY(home_find(a, &home, d));
    TRY(accel_load(a, arena_printf(a, "%s/hw/accel.json", home), &accel, d));
    return accel_config_find(a, accel, hw, config, d);
}

struct dump {
    const struct pipeline *p;
    const char *dir; /* NULL without --dump-ir */
};

/* "<dir>/02_requant.ir" if --dump-ir was given. */
static enum status dump(void *ctx, uint32_t step, const char *name, struct diag *d)
{
    const struct dump *to = ctx;
    struct text t;

    if (!to->dir)
        return ST_OK;
    text_init(&t, to->p->arena);
    ir_print(to->p->graph, &t);
    TRY(file_make_dirs(to->dir, d));
    const char *path = arena_printf(to->p->arena, "%s/%02u_%s.ir", to->dir, step, name);
    return file_write(path, t.data, t.length, d);
}

static enum status run_passes(struct pipeline *p, const struct options *o, struct diag *d)
{
    struct dump to = {p, o->dump_ir};

    TRY(ir_verify(p->graph, "import", d));
    TRY(dump(&to, 0, "import", d));
    return lgl_each(p->graph, &o->legalise, dump, &to, d);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n > m && strcmp(s + n - m, end) == 0;
}

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_strndup(a, path, (size_t)(slash - path) + 1) : ".";
}

/* The compiler's graph, in which the importer has fused the islands, and the reference's, which
 * finds them by itself in the file's nodes as they stand. */
static enum status import_onnx(struct pipeline *p, const struct options *o, const char *path,
                               const char *name, const uint8_t *data, size_t n_bytes,
                               struct diag *d)
{
    struct onnx_options onnx = {.input_shapes = o->input_shapes,
                                .exact = o->legalise.rounding == LGL_ROUND_ONNX};
    struct ir_graph *literal;
    enum status st;

    if (o->allow_external_data)
        onnx.folder = folder_of(p->arena, path);
    TRY(onnx_import(p->arena, name, data, n_bytes, &onnx, &p->graph, d));
    onnx.literal = true;
    st = onnx_import(p->arena, name, data, n_bytes, &onnx, &literal, d);
    if (st == ST_OK)
        st = ref_islands(p->arena, literal, onnx.exact, &p->reference, d);
    if (st != ST_OK)
        diag_prefix(d, "the reference's graph");
    else
        ref_islands_rows(p->reference, p->graph);
    return st;
}

/* By the file's ending: .ir is the IR's own text form, .onnx is ONNX, all else is TFLite. */
static enum status import(struct pipeline *p, const struct options *o, const char *path,
                          const char *name, const uint8_t *data, size_t n_bytes, struct diag *d)
{
    p->reference = NULL;
    if (ends_with(path, ".onnx"))
        return import_onnx(p, o, path, name, data, n_bytes, d);
    if (o->input_shapes)
        return FAIL(d, ST_USAGE,
                    "--input-shapes is for .onnx files: the shapes of others are fixed");
    if (ends_with(path, ".ir"))
        return ir_text_import(p->arena, data, n_bytes, &p->graph, d);
    return tfl_import(p->arena, name, data, n_bytes, &p->graph, d);
}

/* Instances of the accelerator with a configuration of their own (--target-NAME-hw). One that is
 * alone takes the place of --hw. */
static enum status own_configs(struct pipeline *p, struct diag *d)
{
    uint32_t accelerators = 0, last = 0;

    for (uint32_t i = 0; i < p->targets.n; i++) {
        const struct target *t = p->targets.target[i];
        const char *hw = t->desc->accelerator && t->setting ? t->setting[0].text : "";
        accelerators += t->desc->accelerator;
        last = t->desc->accelerator ? i : last;
        if (*hw == '\0')
            continue;
        struct target *own = ARENA_NEW(p->arena, struct target);
        struct hd_config *config = ARENA_NEW(p->arena, struct hd_config);
        enum status st = pipeline_config(p->arena, hw, config, d);
        if (st != ST_OK) {
            diag_prefix(d, "%s", target_option(p->arena, t->name, TARGET_ATTR_HW));
            return st;
        }
        *own = *t;
        own->hw = config;
        p->targets.target[i] = own;
    }
    if (accelerators == 1)
        p->hw = *target_hw(p->targets.target[last], &p->hw);
    return ST_OK;
}

struct ref_options pipeline_ref_options(const struct options *o)
{
    static const enum ref_fc_scale scale[] = {[LGL_FC_CLASSIC] = REF_FC_CLASSIC,
                                              [LGL_FC_TFLM] = REF_FC_TFLM,
                                              [LGL_FC_LITERT] = REF_FC_LITERT};

    return (struct ref_options){.fc_scale = scale[o->legalise.fc_scale],
                                .onnx_rounding = o->legalise.rounding == LGL_ROUND_ONNX};
}

static enum status legalise(struct pipeline *p, const struct options *o, struct diag *d)
{
    if (!p->reference)
        p->reference = ir_copy(p->arena, p->graph);
    TRY(phases_run(p->arena, &p->targets, &p->hw, HEDDLE_LEGALISE, &p->graph, d));
    TRY(run_passes(p, o, d));
    return phases_run(p->arena, &p->targets, &p->hw, HEDDLE_BEFORE_PARTITION, &p->graph, d);
}

static enum status front(struct pipeline *p, const struct options *o, const char *path,
                         const char *name, const uint8_t *data, size_t n_bytes, struct diag *d)
{
    TRY(own_configs(p, d));
    enum status st = import(p, o, path, name, data, n_bytes, d);
    if (st == ST_OK)
        st = legalise(p, o, d);
    if (st != ST_OK) {
        diag_prefix(d, "%s", path);
        return st;
    }
    struct partition_options how = o->partition;
    how.memory = (struct target_memory){o->mem_latency, o->mem_bytes};
    TRY(partition_with(p->graph, &p->targets, &p->hw, &how, &p->partition, d));
    return phases_run(p->arena, &p->targets, &p->hw, HEDDLE_AFTER_PARTITION, &p->graph, d);
}

enum status pipeline_front(struct pipeline *p, const struct options *o, const char *path,
                           const char *name, struct diag *d)
{
    uint8_t *data;
    size_t n_bytes;

    p->targets = o->target;
    TRY(pipeline_config(p->arena, o->hw, &p->hw, d));
    TRY(file_read(p->arena, path, MODEL_MAX_BYTES, &data, &n_bytes, d));
    return front(p, o, path, name, data, n_bytes, d);
}

enum status pipeline_front_bytes(struct pipeline *p, const struct options *o, const char *path,
                                 const char *name, const uint8_t *data, size_t n_bytes,
                                 struct diag *d)
{
    p->targets = o->target;
    TRY(pipeline_config(p->arena, o->hw, &p->hw, d));
    return front(p, o, path, name, data, n_bytes, d);
}

enum status pipeline_front_text(struct pipeline *p, const struct options *o, const struct text *ir,
                                struct diag *d)
{
    return pipeline_front_bytes(p, o, "graph.ir", "graph", (const uint8_t *)ir->data, ir->length,
                                d);
}

/* The accelerators that have anything to do. */
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

enum status pipeline_schedule_with(struct pipeline *p, const struct sched_options *o,
                                   struct diag *d)
{
    struct sched_device device[SCHED_MAX_DEVICES];
    uint32_t n = devices(p, device);

    if (n > 1)
        return sched_run_devices(p->arena, p->graph, device, n, o, &p->program, d);
    TRY(sched_run(p->arena, p->graph, n ? device[0].hw : &p->hw, o, &p->program, d));
    if (n)
        p->program->device[0] = device[0];
    return ST_OK;
}

enum status pipeline_schedule(struct pipeline *p, const struct options *o, struct diag *d)
{
    struct sched_options s = {.no_overlap = o->no_overlap,
                              .mem_latency = o->mem_latency,
                              .mem_bytes = o->mem_bytes,
                              .no_search = o->no_search};

    if (o->tuned)
        TRY(tune_lookup(p, o, &s.knobs, d));
    return pipeline_schedule_with(p, &s, d);
}

enum status pipeline_emit(struct pipeline *p, struct diag *d)
{
    TRY(phases_run(p->arena, &p->targets, &p->hw, HEDDLE_AFTER_TILING, &p->graph, d));
    TRY(phases_run(p->arena, &p->targets, &p->hw, HEDDLE_BEFORE_EMISSION, &p->graph, d));
    return emit_run(p->arena, p->graph, &p->targets, p->program, &p->emitted, d);
}

enum status pipeline_back(struct pipeline *p, const struct options *o, struct diag *d)
{
    TRY(pipeline_schedule(p, o, d));
    return pipeline_emit(p, d);
}
