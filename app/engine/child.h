/* child.h - the work of a child process of "heddle run". */
#ifndef HEDDLE_ENGINE_CHILD_H
#define HEDDLE_ENGINE_CHILD_H

#include "app/job/job.h"

/* Run inferences process, process + n_process, ... of the job; results go into run_results(job,
 * process). Process 0 also writes the waves and reads the accelerator's counters. so_path: the
 * emitted object, or the program for --host=iss. sim: the accelerators' Verilated models, for
 * rtl. */
void child_run(const struct job *job, struct run_measured *m, uint32_t process, const char *so_path,
               const struct sim_model *sim);

#endif
