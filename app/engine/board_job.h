/* board_job.h - a job on the simulated processor of --host=iss and rtl (sim/board). */
#ifndef HEDDLE_ENGINE_BOARD_JOB_H
#define HEDDLE_ENGINE_BOARD_JOB_H

#include "app/job/job.h"

/* Inferences process, process + n_process, ... of the job, into job->out and run_results(job,
 * process). elf: the program. sim: the Verilated model; path NULL without accelerator. ST_* as
 * board_run. */
enum status board_job(struct run_job *job, uint32_t process, const char *elf,
                      const struct sim_model *sim, struct diag *d);

#endif
