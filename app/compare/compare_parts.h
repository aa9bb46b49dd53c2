/* compare_parts.h - declarations shared by the files of the layer-by-layer comparison. */
#ifndef HEDDLE_COMPARE_COMPARE_PARTS_H
#define HEDDLE_COMPARE_COMPARE_PARTS_H

#include "app/engine/runner.h"
#include "app/job/shared.h"
#include "reference/ref.h"

/* How a tensor of the graph as imported corresponds to one of the compiled graph. */
struct compare_pair {
    uint32_t imported;    /* IR_NONE: no tensor has its name */
    uint8_t flip;         /* 0x80 if it is uint8 in the imported graph and int8 here */
    uint32_t channels;    /* size of the innermost dimension */
    bool halves;          /* it is int16 in the imported graph and halves here (ir_halves_shape) */
    const uint32_t *from; /* channel c here is channel from[c] there; NULL: the order is equal */
};

/* A tensor's comparison in the current inference. */
struct compare_tensor {
    uint64_t compared, wrong, index; /* numbers of values; index of the first wrong one */
    uint8_t want[8], got[8];
};

/* A step that the emitted run() enters: a host call, with its last operator at `position`, or a
 * stream. */
struct compare_step {
    bool host;
    uint32_t position, stream;
};

struct compare {
    const struct job *job;
    const struct ir_graph *graph; /* the compiled one */
    struct ref *legal;
    uint8_t **in, **out; /* of it */
    struct compare_pair *pair;
    struct compare_row *row; /* for the compiler's passes only, as is: */
    struct compare_first first;
    size_t *offset, kept_bytes; /* by tensor: offset in the kept bytes of an inference */
    uint8_t **kept;             /* by inference: the kept bytes, or NULL */
    /* For each process: */
    struct runner *runner;
    struct run_shared *shared;
    uint32_t n; /* number of inferences compared: the first ones */
    bool active;
    uint32_t inference;
    const uint8_t **expected;      /* by tensor */
    struct compare_tensor *tensor; /* by id */
    uint8_t *differs;              /* by byte of an inference: that value is counted as wrong */
    uint32_t n_step, step;
    struct compare_step *steps;
    const struct sched_stream *stream; /* the stream being executed, or NULL */
};

/* Run inference k of the compiled graph on the reference. */
enum status compare_run_legal(struct compare *c, uint32_t k, struct diag *d);
/* Find the tensors that exist in both graphs. */
void compare_find_pairs(struct compare *c);
/* Make tensor `of` the first difference, with its values, unless an earlier one is known. */
void compare_note(struct compare_first *first, const struct compare_first *of,
                  const struct compare_tensor *t);

#endif
