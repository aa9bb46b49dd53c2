/* difference.h - a run's outputs against what was expected: by values, per output.
 * in:  m->out and job->expected, --tolerance, the targets' patterns.   out: results->differ, verdict.
 * A step is the distance of two neighbouring quantised values. Invariant: VERDICT_MATCH means equal
 * bytes; what differs and is allowed to is VERDICT_WITHIN. */
#ifndef HEDDLE_COMPARE_DIFFERENCE_H
#define HEDDLE_COMPARE_DIFFERENCE_H

#include "app/job/job.h"

/* One output, over all inferences. Distances are in steps where the output has them, else absolute;
 * infinite where one of two values is no number. */
struct run_differ {
    uint64_t n_values;     /* that differ */
    uint32_t n_inferences; /* with such a value */
    double largest;        /* distance */
    bool wrong;            /* somewhere by more than is allowed; then first is there, */
    uint32_t inference;    /* else at the first value that differs */
    uint64_t index;        /* in the output, flat */
};

/* The largest difference of two tensors' bytes, as a part of the range: of float32 the largest
 * magnitude of `want`, else 255 steps. Infinite where only one is a number. */
double run_difference(const struct ir_tensor *t, const uint8_t *want, const uint8_t *got);

/* Real distance of one step: the scale of a quantised tensor, of a float32 one that DEQUANTIZE made
 * of it. 0: it has none. */
double difference_step(const struct ir_graph *g, const struct ir_tensor *t);

/* ST_USAGE: --tolerance is given, but no output is quantised. */
enum status difference_options(const struct job *job, struct diag *d);

/* Compare all inferences; job->tolerance (of the targets' patterns) is set. Without expectations
 * the verdict is VERDICT_UNCHECKED. */
void difference_judge(const struct job *job, const struct run_measured *m,
                      struct run_results *results);

/* ST_MISMATCH with a message of several lines: how many differ, per output by how much, where
 * first, what was allowed. */
enum status difference_fail(const struct job *job, const struct run_measured *m,
                            const struct run_results *results, struct diag *d);

/* The sums of all outputs, for "within": the largest distance in steps and how many values. */
void difference_sums(const struct job *job, const struct run_results *results, double *largest,
                     uint64_t *n_values);

#endif
