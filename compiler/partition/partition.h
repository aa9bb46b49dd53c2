/* partition.h - each operator to a target, accelerator operators to regions.
 * in:  a legalised graph, the targets of the run, the configuration.
 * out: op->target, op->region, op->reason; row->target, row->reason. A region is a run of
 * neighbouring operators of one accelerator in graph order: one submission. Order within the graph
 * never changes, so regions are acyclic. */
#ifndef HEDDLE_PARTITION_H
#define HEDDLE_PARTITION_H

#include "../target/target.h"

enum status partition_run(struct ir_graph *g, const struct target_list *targets,
                          const struct hd_config *hw, struct diag *d);

/* "heddle inspect": for each row of the model where it goes, and which rule failed if it stays on
 * the host. */
void partition_print(const struct ir_graph *g, const struct target_list *targets, struct text *t);

#endif
