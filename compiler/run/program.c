/* program.c - a user's own C on the accelerator, without a network: int hd_program(struct hd_device
 * *dev, uint8_t *memory, uint64_t base, uint64_t bytes); memory is device memory that the host
 * sees, at bus address base. 0 means passed. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../../sim/gtkw.h"
#include "../base/file.h"
#include "../base/interrupt.h"
#include "device.h"

#define PROGRAM_MEMORY (16u << 20)

typedef int program(struct hd_device *dev, uint8_t *memory, uint64_t base, uint64_t bytes);

static enum status load(const char *so, const char *source, program **entry, struct diag *d)
{
    void *object = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return FAIL(d, ST_USAGE, "%s: does not load: %s", source, dlerror());
    *(void **)entry = dlsym(object, "hd_program");
    if (!*entry)
        return FAIL(d, ST_USAGE,
                    "%s: expected a function int hd_program(struct hd_device *dev, uint8_t "
                    "*memory, uint64_t "
                    "base, uint64_t bytes), found none",
                    source);
    return ST_OK;
}

static enum status finish(struct device *v, const char *source, int rc, struct diag *d)
{
    output_printf(v->options->output, OUTPUT_RESULT, "%s: %llu cycles in %u submissions on %s\n",
                  source, (unsigned long long)v->dev.total_cycles, v->dev.submissions, v->hw->name);
    if (rc == 0) {
        output_text(v->options->output, OUTPUT_RESULT, "verdict: PASS\n");
        return ST_OK;
    }
    if (rc < 0)
        return FAIL(d, ST_DEVICE, "%s: %s; %s", source, hd_error_text(rc), device_detail(v));
    return FAIL(d, ST_MISMATCH, "%s: hd_program returned %d", source, rc);
}

/* The program with the simulator tracing all of it: there are no layers or inferences to choose. */
static enum status run_traced(struct device *v, program *entry, int *rc, struct diag *d)
{
    const struct options *o = v->options;
    const char *dir = o->out ? o->out : ".", *path = arena_printf(v->arena, "%s/waves.fst", dir);
    struct hd_sim_totals t;
    if (strcmp(o->waves, "first") != 0 && strcmp(o->waves, "all") != 0)
        return FAIL(d, ST_USAGE, "--waves: found '%s', expected first or all with --prog",
                    o->waves);
    if (v->engine != ENGINE_RTL)
        return FAIL(d, ST_USAGE, "--waves needs --engine=rtl: nothing else has signals");
    TRY(file_make_dirs(dir, d));
    if (v->sim.api->trace_start(v->sim.sim, path, o->waves_limit) != 0)
        return FAIL(d, ST_USAGE, "'%s' cannot be written", path);
    interrupt_file(path);
    *rc = entry(&v->dev, v->memory, DEVICE_BASE, v->n_bytes);
    v->sim.api->trace_stop(v->sim.sim);
    interrupt_file_done(path);
    v->sim.api->totals(v->sim.sim, &t);
    output_printf(o->output, OUTPUT_RESULT, "waves: %s, %llu cycles, %.1f MB%s\n", path,
                  (unsigned long long)t.trace_cycles, (double)t.trace_bytes / 1e6,
                  t.trace_limited ? "; stopped at its size limit (--waves-limit)" : "");
    return gtkw_write(v->arena, arena_printf(v->arena, "%s/waves.gtkw", dir), path, NULL, 0, 0,
                      t.trace_cycles, d);
}

enum status run_program(struct arena *a, const struct options *o, struct diag *d)
{
    struct device *v = ARENA_NEW(a, struct device);
    struct sim_model sim = {0};
    struct hd_config hw;
    const char *so;
    program *entry = NULL;
    enum options_engine engine = o->engine == ENGINE_FUNC ? ENGINE_FUNC : ENGINE_RTL;
    TRY(pipeline_config(a, o->hw, &hw, d));
    TRY(run_compile_program(a, o->prog, &hw, &so, d));
    TRY(run_runtime(a, d));
    TRY(load(so, o->prog, &entry, d));
    if (engine == ENGINE_RTL)
        TRY(device_model(a, o, &hw, &sim, d));
    TRY(device_open(v, a, o, &hw, engine, &sim, NULL, PROGRAM_MEMORY, NULL, 0, d));
    int rc = 0;
    if (o->waves)
        TRY(run_traced(v, entry, &rc, d));
    else
        rc = entry(&v->dev, v->memory, DEVICE_BASE, v->n_bytes);
    enum status st = finish(v, o->prog, rc, d);
    device_close(v);
    return st;
}
