/* graph_passes.h - the passes of passes.def on a graph, without the rest of the pipeline. */
#ifndef HEDDLE_COMPILER_GRAPH_PASSES_H
#define HEDDLE_COMPILER_GRAPH_PASSES_H

#include "compiler/legalise/legalise.h"

/* Run the rows PASS and REWRITE of passes.def in order with ir_verify after each. */
enum status passes_run(struct ir_graph *g, const struct lgl_options *o, struct diag *d);

#endif
