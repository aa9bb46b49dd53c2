/* extract.h - neighbouring operators of a graph as a separate graph. Its inputs are the tensors
 * that they read and none of them computes, in reading order. Its outputs are the tensors that
 * others read. Constants and rows are included. */
#ifndef HEDDLE_COMPILER_IR_EXTRACT_H
#define HEDDLE_COMPILER_IR_EXTRACT_H

#include "ir.h"

struct ir_part {
    struct ir_graph *graph;
    const uint32_t *in, *out; /* tensors of the whole graph, as graph->in and graph->out */
};

/* Extract operators first..last, none of them dead. */
struct ir_part ir_extract(struct arena *a, const struct ir_graph *g, uint32_t first, uint32_t last);

#endif
