/* expected.h - answers of the CPU reference. */
#ifndef HEDDLE_COMPARE_EXPECTED_H
#define HEDDLE_COMPARE_EXPECTED_H

#include "app/job/job.h"

/* All inferences of job->in with the reference kernels, into to[n_out], which it allocates. */
enum status run_with_reference(const struct job *job, const struct run_measured *m,
                               struct run_results *results, struct run_data *to, struct diag *d);
/* The first n of them; their layers are kept for results->compare. */
enum status run_first_with_reference(const struct job *job, const struct run_measured *m,
                                     struct run_results *results, struct run_data *to, uint32_t n,
                                     struct diag *d);

#endif
