/* host_counts.h - the counts that the kernels' costs grow with, by form; part of host_cycles.h. */
#ifndef HEDDLE_COMPILER_HOST_HOST_COUNTS_H
#define HEDDLE_COMPILER_HOST_HOST_COUNTS_H

#include "host_cycles.h"

/* FORM(NAME, counts in order) */
#define HOST_FORMS(FORM)                                                                           \
    FORM(CONV, "products outputs lanes panels copies")                                             \
    FORM(DEPTHWISE, "products outputs addresses panels taps")                                      \
    FORM(DENSE, "products outputs lanes panels products_left")                                     \
    FORM(WINDOWS, "products outputs runs taps pixels")                                             \
    FORM(LANES, "products outputs runs blocks pixels")                                             \
    FORM(TRANSPOSED, "products outputs runs taps rows")                                            \
    FORM(ROWS_BY_COLUMNS, "products outputs rows steps")                                           \
    FORM(ELEMENTS, "elements")                                                                     \
    FORM(DIGITS, "digits sums")                                                                    \
    FORM(BLOCKS, "blocks bytes_left")                                                              \
    FORM(PARTS, "elements parts")                                                                  \
    FORM(WALK, "elements rows")                                                                    \
    FORM(VALUES, "values rows")                                                                    \
    FORM(EXPONENTIALS, "values rows exponentials")                                                 \
    FORM(POOL, "cells outputs runs blocks pixels")                                                 \
    FORM(CELLS, "cells outputs tested")                                                            \
    FORM(REDUCE, "elements outputs elements_x_axes")                                               \
    FORM(ORDER, "elements rows")                                                                   \
    FORM(TOP, "comparisons rows results")                                                          \
    FORM(BYTES, "words pieces bytes lines indices")                                                \
    FORM(PAD, "words filled rows bytes filled_bytes")                                              \
    FORM(MOVE, "bytes elements rows")                                                              \
    FORM(RESIZE, "outputs pixels")                                                                 \
    FORM(INTERPOLATE, "products outputs")                                                          \
    FORM(RECURRENT, "products cells")                                                              \
    FORM(DETECTIONS, "scores boxes visits")

enum host_form {
#define FORM(name, counts) HOST_##name,
    HOST_FORMS(FORM)
#undef FORM
};

/* Fill w->count for `op`, whose kernel has form `form`. */
void host_count(const struct ir_graph *g, const struct ir_op *op, enum host_form form,
                double count[HOST_COUNTS]);

#endif
