/* progress.h - wait in the parent while the child runs. */
#ifndef HEDDLE_ENGINE_PROGRESS_H
#define HEDDLE_ENGINE_PROGRESS_H

#include <sys/types.h>

#include "app/job/job.h"

/* Wait for the child; meanwhile, if stderr is a terminal, show one line with the state. Returns the
 * wait status. */
int run_watch(const struct job *job, const struct run_measured *m, pid_t child);

#endif
