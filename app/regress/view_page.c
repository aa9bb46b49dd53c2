/* view_page.c - the history as one page; see session_views.h. It is self-contained (no script, no
 * other file), light and dark, and printable. All text from outside is escaped. */
#include <string.h>

#include "app/changes/changes.h"
#include "base/file.h"
#include "session_views.h"

enum { WIDTH = 180, HEIGHT = 28, EDGE = 4 };

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
static const char style[] =
    "</title>\n<style>\n"
    ":root{color-scheme:light dark;--ink:#1d2430;--soft:#667;--line:#d8dce2;--back:#fff;"
    "--good:#1a7f4b;--bad:#c0271a;--trend:#2a6fbb}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#9aa4b2;--line:#39414d;"
    "--back:#14181e;--good:#5cc98f;--bad:#ff7b6b;--trend:#7db4f0}}\n"
    "body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);"
    "margin:2em auto;max-width:1200px;padding:0 1em}\n"
    "h1{font-size:1.5em;margin-bottom:.2em}h2{font-size:1.1em;margin-top:2em}\n"
    "table{border-collapse:collapse;width:100%}td,th{padding:.25em .6em;text-align:right;"
    "border-bottom:1px solid var(--line);vertical-align:middle}\n"
    "th{color:var(--soft);font-weight:600}td:first-child,th:first-child,.t{text-align:left}\n"
    ".good{color:var(--good)}.bad{color:var(--bad);font-weight:600}.soft{color:var(--soft)}\n"
    "svg{display:block}polyline{fill:none;stroke:var(--trend);stroke-width:1.5}\n"
    "circle{fill:var(--trend)}circle.bad{fill:var(--bad)}\n"
    "@media print{body{margin:0;max-width:none}tr{break-inside:avoid}}\n";

void view_head(struct text *t, const char *title, const char *more)
{
    text_add(t, head);
    view_escape(t, title);
    text_add(t, style);
    text_add(t, more);
    text_add(t, "</style></head><body>\n");
}

struct page {
    struct text t;
    const struct view *v; /* oldest first */
    uint32_t n;
};

static const struct view *last(const struct page *p)
{
    return &p->v[p->n - 1];
}

static void cell(struct page *p, const char *class, const char *text)
{
    text_printf(&p->t, "<td class=\"%s\">", class);
    view_escape(&p->t, text);
    text_add(&p->t, "</td>");
}

static void number_cell(struct page *p, double v, int digits, const char *unit)
{
    if (v < 0)
        text_add(&p->t, "<td class=\"soft\">-</td>");
    else
        text_printf(&p->t, "<td>%.*f%s</td>", digits, v, unit);
}

static void percent_cell(struct page *p, double found, double expected)
{
    if (found > 0 && expected > 0)
        text_printf(&p->t, "<td>%+.2f %%</td>", 100 * (found / expected - 1));
    else
        text_add(&p->t, "<td class=\"soft\">-</td>");
}

static const char *commit_of(const struct view *v)
{
    return *v->session.commit ? v->session.commit : "unknown";
}

/* Return a finding that counts. */
static const struct judge_finding *finding_of(const struct view *v, const struct suite_run *r)
{
    for (uint32_t i = 0; i < v->judge.n; i++)
        if (&v->suite.run[v->judge.finding[i].run] == r && !v->judge.finding[i].why)
            return &v->judge.finding[i];
    return NULL;
}

/* --- a run's trend ----------------------------------------------------------------------------- */

static void range(const struct page *p, const char *label, double *low, double *high, uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct suite_run *r = suite_find(&p->v[i].suite, label);
        double v = r ? r->result.number.cycles : -1;
        if (v < 0)
            continue;
        *low = *n == 0 || v < *low ? v : *low;
        *high = *n == 0 || v > *high ? v : *high;
        ++*n;
    }
}

/* Draw the points of a line, or one dot each (bad ones in their colour). */
static void points(struct page *p, const char *label, double low, double high, bool dots)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const struct suite_run *r = suite_find(&p->v[i].suite, label);
        double v = r ? r->result.number.cycles : -1;
        double x = p->n > 1 ? EDGE + (double)i * (WIDTH - 2 * EDGE) / (p->n - 1) : WIDTH / 2.0;
        double y = high > low ? HEIGHT - EDGE - (v - low) * (HEIGHT - 2 * EDGE) / (high - low)
                              : HEIGHT / 2.0;
        if (v < 0)
            continue;
        if (!dots) {
            text_printf(&p->t, "%.1f,%.1f ", x, y);
            continue;
        }
        text_printf(&p->t, "<circle%s cx=\"%.1f\" cy=\"%.1f\" r=\"2\"><title>%.1f cycles, ",
                    finding_of(&p->v[i], r) ? " class=\"bad\"" : "", x, y, v);
        view_escape(&p->t, commit_of(&p->v[i]));
        text_add(&p->t, "</title></circle>");
    }
}

static void trend_cell(struct page *p, const char *label)
{
    double low = 0, high = 0;
    uint32_t n;

    range(p, label, &low, &high, &n);
    if (n == 0) {
        text_add(&p->t, "<td class=\"soft t\">-</td>");
        return;
    }
    text_printf(&p->t,
                "<td class=\"t\"><svg width=\"%d\" height=\"%d\" role=\"img\"><title>"
                "%.1f to %.1f cycles in %u sessions</title><polyline points=\"",
                WIDTH, HEIGHT, low, high, n);
    points(p, label, low, high, false);
    text_add(&p->t, "\"/>");
    points(p, label, low, high, true);
    text_add(&p->t, "</svg></td>");
}

/* --- first bad session ------------------------------------------------------------------------ */

/* Return the oldest session of the last consecutive ones in which the run is wrong, and the session
 * before it, in which it was right (NULL: unknown). */
static const struct view *first_bad(const struct page *p, const char *label,
                                    const struct view **good)
{
    const struct view *bad = NULL;

    *good = NULL;
    for (uint32_t i = p->n; i-- > 0;) {
        const struct suite_run *r = suite_find(&p->v[i].suite, label);
        if (!r || !r->result.verdict)
            continue;
        if (!finding_of(&p->v[i], r)) {
            *good = &p->v[i];
            break;
        }
        bad = &p->v[i];
    }
    return bad;
}

/* Write the comparison of a run with its last good session, in the folder of the page, and link it. */
static enum status link_changes(struct page *p, const char *label, const struct view *good,
                                const char *path, struct diag *d)
{
    struct arena *a = p->t.arena;
    const struct suite_run *x = suite_find(&good->suite, label),
                           *y = suite_find(&last(p)->suite, label);
    const char *file = arena_printf(a, "diff_%u.html", (uint32_t)(y - last(p)->suite.run));
    const char *folder = arena_strndup(a, path, (size_t)(strrchr(path, '/') + 1 - path));
    cJSON *changes = view_changes(
        a, arena_printf(a, "session %lld, commit %s", (long long)good->session.id, commit_of(good)),
        x,
        arena_printf(a, "session %lld, commit %s", (long long)last(p)->session.id,
                     commit_of(last(p))),
        y);
    struct text t;

    text_init(&t, a);
    changes_page(&t, changes);
    cJSON_Delete(changes);
    text_printf(&p->t, "<td class=\"t\"><a href=\"%s\">what changed</a></td>", file);
    return file_write(arena_printf(a, "%s%s", folder, file), t.data, t.length, d);
}

static enum status wrong_table(struct page *p, const char *path, struct diag *d)
{
    const struct view *v = last(p), *good;
    uint32_t before = UINT32_MAX;

    if (v->judge.n_count == 0)
        return ST_OK;
    text_add(&p->t,
             "<h2>Wrong</h2>\n<table><tr><th>run</th><th class=\"t\">what</th>"
             "<th class=\"t\">first bad commit</th><th class=\"t\">last good</th><th></th></tr>\n");
    for (uint32_t i = 0; i < v->judge.n; i++) {
        const struct judge_finding *f = &v->judge.finding[i];
        const char *label = v->suite.run[f->run].label;
        if (f->why)
            continue;
        const struct view *bad = first_bad(p, label, &good);
        text_add(&p->t, "<tr>");
        cell(p, "t", f->run == before ? "" : label);
        cell(p, "t bad", arena_printf(p->t.arena, "%s: %s", f->kind, f->text));
        cell(p, "t", bad ? commit_of(bad) : "");
        cell(p, "t", good ? commit_of(good) : "none");
        if (good && strcmp(f->kind, "cycles") == 0)
            TRY(link_changes(p, label, good, path, d));
        else
            cell(p, "", "");
        text_add(&p->t, "</tr>\n");
        before = f->run;
    }
    text_add(&p->t, "</table>\n");
    return ST_OK;
}

/* --- the tables -------------------------------------------------------------------------------- */

static void column_cell(struct page *p, const struct column *c, double v)
{
    if (c->cell == COLUMN_SHARE)
        number_cell(p, v < 0 ? -1 : 100 * v, 1, " %");
    else
        number_cell(p, v, 0, "");
}

static void run_row(struct page *p, const struct suite_run *r)
{
    const struct suite_result *x = &r->result;
    const bool bad = finding_of(last(p), r) != NULL;

    text_add(&p->t, "<tr>");
    cell(p, "t", r->label);
    cell(p, bad ? "t bad" : "t good", x->verdict ? x->verdict : "not run");
    number_cell(p, x->number.cycles, 1, "");
    percent_cell(p, x->number.cycles, r->baseline);
    percent_cell(p, x->number.estimated_cycles, x->number.cycles);
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].run_width)
            column_cell(p, &columns[i], x->number.at[i]);
    number_cell(p, x->wall_seconds, 2, "");
    trend_cell(p, r->label);
    text_add(&p->t, "</tr>\n");
}

static void run_table(struct page *p)
{
    const struct suite *s = &last(p)->suite;

    text_add(&p->t, "<h2>Last session</h2>\n<table><tr><th>run</th><th class=\"t\">verdict</th>"
                    "<th>cycles</th><th>on baseline</th><th>estimate off</th>");
    for (const struct column *c = columns; c->name; c++)
        if (c->run_width)
            text_printf(&p->t, "<th>%s</th>", c->heading);
    text_add(&p->t, "<th>seconds</th><th class=\"t\">cycles over time</th></tr>\n");
    for (uint32_t i = 0; i < s->n; i++)
        run_row(p, &s->run[i]);
    text_add(&p->t, "</table>\n");
}

static void session_table(struct page *p)
{
    text_add(&p->t, "<h2>Sessions</h2>\n<table><tr><th>session</th><th class=\"t\">started (UTC)"
                    "</th><th class=\"t\">commit</th><th class=\"t\">versions</th><th>runs</th>"
                    "<th>wrong</th></tr>\n");
    for (uint32_t i = p->n; i-- > 0;) {
        const struct history_session *s = &p->v[i].session;
        text_printf(&p->t, "<tr><td>%lld</td>", (long long)s->id);
        cell(p, "t", view_time(p->t.arena, s->started));
        cell(p, "t", commit_of(&p->v[i]));
        cell(p, "t", s->versions);
        text_printf(&p->t, "<td>%lld of %lld</td><td class=\"%s\">%lld</td></tr>\n",
                    (long long)s->n_done, (long long)s->n_planned, s->n_bad ? "bad" : "good",
                    (long long)s->n_bad);
    }
    text_add(&p->t, "</table>\n");
}

enum status view_page(struct arena *a, const struct view *v, uint32_t n, const char *path,
                      struct diag *d)
{
    struct page p = {.v = v, .n = n};

    text_init(&p.t, a);
    view_head(&p.t, last(&p)->session.suite, "");
    text_add(&p.t, "<h1>");
    view_escape(&p.t, last(&p)->session.suite);
    text_printf(&p.t, ": <span class=\"%s\">%s</span></h1>\n<p class=\"soft\">",
                last(&p)->session.n_bad ? "bad" : "good",
                last(&p)->session.n_bad
                    ? arena_printf(a, "%lld of %lld runs wrong", (long long)last(&p)->session.n_bad,
                                   (long long)last(&p)->session.n_planned)
                    : arena_printf(a, "all %lld runs as they should be",
                                   (long long)last(&p)->session.n_planned));
    view_escape(&p.t,
                arena_printf(a, "session %lld, commit %s, %s", (long long)last(&p)->session.id,
                             commit_of(last(&p)), view_time(a, last(&p)->session.started)));
    text_add(&p.t, "</p>\n");
    TRY(wrong_table(&p, path, d));
    run_table(&p);
    session_table(&p);
    text_add(&p.t, "</body></html>\n");
    return file_write(path, p.t.data, p.t.length, d);
}
