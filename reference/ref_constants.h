/* ref_constants.h - the values that an operator computes with, in addition to its operands.
 * Made from scales and attributes (ref_constants.c and the files it calls), or, of a legalised
 * graph, taken from op->fixed. */
#ifndef HEDDLE_REFERENCE_REF_CONSTANTS_H
#define HEDDLE_REFERENCE_REF_CONSTANTS_H

#include "ref.h"

struct ref_constants {
    uint32_t n; /* multipliers and shifts: real = multiplier * 2^(shift - 31); by operator:
                   weights: one, or one a channel; ADD, SUB, SQUARED_DIFFERENCE, PRELU: 3 */
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t low, high;    /* clamp of the output's quantised values */
    const uint8_t *table; /* 8-bit unary functions: from byte to byte */
    const int16_t *wide;  /* int16: interpolated tables (ref_wide_table.c) */
    uint32_t n_wide;
    const float *real; /* ONNX's rounding (ref_real_scale.c) */
    uint32_t n_real;
    const double *litert; /* LiteRT's FULLY_CONNECTED: the scale of each channel, or one */
    uint32_t n_litert;
    int32_t pad_top, pad_left;
    bool rescale; /* pools, SOFTMAX: the result is in the scale of `inner` and goes through the last
                     multiplier into the output's */
    int32_t inner_zero;
    int32_t *work; /* GRU: pairs of its sums, of its state; a number of each cell */
};

const struct ref_constants *ref_constants_of(struct arena *a, const struct ir_graph *g,
                                             const struct ir_op *op, const struct ref_options *o);

/* --- what the files that make them share --- */

/* One operator of a graph; x, b, y: inputs 0, 1 and output 0 (NULL: absent). */
struct ref_maker {
    struct arena *arena;
    const struct ir_graph *g;
    const struct ir_op *op;
    const struct ir_tensor *x, *b, *y;
    const struct ref_options *o;
    struct ref_constants *k;
};

static inline float ref_scale(const struct ir_tensor *t)
{
    return t->quant.scale[0];
}

/* The float32 whose bits attribute `attr` has. */
float ref_attr_float(const struct ir_op *op, enum ir_attr attr);
/* d as multiplier and shift (NUMERICS.md, QuantizeMultiplier). */
void ref_fixed_point(double d, int32_t *multiplier, int8_t *shift);
/* Set k->multiplier and k->shift to n numbers. */
void ref_set_fixed(const struct ref_maker *m, uint32_t n, const double *d);
/* Least and largest quantised value of a type. */
int32_t ref_lowest(enum ir_type type);
int32_t ref_highest(enum ir_type type);

/* padding.c: the pads of an operator with a window, in the order top, left, bottom, right. */
void ref_pads(const struct ref_maker *m, int32_t pad[4]);
/* ref_byte_table.c: fill k->table of an 8-bit unary function; false for other operators. */
bool ref_byte_table(const struct ref_maker *m);
/* ref_wide_table.c: int16 LOGISTIC, TANH, SOFTMAX. */
void ref_wide_table(const struct ref_maker *m);
/* ref_real_scale.c: fill the constants of ONNX's rounding. False: the operator does not round. */
bool ref_real_scale(const struct ref_maker *m);

#endif
