/* run.h - "heddle run": inputs in, engine, outputs, verdict, stats, report. */
#ifndef HEDDLE_RUN_RUN_H
#define HEDDLE_RUN_RUN_H

#include "app/job/job.h"

/* Run "heddle run" or "heddle bench": run->job.arena, options and p (with its arena) are set. On
 * ST_OK and ST_MISMATCH the outputs are in run->measured.out until run_release. */
enum status run_command(struct run *run, struct diag *d);
/* Run the part that follows run_load (answer.h). May be repeated with a new job that has the same
 * p, model_path, zoo and package. */
enum status run_loaded(struct run *run, struct diag *d);
/* Return ST_MISMATCH for VERDICT_MISMATCH, with the differences and the first one. */
enum status run_mismatch(struct run *run, struct diag *d);

#endif
