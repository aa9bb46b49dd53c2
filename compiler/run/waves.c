/* waves.c - see waves.h. Windows in cycles or commands count within each submission of the first
 * inference. */
#include "waves.h"

#include <stdlib.h>
#include <string.h>

#include "../base/file.h"

static enum status find_layer(struct waves *w, const struct run_job *job, const char *name,
                              struct diag *d)
{
    const struct ir_graph *g = job->p->graph;
    for (uint32_t i = 0; i < g->n_row; i++)
        if (strcmp(g->row[i].name, name) == 0) {
            w->layer = i;
            return ST_OK;
        }
    return FAIL(d, ST_USAGE,
                "--waves: no layer '%s'; the first is %s, heddle inspect lists them all", name,
                g->n_row ? g->row[0].name : "none");
}

static enum status range(struct waves *w, const char *text, struct diag *d)
{
    char *end;
    w->first = strtoull(text, &end, 10);
    if (end == text || *end != '-')
        return FAIL(d, ST_USAGE, "--waves: found '%s', expected A-B, two whole numbers", text);
    const char *second = end + 1;
    w->last = strtoull(second, &end, 10);
    if (end == second || *end || w->last < w->first)
        return FAIL(d, ST_USAGE, "--waves: found '%s', expected A-B with A at most B", text);
    return ST_OK;
}

enum status waves_parse(struct waves *w, const struct run_job *job, struct diag *d)
{
    const char *what = job->options->waves;
    *w = (struct waves){0};
    if (!what)
        return ST_OK;
    if (job->options->engine != ENGINE_RTL)
        return FAIL(d, ST_USAGE, "--waves needs --engine=rtl: nothing else has signals");
    if (strcmp(what, "first") == 0 || strcmp(what, "1") == 0)
        w->what = WAVES_FIRST;
    else if (strcmp(what, "all") == 0)
        w->what = WAVES_ALL;
    else if (strncmp(what, "layer:", 6) == 0) {
        w->what = WAVES_LAYER;
        return find_layer(w, job, what + 6, d);
    } else if (strncmp(what, "cycles:", 7) == 0) {
        w->what = WAVES_CYCLES;
        return range(w, what + 7, d);
    } else if (strncmp(what, "commands:", 9) == 0) {
        w->what = WAVES_COMMANDS;
        return range(w, what + 9, d);
    } else
        return FAIL(
            d, ST_USAGE,
            "--waves: found '%s', expected first, all, layer:NAME, cycles:A-B or commands:A-B",
            what);
    return ST_OK;
}

enum status waves_open(struct waves *w, struct run_job *job, struct device *v, bool has_device,
                       struct diag *d)
{
    TRY(waves_parse(w, job, d));
    w->job = job;
    w->v = has_device && w->what != WAVES_OFF ? v : NULL;
    const char *dir = job->out_dir ? job->out_dir : ".";
    if (w->v) {
        TRY(file_make_dirs(dir, d));
        w->path = arena_printf(job->p->arena, "%s/waves.fst", dir);
    }
    return ST_OK;
}

/* Commands of the stream at hand that work for the layer; false if there are none. */
static bool layer_window(struct waves *w, uint32_t first_layer)
{
    const struct sched_program *p = w->job->p->program;
    w->first = UINT64_MAX;
    for (uint32_t k = 0; k < p->n_stream; k++)
        for (uint32_t i = 0; p->stream[k].cmd[0].row == first_layer && i + 1 < p->stream[k].n; i++)
            if (p->stream[k].cmd[i].row == w->layer) {
                w->first = i < w->first ? i : w->first;
                w->last = i;
            }
    return w->first != UINT64_MAX;
}

void waves_submission(struct waves *w, uint32_t inference, uint32_t layer)
{
    const struct hd_sim_api *api;
    if (!w->v || (inference > 0 && w->what != WAVES_ALL))
        return;
    api = w->v->sim.api;
    if (w->what == WAVES_LAYER && !layer_window(w, layer))
        return;
    if (w->what == WAVES_FIRST || w->what == WAVES_ALL)
        api->trace_window(w->v->sim.sim, 0, 1, 0);
    else
        api->trace_window(w->v->sim.sim, w->what != WAVES_CYCLES, w->first, w->last);
    if (!w->written)
        w->written = api->trace_start(w->v->sim.sim, w->path, w->job->options->waves_limit) == 0;
    w->running = w->written;
}

void waves_submission_end(struct waves *w)
{
    const struct hd_sim_command *cmd;
    struct hd_sim_totals totals;
    const struct ir_graph *g = w->job->p->graph;
    if (!w->v || !w->running)
        return;
    w->running = false;
    uint32_t n = w->v->sim.api->commands(w->v->sim.sim, &cmd);
    w->v->sim.api->totals(w->v->sim.sim, &totals);
    if (!w->marker) {
        w->marker = ARENA_ARRAY(w->job->p->arena, struct gtkw_marker,
                                (size_t)g->n_row * (w->job->p->program->n_stream + 1));
        w->begin = totals.doorbell;
    }
    w->end = totals.cycles;
    if (w->n_marker < 64) {
        const char **names = ARENA_ARRAY(w->job->p->arena, const char *, g->n_row + 1);
        for (uint32_t i = 0; i < g->n_row; i++)
            names[i] = g->row[i].name;
        gtkw_layers(cmd, n, totals.doorbell, names, g->n_row, w->marker, &w->n_marker);
    }
    if (w->what != WAVES_ALL && w->what != WAVES_FIRST)
        w->v->sim.api->trace_stop(w->v->sim.sim);
}

enum status waves_close(struct waves *w, struct diag *d)
{
    struct arena *a = w->job->p->arena;
    if (!w->v || !w->written)
        return ST_OK;
    w->v->sim.api->trace_stop(w->v->sim.sim);
    const char *save = arena_strndup(a, w->path, strlen(w->path) - 4);
    return gtkw_write(a, arena_printf(a, "%s.gtkw", save), "waves.fst", w->marker, w->n_marker, w->begin, w->end, d);
}
