/* expected.h - outputs of the CPU reference. */
#ifndef HEDDLE_COMPARE_EXPECTED_H
#define HEDDLE_COMPARE_EXPECTED_H

#include "app/job/job.h"

/* Run all inferences of job->in on the reference kernels, into to[n_out], which is allocated
 * here. */
enum status run_with_reference(const struct job *job, const struct run_measured *m,
                               struct run_results *results, struct run_data *to, struct diag *d);
/* Run the first n of them and keep their layers for results->compare. */
enum status run_first_with_reference(const struct job *job, const struct run_measured *m,
                                     struct run_results *results, struct run_data *to, uint32_t n,
                                     struct diag *d);

#endif
