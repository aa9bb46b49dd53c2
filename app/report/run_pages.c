/* run_pages.c - write trace.json and report.html of a run from its stats and the recorded times of
 * the first inference. */
#include <string.h>

#include "app/job/shared.h"
#include "app/pages/page.h"
#include "app/stats/account.h"
#include "app/stats/columns.h"
#include "base/file.h"
#include "compiler/systolic/layout/layout.h"
#include "layer_graph.h"
#include "report_read.h"
#include "run_pages.h"
#include "run_trace.h"
#include "trace_json.h"

/* Return true if the times of all commands of the first inference are known. */
static bool has_trace(const struct run_measured *m)
{
    return m->times && !m->shared->reuse.skipped;
}

static void add_trace(const struct job *job, const struct run_measured *m, struct text *t)
{
    const uint32_t n_row = job->p->graph->n_row;
    uint64_t *cycles = ARENA_ARRAY(job->arena, uint64_t, n_row + 1);

    for (uint32_t i = 0; i < n_row; i++)
        cycles[i] = m->shared->row[i].cycles / job->n;
    trace_json(trace_build(job->arena, job->p, account_of(job->arena, job->p), m->times, cycles,
                           m->host_times),
               t);
}

/* Return the cycles of each layer: on the host, and on accelerators, measured or estimated. */
static struct graph_cycles *layer_cycles(const struct job *job, const cJSON *stats)
{
    struct graph_cycles *cycles =
        ARENA_ARRAY(job->arena, struct graph_cycles, job->p->graph->n_row + 1);
    const bool model = strcmp(report_word(stats, "host_model"), "estimate") == 0;
    const cJSON *l;

    cJSON_ArrayForEach(l, report_member(stats, "layers"))
    {
        const double host = report_number(l, "host_cycles"), own = report_number(l, "cycles"),
                     other = own >= 0 ? own : report_number(l, "estimated_cycles");
        *cycles = (struct graph_cycles){
            .cycles = host <= 0 && other < 0 ? -1 : (host > 0 ? host : 0) + (other > 0 ? other : 0),
            .estimated = (host > 0 && model) || (own < 0 && other >= 0)};
        cycles++;
    }
    return cycles - cJSON_GetArraySize(report_member(stats, "layers"));
}

/* Write the tiles of each layer, by row: an array of texts, "" where no accelerator has it. */
static void schedule_json(const struct pipeline *p, struct text *t)
{
    for (uint32_t row = 0; row < p->graph->n_row; row++) {
        struct text tiles;

        text_init(&tiles, t->arena);
        if (p->program && p->program->layout)
            layout_print_row(p->program, row, &tiles);
        text_add(t, row ? "," : "[");
        text_add_json(t, tiles.length ? tiles.data : "");
    }
    text_add(t, p->graph->n_row ? "]" : "[]");
}

/* Write the page. stats: heddle.stats.v2. trace: from trace_json, or "null". graph: SVG or HTML. schedule: from
 * schedule_json. */
static void page_html(struct text *t, const char *stats, const char *trace, const char *graph,
                      const char *schedule)
{
    struct text table;

    text_init(&table, t->arena);
    columns_json(&table);
    const struct page_part parts[] = {{"stats", stats, true},       {"columns", table.data, true},
                                      {"trace", trace, true},       {"graph", graph, false},
                                      {"schedule", schedule, true}, {NULL, NULL, false}};

    page_fill(t, "template.html", parts);
}

void run_page(const struct job *job, const struct run_measured *m, const cJSON *o, struct text *t)
{
    char *stats = cJSON_PrintUnformatted(o);
    cJSON *parsed = stats ? cJSON_Parse(stats) : NULL; /* raw numbers become numbers again */
    struct text graph, trace, schedule;

    if (!parsed)
        arena_exhausted(job->arena);
    text_init(&graph, job->arena);
    text_init(&trace, job->arena);
    text_init(&schedule, job->arena);
    schedule_json(job->p, &schedule);
    graph_html(job->p, layer_cycles(job, parsed), &graph);
    if (has_trace(m))
        add_trace(job, m, &trace);
    page_html(t, stats, trace.data ? trace.data : "null", graph.data, schedule.data);
    cJSON_Delete(parsed);
    cJSON_free(stats);
}

enum status run_pages(const struct job *job, const struct run_measured *m, const cJSON *stats,
                      const char *folder, struct diag *d)
{
    struct text trace, page;

    if (job->options->no_report || job->package)
        return ST_OK;
    text_init(&trace, job->arena);
    text_init(&page, job->arena);
    if (has_trace(m)) {
        add_trace(job, m, &trace);
        TRY(file_write(arena_printf(job->arena, "%s/trace.json", folder), trace.data, trace.length,
                       d));
    }
    run_page(job, m, stats, &page);
    return file_write(arena_printf(job->arena, "%s/report.html", folder), page.data, page.length,
                      d);
}
