/* map.h - source positions of a tensor's elements: one form for all operators that move bytes
 * (column MOVES of operators.def), single or composed. */
#ifndef HEDDLE_COMPILER_IR_MAP_H
#define HEDDLE_COMPILER_IR_MAP_H

#include "ir.h"

#define IR_MAP_FILL INT32_MIN

/* Element (i, j, ..) of a tensor comes from element base + off[0][i] + off[1][j] + .. of tensor `root`. PAD
 * fills it where one of these equals IR_MAP_FILL. The first other number of each list is 0. */
struct ir_map {
    uint32_t root, rank;
    int32_t dim[IR_MAX_RANK];
    int32_t *off[IR_MAX_RANK];
    int32_t base;
};

/* Return the map of the result of `op` from the map `in` of its input; `in` NULL: the input is the
 * root. Returns NULL if `op` is another operator, has several operands, or the result is not such a
 * sum. */
struct ir_map *ir_map_of(struct ir_graph *g, const struct ir_op *op, const struct ir_map *in);

/* Return true if the tensor is the root in another shape. */
bool ir_map_same_bytes(const struct ir_graph *g, const struct ir_map *m);

/* The same map with the fewest dimensions: RESHAPE of the root to size[..], elements take[d][0 .. count[d] - 1] of
 * each dimension d, then TRANSPOSE, whose dimension i is from[i], then RESHAPE. */
struct ir_map_form {
    uint32_t n;
    int32_t size[IR_MAX_RANK], count[IR_MAX_RANK], from[IR_MAX_RANK];
    int32_t *take[IR_MAX_RANK];
};

/* Convert `m` to that form; false if it fills elements, repeats them over a dimension, or has no
 * such form. */
bool ir_map_simplify(struct ir_graph *g, const struct ir_map *m, struct ir_map_form *f);

/* Return the common distance of the numbers take[0 .. n - 1]; 0 if there is none; 1 for a single
 * number. */
int32_t ir_map_step(const int32_t *take, int32_t n);

/* Write the tensor's elements, of `size` bytes each, from the root's elements; `fill`: PAD's
 * value. */
void ir_map_copy(const struct ir_map *m, const uint8_t *root, const uint8_t *fill, size_t size,
                 uint8_t *to);

#endif
