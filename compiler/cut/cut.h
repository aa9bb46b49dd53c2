/* cut.h - an operator that exceeds the limits of a target's call, as several calls.
 * in:  an operator, a target that refuses it.   out: the cheapest cut whose parts the target takes (struct
 * describe_cut); each part as an operator of its own, with padding, weights, biases and scales of its own.
 * Parts are boxes of the result; with "accumulate" also of the input channels, whose sums add up. */
#ifndef HEDDLE_COMPILER_CUT_CUT_H
#define HEDDLE_COMPILER_CUT_CUT_H

#include "compiler/target/describe.h"

enum {
    CUT_AXES = 4, /* batch, rows, columns, channels */
    CUT_OPERANDS = 2,
    CUT_MOST_PARTS = 4096,
};

/* Number of parts of `size` in a dimension of `all`, and the size of the part that begins at `from`. */
static inline uint32_t cut_steps(uint32_t all, uint32_t size)
{
    return (all + size - 1) / size;
}
static inline uint32_t cut_size(uint32_t all, uint32_t from, uint32_t size)
{
    return all - from < size ? all - from : size;
}

/* A part of a tensor: [from, from + n) of each axis. */
struct cut_box {
    uint32_t from[CUT_AXES], n[CUT_AXES];
};

/* How the result's parts read the operands. */
enum cut_kind {
    CUT_POINTWISE, /* the same part of each */
    CUT_PER_ROW,   /* whole runs of channels of the same pixels */
    CUT_OVER_AXES, /* the same channels of all pixels */
    CUT_DENSE,     /* all channels of the same rows */
    CUT_WINDOWS,   /* windows of pixels; all channels, or the same ones */
};

struct cut_form {
    enum cut_kind kind;
    bool product;                               /* its output channels have weights of their own */
    bool mixes;                                 /* and read all input channels */
    uint32_t n_operands;                        /* without weights and bias */
    uint32_t x[CUT_AXES], y[CUT_AXES];          /* sizes */
    uint32_t all[CUT_DIMS];                     /* extents that can be cut; 1: not along this one */
    uint32_t per_channel;                       /* depthwise: output channels of an input channel */
    uint32_t kernel[2], stride[2], dilation[2]; /* CUT_WINDOWS */
    uint32_t pad[2], pad_after[2];
    uint32_t out_axis, in_axis; /* of the weights */
};

/* The form of an operator; false: it cannot be cut. */
bool cut_form(const struct ir_graph *g, const struct ir_op *op, bool accumulate,
              struct cut_form *f);

/* [from, from + n) of each dimension of a cut. */
struct cut_range {
    uint32_t from[CUT_DIMS], n[CUT_DIMS];
};

struct cut_part {
    struct cut_box x, y;          /* of every operand, of the result */
    uint32_t before[2], after[2]; /* rows and columns of padding */
    bool first, last;             /* of the parts whose sums add up */
};

/* The part of a range; false: it reads nothing but padding. */
bool cut_part_of(const struct cut_form *f, const struct cut_range *r, struct cut_part *p);

/* An operator alone in a graph, and the operator that it is a part of. */
struct cut_alone {
    const struct ir_graph *whole;
    const struct ir_op *of;
    struct ir_graph *graph;
    struct ir_op *op;
};
struct cut_alone cut_alone(struct arena *a, const struct ir_graph *g, const struct ir_op *op);
/* Make the operator alone the part: shapes, padding, scales. Constants keep the bytes of the whole,
 * with `data` they are the part's. */
void cut_shape(const struct cut_alone *c, const struct cut_form *f, const struct cut_part *p,
               bool data);

/* Set *at to the box's first element in a tensor of sizes `all`; return true if its bytes are contiguous
 * there. */
bool cut_contiguous(const uint32_t all[CUT_AXES], const struct cut_box *b, uint64_t *at);
uint64_t cut_elements(const struct cut_box *b);

/* Set `r` to part `i` of `cut`. Input channels vary fastest, then output channels. */
void cut_range(const struct describe_cut *cut, uint32_t i, struct cut_range *r);

/* The cheapest cut that the target takes, NULL if there is none. */
const struct describe_cut *cut_find(const struct target_question *q);
/* Two parts of the input channels of an operator that the target takes whole, to try its sums; NULL: it has no
 * "accumulate", or does not take them. */
const struct describe_cut *cut_sums(const struct target_question *q);
/* NULL if the target takes every part of the operator's cut, else why not. */
const char *cut_refusal(const struct target_question *q);
/* "37 parts of 14 channels: weight_bytes is 2359296, expected at most 65536". */
const char *cut_text(struct arena *a, const struct describe_cut *cut);

#endif
