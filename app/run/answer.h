/* answer.h - from a job to its verdict. */
#ifndef HEDDLE_RUN_ANSWER_H
#define HEDDLE_RUN_ANSWER_H

#include "app/job/job.h"

/* A network or a package, or the one layer of `bench`, up to partition. */
enum status run_load(struct job *job, struct run_measured *m, struct diag *d);
/* A network alone. */
enum status run_front(struct job *job, struct diag *d);
/* Outputs and verdict of a loaded network; nothing is printed or written. */
enum status run_answer(struct run *run, struct diag *d);
/* ST_USAGE: calls, sources or Verilog of an external target, which job->p->emitted would have
 * executed, are not trusted (--allow-native-targets). */
enum status run_trusted(const struct job *job, struct diag *d);

#endif
