/* report.h - print a run or a stats file as the table people read, as CSV, as JSON. */
#ifndef HEDDLE_REPORT_REPORT_H
#define HEDDLE_REPORT_REPORT_H

#include "app/options/options.h"
#include "base/text.h"

/* Detail of the report: -q, default, -v. */
enum report_detail { REPORT_VERDICT, REPORT_LAYERS, REPORT_UNITS };

enum report_detail run_detail(const struct options *o);
/* stats: of run_stats_json. */
void run_report(const struct cJSON *stats, struct text *t, enum options_format format,
                enum report_detail detail);
/* Read a stats file; delete *stats, also after a failure. ST_USAGE: it is none. */
enum status report_read_file(struct arena *a, const char *path, struct cJSON **stats,
                             struct diag *d);
/* "heddle report FILE". */
enum status run_report_file(struct arena *a, const char *path, enum options_format format,
                            enum report_detail detail, struct text *t, struct diag *d);

#endif
