/* pipeline_parts.c - the list of steps in three parts, and the configurations that it needs; see
 * pipeline.h. */
#include "base/file.h"
#include "base/home.h"
#include "compiler/systolic/layout/layout.h"
#include "compiler/target/registry.h"
#include "hw/gen/accel.h"
#include "pipeline.h"

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

/* Read the configurations of accelerator instances (--target-NAME-hw). If only one instance exists,
 * its configuration replaces that of --hw. */
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

struct ref_options pipeline_ref_options(const struct lgl_options *o)
{
    static const enum ref_fc_scale scale[] = {[LGL_FC_CLASSIC] = REF_FC_CLASSIC,
                                              [LGL_FC_TFLM] = REF_FC_TFLM,
                                              [LGL_FC_LITERT] = REF_FC_LITERT};

    return (struct ref_options){.fc_scale = scale[o->fc_scale],
                                .onnx_rounding = o->rounding == LGL_ROUND_ONNX};
}

static enum status configure(struct pipeline *p, struct diag *d)
{
    enum step unused;

    if (p->options.dump_step && !p->options.dump_ir)
        return FAIL(d, ST_USAGE, "--dump-step: expected --dump-ir=DIR with it");
    if (p->options.dump_step)
        TRY(pipeline_step_find(p->options.dump_step, &unused, d));
    p->targets = p->options.target;
    return pipeline_config(p->arena, p->options.hw, &p->hw, d);
}

static enum status front(struct pipeline *p, struct diag *d)
{
    enum status st;

    TRY(own_configs(p, d));
    st = pipeline_run(p, STEP_import, STEP_before_partition, d);
    if (st != ST_OK) {
        diag_prefix(d, "%s", p->model.path);
        return st;
    }
    return pipeline_run(p, STEP_partition, STEP_after_partition, d);
}

enum status pipeline_front(struct pipeline *p, const char *path, const char *name, struct diag *d)
{
    uint8_t *data;

    p->model = (struct pipeline_model){.path = path, .name = name};
    TRY(configure(p, d));
    TRY(file_read(p->arena, path, MODEL_MAX_BYTES, &data, &p->model.n_bytes, d));
    p->model.data = data;
    return front(p, d);
}

enum status pipeline_front_bytes(struct pipeline *p, const struct pipeline_model *m, struct diag *d)
{
    p->model = *m;
    TRY(configure(p, d));
    return front(p, d);
}

/* Take the operator that did not fit from its target. Return false if there is none, if that did
 * not help, or if knobs are given, which are indexed by position. */
static bool leave_to_others(struct pipeline *p)
{
    struct partition_options *o = &p->options.partition;
    struct partition_unfit *list = ARENA_ARRAY(p->arena, struct partition_unfit, o->n_unfit + 1);
    const struct layout *l = NULL;

    for (uint32_t k = 0; k < sched_parts(p->program) && !(l && l->unfit); k++)
        l = sched_part(p->program, k)->layout;
    if (!p->legal || p->options.schedule.knobs || !l || !l->unfit)
        return false;
    const struct partition_unfit one = {l->unfit->row, l->unfit->target, l->unfit_why};
    for (uint32_t k = 0; k < o->n_unfit; k++) {
        list[k] = o->unfit[k];
        if (list[k].row == one.row && list[k].target == one.target)
            return false;
    }
    list[o->n_unfit] = one;
    o->unfit = list;
    o->n_unfit++;
    p->graph = p->legal;
    return true;
}

enum status pipeline_schedule(struct pipeline *p, struct diag *d)
{
    enum status st;

    while ((st = pipeline_run(p, STEP_devices, STEP_join, d)) == ST_NO_SPACE &&
           leave_to_others(p)) {
        *d = (struct diag){0};
        TRY(pipeline_run(p, STEP_partition, STEP_after_partition, d));
    }
    return st;
}

enum status pipeline_settle(struct pipeline *p, struct diag *d)
{
    struct sched_options *o = &p->options.schedule;
    const bool no_search = o->no_search;
    enum status st;

    o->no_search = true; /* what fits by the rule also fits after the search */
    st = pipeline_run(p, STEP_devices, STEP_schedule, d);
    o->no_search = no_search;
    if (st == ST_NO_SPACE) {
        *d = (struct diag){0};
        st = pipeline_schedule(p, d);
    }
    p->program = NULL;
    p->legal = NULL;
    return st;
}

enum status pipeline_emit(struct pipeline *p, struct diag *d)
{
    return pipeline_run(p, STEP_after_tiling, STEP_emit, d);
}

enum status pipeline_back(struct pipeline *p, struct diag *d)
{
    TRY(pipeline_schedule(p, d));
    return pipeline_emit(p, d);
}
