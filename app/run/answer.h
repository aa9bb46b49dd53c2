/* answer.h - take a job to its verdict. */
#ifndef HEDDLE_RUN_ANSWER_H
#define HEDDLE_RUN_ANSWER_H

#include "app/job/job.h"

/* Load a network or a package, or the one layer of `bench`, up to partition. */
enum status run_load(struct job *job, struct run_measured *m, struct diag *d);
/* A network alone. */
enum status run_front(struct job *job, struct diag *d);
/* Compute outputs and verdict of a loaded network; nothing is printed or written. */
enum status run_answer(struct run *run, struct diag *d);
/* Check that the calls, sources and Verilog of external targets in job->p->emitted are trusted.
 * ST_USAGE: they are not (--allow-native-targets). */
enum status run_trusted(const struct job *job, struct diag *d);

#endif
