/* cost.h - what one command takes in its unit, in cycles, as hw/README.md states it.
 * Pure functions of the command; when it may start is timeline.c's. */
#ifndef HEDDLE_SCHED_COST_H
#define HEDDLE_SCHED_COST_H

#include "sched.h"

/* Cycles from taking the command to done_o, both counted, with its own bank conflicts, without
 * VECTOR's waits for ARRAY. */
uint64_t cost_array(const struct hd_cmd_array *a, const struct hd_config *hw);
uint64_t cost_vector(const struct hd_cmd_vector *v, const struct hd_config *hw);
/* Beats of a VECTOR command: operands read. */
uint64_t cost_beats(const struct hd_cmd_vector *v, const struct hd_config *hw);

/* A transfer: words of scratchpad or weight memory, one a cycle. */
uint64_t cost_words(uint32_t rows, uint32_t row_bytes, const struct hd_config *hw);

#endif
