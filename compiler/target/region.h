/* region.h - targets that take whole regions ("granularity": "region"): neighbouring operators as one
 * graph, which the target's shared object judges and compiles (include/heddle_target.h). */
#ifndef HEDDLE_COMPILER_TARGET_REGION_H
#define HEDDLE_COMPILER_TARGET_REGION_H

#include "compiler/ir/extract.h"
#include "describe.h"

/* NULL if it takes operators first..last together, *cycles is the estimate; else why not. */
const char *region_refusal(const struct target_question *q, uint32_t first, uint32_t last,
                           double *cycles);
/* Runs of operators that its patterns take, each as long as its shared object admits. */
struct target_groups region_groups(const struct target_question *q, const bool *closed);

/* The shared object's compiled form of a region. */
struct region_blob {
    const uint8_t *bytes;
    size_t n_bytes;
};
/* Operators first..last; `part` says which tensors come in and go out. ST_UNSUPPORTED: its reason. */
enum status region_compile(const struct target_question *q, uint32_t first, uint32_t last,
                           struct ir_part *part, struct region_blob *blob, struct diag *d);

#endif
