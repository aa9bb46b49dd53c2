/* ranges.h - which quantised values each channel of an int8 tensor can take, whatever the input. A
 * channel is an index of the innermost dimension. */
#ifndef HEDDLE_COMPILER_LEGALISE_RANGES_H
#define HEDDLE_COMPILER_LEGALISE_RANGES_H

#include "compiler/ir/ir.h"

struct lgl_ranges {
    struct ir_range **value;     /* [tensor][channel]; NULL: any */
    struct ir_range **unclamped; /* [tensor][channel], of operators that clamp; NULL: as value */
    bool *follows;               /* [op]: the ranges of its output come from those of its inputs, by
                                  the column CHANNELS of its row */
};

/* Ranges of all tensors of a legal graph, operator by operator in their order; operators that no
 * rule describes may give any value. Exact where the operator is monotone: its own integers at both
 * ends of each interval. Cost: one pass over the weights. */
struct lgl_ranges *lgl_ranges(struct ir_graph *g);

/* Range of channel `c` of `t`; a channel of a broadcast operand counts for all. */
struct ir_range lgl_range(const struct lgl_ranges *r, const struct ir_tensor *t, uint64_t c);
/* Return true if the operator sees the zero point outside the image. */
bool lgl_is_padded(const struct ir_op *op);

#endif
