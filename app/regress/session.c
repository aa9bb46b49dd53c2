/* session.c - run a suite: start the runs that have no result, store each result at once, judge the
 * whole and write it as table, JSON, page and JUnit. */
#define _GNU_SOURCE
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/job/monotonic.h"
#include "base/file.h"
#include "base/home.h"
#include "base/text.h"
#include "launch.h"
#include "regress.h"
#include "session_views.h"
#include "sim/build/evict.h"
#include "sim/build/hash.h"
#include "sweep.h"

enum { PAGE_SESSIONS = 60, PAGE_RUNS = 20000 };

struct session {
    struct arena *arena;
    const struct options *o;
    struct history h;
    struct view view;
    struct launch launch;
    const char *folder; /* folder of the results, absolute */
    uint32_t n_wrong, n_ended;
    double weight_all,
        weight_done; /* measured seconds of the runs to start: of all, of those done */
    double begun, shown;
};

static const char *folder_of(const struct options *o)
{
    return o->out ? o->out : "regress";
}

const char *regress_database(struct arena *a, const struct options *o)
{
    return arena_printf(a, "%s/regress.db", folder_of(o));
}

/* --- identity of what is tested: heddle, its RTL, the commit ---------------------------------- */

/* Hash what may change an answer or a cycle: the program, the libraries next to it, RTL, simulator
 * and targets. */
static enum status hash_heddle(struct session *s, struct hash128 *h, struct diag *d)
{
    static const char *const patterns[] = {"%s/hw/rtl/*.sv*",  "%s/hw/rtl/*/*.sv",
                                           "%s/hw/accel.json", "%s/sim/*.cpp",
                                           "%s/sim/*.h",       "%s/targets/*/*.[chjps]*"};
    const char *home, *program = s->launch.program;
    const char *folder =
        arena_strndup(s->arena, program, (size_t)(strrchr(program, '/') - program));

    glob_t found = {0};
    enum status st = ST_OK;

    TRY(home_find(s->arena, &home, d));
    (void)glob(arena_printf(s->arena, "%s/libheddle*.so", folder), 0, NULL, &found);
    for (uint32_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const char *at = strchr(patterns[i], '/');
        (void)glob(arena_printf(s->arena, "%s%s", home, at), GLOB_APPEND, NULL, &found);
    }
    TRY(hash_file(s->arena, h, program, d));
    for (size_t i = 0; i < found.gl_pathc && st == ST_OK; i++)
        st = hash_file(s->arena, h, found.gl_pathv[i], d);
    globfree(&found);
    return st;
}

/* Return the first line that a command prints; "" if it fails. */
static const char *line_of(struct arena *a, const char *command)
{
    char line[256] = "";
    FILE *f = popen(arena_printf(a, "{ %s; } 2>/dev/null </dev/null", command), "re");

    if (f && !fgets(line, sizeof line, f))
        line[0] = '\0';
    int state = f ? pclose(f) : -1;
    line[strcspn(line, "\r\n")] = '\0';
    return state == 0 ? arena_strdup(a, line) : "";
}

/* Return "heddle 0.2.0, Verilator 5.006". */
static const char *versions_of(struct arena *a)
{
    const char *named = getenv("HEDDLE_VERILATOR");
    const char *program = text_shell_word(a, named && *named ? named : "verilator");
    const char *line = line_of(a, arena_printf(a, "%s --version", program));
    size_t word = strcspn(line, " ");

    if (line[word] == '\0')
        return "heddle " HEDDLE_VERSION;
    return arena_printf(a, "heddle %s, %.*s", HEDDLE_VERSION,
                        (int)(word + 1 + strcspn(line + word + 1, " ")), line);
}

static enum status identify(struct session *s, struct diag *d)
{
    struct history_session *to = &s->view.session;
    struct arena *a = s->arena;
    const char *home;
    struct hash128 h;

    TRY(home_find(a, &home, d));
    hash_init(&h);
    for (uint32_t i = 0; i < s->view.suite.n; i++)
        hash_string(&h, s->view.suite.run[i].key);
    TRY(hash_heddle(s, &h, d));
    to->plan = hash_text(a, &h);
    to->suite = s->view.suite.name;
    to->n_planned = s->view.suite.n;
    const char *git = arena_printf(a, "git -C %s", text_shell_word(a, home));
    to->commit = s->o->commit;
    if (!to->commit)
        to->commit = line_of(a, arena_printf(a,
                                             "%s rev-parse --short=12 HEAD | tr -d '\\n' && "
                                             "%s diff --quiet HEAD || echo +",
                                             git, git));
    to->versions = versions_of(a);
    return ST_OK;
}

/* --- progress ---------------------------------------------------------------------------------- */

static double weight_of(const struct suite_run *r)
{
    return r->wall_before > 0 ? r->wall_before : 1;
}

/* Print "34 of 120 runs, 2 wrong, 12 s, about 40 s left". */
static void progress(struct session *s)
{
    const struct output *output = s->o->output;
    const double now = monotonic_seconds(), took = now - s->begun;
    char left[64] = "";

    if (now - s->shown < 0.1 || !output_wants(output, OUTPUT_PROGRESS))
        return;
    s->shown = now;
    if (s->weight_done > 0)
        snprintf(left, sizeof left, ", about %.0f s left",
                 took * (s->weight_all - s->weight_done) / s->weight_done);
    output_printf(output, OUTPUT_PROGRESS, "%lld of %lld runs, %u wrong, %.0f s%s",
                  (long long)s->view.session.n_done, (long long)s->view.session.n_planned,
                  s->n_wrong, took, left);
}

static enum status run_ended(void *ctx, uint32_t number, struct diag *d)
{
    struct session *s = ctx;
    const struct suite_run *r = &s->view.suite.run[number];

    s->n_wrong += r->result.exit != 0;
    s->weight_done += weight_of(r);
    s->view.session.n_done++;
    TRY(history_add(&s->h, s->view.session.id, number, r, d));
    progress(s);
    return history_flush(&s->h, false, d);
}

static enum status idle(void *ctx, struct diag *d)
{
    struct session *s = ctx;

    progress(s);
    return history_flush(&s->h, false, d);
}

/* --- the runs ---------------------------------------------------------------------------------- */

static enum status find_program(struct session *s, struct diag *d)
{
    char real[PATH_MAX];

    if (!s->o->heddle)
        return home_program(s->arena, &s->launch.program, d);
    if (!realpath(s->o->heddle, real) || access(real, X_OK) != 0)
        return FAIL(d, ST_USAGE, "--heddle: found '%s', expected a program", s->o->heddle);
    s->launch.program = arena_strdup(s->arena, real);
    return ST_OK;
}

static bool given(const struct options *o, const char *name)
{
    for (uint32_t i = 0; i < o->n_given; i++)
        if (strcmp(o->given[i].name, name) == 0)
            return true;
    return false;
}

/* Make the folder into which runs write, <folder>/work/SESSION. That of another session is removed
 * first. */
static enum status make_work(struct session *s, bool resumed, struct diag *d)
{
    const char *all = arena_printf(s->arena, "%s/work", s->folder);

    s->launch.work = arena_printf(s->arena, "%s/%lld", all, (long long)s->view.session.id);
    launch_slurm_cancel(&s->launch);
    if (!resumed)
        evict_tree(all);
    TRY(file_make_dirs(s->launch.work, d));
    return resumed ? launch_collect_left(&s->launch, d) : ST_OK;
}

static void find_missing(struct session *s)
{
    const struct suite *suite = &s->view.suite;
    uint32_t *number = ARENA_ARRAY(s->arena, uint32_t, suite->n + 1);

    s->launch.n = 0;
    for (uint32_t i = 0; i < suite->n; i++)
        if (!suite->run[i].result.verdict) {
            number[s->launch.n++] = i;
            s->weight_all += weight_of(&suite->run[i]);
        }
    s->launch.number = number;
}

/* Estimate unknown durations by the mean of the known ones. */
static void fill_weights(struct suite *suite)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < suite->n; i++)
        if (suite->run[i].wall_before > 0) {
            sum += suite->run[i].wall_before;
            n++;
        }
    for (uint32_t i = 0; i < suite->n && n; i++)
        if (suite->run[i].wall_before <= 0)
            suite->run[i].wall_before = sum / n;
}

static enum status run_missing(struct session *s, struct diag *d)
{
    struct history_session *now = &s->view.session;
    uint32_t n_done = 0;

    TRY(history_begin(&s->h, now, s->o->again, d));
    TRY(history_recall(&s->h, &s->view.suite, d));
    fill_weights(&s->view.suite);
    TRY(history_resume(&s->h, now->id, &s->view.suite, &n_done, d));
    now->n_done = n_done;
    s->begun = s->shown = monotonic_seconds();
    TRY(make_work(s, n_done > 0, d));
    s->weight_done = 0;
    find_missing(s);
    if (s->launch.n < s->view.suite.n)
        output_printf(s->o->output, OUTPUT_RESULT, "session %lld has %lld of %u runs: %s\n",
                      (long long)now->id, (long long)now->n_done, s->view.suite.n,
                      s->launch.n ? "continuing" : "nothing is missing (--again runs all)");
    enum status st = launch_all(&s->launch, d);
    output_text(s->o->output, OUTPUT_PROGRESS, "");
    struct diag ignored = {0}; /* keep results of runs that have ended, even if starting others
                                * failed */
    enum status kept = history_flush(&s->h, true, st == ST_OK ? d : &ignored);
    return st == ST_OK ? kept : st;
}

/* --- the session's end ------------------------------------------------------------------------ */

/* Return the last sessions of the suite that a page can show, this one last. */
static enum status last_sessions(struct session *s, struct view **v, uint32_t *n, struct diag *d)
{
    struct history_session *all;
    int64_t runs = 0;
    uint32_t n_all, first;

    TRY(history_sessions(&s->h, s->view.session.suite, &all, &n_all, d));
    for (first = n_all; first > 0 && n_all - first < PAGE_SESSIONS; first--) {
        runs += all[first - 1].n_done;
        if (runs > PAGE_RUNS && first < n_all)
            break;
    }
    *n = 0;
    *v = ARENA_ARRAY(s->arena, struct view, n_all - first + 1u);
    for (uint32_t i = first; i < n_all; i++) {
        struct view *to = &(*v)[(*n)++];
        to->session = all[i];
        TRY(history_read(&s->h, &all[i], &to->suite, &to->judge, d));
    }
    return ST_OK;
}

static enum status write_views(struct session *s, struct diag *d)
{
    struct view *v;
    uint32_t n;

    TRY(view_json(s->arena, &s->view, arena_printf(s->arena, "%s/results.json", s->folder), d));
    if (s->o->junit)
        TRY(view_junit(s->arena, &s->view, s->o->junit, d));
    TRY(view_badge(s->arena, &s->view, arena_printf(s->arena, "%s/badge.svg", s->folder), d));
    TRY(last_sessions(s, &v, &n, d));
    return view_page(s->arena, v, n, arena_printf(s->arena, "%s/index.html", s->folder), d);
}

static enum status verdict(const struct session *s, struct diag *d)
{
    const struct judge *j = &s->view.judge;

    for (uint32_t i = 0; i < j->n; i++) {
        const struct judge_finding *f = &j->finding[i];
        if (!f->why)
            return FAIL(d, ST_MISMATCH, "%s: %u of %u runs are wrong; the first: %s: %s: %s",
                        options_commands[s->o->command], j->n_bad_runs, s->view.suite.n,
                        s->view.suite.run[f->run].label, f->kind, f->text);
    }
    return ST_OK;
}

static enum status show_suite(struct session *s, struct diag *d)
{
    struct text t;
    bool targets;

    text_init(&t, s->arena);
    view_table(&t, &s->view);
    if (s->o->github)
        view_github(&t, &s->view);
    output_text(s->o->output, OUTPUT_RESULT, t.data);
    TRY(write_views(s, d));
    TRY(view_targets(s->arena, &s->view, s->folder, &targets, d));
    if (targets)
        output_printf(s->o->output, OUTPUT_RESULT,
                      "%s/targets.html, .md, .csv: networks x targets\n", folder_of(s->o));
    output_printf(s->o->output, OUTPUT_RESULT, "%s/index.html shows the history\n",
                  folder_of(s->o));
    return ST_OK;
}

static enum status show_sweep(struct session *s, struct diag *d)
{
    struct sweep sweep;
    struct text t, csv;

    TRY(sweep_of(s->arena, &s->view, s->o->clock_mhz, &sweep, d));
    text_init(&t, s->arena);
    text_init(&csv, s->arena);
    sweep_table(&t, &sweep);
    sweep_csv(&csv, &sweep);
    output_text(s->o->output, OUTPUT_RESULT, t.data);
    TRY(file_write(arena_printf(s->arena, "%s/sweep.csv", s->folder), csv.data, csv.length, d));
    TRY(sweep_page(&sweep, arena_printf(s->arena, "%s/sweep.html", s->folder), d));
    output_printf(s->o->output, OUTPUT_RESULT,
                  "%s/sweep.html shows it, sweep.csv has all numbers\n", folder_of(s->o));
    return ST_OK;
}

static enum status end(struct session *s, struct diag *d)
{
    judge_suite(&s->view.suite, &s->view.judge);
    TRY(history_end(&s->h, s->view.session.id, &s->view.suite, &s->view.judge, d));
    evict_tree(arena_printf(s->arena, "%s/work", s->folder));
    s->view.session.n_bad = s->view.judge.n_bad_runs;
    TRY(history_times(&s->h, &s->view.session, d));
    TRY(s->o->command == COMMAND_SWEEP ? show_sweep(s, d) : show_suite(s, d));
    return verdict(s, d);
}

static enum status run_suite(struct session *s, struct diag *d)
{
    char real[PATH_MAX];

    TRY(history_open(s->arena, regress_database(s->arena, s->o), DATABASE_WRITE, &s->h, d));
    if (!realpath(folder_of(s->o), real))
        return FAIL(d, ST_USAGE, "-o: '%s' is gone", folder_of(s->o));
    s->folder = arena_strdup(s->arena, real);
    TRY(identify(s, d));
    TRY(run_missing(s, d));
    return end(s, d);
}

enum status regress_suite(struct arena *a, const struct options *o, const struct suite *suite,
                          struct diag *d)
{
    struct session *s = ARENA_NEW(a, struct session);
    int lock = -1;

    s->arena = a;
    s->o = o;
    s->view.suite = *suite;
    s->launch = (struct launch){.arena = a,
                                .suite = &s->view.suite,
                                .launcher = o->launcher,
                                .jobs = o->jobs,
                                .jobs_given = given(o, "jobs"),
                                .ctx = s,
                                .ended = run_ended,
                                .idle = idle};
    TRY(find_program(s, d));
    s->view.suite.sweeps = o->command == COMMAND_SWEEP;
    TRY(file_lock_dir(folder_of(o), &lock, d));
    enum status st = run_suite(s, d);
    history_close(&s->h);
    (void)close(lock);
    return st;
}

enum status regress_run(struct arena *a, const struct options *o, struct diag *d)
{
    struct suite suite;

    TRY(launch_check(o->launcher, d));
    TRY(suite_read(a, o->model, &suite, d));
    return regress_suite(a, o, &suite, d);
}
