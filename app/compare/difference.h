/* difference.h - compare a run's outputs with the expected ones, by values and per output. in:
 * m->out and job->expected, --tolerance, the targets' patterns. out: results->differ, verdict. A
 * step is the distance between two neighbouring quantised values. Invariant: VERDICT_MATCH means
 * equal bytes; differences within the tolerance are VERDICT_WITHIN. */
#ifndef HEDDLE_COMPARE_DIFFERENCE_H
#define HEDDLE_COMPARE_DIFFERENCE_H

#include "app/job/job.h"

/* The differences of one output over all inferences. Distances are in steps if the output has them,
 * otherwise absolute; infinite if only one of two values is NaN. */
struct run_differ {
    uint64_t n_values;     /* that differ */
    uint32_t n_inferences; /* inferences with a difference */
    double largest;        /* distance */
    bool wrong;            /* a value exceeds the tolerance; then the first such value, */
    uint32_t inference;    /* otherwise the first that differs */
    uint64_t index;        /* flat index in the output */
};

/* Return the largest difference between two tensors' bytes, as a fraction of the range: for float32
 * the largest magnitude of `want`, otherwise 255 steps. Infinite if only one value is NaN. */
double run_difference(const struct ir_tensor *t, const uint8_t *want, const uint8_t *got);

/* Return the size of a step: the scale of a quantised tensor, or of a float32 tensor that
 * DEQUANTIZE made from one. 0: it has no steps. */
double difference_step(const struct ir_graph *g, const struct ir_tensor *t);

/* Check the options. ST_USAGE: --tolerance is given, but no output is quantised. */
enum status difference_options(const struct job *job, struct diag *d);

/* Compare all inferences; job->tolerance (from the targets' patterns) is set. Without expectations
 * the verdict is VERDICT_UNCHECKED. */
void difference_judge(const struct job *job, const struct run_measured *m,
                      struct run_results *results);

/* Return ST_MISMATCH with a message of several lines: how many inferences differ, by how much in
 * each output, where first, and the tolerance. */
enum status difference_fail(const struct job *job, const struct run_measured *m,
                            const struct run_results *results, struct diag *d);

/* Return the sums over all outputs for "within": the largest distance in steps and the number of
 * values. */
void difference_sums(const struct job *job, const struct run_results *results, double *largest,
                     uint64_t *n_values);

#endif
