/* bench.h - "heddle bench": one layer with seeded weights as a graph in the IR's text form, which
 * is then processed like any model. */
#ifndef HEDDLE_INPUTS_BENCH_H
#define HEDDLE_INPUTS_BENCH_H

#include "app/options/options.h"
#include "base/text.h"

/* Return the graph that `o` describes:
 *   gemm M K N                   [M,K] x [K,N], all int8
 *   conv HxWxC KHxKWxN [STRIDE]  convolution with SAME padding
 *   depthwise HxWxC KHxKW [STRIDE]
 * Weights are computed from --seed; scales make the outputs use the whole range. ST_USAGE: the
 * message states what is missing. *name: the name in the report. */
enum status bench_graph(struct arena *a, const struct options *o, struct text *ir,
                        const char **name, struct diag *d);

#endif
