/* norm_ops.h - what the files of LAYER_NORM share (layer_norm.c): its constants, its tensors [rows,
 * columns] of int8, and operators on them. */
#ifndef COMPILER_LEGALISE_COMPOSED_NORM_OPS_H
#define COMPILER_LEGALISE_COMPOSED_NORM_OPS_H

#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum {
    OCTAVES = 16,      /* of a variance; */
    MOST_OCTAVES = 19, /* of squares that no mean is taken from, up to MOST_SQUARE */
    MOST_SQUARE = 255 * 255,
    STEPS = 256,
    FINE = 254,     /* of a rest in a coarse part */
    FEWEST = 128,   /* values of a piece, if all are alike */
    LONGEST = 1016, /* row whose sum of squares one product makes */
    MOST_SHARES = 5 /* of how often a short row counts */
};

/* A row's pieces, or its rest as one: `n` of each row, which are `blocks` by rows by the others. Or the
 * whole of a short row n times, each time with another weight. */
struct lgl_norm_part {
    struct ir_tensor *rows; /* [pieces,values] */
    int32_t blocks, n;
    int8_t weight[MOST_SHARES]; /* 0: pieces */
};

struct lgl_norm {
    struct ir_graph *g;
    uint32_t row;
    const char *name;
    int32_t r, c;           /* rows and their values; last those of the result */
    int32_t groups;         /* of channels, if the rows are these */
    int32_t copies, shares; /* of one value that shares a weight beyond 127; of the rest's square */
    double epsilon, greatest;
    int32_t octaves, bias;
    int64_t low[MOST_OCTAVES];
    int8_t weight[MOST_OCTAVES], table[MOST_OCTAVES * STEPS];
    uint32_t parts; /* of a row that one sum does not hold: its pieces and a rest */
    struct lgl_norm_part part[2];
};

struct lgl_norm_parts {
    struct ir_tensor *coarse, *fine; /* [R,1] */
};

struct ir_tensor *lgl_norm_bytes(struct lgl_norm *k, const char *what, int32_t rows,
                                 int32_t columns, int32_t zero);
struct ir_tensor *lgl_norm_rows(struct lgl_norm *k, const char *what, int32_t columns,
                                int32_t zero);

struct ir_tensor *lgl_norm_two(struct lgl_norm *k, enum ir_opcode code, const struct ir_tensor *a,
                               const struct ir_tensor *b, uint32_t n,
                               const struct lgl_fixed_scale *scale, struct ir_tensor *y);

/* y[i] = requantised sum of x[j] * weights[i][j] + bias[i]; `scale`: one, or one of each i. The
 * weights are written [j][i], as weights_ko has them. */
struct ir_tensor *lgl_norm_sums(struct lgl_norm *k, const struct ir_tensor *x,
                                const int8_t *weights, const int32_t *bias, uint32_t n_scale,
                                const struct lgl_fixed_scale *scale, struct ir_tensor *y);
/* The same sum for every column of y. */
struct ir_tensor *lgl_norm_sum(struct lgl_norm *k, const struct ir_tensor *x, const int8_t *weights,
                               int32_t bias, double scale, struct ir_tensor *y);
/* The value of each row in n columns; NULL is no name. */
struct ir_tensor *lgl_norm_spread(struct lgl_norm *k, const char *what, struct ir_tensor *x,
                                  int32_t n);

/* Side by side, the bytes as they are. */
struct ir_tensor *lgl_norm_joined(struct lgl_norm *k, const char *what, uint32_t n,
                                  struct ir_tensor *const *part);
/* The bytes as they are, zero point 0, in rows of `columns`. */
struct ir_tensor *lgl_norm_recoded(struct lgl_norm *k, const char *what, const struct ir_tensor *x,
                                   int32_t columns);
/* `total` in the weights of n copies. */
void lgl_norm_share(int32_t total, int32_t n, int8_t *weight);

/* sum = bias + x * weights: sum / unit, and the rest in 1/254 of it. */
struct lgl_norm_parts lgl_norm_divided(struct lgl_norm *k, const char *what, struct ir_tensor *x,
                                       const int8_t *weights, int32_t bias, int32_t unit);
/* (q - mean)^2 = 256 hi + lo; hi less 128. */
struct ir_tensor *lgl_norm_squares(struct lgl_norm *k, const struct ir_tensor *q,
                                   const struct ir_tensor *mean, bool high);
/* round(C / shares * (rest / 254)^2) - 128 */
struct ir_tensor *lgl_norm_square_of_rest(struct lgl_norm *k, const struct ir_tensor *rest);

/* norm_pieces.c: cut rows that one sum does not hold; their means, and where their variances are. The
 * values of a single row are `q` in any shape; otherwise it has the rows, or `pixels` of channels. */
void lgl_norm_cut(struct lgl_norm *k, struct ir_tensor *q, bool pixels);
/* Or count each value of the rows `q` `times` times. */
void lgl_norm_repeat(struct lgl_norm *k, struct ir_tensor *q, int32_t times);
struct lgl_norm_parts lgl_norm_mean_of_pieces(struct lgl_norm *k, int32_t weight, int32_t bias);
struct ir_tensor *lgl_norm_octaves_of_pieces(struct lgl_norm *k, const struct lgl_norm_parts *mean);

#endif
