/* results.h - the results of a run: the verdict and the figures that it rests on. */
#ifndef HEDDLE_JOB_RESULTS_H
#define HEDDLE_JOB_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

/* WITHIN: not equal, but no further apart than --tolerance or the targets' patterns (target.json)
 * allow. */
enum run_verdict { VERDICT_MATCH, VERDICT_MISMATCH, VERDICT_UNCHECKED, VERDICT_WITHIN };

/* Values of one layer that were compared with the reference's, and those that differ. */
struct compare_row {
    uint64_t compared, wrong;
};

/* The first layer that differs: in the first inference that does, by the order of operators. */
struct compare_first {
    bool found;
    bool compiler; /* the compiled graph already differs from the one as imported */
    uint32_t inference, position, tensor; /* operator and tensor of the compiled graph */
    uint64_t compared, wrong, index;      /* values; index: flat, of the first wrong one */
    uint8_t want[8], got[8];
};

/* Layers that were compared, of which all values are equal, and the first that differs. */
struct compare_sums {
    uint32_t n_layers, n_equal;
    uint32_t n_inferences; /* compared: the first ones of the run */
    struct compare_first first;
};

struct compare;
struct oracle_answer;
struct run_differ;

struct run_results {
    enum run_verdict verdict;
    double difference;       /* the largest that the patterns allowed */
    struct compare *compare; /* layers (compare_layers.h); NULL: outputs alone */
    struct compare_sums layers;
    struct run_differ *differ; /* of each output (difference.h); NULL unchecked */
    uint64_t n_wrong;          /* inferences that differ by more than is allowed */
    uint32_t first_wrong;      /* the first of them */
    uint32_t n_right;
    double ref_seconds;
    struct oracle_answer *oracle; /* --oracle: the answer of the framework; NULL: none */
};

#endif
