/* generate.h - inputs of a run without -i. Kinds take turns, so that an inference shows what those before it
 * hide: a value that saturates, a channel that is always clamped, a byte that no input reaches.
 *   uniform   all values of the type equally often; float32: [-1, 1)
 *   smooth    a few random values per channel, linear between them
 *   extremes  the lowest value, the highest, the zero point: of each pixel or of areas
 *   scaled    values or fields of a smaller amplitude: the one that saturates least
 * Of all but the first several candidates are made, and the one is taken in whose reference run most weights show that none
 * before has shown (coverage.h): up to 5 in about a third of a second of reference runs, up to 24 in a tenth;
 * from the 17th inference on the first.
 * Indices (inputs that a GATHER selects by) are valid. The bytes follow from seed, graph and the number of
 * the inference alone. */
#ifndef HEDDLE_INPUTS_GENERATE_H
#define HEDDLE_INPUTS_GENERATE_H

#include "app/job/job.h"

/* Unless --inferences states it: one of each kind; two of each of a network of less than 16 M MACs whose inferences use
 * a weight less than 32 times; four of each where they use most weights less than 4 times, as fully connected layers do. */
enum { GENERATE_INFERENCES = 4, GENERATE_SOME = 8, GENERATE_MANY = 16 };

/* Number of inferences of a run without -i. */
uint32_t generate_count(const struct job *job);
/* job->in[].bytes of job->n inferences; job->in[].n_bytes are set. Without a reference graph (a package)
 * each inference is the first candidate. */
enum status generate_inputs(const struct job *job, struct diag *d);

#endif
