/* results.h - the results of a run: the verdict and its figures. */
#ifndef HEDDLE_JOB_RESULTS_H
#define HEDDLE_JOB_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

/* WITHIN: not equal, but within --tolerance or the tolerance of the targets' patterns
 * (target.json). */
enum run_verdict { VERDICT_MATCH, VERDICT_MISMATCH, VERDICT_UNCHECKED, VERDICT_WITHIN };

/* Number of a layer's values that were compared with the reference, and of those that differ. */
struct compare_row {
    uint64_t compared, wrong;
};

/* The first layer that differs, by inference and then by the order of operators. */
struct compare_first {
    bool found;
    bool compiler; /* true if the compiled graph differs from the imported graph on the reference */
    uint32_t inference, position, tensor; /* operator and tensor of the compiled graph */
    uint64_t compared, wrong, index;      /* numbers of values; index: flat index of the first wrong
                                           * one */
    uint8_t want[8], got[8];
};

/* Number of layers compared, number with all values equal, and the first that differs. */
struct compare_sums {
    uint32_t n_layers, n_equal;
    uint32_t n_inferences; /* inferences compared: the first ones of the run */
    struct compare_first first;
};

struct compare;
struct oracle_answer;
struct run_differ;

struct run_results {
    enum run_verdict verdict;
    double difference;       /* the largest tolerance of the patterns */
    struct compare *compare; /* layers (compare_layers.h); NULL: only outputs */
    struct compare_sums layers;
    struct run_differ *differ; /* by output (difference.h); NULL if unchecked */
    uint64_t n_wrong;          /* inferences that exceed the tolerance */
    uint32_t first_wrong;      /* the first such inference */
    uint32_t n_right;
    uint32_t *best; /* of each inference: the class of the first output; NULL without labels */
    double ref_seconds;
    const char *proof; /* --prove: its statement; NULL: not asked */
    bool proved;
    struct oracle_answer *oracle; /* --oracle: the framework's answer; NULL: none */
};

#endif
