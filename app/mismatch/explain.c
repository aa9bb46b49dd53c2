/* explain.c - see explain.h. A step that fails adds a line; it never causes another failure. */
#include "explain.h"

#include <string.h>

#include "again.h"
#include "app/compare/compare_layers.h"
#include "app/engine/core_targets.h"
#include "app/engine/waves.h"
#include "app/job/job.h"
#include "app/job/shared.h"
#include "base/file.h"
#include "base/text.h"
#include "core_write.h"
#include "diff.h"
#include "replay.h"
#include "sim/build/verilated.h"

enum { AROUND_CYCLES = 20, WAVES_BUILD_SECONDS = 900, MOST_LAYERS = 256 };

/* --- waves --- */

struct filming {
    const struct diff *diff;
    struct waves waves;
    struct run_shared *shared; /* for waves_close; its values are not used */
    enum status st;
    struct diag *d;
};

static void film(void *ctx, struct runner *p, uint32_t k, uint32_t index, uint32_t layer)
{
    struct filming *f = ctx;

    if (f->waves.v)
        waves_submission_end(&f->waves);
    if (index != f->diff->m.place.submission)
        return;
    f->st = waves_open(&f->waves, p->job, NULL, &p->v[k], 1, f->d);
    if (f->st != ST_OK)
        return;
    f->waves.mark = f->diff->m.kind == MISMATCH_MISSING ? 0 : f->diff->m.cycle;
    waves_submission(&f->waves, layer);
    if (f->waves.what == WAVES_CYCLES) /* later differences are ignored */
        p->v[k].dev.wait_cycles = f->waves.last + AROUND_CYCLES;
}

static void film_end(void *ctx, struct runner *p)
{
    struct filming *f = ctx;

    (void)p;
    if (f->waves.v)
        waves_inference_end(&f->waves);
    if (f->st == ST_OK && f->waves.v)
        f->st = waves_close(&f->waves, f->shared, f->d);
}

/* Return the cycles for --waves: the array's pipeline is 2 N + a few cycles deep, so the window
 * includes its inputs. */
static const char *window(const struct job *job, const struct diff *diff)
{
    const uint64_t before = AROUND_CYCLES + 2 * job->p->program->device[diff->device].hw->n;
    const struct mismatch *m = &diff->m;

    if (m->kind == MISMATCH_MISSING)
        return arena_printf(job->arena, "commands:%u-%u", m->place.command, m->place.command);
    return arena_printf(job->arena, "cycles:%llu-%llu",
                        (unsigned long long)(m->cycle > before ? m->cycle - before : 0),
                        (unsigned long long)(m->cycle + AROUND_CYCLES));
}

static enum status write_waves(const struct run *run, const struct diff *diff, const char *folder,
                               struct diag *d)
{
    struct options o = *run->job.options;
    struct job own = run->job;
    struct sim_model sim[SCHED_MAX_DEVICES];
    struct filming f = {.diff = diff, .d = d};
    struct again again = {.job = &own,
                          .cores = run->measured.cores,
                          .inference = run->results.first_wrong,
                          .engine = ENGINE_RTL,
                          .so = diff->so,
                          .sim = sim,
                          .submission = film,
                          .end = film_end,
                          .ctx = &f};

    o.waves = window(&run->job, diff);
    o.reuse = device_reuse(&o, true);
    own.options = &o;
    own.out_dir = folder;
    f.shared = ARENA_NEW(run->job.arena, struct run_shared);
    for (uint32_t k = 0; k < run->job.p->program->n_device; k++)
        TRY(device_waves_model(run->job.arena, &o, run->job.p->program->device[k].hw,
                               WAVES_BUILD_SECONDS, &sim[k], d));
    TRY(again_run(&again, d));
    return f.st;
}

static void waves_lines(const struct run *run, const struct diff *diff, const char *folder,
                        struct diag *d)
{
    struct diag why = {0};

    if (run->job.options->waves) {
        diag_line(d, "waves (--waves=%s):", run->job.options->waves);
        diag_line(d, "  %s",
                  waves_command(run->job.arena, run->job.out_dir ? run->job.out_dir : "."));
        return;
    }
    if (write_waves(run, diff, folder, &why) != ST_OK)
        diag_line(d, "waves: none: %s", why.text);
    else {
        diag_line(d, "waves of that submission, %s%s:", window(&run->job, diff),
                  diff->m.kind == MISMATCH_MISSING ? "" : ", marker A at the first wrong byte");
        diag_line(d, "  %s", waves_command(run->job.arena, folder));
    }
}

/* --- the replay, and the network again --- */

static void replay_lines(struct replayer *r, const struct diff *diff, struct diag *d)
{
    struct diag why = {0};
    struct replay replay;
    enum status st = replay_open(r, &why);

    if (st == ST_OK)
        st = replay_layer(r, diff->command->row, &replay, &why);
    if (st != ST_OK) {
        diag_line(d, "replay of the layer: none: %s", why.text);
        return;
    }
    diag_line(d, "replay: %s alone %s:", r->run->job.p->graph->row[diff->command->row].name,
              !replay.ran    ? "does not run"
              : replay.wrong ? "is wrong too"
                             : "is right: the error needs the layers around it");
    diag_line(d, "  %s", replay.command);
}

/* Return true if the input came from memory instead of a file, so that no command line repeats
 * it. */
static bool given_bytes(const struct job *job)
{
    bool any = job->model.data != NULL;

    for (uint32_t i = 0; i < OPTIONS_MAX_FILES; i++)
        any = any || (job->given_in && job->given_in[i].data) ||
              (job->given_expect && job->given_expect[i].data);
    return any;
}

/* Suggest the same run with the RTL's assertions. */
static void checked_line(const struct job *job, struct diag *d)
{
    const struct options *o = job->options;
    struct text t;

    if (o->checked || !o->model || given_bytes(job))
        return;
    text_init(&t, job->arena);
    text_printf(&t, "heddle %s %s", options_commands[o->command],
                text_shell_word(job->arena, o->model));
    for (uint32_t i = 0; i < o->n_argument; i++)
        text_printf(&t, " %s", text_shell_word(job->arena, o->argument[i]));
    for (uint32_t i = 0; i < o->n_given; i++) {
        const struct option_given *g = &o->given[i];
        text_printf(&t, " %s",
                    text_shell_word(job->arena,
                                    arena_printf(job->arena, "--%s%s%s", g->name,
                                                 g->value ? "=" : "", g->value ? g->value : "")));
    }
    diag_line(d, "with the RTL's assertions:");
    diag_line(d, "  %s --checked", t.data);
}

/* Repeat the warnings of the model's build, which may be long ago. */
static void warnings_line(const struct job *job, const struct diff *diff, struct diag *d)
{
    const char *log = arena_printf(job->arena, "%s/build.log", diff->sim[diff->device].folder);
    unsigned n = verilated_count(job->arena, log);

    if (n)
        diag_line(d, "Verilator warned of this RTL, %u time%s: '%s'", n, n == 1 ? "" : "s", log);
}

static const char *folder_for(const struct job *job)
{
    if (job->out_dir)
        return arena_printf(job->arena, "%s/mismatch", job->out_dir);
    return job->writes ? "heddle-mismatch" : NULL;
}

static void found_lines(struct replayer *r, const struct diff *diff, struct diag *d)
{
    const struct job *const job = &r->run->job;
    const char *folder = folder_for(job), *note = diff->command->note;
    const char *layer = job->p->graph->row[diff->command->row].name;
    struct diag why = {0};

    diag_line(d, "RTL and functional model first differ at %s%s%s%s",
              mismatch_command_text(job->arena, &diff->m, layer), note ? " (" : "",
              note ? note : "", note ? ")" : "");
    diag_line(d, "  %s", mismatch_place_text(job->arena, &diff->m));
    diag_line(d, "  %s", mismatch_values_text(job->arena, &diff->m));
    if (diff->softmax)
        diag_line(d, "  %s", diff->softmax);
    if (!folder)
        diag_line(d, "with the option output=DIR, waves and a replay of the layer are written");
    else if (file_make_dirs(folder, &why) != ST_OK)
        diag_line(d, "waves and replay of the layer: none: %s", why.text);
    else {
        waves_lines(r->run, diff, folder, d);
        r->folder = folder;
        replay_lines(r, diff, d);
    }
    checked_line(job, d);
    warnings_line(job, diff, d);
}

/* --- not the RTL: find the layer --- */

/* Return true if the reference's outputs equal the found ones. */
static bool as_reference(const struct replayer *r)
{
    const struct run_data *out = r->run->measured.out;
    bool same = true;

    for (uint32_t i = 0; i < r->run->job.p->graph->n_out; i++)
        same =
            same && memcmp(r->out[i], out[i].bytes + r->run->results.first_wrong * out[i].n_bytes,
                           out[i].n_bytes) == 0;
    return same;
}

/* Report channels that the compiler proved constant and that differ in the reference. */
static void constants_lines(const struct replayer *r, struct diag *d)
{
    const struct ir_graph *g = r->run->job.p->graph, *from = r->run->job.p->reference;

    for (uint32_t i = 0; from->n_row == g->n_row && i < from->n_op; i++) {
        const struct ir_op *op = from->op[i];
        const struct ir_tensor *y = ir_out(from, op, 0);
        const struct ir_constant *c =
            op->dead ? NULL : lgl_contradicted(g, op->row, y, ref_bytes(r->ref, y->id));
        if (!c)
            continue;
        diag_line(d,
                  "%s: channel %u was proven to be %d, never outside %d to %d before the clamp; "
                  "the reference has another value: look at legalise/ranges.c",
                  g->row[op->row].name, c->channel, c->value, c->unclamped.low, c->unclamped.high);
        return;
    }
}

/* Return the external target that ran the first wrong layer; NULL: heddle ran it, or the compiler
 * had it wrong before. */
static const struct target *wrong_target(const struct run *run)
{
    const uint32_t row = compare_first_row(&run->job, &run->results);

    return row == IR_NONE || run->results.layers.first.compiler
               ? NULL
               : core_targets_outside(&run->job, row);
}

static void alone_lines(const struct job *job, uint32_t row, const char *command, struct diag *d)
{
    const char *const name = job->p->graph->row[row].name;
    const struct target *const own = core_targets_outside(job, row);
    const bool core = own != NULL && own->desc->detail->core_top != NULL;

    diag_line(d, "replay: %s alone is wrong too%s%s; look at its %s:", name,
              own != NULL ? ", on target " : "", own != NULL ? own->name : "",
              own == NULL ? "passes, lowering or host kernel"
              : core      ? "Verilog and its C"
                          : "C");
    diag_line(d, "  %s", command);
    if (core && job->options->engine == ENGINE_RTL)
        diag_line(d, "  with --waves=layer:%s: the waves of %s in that call", name,
                  own->desc->detail->core_top);
}

/* If the layer alone gives a different answer from the reference, report it and return true. *n
 * counts the layers run alone, *n_not those that cannot be. */
static bool wrong_alone(const struct replayer *r, uint32_t row, uint32_t *n, uint32_t *n_not,
                        struct diag *d)
{
    struct diag why = {0};
    struct replay replay;

    if (!replay_is_layer(&r->run->job, row) || replay_layer(r, row, &replay, &why) != ST_OK)
        return false;
    *n += replay.ran;
    *n_not += !replay.ran;
    if (!replay.ran || !replay.wrong)
        return false;
    alone_lines(&r->run->job, row, replay.command, d);
    return true;
}

/* Run the first wrong layer alone; if it is right, or none is known, find the first layer that is
 * wrong alone. */
static void layer_lines(const struct replayer *r, struct diag *d)
{
    const uint32_t known = compare_first_row(&r->run->job, &r->run->results),
                   n_row = r->run->job.p->graph->n_row;
    const struct target *const own = wrong_target(r->run);
    uint32_t n = 0, n_not = 0;

    if (known != IR_NONE && wrong_alone(r, known, &n, &n_not, d))
        return;
    if (own != NULL && n != 0) {
        diag_line(d, "replay: %s alone is right: on target %s, calls before it change its answer",
                  r->run->job.p->graph->row[known].name, own->name);
        return;
    }
    for (uint32_t i = 0; i < n_row && n + n_not < MOST_LAYERS; i++)
        if (i != known && wrong_alone(r, i, &n, &n_not, d))
            return;
    if (n_not)
        diag_line(d, "%u layers do not run alone as they did in the network", n_not);
    diag_line(d,
              "%u layers, each alone, are right: look at what the compiler makes of several "
              "(fusion, schedule, memory plan)",
              n);
}

static void elsewhere_lines(struct replayer *r, struct diag *d)
{
    const struct job *const job = &r->run->job;
    const struct core_targets *cores = r->run->measured.cores;
    const char *folder = folder_for(job);
    struct diag why = {0};

    if (replay_open(r, &why) != ST_OK) {
        diag_line(d, "the CPU reference could not be run: %s", why.text);
        return;
    }
    if (!r->run->results.layers.first.found && as_reference(r)) {
        diag_line(d, "the CPU reference gives the values found: what was expected comes from other "
                     "arithmetic, weights or inputs");
        return;
    }
    constants_lines(r, d);
    const struct target *const own = wrong_target(r->run);
    if (own != NULL)
        core_write_lines(r->run, own, folder, d);
    r->folder = folder;
    if (!cores || cores->n == 0) /* RTL and functional model agree, so use the faster one */
        r->engine = ENGINE_FUNC;
    if (!folder)
        diag_line(d, "look at the compiler or at a host kernel; with the option output=DIR, each "
                     "layer is run alone to find it");
    else if (file_make_dirs(folder, &why) != ST_OK)
        diag_line(d, "replay of each layer: none: %s", why.text);
    else
        layer_lines(r, d);
}

void explain_mismatch(struct run *run, enum status (*answer)(struct run *run, struct diag *d),
                      struct diag *d)
{
    struct replayer r = {.answer = answer, .run = run};
    struct diff *diff = ARENA_NEW(run->job.arena, struct diff);
    const struct again of = {
        .job = &run->job, .cores = run->measured.cores, .inference = run->results.first_wrong};
    struct diag why = {0};
    bool rtl = run->job.options->engine == ENGINE_RTL && run->job.p->program->n_stream &&
               wrong_target(run) == NULL;

    if (run->job.options->engine == ENGINE_REF)
        return;
    if (rtl && diff_engines(&of, diff, &why) != ST_OK) {
        diag_line(d, "the engines could not be compared: %s", why.text);
        return;
    }
    if (diff->found) {
        found_lines(&r, diff, d);
        return;
    }
    if (rtl)
        diag_line(d, "RTL and functional model write the same bytes for every command: it is not "
                     "the accelerator's RTL");
    elsewhere_lines(&r, d);
}
