/* generate.h - inputs of a run without -i. Kinds alternate, so that an inference shows what earlier
 * ones hide: a value that saturates, a channel that is always clamped, a byte that no input
 * reaches.
 *   uniform   all values of the type equally often; float32: [-1, 1)
 *   smooth    a few random values per channel, linear between them
 *   extremes  the lowest value, the highest, the zero point: of each pixel or of areas
 *   scaled    values or fields of a smaller amplitude: the one that saturates least
 * For every inference but the first several candidates are made, and the one is chosen whose
 * reference run reveals the most weights that no earlier one has (coverage.h): up to 5 in about a
 * third of a second of reference runs, up to 24 in a tenth; from the 17th inference on the first is
 * used. Indices (inputs of a GATHER) are valid. The bytes depend only on seed, graph and the number
 * of the inference. */
#ifndef HEDDLE_INPUTS_GENERATE_H
#define HEDDLE_INPUTS_GENERATE_H

#include "app/job/job.h"

/* Number of inferences unless --inferences gives it. One of each kind; two of each for a network of
 * less than 16 M MACs whose inferences use a weight less than 32 times; four of each if they use
 * most weights less than 4 times, as fully connected layers do. */
enum { GENERATE_INFERENCES = 4, GENERATE_SOME = 8, GENERATE_MANY = 16 };

/* Return the number of inferences of a run without -i. */
uint32_t generate_count(const struct job *job);
/* Fill job->in[].bytes for job->n inferences; job->in[].n_bytes are set. Without a reference graph
 * (a package) each inference is the first candidate. */
enum status generate_inputs(const struct job *job, struct diag *d);

#endif
