/* run_prove.h - "heddle prove". */
#ifndef HEDDLE_RUN_PROVE_H
#define HEDDLE_RUN_PROVE_H

#include "app/job/job.h"
#include "prove/prove.h"

/* Load the emitted object with the prover's kernels and ask. Call it in a process of its own: ordinary
 * kernels cannot be loaded after it. ST_INTERNAL: an object of heddle does not load. */
enum status prove_load(struct arena *a, const struct pipeline *p, const char *so,
                       struct prove_question *q, struct prove_verdict *v, struct diag *d);

/* Put the verdict on run->job.p into run->results. Before any inference: emitted code stays with the kernels
 * that it was loaded with. ST_USAGE: --engine=ref. */
enum status prove_verdict(struct run *run, struct diag *d);
/* ST_MISMATCH: --strict, and the package is not proved. */
enum status prove_strict(const struct run *run, struct diag *d);

#endif
