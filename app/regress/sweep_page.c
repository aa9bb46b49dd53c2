/* sweep_page.c - write a sweep as one page: for each network a picture of time over each cost, and
 * its table; then the configurations that did not run, and why. It is self-contained: no script, no
 * other file. */
#include <string.h>

#include "base/file.h"
#include "sweep.h"

static const char style[] =
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1em 2em}\n"
    "figure{margin:0;break-inside:avoid}svg{width:100%;height:auto}\n"
    ".axis line{stroke:var(--line)}.axis text{font-size:11px;fill:var(--soft)}\n"
    ".axis .name{font-size:12px;fill:var(--ink)}\n"
    ".number{font-size:12px;font-weight:700;fill:var(--ink);paint-order:stroke;"
    "stroke:var(--back);stroke-width:3px}\n"
    "polyline.front{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:4 3}\n"
    "circle{fill:var(--back);stroke-width:1.6;stroke:var(--c);opacity:.75}\n"
    "circle.best{fill:var(--c);opacity:1}\n"
    ".n4{--c:#c8730d}.n8{--c:#15896a}.n16{--c:#2a6fbb}.n32{--c:#9442b5}\n"
    "@media(prefers-color-scheme:dark){.n4{--c:#f0a24a}.n8{--c:#4cc9a4}.n16{--c:#7db4f0}"
    ".n32{--c:#cf8eea}}\n"
    "ol{margin:.2em 0 0;padding-left:1.8em;font-size:.92em}\n"
    ".key svg{display:inline-block;width:12px;height:12px;vertical-align:-1px;margin-left:.8em}\n"
    "summary{cursor:pointer;color:var(--soft);margin-top:.6em}\n";

static void cell(struct text *t, const char *class, const char *text)
{
    text_printf(t, "<td class=\"%s\">", class);
    view_escape(t, text);
    text_add(t, "</td>");
}

static void value_cell(struct text *t, double v, int digits)
{
    if (v < 0)
        text_add(t, "<td class=\"soft\">-</td>");
    else
        text_printf(t, "<td>%.*f</td>", digits, v);
}

static void row(struct text *t, const struct sweep *s, const struct sweep_point *p)
{
    static const int digits[] = {4, 0, 1, 0, 3};
    double divisor;

    text_add(t, "<tr>");
    cell(t, "t", p->hw->name);
    if (p->v[SWEEP_TIME] < 0) {
        const char *why = p->run ? p->run->result.message : "not an answer of every network";
        text_printf(t, "<td class=\"t bad\" colspan=\"%d\">", SWEEP_AXES + 1);
        view_escape(t, p->run ? p->run->result.verdict : "no mean");
        text_add(t, *why ? ": " : "");
        view_escape(t, why);
        text_add(t, "</td></tr>\n");
        return;
    }
    for (int k = 0; k < SWEEP_AXES; k++) {
        (void)sweep_axis_unit(s, (enum sweep_axis)k, &divisor);
        value_cell(t, p->v[k] < 0 ? -1 : p->v[k] / divisor, digits[k]);
    }
    const char *fronts = "";
    for (int k = SWEEP_MULTIPLIERS; k < SWEEP_AXES; k++)
        if (p->front[k])
            fronts = arena_printf(t->arena, "%s%s%s", fronts, *fronts ? ", " : "",
                                  sweep_axis_name((enum sweep_axis)k));
    cell(t, "t", fronts);
    text_add(t, "</tr>\n");
}

static void table(struct text *t, const struct sweep *s, const struct sweep_series *series)
{
    double divisor;

    text_printf(t,
                "<details><summary>all %u configurations</summary>\n<table><tr><th>configuration"
                "</th>",
                series->n);
    for (int k = 0; k < SWEEP_AXES; k++) {
        const char *unit = sweep_axis_unit(s, (enum sweep_axis)k, &divisor);
        text_printf(t, "<th>%s%s%s</th>", sweep_axis_name((enum sweep_axis)k), *unit ? ", " : "",
                    unit);
    }
    text_add(t, "<th class=\"t\">least time for its</th></tr>\n");
    for (uint32_t i = 0; i < series->n; i++)
        row(t, s, &series->point[i]);
    text_add(t, "</table></details>\n");
}

static void one_series(struct text *t, const struct sweep *s, const struct sweep_series *series)
{
    text_add(t, "<h2>");
    view_escape(t, series->name);
    text_add(t, "</h2>\n<div class=\"plots\">\n");
    for (int k = SWEEP_MULTIPLIERS; k < SWEEP_AXES; k++)
        sweep_plot(t, s, series, (enum sweep_axis)k);
    text_add(t, "</div>\n");
    table(t, s, series);
}

/* List runs without an answer, one per line. */
static void not_run(struct text *t, const struct sweep *s)
{
    const struct suite *suite = &s->view->suite;
    bool any = false;

    for (uint32_t i = 0; i < suite->n; i++) {
        const struct suite_run *r = &suite->run[i];
        if (r->result.exit == 0)
            continue;
        text_add(t, any ? ""
                        : "<h2>Without an answer</h2>\n<table><tr><th>run</th><th class=\"t\">why"
                          "</th></tr>\n");
        any = true;
        text_add(t, "<tr>");
        cell(t, "t", r->label);
        cell(t, "t", *r->result.message ? r->result.message : r->result.verdict);
        text_add(t, "</tr>\n");
    }
    text_add(t, any ? "</table>\n" : "");
}

/* Draw the key: the colours of the values of n in the sweep. */
static void key(struct text *t, const struct sweep *s)
{
    for (uint32_t n = 4; n <= 32; n *= 2) {
        uint32_t i = 0;
        while (i < s->n_hw && (s->hw[i].wrong || s->hw[i].config.n != n))
            i++;
        if (i < s->n_hw)
            text_printf(t,
                        "<svg viewBox=\"0 0 12 12\"><circle class=\"best n%u\" cx=\"6\" cy=\"6\" "
                        "r=\"5\"/></svg> %u x %u",
                        n, n, n);
    }
}

enum status sweep_page(const struct sweep *s, const char *path, struct diag *d)
{
    const struct history_session *session = &s->view->session;
    struct text t;

    text_init(&t, s->arena);
    view_head(&t, session->suite, style);
    text_add(&t, "<h1>");
    view_escape(&t, session->suite);
    text_printf(&t, ": %u configurations</h1>\n<p class=\"soft\">", s->n_hw);
    view_escape(&t,
                arena_printf(s->arena, "%u runs, session %lld, commit %s, %s", s->view->suite.n,
                             (long long)session->id, *session->commit ? session->commit : "unknown",
                             view_time(s->arena, session->started)));
    text_printf(&t,
                "; ms at %.0f MHz%s; energy is a model</p>\n<p class=\"key\">Lower left is better. "
                "Filled, numbered: no configuration is as good in both. Array:",
                s->mhz, s->clock_given ? "" : ", assumed");
    key(&t, s);
    text_add(&t, "</p>\n");
    for (uint32_t i = 0; i < s->n; i++)
        one_series(&t, s, &s->series[i]);
    not_run(&t, s);
    text_add(&t, "</body></html>\n");
    return file_write(path, t.data, t.length, d);
}
