/* banks.h - what ARRAY's reads do to the scratchpad's banks (hd_spad): two ports that want
 * different words of one bank take two cycles, and STORE goes last. Found by looking at some of a
 * command's positions, not at all: reads repeat from row to row. */
#ifndef HEDDLE_SCHED_BANKS_H
#define HEDDLE_SCHED_BANKS_H

#include "sched.h"

/* Cycles that the command's pipe is frozen. */
uint64_t banks_conflicts(const struct hd_cmd_array *a, const struct hd_config *hw);

/* Beats of an elementwise command whose operands lie in one bank: they take two cycles. */
uint64_t banks_vector_conflicts(const struct hd_cmd_vector *v, const struct hd_config *hw);

/* Words that STORE, which reads words one after the other, gets in BANKS_CYCLES cycles of the
 * command; at least 1. */
#define BANKS_CYCLES 256u
uint32_t banks_left(const struct hd_cmd_array *a, const struct hd_config *hw);

/* Beats that VECTOR command `v` gets in BANKS_CYCLES cycles of ARRAY command `a`; at least 1. */
uint32_t banks_beats(const struct hd_cmd_array *a, const struct hd_cmd_vector *v,
                     const struct hd_config *hw);

/* Of 256 words that LOAD writes during the command, how many wait for a bank that takes its
 * results. */
uint32_t banks_lost(const struct hd_cmd_array *a, const struct hd_config *hw, uint64_t cycles);

#endif
