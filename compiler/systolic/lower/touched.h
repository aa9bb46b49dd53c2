/* touched.h - the bytes that a command reads and writes, as its fields have them: exact, where the ranges of
 * struct sched_access may take gaps along. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LOWER_TOUCHED_H
#define HEDDLE_COMPILER_SYSTOLIC_LOWER_TOUCHED_H

#include "compiler/systolic/program/sched_program.h"

/* Takes bytes [begin, begin + n) of the memory; false ends the walk. */
struct touched_visit {
    bool (*run)(void *context, int64_t begin, uint64_t n);
    void *context;
};

/* Visit the bytes of the scratchpad, of words of `word` bytes, that the command reads, or writes. Some may
 * come twice. False: a visit returned false. */
bool touched_read(const struct sched_command *c, uint32_t word, const struct touched_visit *v);
bool touched_written(const struct sched_command *c, uint32_t word, const struct touched_visit *v);

/* Visit the bytes of the region that the command names: LOAD and WEIGHT read them, STORE writes them. */
bool touched_region(const struct sched_command *c, const struct touched_visit *v);

#endif
