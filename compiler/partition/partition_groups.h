/* partition_groups.h - operators that a target takes together, several in one call.
 * in:  the answers for each operator alone.   out: p->group, p->in_group; operators that go in groups
 * alone have `why` NULL and no cost of their own until the partition is chosen. */
#ifndef HEDDLE_COMPILER_PARTITION_PARTITION_GROUPS_H
#define HEDDLE_COMPILER_PARTITION_PARTITION_GROUPS_H

#include "partition.h"

/* kept: by position, operators that stay on the host. */
void groups_find(struct partition *p, struct ir_graph *g, const bool *kept);
/* Return true if the operator at position i may go to target t, alone or in a group. */
bool groups_may(const struct partition *p, uint32_t i, uint32_t t);
/* All operators of group k to its target, `fixed` there if that is not NULL. */
void groups_take(const struct partition *p, struct ir_graph *g, uint32_t k, bool *fixed);
/* The cost of group k in addition to its operators' own, as they are assigned now: negative if
 * all are on its target, GROUPS_NEVER for each that is there without the others and cannot be. */
#define GROUPS_NEVER 1e15
double groups_adjust(const struct partition *p, uint32_t k);
/* The search is over: set op->call of the groups that are whole on their target, and their
 * operators' answers then. */
void groups_close(struct partition *p, struct ir_graph *g);
/* The operators of a call are neighbours. */
enum status groups_bring_together(const struct partition *p, struct ir_graph *g, struct diag *d);

#endif
