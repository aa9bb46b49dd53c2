/* cover.c - lines and toggles of the core that check-target's cases reach, by a model that Verilator makes with coverage. Its
 * file has a line for each point: C 'keys' count; a key begins with byte 1, its value with byte 2. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/build/object.h"
#include "app/job/monotonic.h"
#include "base/file.h"
#include "grade_parts.h"

enum { SHOWN = 30, MOST_FILE = 1 << 26 };

struct point {
    const char *file, *line, *signal; /* signal: of a toggle, else NULL */
    bool hit;
};

struct cover {
    struct grade *g;
    uint32_t n, room;
    struct point *point;
};

/* The value of a key in a point's text: "" if there is none. */
static const char *value(struct arena *a, const char *keys, const char *key)
{
    const char *const at = strstr(keys, arena_printf(a, "\001%s\002", key));
    const char *const from = at ? at + strlen(key) + 2 : "";

    return arena_strndup(a, from, strcspn(from, "\001'"));
}

static struct point *next_point(struct cover *v, uint32_t i)
{
    ARENA_GROW(v->g->arena, v->point, v->n, &v->room);
    v->n += i == v->n;
    return &v->point[i];
}

/* Add the hits of a run; points are in the same order in each. */
static enum status add_file(struct cover *v, const char *path, struct diag *d)
{
    struct arena *const a = v->g->arena;
    uint32_t i = 0;
    uint8_t *data;
    size_t n;

    TRY(file_read(a, path, MOST_FILE, &data, &n, d));
    char *rest = (char *)data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *const end = strrchr(line, '\'');
        if (strncmp(line, "C '", 3) != 0 || !end)
            continue;
        const bool known = i < v->n;
        struct point *const p = next_point(v, i++);
        if (!known) {
            const char *const file = value(a, line, "f"), *const slash = strrchr(file, '/');
            const bool toggle = strncmp(value(a, line, "page"), "v_toggle", 8) == 0;
            *p = (struct point){slash ? slash + 1 : file, value(a, line, "l"),
                                toggle ? value(a, line, "o") : NULL, false};
        }
        p->hit = p->hit || strtoull(end + 1, NULL, 10) != 0;
    }
    return ST_OK;
}

/* check.judge: run the cases as they are, and with stalls where a port can wait. */
static enum status run_covered(void *ctx, struct check *c, bool first, struct diag *d)
{
    struct cover *const v = ctx;
    const char *so;

    (void)first;
    TRY(run_compile(v->g->arena, c->p.emitted, &so, d));
    for (uint32_t setting = 0; setting < (c->waits ? 4u : 1u); setting += 3) {
        struct run_measured m;
        TRY(check_setting(c, so, setting, &m, d));
        if (c->n_failed)
            return FAIL(d, ST_MISMATCH, "target %s: with coverage: %s", c->desc->name, c->failed);
        TRY(add_file(v, v->g->quiet.coverage, d));
        (void)unlink(v->g->quiet.coverage);
    }
    return ST_OK;
}

/* Add the points of one kind that were not hit: how many of how many, then each, without those of the same text before. */
static void add_missed(struct text *t, const struct cover *v, bool toggles)
{
    uint32_t all = 0, missed = 0, shown = 0;
    const char *last = "";

    for (uint32_t i = 0; i < v->n; i++) {
        all += (v->point[i].signal != NULL) == toggles;
        missed += (v->point[i].signal != NULL) == toggles && !v->point[i].hit;
    }
    text_printf(t, "%s: %u of %u%s", toggles ? "bits that toggled" : "branches and lines that ran",
                all - missed, all, missed ? "; not:" : "");
    for (uint32_t i = 0; i < v->n && shown < SHOWN; i++) {
        const struct point *const p = &v->point[i];
        if ((p->signal != NULL) != toggles || p->hit)
            continue;
        const char *const word =
            toggles ? p->signal : arena_printf(v->g->arena, "%s:%s", p->file, p->line);
        if (strcmp(word, last) != 0)
            text_printf(t, "%s %s", shown++ ? "," : "", word);
        last = word;
    }
    text_printf(t, "%s\n", shown == SHOWN ? ", ..." : "");
}

static enum status measure(struct grade *g, const char *file, struct diag *d)
{
    struct cover v = {.g = g};
    struct text t;

    g->quiet.coverage = arena_printf(g->arena, "%s/coverage.dat", g->folder);
    g->quiet.mutant = 0;
    g->quiet.seed = g->o->seed;
    g->quiet.max_cycles = g->o->max_cycles;
    g->check.judge = run_covered;
    g->check.judge_ctx = &v;
    g->check.n_run = 0;
    TRY(check_usual(&g->check, true, d));
    TRY(check_ends(&g->check, d));
    text_init(&t, g->arena);
    add_missed(&t, &v, false);
    add_missed(&t, &v, true);
    return file_write(file, t.data, t.length, d);
}

enum status grade_cover(struct grade *g, struct diag *d)
{
    const char *const file = arena_printf(g->arena, "%s/coverage", g->folder);
    uint8_t *data;
    size_t n;

    if (!file_exists(file)) {
        if (monotonic_seconds() > g->end)
            return ST_OK; /* the next call */
        TRY(measure(g, file, d));
    }
    TRY(file_read(g->arena, file, MOST_FILE, &data, &n, d));
    output_text(g->o->output, OUTPUT_RESULT, (const char *)data);
    return ST_OK;
}
