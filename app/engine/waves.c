/* waves.c - see waves.h. Windows in cycles or commands are relative to each submission of the first
 * inference. */
#include "waves.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "core_targets.h"

enum { MARKERS = 64 }; /* GTKWave has 26 */

static enum status find_layer(struct waves *w, const struct job *job, const char *name,
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

enum status waves_parse(struct waves *w, const struct job *job, struct diag *d)
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

/* Return the accelerator that runs the requested layer, otherwise the first. */
static uint32_t which_device(const struct waves *w)
{
    const struct sched_program *p = w->job->p->program;

    for (uint32_t k = 0; w->what == WAVES_LAYER && k < p->n_stream; k++)
        for (uint32_t i = 0; i < p->stream[k].n; i++)
            if (p->stream[k].cmd[i].row == w->layer)
                return p->stream[k].device;
    return 0;
}

/* Return the core that runs the requested layer; without an accelerator the first core. */
static struct core *which_core(const struct waves *w, struct core_targets *cores, uint32_t n_device)
{
    const bool layer = w->what == WAVES_LAYER;
    const struct target *own = layer ? core_targets_outside(w->job, w->layer) : NULL;

    for (uint32_t i = 0; w->what != WAVES_OFF && cores && i < cores->n; i++)
        if (layer ? own && strcmp(cores->core[i].name, own->name) == 0 : n_device == 0)
            return &cores->core[i];
    return NULL;
}

void waves_note(const struct job *job, const struct core_targets *cores)
{
    const char *what = job->options->waves;

    if (!what || strncmp(what, "layer:", 6) == 0 || !job->p->program->n_stream || cores->n == 0)
        return;
    output_printf(job->options->output, OUTPUT_NOTE,
                  "--waves=%s traces the accelerator; --waves=layer:NAME with a layer on %s traces "
                  "that target's core",
                  what, cores->core[0].name);
}

static enum status check_core(const struct waves *w, struct diag *d)
{
    if (w->what != WAVES_CYCLES && w->what != WAVES_COMMANDS)
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "--waves=%s counts in a submission of the accelerator; the core of target %s has "
                "none: expected first, all or layer:NAME",
                w->job->options->waves, w->core->name);
}

static enum status nothing_to_trace(const struct waves *w, struct diag *d)
{
    if (w->what == WAVES_LAYER)
        return FAIL(d, ST_USAGE, "--waves: %s runs on no accelerator and no core",
                    w->job->p->graph->row[w->layer].name);
    return FAIL(d, ST_USAGE,
                "--waves: no layer of this network runs on an accelerator or a core, and nothing "
                "else has signals");
}

enum status waves_open(struct waves *w, const struct job *job, struct core_targets *cores,
                       struct device *v, uint32_t n_device, struct diag *d)
{
    TRY(waves_parse(w, job, d));
    w->job = job;
    w->core = which_core(w, cores, n_device);
    w->v = n_device && !w->core && w->what != WAVES_OFF ? &v[which_device(w)] : NULL;
    if (w->core)
        TRY(check_core(w, d));
    if (w->what != WAVES_OFF && !w->v && !w->core)
        return nothing_to_trace(w, d);
    const char *dir = job->out_dir ? job->out_dir : ".";
    if (w->v || w->core) {
        TRY(file_make_dirs(dir, d));
        w->path = arena_printf(job->arena, "%s/waves.fst", dir);
    }
    return ST_OK;
}

/* Find the commands of the current stream that belong to the layer; false if there are none. */
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

/* Set the cycles that the simulator traces; false: none. */
static bool set_window(struct waves *w, uint32_t layer)
{
    const struct hd_sim_api *api = w->v->sim.api;
    bool any = w->what != WAVES_LAYER || layer_window(w, layer);

    if (w->what == WAVES_FIRST || w->what == WAVES_ALL)
        api->trace_window(w->v->sim.sim, 0, 1, 0);
    else if (any)
        api->trace_window(w->v->sim.sim, w->what != WAVES_CYCLES, w->first, w->last);
    else
        api->trace_window(w->v->sim.sim, 0, UINT64_MAX, UINT64_MAX);
    return any;
}

void waves_submission(struct waves *w, uint32_t layer)
{
    w->running = false;
    if (!w->v || w->stopped || !set_window(w, layer))
        return;
    if (!w->written)
        w->written =
            w->v->sim.api->trace_start(w->v->sim.sim, w->path, w->job->options->waves_limit) == 0;
    w->running = w->written;
}

/* Compute the begin and end of this submission's window, in cycles since open. */
static void extent(const struct waves *w, const struct hd_sim_command *cmd, uint32_t n,
                   const struct hd_sim_totals *t, uint64_t *begin, uint64_t *end)
{
    uint64_t first = UINT64_MAX, last = 0;

    *begin = t->doorbell;
    *end = t->cycles;
    if (w->what == WAVES_CYCLES) {
        first = w->first;
        last = w->last;
    }
    for (uint64_t i = w->first; w->what >= WAVES_LAYER && w->what != WAVES_CYCLES && i < n; i++)
        if (i <= w->last && cmd[i].unit != HD_UNIT_FETCH && cmd[i].done) {
            first = cmd[i].start < first ? cmd[i].start : first;
            last = cmd[i].done > last ? cmd[i].done : last;
        }
    if (first == UINT64_MAX)
        return;
    *begin = t->doorbell + first < t->cycles ? t->doorbell + first : t->cycles;
    *end = last < t->cycles - t->doorbell ? t->doorbell + last : t->cycles;
}

/* Mark the start of a call of the core's target. */
static void mark_call(struct waves *w, uint32_t layer)
{
    const struct ir_graph *g = w->job->p->graph;
    const struct target *t = core_targets_outside(w->job, layer);
    struct hd_sim_totals now = {0};

    if (!t || strcmp(t->name, w->core->name) != 0 || w->n_marker == MARKERS)
        return;
    if (!w->marker) {
        w->marker = ARENA_ARRAY(w->job->arena, struct gtkw_marker, MARKERS + g->n_row + 2);
        if (w->mark) /* the window is around it */
            w->marker[w->n_marker++] = (struct gtkw_marker){"first wrong byte", w->mark};
    }
    if (w->mark)
        return;
    w->core->sim.api->totals(w->core->sim.sim, &now);
    w->marker[w->n_marker++] = (struct gtkw_marker){g->row[layer].name, now.cycles};
}

void waves_call(struct waves *w, uint32_t layer)
{
    bool want = w->what != WAVES_LAYER || layer == w->layer;

    if (!w->core || w->stopped)
        return;
    const struct sim_port *sim = &w->core->sim;
    if (want)
        mark_call(w, layer);
    if (want == w->running)
        return;
    w->running = want;
    if (!want)
        sim->api->trace_stop(sim->sim);
    else if (!w->written)
        w->written = sim->api->trace_start(sim->sim, w->path, w->job->options->waves_limit) == 0;
}

/* Give interleaved layers one marker: `commands` under the name of the group, that of its first
 * layer. */
static struct hd_sim_command *by_group(const struct waves *w, const struct hd_sim_command *commands,
                                       uint32_t n, const char **names)
{
    struct arena *a = w->job->arena;
    const struct ir_graph *g = w->job->p->graph;
    uint32_t *group = ARENA_ARRAY(a, uint32_t, g->n_row + 1);
    uint32_t n_group = sched_groups(w->job->p->program, group);
    uint32_t *first = ARENA_ARRAY(a, uint32_t, n_group + 1);
    struct hd_sim_command *to = ARENA_ARRAY(a, struct hd_sim_command, n + 1);

    for (uint32_t i = g->n_row; i-- > 0;) {
        names[i] = g->row[i].name;
        if (group[i] != IR_NONE)
            first[group[i]] = i;
    }
    for (uint32_t i = 0; i < g->n_row; i++)
        if (group[i] != IR_NONE)
            names[first[group[i]]] = arena_printf(a, "group %u: %s to %s", group[i],
                                                  g->row[first[group[i]]].name, g->row[i].name);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = commands[i];
        if (to[i].layer < g->n_row && group[to[i].layer] != IR_NONE)
            to[i].layer = first[group[to[i].layer]];
    }
    return to;
}

void waves_submission_end(struct waves *w)
{
    const struct hd_sim_command *cmd;
    struct hd_sim_totals totals;
    uint64_t begin, end;

    if (!w->v || !w->running)
        return;
    struct arena *a = w->job->arena;
    const struct ir_graph *g = w->job->p->graph;
    w->running = false;
    uint32_t n = w->v->sim.api->commands(w->v->sim.sim, &cmd);
    w->v->sim.api->totals(w->v->sim.sim, &totals);
    extent(w, cmd, n, &totals, &begin, &end);
    if (!w->marker) {
        w->marker = ARENA_ARRAY(a, struct gtkw_marker, MARKERS + g->n_row + 2);
        w->begin = begin;
        if (w->mark)
            w->marker[w->n_marker++] =
                (struct gtkw_marker){"first wrong byte", totals.doorbell + w->mark};
    }
    w->end = end;
    if (w->n_marker < MARKERS) {
        const char **names = ARENA_ARRAY(a, const char *, g->n_row + 1);
        const struct hd_sim_command *marked = by_group(w, cmd, n, names);
        gtkw_layers(marked, n, totals.doorbell, names, g->n_row, w->marker, &w->n_marker);
    }
}

/* Return the simulator that writes the waves. */
static const struct sim_port *traced(const struct waves *w)
{
    return w->core ? &w->core->sim : &w->v->sim;
}

void waves_inference_end(struct waves *w)
{
    waves_submission_end(w);
    if ((!w->v && !w->core) || w->stopped || w->what == WAVES_ALL)
        return;
    w->stopped = true;
    if (w->written)
        traced(w)->api->trace_stop(traced(w)->sim);
}

enum status waves_close(struct waves *w, struct run_shared *shared, struct diag *d)
{
    struct hd_sim_totals t;

    if (!w->v && !w->core)
        return ST_OK;
    struct arena *a = w->job->arena;
    if (!w->written)
        return FAIL(d, ST_USAGE,
                    w->what == WAVES_LAYER ? "--waves: %s runs no command on the accelerator"
                                           : "'%s' cannot be written",
                    w->what == WAVES_LAYER ? w->job->p->graph->row[w->layer].name : w->path);
    traced(w)->api->trace_stop(traced(w)->sim);
    traced(w)->api->totals(traced(w)->sim, &t);
    shared->wave_cycles = t.trace_cycles;
    shared->wave_bytes = t.trace_bytes;
    shared->wave_limited = t.trace_limited;
    const char *save = arena_strndup(a, w->path, strlen(w->path) - 4);
    if (w->core)
        return gtkw_core(a, arena_printf(a, "%s.gtkw", save), "waves.fst", w->core->verilog.top,
                         arena_printf(a, "%s/ports.txt", w->core->so.folder), w->marker,
                         w->n_marker, d);
    return gtkw_write(a, arena_printf(a, "%s.gtkw", save), "waves.fst",
                      w->job->options->host != HOST_NATIVE, w->marker, w->n_marker, w->begin,
                      w->end, d);
}

void waves_partial(const struct job *job, bool on)
{
    const char *dir = job->out_dir ? job->out_dir : ".";
    const char *const end[] = {"", ".hier"}; /* .hier: a temporary file of the writer */

    for (int i = 0; i < 2 && job->options->waves; i++) {
        const char *path = arena_printf(job->arena, "%s/waves.fst%s", dir, end[i]);
        if (on)
            interrupt_file(path);
        else
            interrupt_file_done(path);
    }
}

const char *waves_command(struct arena *a, const char *folder)
{
    return arena_printf(a, "gtkwave %s",
                        text_shell_word(a, arena_printf(a, "%s/waves.gtkw", folder)));
}
