/* region.h - targets that accept whole regions ("granularity": "region"): neighbouring operators as
 * one graph, which the target's shared object judges and compiles (include/heddle_target.h). */
#ifndef HEDDLE_COMPILER_TARGET_REGION_H
#define HEDDLE_COMPILER_TARGET_REGION_H

#include "compiler/ir/extract.h"
#include "describe.h"

/* Return NULL if it accepts operators first..last together, with the estimate in *cycles; otherwise
 * the reason. */
const char *region_refusal(const struct target_question *q, uint32_t first, uint32_t last,
                           double *cycles);
/* Return runs of operators that its patterns accept, each as long as its shared object allows. */
struct target_groups region_groups(const struct target_question *q, const bool *closed);

/* A region as compiled by the shared object. */
struct region_blob {
    const uint8_t *bytes;
    size_t n_bytes;
};
/* Compile operators first..last; `part` has the tensors that enter and leave. ST_UNSUPPORTED: the
 * message has its reason. */
enum status region_compile(const struct target_question *q, uint32_t first, uint32_t last,
                           struct ir_part *part, struct region_blob *blob, struct diag *d);

#endif
