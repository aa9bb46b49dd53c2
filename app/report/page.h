/* page.h - report.html: one file, nothing of it from elsewhere. template.html with the style, the
 * script, the run's stats and trace as JSON, and the graph drawn by Graphviz in it. */
#ifndef HEDDLE_REPORT_PAGE_H
#define HEDDLE_REPORT_PAGE_H

#include <cjson/cJSON.h>

#include "base/status.h"
#include "base/text.h"
#include "compiler/pipeline.h"

/* graph.c: what went where, as Graphviz text: a box a layer, its id "layer0", its class the kind of
 * target. cycles: of each layer; negative: none of its own. */
void graph_dot(const struct pipeline *p, const double *cycles, struct text *t);
/* The drawing as SVG into *svg, with files in `folder` that are gone afterwards; or a sentence why
 * there is none: no Graphviz, too large. */
enum status graph_svg(const struct pipeline *p, const double *cycles, const char *folder,
                      struct text *svg, struct diag *d);

/* stats: heddle.stats.v2. trace: as trace_json writes it, or "null". graph: SVG or HTML. */
void page_html(struct text *t, const char *stats, const char *trace, const char *graph);

#endif
