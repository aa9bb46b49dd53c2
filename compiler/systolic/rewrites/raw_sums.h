/* raw_sums.h - products whose sums the array writes as digits to the base of 128. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_REWRITES_RAW_SUMS_H
#define HEDDLE_COMPILER_SYSTOLIC_REWRITES_RAW_SUMS_H

#include "compiler/ir/ir.h"
#include "hw/gen/config.h"

/* Sums of int8 products. Weights are [OC,KH,KW,C/G]; those of a matrix product [OC,1,1,K]. */
struct raw_sums {
    struct ir_graph *g;
    struct ir_op *op; /* has the window's attributes */
    const struct ir_tensor *x, *w, *zero,
        *zero_w;               /* w in the form of conv_integer, matmul_integer */
    const struct ir_tensor *y; /* of the sums' shape */
    bool conv;
    const struct hd_config *hw;
    int32_t oc, kh, kw, k, digits;
    int32_t border[4]; /* rows above, columns left, rows below, columns right */
};

/* Fill in the sizes from the weights, and `digits`; return false if no number of digits holds every
 * sum. */
bool sys_raw_sums_fit(struct raw_sums *s);
/* Return the sums of a block, whose digits are neighbours: digit 0 of each, digit 1 of each, .. */
int32_t sys_raw_sums_each(const struct raw_sums *s);
/* Add the products that write the sums as digits; return their result. */
struct ir_tensor *sys_raw_sums_digits(const struct raw_sums *s);

/* The same for sums of k products as n digits: a tile of the array, which then makes them once and holds
 * them, if that is faster than making them for each digit; else all. */
int32_t sys_digits_each(int32_t sums, int32_t k, int32_t n, const struct hd_config *hw);

#endif
