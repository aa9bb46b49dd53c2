/* pipeline.c - see pipeline.h. */
#include "pipeline.h"

#include "../hw/gen/accel.h"
#include "base/file.h"
#include "base/home.h"
#include "import/ir_text.h"
#include "import/tflite.h"

#include <string.h>

#define MODEL_MAX_BYTES ((size_t)512 << 20)

static const struct {
    lgl_pass *run;
    const char *name;
} pass_table[] = {
#define PASS(function, name) {function, name},
#include "passes.def"
#undef PASS
};

enum status pipeline_config(struct arena *a, const char *hw, struct hd_config *config,
                            struct diag *d)
{
    const char *home;
    const struct accel *accel;
    TRY(home_find(a, &home, d));
    TRY(accel_load(a, arena_printf(a, "%s/hw/accel.json", home), &accel, d));
    return accel_config_find(a, accel, hw, config, d);
}

/* "<dir>/02_requant.ir" if --dump-ir was given. */
static enum status dump(const struct pipeline *p, const struct options *o, uint32_t step,
                        const char *name, struct diag *d)
{
    struct text t;
    if (!o->dump_ir)
        return ST_OK;
    text_init(&t, p->arena);
    ir_print(p->graph, &t);
    TRY(file_make_dirs(o->dump_ir, d));
    const char *path = arena_printf(p->arena, "%s/%02u_%s.ir", o->dump_ir, step, name);
    return file_write(path, t.data, t.length, d);
}

static enum status run_passes(struct pipeline *p, const struct options *o, struct diag *d)
{
    uint32_t n = sizeof pass_table / sizeof *pass_table;
    TRY(ir_verify(p->graph, "import", d));
    TRY(dump(p, o, 0, "import", d));
    for (uint32_t i = 0; i < n; i++) {
        TRY(pass_table[i].run(p->graph, &o->legalise, d));
        TRY(ir_verify(p->graph, pass_table[i].name, d));
        TRY(dump(p, o, i + 1, pass_table[i].name, d));
    }
    return ST_OK;
}

/* By the file's ending: .ir is the IR's own text form, all else is TFLite. */
static enum status import(struct pipeline *p, const char *path, const char *name,
                          const uint8_t *data, size_t n_bytes, struct diag *d)
{
    size_t n = strlen(path);
    if (n > 3 && strcmp(path + n - 3, ".ir") == 0)
        return ir_text_import(p->arena, data, n_bytes, &p->graph, d);
    return tfl_import(p->arena, name, data, n_bytes, &p->graph, d);
}

enum status pipeline_front(struct pipeline *p, const struct options *o, const char *path,
                           const char *name, struct diag *d)
{
    uint8_t *data;
    size_t n_bytes;
    TRY(target_parse(o->targets, &p->targets, d));
    TRY(pipeline_config(p->arena, o->hw, &p->hw, d));
    TRY(file_read(p->arena, path, MODEL_MAX_BYTES, &data, &n_bytes, d));
    enum status st = import(p, path, name, data, n_bytes, d);
    if (st == ST_OK)
        st = run_passes(p, o, d);
    if (st != ST_OK) {
        diag_prefix(d, "%s", path);
        return st;
    }
    return partition_run(p->graph, &p->targets, &p->hw, d);
}

enum status pipeline_back(struct pipeline *p, const struct options *o, struct diag *d)
{
    const struct sched_options s = {o->no_overlap, o->mem_latency, o->mem_bytes};
    TRY(sched_run(p->arena, p->graph, &p->hw, &s, &p->program, d));
    return emit_run(p->arena, p->graph, p->program, &p->emitted, d);
}
