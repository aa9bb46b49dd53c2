/* changes_match.h - which layers of two runs belong together. */
#ifndef HEDDLE_CHANGES_CHANGES_MATCH_H
#define HEDDLE_CHANGES_CHANGES_MATCH_H

#include "changes.h"

/* A layer of one run or of both. Rows of one block are compared as a whole, because a group in one
 * of the runs connects them, and only the group has cycles. */
struct changes_row {
    const cJSON *of[2]; /* before, after; NULL: this run lacks it */
    uint32_t block;     /* index of its first row */
};

/* Match the layers by the names of their tensors, then by their own names, then by order among
 * those of one operator. Rows are in the order of `after`. Returns their number. */
uint32_t changes_match(struct arena *a, const cJSON *before, const cJSON *after,
                       struct changes_row **rows);

#endif
