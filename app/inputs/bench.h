/* bench.h - "heddle bench": one layer with seeded weights, as a graph in the IR's text form, so
 * that it takes the way of any model from there on. */
#ifndef HEDDLE_INPUTS_BENCH_H
#define HEDDLE_INPUTS_BENCH_H

#include "app/options/options.h"
#include "base/text.h"

/* The graph that `o` asks for:
 *   gemm M K N                   [M,K] x [K,N], all int8
 *   conv HxWxC KHxKWxN [STRIDE]  convolution with SAME padding
 *   depthwise HxWxC KHxKW [STRIDE]
 * Weights follow from --seed, scales are such that the outputs spread. ST_USAGE: the message states
 * what is missing. *name: what the report calls it. */
enum status bench_graph(struct arena *a, const struct options *o, struct text *ir,
                        const char **name, struct diag *d);

#endif
