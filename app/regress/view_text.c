/* view_text.c - print tables for people; see session_views.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/changes/changes.h"
#include "app/regress/suite/result.h"
#include "session_views.h"

enum { MAX_NAME = 60, MAX_CAUSES = 3 };

const char *view_time(struct arena *a, int64_t seconds)
{
    const time_t at = (time_t)seconds;
    char text[32] = "";
    struct tm tm;

    if (seconds > 0 && gmtime_r(&at, &tm))
        (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
    return arena_strdup(a, text);
}

static int label_width(const struct suite *s)
{
    size_t most = 20;

    for (uint32_t i = 0; i < s->n; i++)
        most = strlen(s->run[i].label) > most ? strlen(s->run[i].label) : most;
    return most > MAX_NAME ? MAX_NAME : (int)most;
}

static void add_number(struct text *t, double v, int width, int digits)
{
    if (v < 0)
        text_printf(t, " %*s", width, "-");
    else
        text_printf(t, " %*.*f", width, digits, v);
}

static void add_percent(struct text *t, double found, double expected, int width)
{
    if (found > 0 && expected > 0)
        text_printf(t, " %+*.2f%%", width - 1, 100 * (found / expected - 1));
    else
        text_printf(t, " %*s", width, "-");
}

static void add_column(struct text *t, const struct column *c, double v)
{
    if (c->cell == COLUMN_SHARE && v > 0)
        text_printf(t, " %*.1f%%", c->run_width - 1, 100 * v);
    else
        add_number(t, c->cell == COLUMN_SHARE ? -1 : v, c->run_width, 0);
}

static void run_line(struct text *t, const struct suite_run *r, int width)
{
    const struct suite_result *x = &r->result;

    text_printf(t, "%-*.*s %-9.9s", width, MAX_NAME, r->label, x->verdict ? x->verdict : "not run");
    add_number(t, x->number.cycles, 12, 1);
    add_percent(t, x->number.cycles, r->baseline, 8);
    add_percent(t, x->number.estimated_cycles, x->number.cycles, 8);
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].run_width)
            add_column(t, &columns[i], x->number.at[i]);
    add_number(t, x->wall_seconds, 7, 2);
    text_add(t, "\n");
}

static void add_findings(struct text *t, const struct view *v)
{
    for (uint32_t i = 0; i < v->judge.n; i++) {
        const struct judge_finding *f = &v->judge.finding[i];
        text_printf(t, "%s: %s: %s%s%s%s\n", f->why ? "known" : "WRONG", v->suite.run[f->run].label,
                    f->kind, *f->text ? ": " : "", f->text,
                    f->why ? arena_printf(t->arena, " (%s)", f->why) : "");
    }
    for (uint32_t i = 0; i < v->suite.n_exception; i++) {
        const struct suite_exception *e = &v->suite.exception[i];
        if (!e->used)
            text_printf(t, "note: exceptions[%u] of the suite (%s of %s) is not needed any more\n",
                        i, e->kind, e->network);
    }
}

void view_table(struct text *t, const struct view *v)
{
    const int width = label_width(&v->suite);

    text_printf(t, "%-*s %-9s %12s %8s %8s", width, "run", "verdict", "cycles", "baseline",
                "estimate");
    for (const struct column *c = columns; c->name; c++)
        if (c->run_width)
            text_printf(t, " %*s", c->run_width, c->heading);
    text_printf(t, " %7s\n", "seconds");
    for (uint32_t i = 0; i < v->suite.n; i++)
        run_line(t, &v->suite.run[i], width);
    add_findings(t, v);
    text_printf(t, "%s, session %lld, commit %s, %s: %lld of %lld runs done, %lld wrong%s\n",
                v->session.suite, (long long)v->session.id,
                *v->session.commit ? v->session.commit : "unknown", v->session.versions,
                (long long)v->session.n_done, (long long)v->session.n_planned,
                (long long)v->session.n_bad, v->session.ended ? "" : "; not at its end");
}

void view_sessions(struct text *t, const struct history_session *s, uint32_t n)
{
    text_printf(t, "%7s %-20s %-16s %-14s %7s %7s %6s\n", "session", "suite", "started (UTC)",
                "commit", "planned", "done", "wrong");
    for (uint32_t i = 0; i < n; i++)
        text_printf(t, "%7lld %-20.20s %-16s %-14.14s %7lld %7lld %6lld%s\n", (long long)s[i].id,
                    s[i].suite, view_time(t->arena, s[i].started),
                    *s[i].commit ? s[i].commit : "unknown", (long long)s[i].n_planned,
                    (long long)s[i].n_done, (long long)s[i].n_bad,
                    s[i].ended ? "" : "  not at its end");
}

/* --- compare ----------------------------------------------------------------------------------- */

struct change {
    const struct suite_run *a, *b;
    double percent;
};

static int by_percent(const void *x, const void *y)
{
    double p = ((const struct change *)x)->percent, q = ((const struct change *)y)->percent;

    return p < q ? 1 : p > q ? -1 : 0;
}

static void add_causes(struct text *t, const struct change *c)
{
    cJSON *changes = view_changes(t->arena, "before", c->a, "after", c->b);

    changes_causes(t, changes, MAX_CAUSES);
    cJSON_Delete(changes);
}

/* Return the cycles, those of the estimate where none were measured; negative: unknown. */
static double cycles_of(const struct suite_run *r)
{
    return r->result.number.cycles > 0 ? r->result.number.cycles
                                       : r->result.number.estimated_cycles;
}

static void change_line(struct text *t, const struct change *c, int width)
{
    text_printf(t, "%-*.*s", width, MAX_NAME, c->b->label);
    add_number(t, cycles_of(c->a), 12, 1);
    add_number(t, cycles_of(c->b), 12, 1);
    add_percent(t, cycles_of(c->b), cycles_of(c->a), 8);
    if (strcmp(c->a->result.verdict, c->b->result.verdict) != 0)
        text_printf(t, "  %s -> %s", c->a->result.verdict, c->b->result.verdict);
    text_add(t, "\n");
    add_causes(t, c);
}

static bool differs(const struct change *c)
{
    return c->percent != 0 || strcmp(c->a->result.verdict, c->b->result.verdict) != 0;
}

void view_compare(struct text *t, const struct view *a, const struct view *b)
{
    struct change *c = ARENA_ARRAY(t->arena, struct change, b->suite.n + 1);
    const int width = label_width(&b->suite);
    uint32_t n = 0, same = 0;

    for (uint32_t i = 0; i < b->suite.n; i++) {
        const struct suite_run *y = &b->suite.run[i], *x = suite_find(&a->suite, y->label);
        if (!x)
            continue;
        c[n] = (struct change){x, y, 0};
        if (cycles_of(x) > 0 && cycles_of(y) > 0)
            c[n].percent = 100 * (cycles_of(y) / cycles_of(x) - 1);
        if (differs(&c[n]))
            n++;
        else
            same++;
    }
    qsort(c, n, sizeof *c, by_percent);
    text_printf(t, "%-*s %12s %12s %8s\n", width, "run",
                arena_printf(t->arena, "session %lld", (long long)a->session.id),
                arena_printf(t->arena, "session %lld", (long long)b->session.id), "change");
    for (uint32_t i = 0; i < n; i++)
        change_line(t, &c[i], width);
    text_printf(t, "%u runs changed, %u are the same, %u are in one session only\n", n, same,
                a->suite.n + b->suite.n - 2 * (n + same));
}
