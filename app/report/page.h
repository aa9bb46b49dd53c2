/* page.h - write report.html as one self-contained file: template.html with the style, the script,
 * the run's stats and trace as JSON, and the graph as SVG. */
#ifndef HEDDLE_REPORT_PAGE_H
#define HEDDLE_REPORT_PAGE_H

#include <cjson/cJSON.h>

#include "base/status.h"
#include "base/text.h"

/* The text for {{name}} in a template; a list ends with name NULL. */
struct page_part {
    const char *name, *text;
    bool json; /* for a script element, which no text may end */
};

/* Write an embedded template (app/stats/files.h) with its parts. */
void page_fill(struct text *t, const char *s, const struct page_part *parts);
/* Write the page. stats: heddle.stats.v2. trace: from trace_json, or "null". graph: SVG or HTML. */
void page_html(struct text *t, const char *stats, const char *trace, const char *graph);

#endif
