/* run_pages.h - trace.json and report.html of a run. */
#ifndef HEDDLE_REPORT_RUN_PAGES_H
#define HEDDLE_REPORT_RUN_PAGES_H

#include "app/job/job.h"

/* Write both into `folder`, as far as the options want them. */
enum status run_pages(const struct run_job *job, const char *folder, struct diag *d);

#endif
