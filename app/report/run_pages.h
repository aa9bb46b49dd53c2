/* run_pages.h - trace.json and report.html of a run. */
#ifndef HEDDLE_REPORT_RUN_PAGES_H
#define HEDDLE_REPORT_RUN_PAGES_H

#include "app/job/job.h"

/* stats: of run_stats_json. Write both into `folder`, as far as the options want them. */
enum status run_pages(const struct job *job, const struct run_measured *m,
                      const struct cJSON *stats, const char *folder, struct diag *d);

#endif
