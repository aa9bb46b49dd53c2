/* touched.h - the bytes that a command reads and writes according to its fields. They are exact,
 * whereas the ranges of struct sched_access may include gaps. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LOWER_TOUCHED_H
#define HEDDLE_COMPILER_SYSTOLIC_LOWER_TOUCHED_H

#include "compiler/systolic/program/sched_program.h"

/* Visitor of bytes [begin, begin + n) of the memory; returns false to stop. */
struct touched_visit {
    bool (*run)(void *context, int64_t begin, uint64_t n);
    void *context;
};

/* Visit the scratchpad bytes that the command reads, or writes, in words of `word` bytes. Some may
 * be visited twice. Returns false if a visitor did. */
bool touched_read(const struct sched_command *c, uint32_t word, const struct touched_visit *v);
bool touched_written(const struct sched_command *c, uint32_t word, const struct touched_visit *v);

/* Visit the bytes of the memory region that the command names: LOAD and WEIGHT read them, STORE
 * writes them. */
bool touched_region(const struct sched_command *c, const struct touched_visit *v);

#endif
