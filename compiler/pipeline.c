/* pipeline.c - see pipeline.h. */
#include "pipeline.h"

#include "../hw/gen/accel.h"
#include "base/file.h"
#include "base/home.h"
#include "import/ir_text.h"
#include "import/onnx.h"
#include "import/tflite.h"

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
    if (to->p->after)
        TRY(to->p->after(to->p->after_ctx, step, name, d));
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

/* By the file's ending: .ir is the IR's own text form, .onnx is ONNX, all else is TFLite. */
static enum status import(struct pipeline *p, const struct options *o, const char *path,
                          const char *name, const uint8_t *data, size_t n_bytes, struct diag *d)
{
    struct onnx_options onnx = {o->input_shapes,
                                o->allow_external_data ? folder_of(p->arena, path) : NULL};
    if (ends_with(path, ".onnx"))
        return onnx_import(p->arena, name, data, n_bytes, &onnx, &p->graph, d);
    if (ends_with(path, ".ir"))
        return ir_text_import(p->arena, data, n_bytes, &p->graph, d);
    return tfl_import(p->arena, name, data, n_bytes, &p->graph, d);
}

static enum status front(struct pipeline *p, const struct options *o, const char *path,
                         const char *name, const uint8_t *data, size_t n_bytes, struct diag *d)
{
    enum status st = import(p, o, path, name, data, n_bytes, d);
    if (st == ST_OK)
        st = run_passes(p, o, d);
    if (st != ST_OK) {
        diag_prefix(d, "%s", path);
        return st;
    }
    return partition_with(p->graph, &p->targets, &p->hw, &o->partition, &p->partition, d);
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

enum status pipeline_front_text(struct pipeline *p, const struct options *o, const struct text *ir,
                                struct diag *d)
{
    p->targets = o->target;
    TRY(pipeline_config(p->arena, o->hw, &p->hw, d));
    return front(p, o, "graph.ir", "graph", (const uint8_t *)ir->data, ir->length, d);
}

enum status pipeline_back(struct pipeline *p, const struct options *o, struct diag *d)
{
    const struct sched_options s = {.no_overlap = o->no_overlap,
                                    .mem_latency = o->mem_latency,
                                    .mem_bytes = o->mem_bytes,
                                    .no_search = o->no_search};
    TRY(sched_run(p->arena, p->graph, &p->hw, &s, &p->program, d));
    return emit_run(p->arena, p->graph, &p->targets, p->program, &p->emitted, d);
}
