/* processes.h - all inferences of a run in child processes. */
#ifndef HEDDLE_ENGINE_PROCESSES_H
#define HEDDLE_ENGINE_PROCESSES_H

#include "app/job/job.h"

/* On func or rtl; results in job->shared, outputs in job->out. */
enum status run_engine(struct run_job *job, const char *so_path, struct diag *d);

#endif
