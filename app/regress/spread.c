/* spread.c - see spread.h. Each run on another machine is `heddle run` with the same options and
 * --fill-store: it simulates the submissions that no other one has claimed, and leaves their cycles
 * in the store. The run here finds them there; what a lost run left out it simulates itself. */
#include "spread.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/regress/suite/result.h"
#include "base/file.h"
#include "base/home.h"
#include "launch.h"
#include "sim/build/evict.h"
#include "sim/reuse/reuse.h"

enum { RUN_SECONDS = 86400, FOLDER_BYTES = 4096 };

static enum status run_ended(void *ctx, uint32_t number, struct diag *d)
{
    (void)ctx;
    (void)number;
    (void)d;
    return ST_OK;
}

static enum status idle(void *ctx, struct diag *d)
{
    (void)ctx;
    (void)d;
    return ST_OK;
}

/* Return true for options of the run here alone: what it leaves, and how it is spread. */
static bool is_here(const char *name)
{
    static const char *const names[] = {
        "launcher", "jobs",   "output",   "stats",       "waves",   "accelergy", "quiet",
        "verbose",  "format", "labels",   "waves-limit", "compare", "oracle",    "no-report",
        "energy",   "clock",  "strength", "prove",       "strict",  "dump-ir"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Return the arguments of a run on another machine. */
static const char *const *arguments(struct arena *a, const struct options *o)
{
    const char **argv = ARENA_ARRAY(a, const char *, o->n_given + 6);
    uint32_t n = 0;

    argv[n++] = "run";
    argv[n++] = o->model;
    for (uint32_t i = 0; i < o->n_given; i++) {
        const struct option_given *g = &o->given[i];
        if (!is_here(g->name))
            argv[n++] =
                arena_printf(a, "--%s%s%s", g->name, g->value ? "=" : "", g->value ? g->value : "");
    }
    argv[n++] = "--fill-store";
    argv[n++] = "--compare=outputs";
    argv[n++] = "--quiet";
    return argv;
}

static enum status suite_of(struct arena *a, const struct options *o, struct suite *s,
                            struct diag *d)
{
    char *const folder = arena_alloc(a, FOLDER_BYTES);
    const char *const *const argv = arguments(a, o);

    if (!getcwd(folder, FOLDER_BYTES))
        return FAIL(d, ST_USAGE, "--launcher: the working folder has no name");
    *s = (struct suite){.arena = a,
                        .path = folder,
                        .folder = folder,
                        .name = "run",
                        .seconds = RUN_SECONDS,
                        .run = ARENA_ARRAY(a, struct suite_run, o->jobs),
                        .n = o->jobs};
    for (uint32_t i = 0; i < s->n; i++) {
        s->run[i].argv = argv;
        s->run[i].result = result_none;
    }
    return ST_OK;
}

/* Report runs that were lost; a wrong answer is found again here. */
static void note_lost(const struct suite *s, const struct options *o)
{
    const char *why = "";
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        if (strcmp(s->run[i].result.verdict, "failed") == 0) {
            n++;
            why = s->run[i].result.message;
        }
    if (n)
        output_printf(
            o->output, OUTPUT_NOTE,
            "note: --launcher: %u of %u runs gave no result: %s; what they did not simulate "
            "is simulated here",
            n, s->n, why);
}

static enum status check(const struct options *o, struct diag *d)
{
    TRY(launch_check(o->launcher, d));
    if (o->reuse == REUSE_SAME || o->reuse == REUSE_CYCLES)
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "--launcher: expected --reuse=same or --reuse=cycles: runs on other machines leave "
                "their cycles in its store");
}

enum status spread_run(struct arena *a, const struct options *o, struct diag *d)
{
    struct suite suite;
    struct launch l = {.arena = a,
                       .suite = &suite,
                       .launcher = o->launcher,
                       .jobs = o->jobs,
                       .n = o->jobs,
                       .ended = run_ended,
                       .idle = idle};
    uint32_t *const number = ARENA_ARRAY(a, uint32_t, o->jobs);
    const char *cache;

    TRY(check(o, d));
    TRY(home_program(a, &l.program, d));
    TRY(home_cache(a, &cache, d));
    TRY(suite_of(a, o, &suite, d));
    l.work = arena_printf(a, "%s/launched-%ld", cache, (long)getpid());
    TRY(file_make_dirs(l.work, d));
    for (uint32_t i = 0; i < suite.n; i++)
        number[i] = i;
    l.number = number;
    const enum status st = launch_all(&l, d);
    if (st == ST_OK)
        note_lost(&suite, o);
    evict_tree(l.work);
    return st;
}
