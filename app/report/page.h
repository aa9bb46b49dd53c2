/* page.h - report.html: one file, nothing of it from elsewhere. template.html with the style, the
 * script, the run's stats and trace as JSON, and the graph as SVG in it. */
#ifndef HEDDLE_REPORT_PAGE_H
#define HEDDLE_REPORT_PAGE_H

#include <cjson/cJSON.h>

#include "base/status.h"
#include "base/text.h"

/* stats: heddle.stats.v2. trace: as trace_json writes it, or "null". graph: SVG or HTML. */
void page_html(struct text *t, const char *stats, const char *trace, const char *graph);

#endif
