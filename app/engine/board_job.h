/* board_job.h - run a job on the simulated processor of --host=iss and rtl (sim/board). */
#ifndef HEDDLE_ENGINE_BOARD_JOB_H
#define HEDDLE_ENGINE_BOARD_JOB_H

#include "app/job/job.h"

/* Run inferences process, process + n_process, ... of the job, into m->out and run_results(job, m,
 * process). elf: the program. sim: the Verilated model; path NULL without an accelerator. Returns
 * the status of board_run. */
enum status board_job(const struct job *job, struct run_measured *m, uint32_t process,
                      const char *elf, const struct sim_model *sim, struct diag *d);

#endif
