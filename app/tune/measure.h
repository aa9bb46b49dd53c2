/* measure.h - measure the cycles of one set of knobs on the Verilated model, and verify the
 * answer. */
#ifndef HEDDLE_TUNE_MEASURE_H
#define HEDDLE_TUNE_MEASURE_H

#include "app/job/job.h"
#include "store.h"

struct measured {
    uint64_t estimate, cycles; /* of one inference */
};

/* Measure a trial. shape, trial: the knobs. base: model, inputs and expected outputs of one
 * inference, options for rtl. shared: its outputs. folder: created for the emitted C, and kept.
 * ST_MISMATCH: the bytes are wrong; the message names the knobs. */
enum status tune_measure(const struct job *base, const struct run_measured *shared,
                         const struct knob_shape *shape, const struct store_trial *trial,
                         const char *folder, struct measured *m, struct diag *d);

#endif
