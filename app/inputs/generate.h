/* generate.h - inputs of a run without -i. Kinds take turns, so that an inference shows what those before it
 * hide: a value that saturates, a channel that is always clamped, a byte that no input reaches.
 *   uniform   all values of the type equally often; float32: [-1, 1)
 *   smooth    a few random values per channel, linear between them
 *   extremes  the lowest value, the highest, the zero point
 *   scaled    of several amplitudes the one under which the reference's channels take the most values
 *             that no inference before had: the one that saturates least
 * Indices (inputs that a GATHER selects by) are valid. The bytes follow from seed, graph and the number of
 * the inference alone. */
#ifndef HEDDLE_INPUTS_GENERATE_H
#define HEDDLE_INPUTS_GENERATE_H

#include "app/job/job.h"

/* Unless --inferences states it: one of each kind; four of each where all that takes weights is fully connected, so that an
 * inference uses each weight once. */
enum { GENERATE_INFERENCES = 4, GENERATE_MANY = 16 };

/* Number of inferences of a run without -i. */
uint32_t generate_count(const struct run_job *job);
/* job->in[].bytes of job->n inferences; job->in[].n_bytes are set. Without a reference graph (a package)
 * `scaled` has the first of its amplitudes. */
enum status generate_inputs(struct run_job *job, struct diag *d);

#endif
