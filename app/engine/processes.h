/* processes.h - all inferences of a run in child processes. */
#ifndef HEDDLE_ENGINE_PROCESSES_H
#define HEDDLE_ENGINE_PROCESSES_H

#include "app/job/job.h"

/* On func or rtl; results in m->shared, outputs in m->out. */
enum status run_engine(const struct job *job, struct run_measured *m, const char *so_path,
                       struct diag *d);

#endif
