/* view_targets.c - networks x targets: a row for each network (with its configuration, engine,
 * options), a column for each --target of the suite's `targets`, and the result in each cell; as
 * Markdown, CSV and HTML. */
#include <string.h>

#include "app/report/report_csv.h"
#include "base/file.h"
#include "session_views.h"

static const char option[] = "--target=";

/* Return the --target value of the run (NULL: none), and its other options. */
static const char *targets_of(struct arena *a, const struct suite_run *r, const char **others)
{
    const size_t n = strcspn(r->options, " ");

    *others = r->options;
    if (strncmp(r->options, option, sizeof option - 1) != 0)
        return NULL;
    *others = r->options + n + (r->options[n] == ' ');
    return arena_strndup(a, r->options + sizeof option - 1, n - (sizeof option - 1));
}

struct grid {
    struct arena *arena;
    uint32_t n_row, n_column;
    const char **row, **column;
    const struct suite_run **cell; /* [row][all columns] */
    uint32_t width;                /* maximum number of columns */
};

static uint32_t place(const char **names, uint32_t *n, const char *name)
{
    uint32_t i = 0;

    while (i < *n && strcmp(names[i], name) != 0)
        i++;
    if (i == *n)
        names[(*n)++] = name;
    return i;
}

static uint32_t count_columns(struct arena *a, const struct suite *s, const char **names)
{
    const char *others;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        const char *targets = targets_of(a, &s->run[i], &others);
        if (targets)
            (void)place(names, &n, targets);
    }
    return n;
}

/* Fill the table; false if no run names targets. */
static bool fill(struct arena *a, const struct suite *s, struct grid *g)
{
    *g = (struct grid){.arena = a,
                       .row = ARENA_ARRAY(a, const char *, s->n + 1),
                       .column = ARENA_ARRAY(a, const char *, s->n + 1)};
    g->width = count_columns(a, s, g->column);
    if (g->width == 0)
        return false;
    g->cell = ARENA_ARRAY(a, const struct suite_run *, (size_t)s->n * g->width);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct suite_run *r = &s->run[i];
        const char *others, *targets = targets_of(a, r, &others);
        if (!targets)
            continue;
        const char *name = arena_printf(a, "%s %s %s%s%s", r->network, r->configuration, r->engine,
                                        *others ? " " : "", others);
        if (r->seed)
            name = arena_printf(a, "%s seed %llu", name, (unsigned long long)r->seed);
        const uint32_t row = place(g->row, &g->n_row, name);
        g->cell[(size_t)row * g->width + place(g->column, &g->n_column, targets)] = r;
    }
    return true;
}

/* Return "match: 12076 cycles, host 134" or "within: about 53823 cycles, 3 layers not
 * simulated". */
static const char *words(struct arena *a, const struct suite_run *r)
{
    const struct suite_result *x = r ? &r->result : NULL;
    struct text t;

    if (!x || !x->verdict)
        return "not run";
    text_init(&t, a);
    text_add(&t, x->verdict);
    const char *between = ": ";
    if (x->number.cycles > 0)
        text_printf(&t, "%s%.0f cycles", between, x->number.cycles);
    else if (x->number.estimated_cycles > 0)
        text_printf(&t, "%sabout %.0f cycles", between, x->number.estimated_cycles);
    between = strchr(t.data, ' ') ? ", " : between;
    if (x->number.host_cycles > 0) {
        text_printf(&t, "%shost %.0f", between, x->number.host_cycles);
        between = ", ";
    }
    if (x->message && *x->message)
        text_printf(&t, "%s%s", between, x->message);
    return t.data;
}

static const struct suite_run *cell_of(const struct grid *g, uint32_t row, uint32_t column)
{
    return g->cell[(size_t)row * g->width + column];
}

/* Escape |, which would end a cell. */
static void markdown_cell(struct text *t, const char *words)
{
    for (const char *c = words; *c; c++)
        text_add_n(t, *c == '|' ? "/" : c, 1);
    text_add(t, " |");
}

static void markdown(const struct grid *g, struct text *t)
{
    text_add(t, "| network |");
    for (uint32_t c = 0; c < g->n_column; c++)
        text_printf(t, " %s |", g->column[c]);
    text_add(t, "\n|---|");
    for (uint32_t c = 0; c < g->n_column; c++)
        text_add(t, "---|");
    for (uint32_t r = 0; r < g->n_row; r++) {
        text_add(t, "\n| ");
        markdown_cell(t, g->row[r]);
        for (uint32_t c = 0; c < g->n_column; c++) {
            text_add(t, " ");
            markdown_cell(t, words(g->arena, cell_of(g, r, c)));
        }
    }
    text_add(t, "\n");
}

static void csv(const struct grid *g, struct text *t)
{
    text_add(t, "network,targets,configuration,engine,options,verdict,message,seed");
    for (const struct column *c = columns; c->name; c++)
        if (c->run)
            text_printf(t, ",%s", c->name);
    text_add(t, "\n");
    for (uint32_t i = 0; i < g->n_row * g->n_column; i++) {
        const struct suite_run *r = cell_of(g, i / g->n_column, i % g->n_column);
        const char *others, *targets = r ? targets_of(g->arena, r, &others) : NULL;
        if (!targets)
            continue;
        report_csv_text(t, r->network);
        report_csv_text(t, targets);
        report_csv_text(t, r->configuration);
        report_csv_text(t, r->engine);
        report_csv_text(t, others);
        report_csv_text(t, r->result.verdict ? r->result.verdict : "not run");
        report_csv_text(t, r->result.message ? r->result.message : "");
        text_printf(t, "%llu", (unsigned long long)r->seed);
        for (int k = 0; k < N_COLUMNS; k++)
            if (columns[k].run)
                report_csv_number(t, r->result.number.at[k]);
        text_add(t, "\n");
    }
}

static void html_cell(struct text *t, const char *tag, const char *class, const char *words)
{
    text_printf(t, "<%s class=\"t%s\">", tag, class);
    view_escape(t, words);
    text_printf(t, "</%s>", tag);
}

static void html(const struct grid *g, const char *suite, struct text *t)
{
    view_head(t, suite, "");
    text_add(t, "<h1>");
    view_escape(t, suite);
    text_add(t, ": networks and targets</h1>\n<table><tr><th>network</th>");
    for (uint32_t c = 0; c < g->n_column; c++)
        html_cell(t, "th", "", g->column[c]);
    for (uint32_t r = 0; r < g->n_row; r++) {
        text_add(t, "</tr>\n<tr>");
        html_cell(t, "td", "", g->row[r]);
        for (uint32_t c = 0; c < g->n_column; c++) {
            const struct suite_run *run = cell_of(g, r, c);
            const bool good = run && run->result.verdict && run->result.exit == 0;
            html_cell(t, "td", good ? " good" : run ? " bad" : " soft", words(g->arena, run));
        }
    }
    text_add(t, "</tr></table>\n</body></html>\n");
}

enum status view_targets(struct arena *a, const struct view *v, const char *folder, bool *any,
                         struct diag *d)
{
    static const char *const endings[] = {"md", "csv", "html"};
    struct grid g;
    struct text t[3];

    *any = fill(a, &v->suite, &g);
    if (!*any)
        return ST_OK;
    for (uint32_t i = 0; i < 3; i++)
        text_init(&t[i], a);
    markdown(&g, &t[0]);
    csv(&g, &t[1]);
    html(&g, v->session.suite, &t[2]);
    for (uint32_t i = 0; i < 3; i++)
        TRY(file_write(arena_printf(a, "%s/targets.%s", folder, endings[i]), t[i].data, t[i].length,
                       d));
    return ST_OK;
}
