/* run_pages.h - write trace.json and report.html of a run. */
#ifndef HEDDLE_REPORT_RUN_PAGES_H
#define HEDDLE_REPORT_RUN_PAGES_H

#include "app/job/job.h"

/* Add report.html to `t`. stats: from run_stats_json. */
void run_page(const struct job *job, const struct run_measured *m, const struct cJSON *stats,
              struct text *t);
/* Write both into `folder` if the options ask for them. stats: from run_stats_json. */
enum status run_pages(const struct job *job, const struct run_measured *m,
                      const struct cJSON *stats, const char *folder, struct diag *d);

#endif
