/* knob_windows.h - search of a large program in windows of neighbouring operators, and the record
 * of what must be tried again. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_KNOB_WINDOWS_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_KNOB_WINDOWS_H

#include "knob_moves.h"

/* When each operator was last changed and tried; the time is counted in tries. */
struct windows_memory {
    uint32_t *changed, *tried, now;
    struct sched_knobs *kept; /* knobs of all operators at the last windows_due */
};

struct windows_memory windows_memory(const struct sched_program *p);
/* Return true if operator `op` has not been tried, or if one of operators [first, end) changed
 * since. */
bool windows_due(const struct search *s, const struct windows_memory *m, uint32_t op,
                 uint32_t first, uint32_t end);
/* Record that operator `op` has been tried, with moves within [first, end), since windows_due. */
void windows_tried(const struct search *s, struct windows_memory *m, uint32_t op, uint32_t first,
                   uint32_t end);

/* Return the operators around `op`, `reach` on either side: [*first, *end). */
static inline void windows_around(const struct search *s, uint32_t op, uint32_t reach,
                                  uint32_t *first, uint32_t *end)
{
    const uint32_t n = s->p->graph->n_op;

    *first = op > reach ? op - reach : 0;
    *end = op + reach + 1 < n ? op + reach + 1 : n;
}

/* Try each operator among its neighbours. The changes of a batch of operators are kept if the whole
 * program gains. */
void windows_descend(struct search *s);

/* Return after how many operators the network repeats itself most, 0: never; twin: by operator the
 * equal one at that distance before it, or IR_NONE. */
uint32_t windows_period(const struct sched_program *p, uint32_t *twin);

#endif
