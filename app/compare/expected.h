/* expected.h - what the CPU reference answers. */
#ifndef HEDDLE_COMPARE_EXPECTED_H
#define HEDDLE_COMPARE_EXPECTED_H

#include "app/job/job.h"

/* All inferences of job->in with the reference kernels, into to[n_out], which it allocates. */
enum status run_with_reference(struct run_job *job, struct run_data *to, struct diag *d);
/* The first n of them; their layers are kept for job->compare. */
enum status run_first_with_reference(struct run_job *job, struct run_data *to, uint32_t n,
                                     struct diag *d);

#endif
