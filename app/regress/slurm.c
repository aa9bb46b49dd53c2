/* slurm.c - runs as elements of Slurm's job arrays: sbatch submits them, files show which have
 * ended (launch_files.c), squeue shows whether the array exists. Runs that a vanished array has not
 * finished are submitted again. The array is cancelled by its name, which is stored before
 * submission, so that even an interrupt during sbatch leaves nothing queued. */
#define _GNU_SOURCE
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "launch.h"

enum {
    MAX_ELEMENTS = 1000, /* Slurm's MaxArraySize is 1001 by default */
    ELEMENTS = 500,      /* aimed at */
    PAUSE_MS = 1000,
    MAX_DUMB = 120, /* polls in which squeue may fail */
};

struct slurm {
    struct launch *l;
    const char *name; /* of the jobs */
    const char *job;  /* the last array */
    uint32_t attempt;
    uint32_t *missing, n_missing;
};

/* Return stdout and stderr of a command, and its exit status. */
static const char *output_of(struct arena *a, const char *command, int *code)
{
    char part[4096];
    size_t n;
    struct text t;

    text_init(&t, a);
    text_add(&t, "");
    FILE *f = popen(arena_printf(a, "{ %s; } 2>&1 </dev/null", command), "re");
    while (f && (n = fread(part, 1, sizeof part, f)) > 0)
        text_add_n(&t, part, n);
    int state = f ? pclose(f) : -1;
    *code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    return t.data;
}

/* Return the last line that is not blank. */
static const char *last_line(struct arena *a, const char *text)
{
    size_t n = strlen(text), from;

    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    for (from = n; from > 0 && text[from - 1] != '\n'; from--)
        continue;
    return arena_strndup(a, text + from, n - from);
}

static const char *cancel_path(const struct launch *l)
{
    return arena_printf(l->arena, "%s/cancel", l->work);
}

void launch_slurm_cancel(const struct launch *l)
{
    const char *path = cancel_path(l);
    int code;

    if (!file_exists(path))
        return;
    (void)output_of(l->arena, arena_printf(l->arena, "sh %s", text_shell_word(l->arena, path)),
                    &code);
    (void)unlink(path);
}

/* --- submitting ------------------------------------------------------------------------------- */

static uint32_t chunk_of(const struct launch *l, uint32_t n)
{
    uint32_t wanted = l->launcher[5] == ':' ? (uint32_t)strtoul(l->launcher + 6, NULL, 10)
                                            : (n + ELEMENTS - 1) / ELEMENTS;
    uint32_t least = (n + MAX_ELEMENTS - 1) / MAX_ELEMENTS;

    return wanted > least ? wanted : least;
}

/* Write the runs of each element: <work>/list.ATTEMPT.ELEMENT. */
static enum status write_lists(struct slurm *s, uint32_t chunk, uint32_t *n_element, struct diag *d)
{
    struct arena *a = s->l->arena;
    uint32_t at = 0;

    for (*n_element = 0; at < s->n_missing; ++*n_element) {
        struct text t;
        text_init(&t, a);
        for (uint32_t i = 0; i < chunk && at < s->n_missing; i++)
            text_printf(&t, "%u ", s->missing[at++]);
        TRY(file_write(arena_printf(a, "%s/list.%u.%u", s->l->work, s->attempt, *n_element), t.data,
                       t.length, d));
    }
    return ST_OK;
}

static enum status write_files(struct slurm *s, struct diag *d)
{
    struct arena *a = s->l->arena;
    const char *work = text_shell_word(a, s->l->work);
    const char *element = arena_printf(
        a, "#!/bin/sh\nexec sh %s/run $(cat %s/list.$1.$SLURM_ARRAY_TASK_ID)\n", work, work);
    const char *cancel = arena_printf(a, "scancel --name=%s\n", s->name);

    TRY(launch_write_script(s->l, d));
    TRY(file_write(arena_printf(a, "%s/element", s->l->work), element, strlen(element), d));
    return file_write(cancel_path(s->l), cancel, strlen(cancel), d);
}

static enum status submit(struct slurm *s, struct diag *d)
{
    struct arena *a = s->l->arena;
    const char *work = text_shell_word(a, s->l->work), *limit = "";
    uint32_t n;
    int code;

    TRY(write_lists(s, chunk_of(s->l, s->n_missing), &n, d));
    if (s->l->jobs_given)
        limit = arena_printf(a, "%%%u", s->l->jobs);
    const char *said = last_line(
        a, output_of(a,
                     arena_printf(a,
                                  "sbatch --parsable --no-requeue --job-name=%s --array=0-%u%s "
                                  "--output=%s/slurm-%%a.out --chdir=%s %s/element %u",
                                  s->name, n - 1, limit, work, work, work, s->attempt),
                     &code));
    size_t digits = strspn(said, "0123456789");
    if (code != 0 || digits == 0)
        return FAIL(d, ST_USAGE, "--launcher=slurm: sbatch: expected a job's number, found '%s'",
                    said);
    s->job = arena_strndup(a, said, digits);
    return ST_OK;
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Ask squeue; *gone: no element is queued or runs. squeue may fail for a while when its controller
 * restarts. */
static enum status ask(struct slurm *s, uint32_t *dumb, bool *gone, struct diag *d)
{
    struct arena *scratch = arena_beside(s->l->arena);
    int code;
    const char *said = output_of(
        scratch, arena_printf(scratch, "squeue --noheader --jobs=%s --format=%%i", s->job), &code);
    enum status st = ST_OK;

    *gone = (code == 0 && *last_line(scratch, said) == '\0') || strstr(said, "Invalid job id");
    *dumb = code == 0 || *gone ? 0 : *dumb + 1;
    if (*dumb > MAX_DUMB)
        st = FAIL(d, ST_USAGE, "--launcher=slurm: squeue: %s", last_line(scratch, said));
    arena_free(scratch);
    return st;
}

static void find_missing(struct slurm *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_missing; i++)
        if (!s->l->suite->run[s->missing[i]].result.verdict)
            s->missing[n++] = s->missing[i];
    s->n_missing = n;
}

static enum status collect(struct slurm *s, struct diag *d)
{
    TRY(launch_collect_left(s->l, d));
    find_missing(s);
    return s->l->idle(s->l->ctx, d);
}

/* Wait until all runs of the array have ended, or the array is gone. A shared folder may lag, so
 * check twice. */
static enum status wait_array(struct slurm *s, struct diag *d)
{
    uint32_t dumb = 0, n_gone = 0;
    bool gone;

    while (s->n_missing > 0 && n_gone < 2) {
        (void)poll(NULL, 0, PAUSE_MS);
        TRY(ask(s, &dumb, &gone, d));
        n_gone += gone;
        TRY(collect(s, d));
    }
    return ST_OK;
}

static enum status all_arrays(struct slurm *s, struct diag *d)
{
    for (s->attempt = 1; s->attempt <= LAUNCH_TRIES && s->n_missing > 0; s->attempt++) {
        TRY(submit(s, d));
        TRY(wait_array(s, d));
    }
    for (uint32_t i = 0; i < s->n_missing; i++) {
        launch_lost(s->l, s->missing[i],
                    arena_printf(s->l->arena, "lost by %d jobs of Slurm, the last is %s",
                                 LAUNCH_TRIES, s->job));
        TRY(s->l->ended(s->l->ctx, s->missing[i], d));
    }
    return ST_OK;
}

enum status launch_slurm(struct launch *l, struct diag *d)
{
    struct slurm s = {.l = l, .n_missing = l->n};

    s.name = arena_printf(l->arena, "heddle-%s-%ld", l->suite->name, (long)getpid());
    s.missing = arena_memdup(l->arena, l->number, l->n * sizeof *l->number);
    TRY(write_files(&s, d));
    interrupt_script(cancel_path(l));
    enum status st = all_arrays(&s, d);
    interrupt_script(NULL);
    if (st != ST_OK)
        launch_slurm_cancel(l);
    (void)unlink(cancel_path(l));
    return st;
}
