/* processes.h - run all inferences in child processes. */
#ifndef HEDDLE_ENGINE_PROCESSES_H
#define HEDDLE_ENGINE_PROCESSES_H

#include "app/job/job.h"

/* Run on func or rtl; results are in m->shared, outputs in m->out. */
enum status run_engine(const struct job *job, struct run_measured *m, const char *so_path,
                       struct diag *d);

#endif
