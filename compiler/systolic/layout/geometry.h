/* geometry.h - an operator as the accelerator sees it: rows of bytes, windows, strides.
 * Filled from a legalised operator; the lowering files read nothing else of it. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_GEOMETRY_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_GEOMETRY_H

#include "compiler/systolic/program/sched_program.h"

enum geo_kind {
    GEO_CONV,
    GEO_DEPTHWISE,
    GEO_TRANSPOSED,
    GEO_DENSE,
    GEO_PRODUCT, /* of two tensors' matrices: the second one's are weights (geo_product.c) */
    GEO_ELEMENTWISE,
    GEO_POOL,
    GEO_LUT,
    GEO_SOFTMAX,
    /* Bytes are only moved (geo_moves, geo_move.c). */
    GEO_PAD,
    GEO_GATHER,
    GEO_PERMUTE /* TRANSPOSE */
};

/* The part of an image that an operator reads or writes: rows from `row` on, each with `cols`
 * pixels from `col` on, each with `channels` channels from `channel` on. */
struct geo_box {
    uint32_t row, col, channel, cols, channels;
};

/* Index of a box: an operand, or the result. */
enum { GEO_RESULT = 2, GEO_BOXES };

struct geo {
    enum geo_kind kind;
    const struct ir_op *op;
    const struct ir_tensor *x, *y2, *filter, *bias, *out; /* y2: second operand of two */
    uint32_t h, w, c;                                     /* input rows, columns, channels */
    uint32_t oh, ow, oc;                                  /* output */
    uint32_t kh, kw, sy, sx, dy, dx;
    int32_t pt, pl;
    int32_t z_in, z_w, z_out;
    uint32_t multiplier; /* depthwise taken as CONV, whose other weights are 0: outputs a channel */
    uint32_t up_y, up_x; /* phase of a transposed convolution: distance of its rows and columns */
    uint32_t first_y, first_x; /* from output row first_y on; else 1 and 0 */
    uint32_t tap_y, tap_x;     /* kernel row of its last tap */
    uint32_t vop;              /* enum hd_vop for VECTOR operators */
    bool turned;               /* mean over rows whose result has the input's columns as rows */
    bool rows_are_pixels;      /* matrix product: each row of its images is one pixel */
    bool over_axes;            /* the window is all rows, columns or both, as a mean's */
    bool copies;               /* the result has the input's bytes */
    bool apart;                /* pixels of the result are not contiguous */
    /* geo_moves; dimensions from the back */
    const struct ir_tensor *table; /* paddings, indices or permutation */
    int32_t before[3], after[3];   /* PAD */
    uint32_t back, from[3];        /* GATHER's dimension; TRANSPOSE: the input's of each one */
    uint32_t step;                 /* largest distance of input rows for two rows of the result */
    bool shared;                   /* a tensor is part of another's image */
    /* A copy to or from a place in memory that is known when it runs (geo_start.c). */
    const struct ir_tensor *start; /* the start indices; NULL: none */
    uint32_t start_box;            /* the copy's side with that place */
    uint32_t images; /* of a batch; 1 if its rows do not interact and are one image's */
    /* the strip (strips.h); before cutting, all of the images and channels */
    struct geo_box box[GEO_BOXES];
    bool flat;              /* rows are cut anywhere: each byte counts as a pixel */
    uint32_t all_c, all_oc; /* channels of the whole operator */
    uint32_t k_cut;         /* input channels of a piece of the kernel, at most */
};

/* Fill `g` from the definition of `op`. False if the operator is none of the kinds. */
bool geo_of(const struct ir_graph *graph, const struct ir_op *op, struct geo *g);

/* Fill `g` as the accelerator takes it, by the rows of its tensors' images (geo_image): a matrix
 * product of several rows is a convolution over them, so that they can be tiled; a depthwise
 * convolution with several outputs a channel is a convolution. */
bool geo_device(const struct ir_graph *graph, const struct ir_op *op, struct geo *g);
/* Boxes of all of the images and channels; geo_device has filled them. */
void geo_whole(struct geo *g);

/* Return true if a depthwise operator over an image of one column runs faster with its rows
 * taken as the pixels of one row, their pitches apart. Then all taps are one piece of the
 * kernel, instead of one piece a port. */
bool geo_rows_as_pixels(const struct geo *g, const struct hd_config *hw, uint32_t in_pitch,
                        uint32_t out_pitch);

/* A transposed convolution of strides sy, sx is sy * sx convolutions of stride 1, its phases: output
 * row y takes kernel rows (y + pt) % sy, and every sy-th from there, and so alike columns. The one
 * of kernel row and column tap_y, tap_x as GEO_CONV; false: no output belongs to it. */
bool geo_phase(const struct geo *g, uint32_t tap_y, uint32_t tap_x, struct geo *phase);

/* Rows [*from, *from + the result) of a phase that are among output rows [y, y + n). Without
 * phases, [y, y + n) itself. */
uint32_t geo_phase_rows(const struct geo *phase, uint32_t y, uint32_t n, uint32_t *from);

/* --- geo_product.c: the image of a matrix is one row, its rows are pixels. --- */

/* Return true if the tensor's rows are pixels of the product's images, not of its own. */
bool geo_rows_of_matrix(const struct geo *g, const struct ir_tensor *t);
/* The tensor's matrix that belongs to matrix `image` of the result. */
uint32_t geo_matrix(const struct geo *g, const struct ir_tensor *t, uint32_t image);
/* Turn places of rows into those of matrices. */
void geo_place_matrices(const struct geo *g, const struct ir_tensor *t, struct sched_place *s);
/* Return true if output channels of the product are rows of the second operand's matrices. */
bool geo_transposed_weights(const struct geo *g);

/* geo_move.c: fill PAD, GATHER or TRANSPOSE; false if it is not of one image. */
bool geo_move(const struct ir_graph *graph, struct geo *g);
/* Element i of a constant of int32 or int64. */
int32_t geo_number(const struct ir_tensor *t, uint64_t i);
/* Return true if output rows read input rows in order, without others between. */
bool geo_keeps_rows(const struct geo *g);
/* Input rows of an operator that does not keep them. */
void geo_move_rows(const struct geo *g, uint32_t y, uint32_t n, uint32_t *lo, uint32_t *hi);

/* geo_start.c: `part` is copied to the place in a variable that `start` names, or one row from
 * the place in a constant that an index names. Return false if there are no rows of one pitch. */
bool geo_update(const struct ir_graph *graph, struct geo *g);
bool geo_pick(const struct ir_graph *graph, struct geo *g);
/* Change `s` from the place of the whole tensor to that of its first part. */
void geo_start_place(const struct ir_graph *graph, const struct geo *g, struct sched_place *s);

static inline bool geo_starts(const struct geo *g, uint32_t box)
{
    return g->start && g->start_box == box;
}

/* Return true if MEAN runs over dimension `back` (1 W, 2 H), and that is not 1 anyway. */
bool geo_mean_over(const struct geo *g, uint32_t back);

/* Return true if no window of a pool leaves the image, so that all have kh * kw cells. */
bool geo_windows_inside(const struct geo *g);

/* m = ceil(2^31 / n), 2 <= n <= 2048. For sums s of n values of 0..255 the one rounding of the high
 * product, (s m + 2^30) >> 31, is floor(s / n + 1/2): s m / 2^31 exceeds s / n by less than 255 n /
 * 2^31, and the next smaller fraction is 1 / 2n or more below a tie. */
static inline int32_t geo_reciprocal(uint32_t n)
{
    return (int32_t)(((UINT64_C(1) << 31) + n - 1) / n);
}

/* Operand i: 0 the input, 1 the second one. */
static inline const struct ir_tensor *geo_operand(const struct geo *g, uint32_t i)
{
    return i == 0 ? g->x : g->y2;
}

static inline bool geo_moves(const struct geo *g)
{
    return g->kind == GEO_PAD || g->kind == GEO_GATHER || g->kind == GEO_PERMUTE;
}

/* Output channel of the whole operator that a column of ARRAY is: with two pixel streams column
 * oc + k is channel k again. */
static inline uint32_t geo_channel(const struct geo *g, uint32_t column)
{
    return g->box[GEO_RESULT].channel + column % g->oc;
}

/* Input channels of a piece of the kernel, at most. */
static inline uint32_t geo_k_cut(const struct geo *g)
{
    return g->k_cut && g->k_cut < g->c ? g->k_cut : g->c;
}

static inline bool geo_on_array(const struct geo *g)
{
    return g->kind == GEO_CONV || g->kind == GEO_DEPTHWISE || g->kind == GEO_TRANSPOSED ||
           g->kind == GEO_DENSE || g->kind == GEO_PRODUCT;
}

/* Input rows [*lo, *hi) that output rows [y, y + n) read, cut to the image. */
void geo_rows(const struct geo *g, uint32_t y, uint32_t n, uint32_t *lo, uint32_t *hi);

/* Steps of an elementwise operand along the result: rows of its image between rows of the
 * result, 0 where it is broadcast; between columns a pixel, or a row of one pixel. */
struct geo_walk {
    uint32_t rows;
    bool by_pixel, by_row;
};
struct geo_walk geo_walk(const struct geo *g, uint32_t i);

/* The same of operand i: an elementwise one may be broadcast. */
void geo_operand_rows(const struct geo *g, uint32_t i, uint32_t y, uint32_t n, uint32_t *lo,
                      uint32_t *hi);

/* The image of a tensor, in scratchpad and memory the same for all its readers: [N,H,W,C] has N * H
 * rows of W pixels. A tensor of fewer dimensions has rows of one pixel: [1,S,D] has S, and a vector
 * is one. */
void geo_image(const struct ir_tensor *t, uint32_t *h, uint32_t *w, uint32_t *c);

/* Rows of the result's image that `rows` rows of the operator are. */
uint32_t geo_result_rows(const struct geo *g, uint32_t rows);

/* One rectangle of the kernel, what one ARRAY command can take: kernel rows [ky, ky + n_ky), lanes
 * [b, b + n_b) of each (convolution: bytes of kw * c, of input channels [first_c, first_c + c);
 * depthwise: taps). Lane b of every row is x_shift bytes (depthwise: columns) to the right of
 * kernel column 0. */
struct geo_piece {
    uint32_t ky, n_ky, b, n_b;
    uint32_t x_shift;
    uint32_t first_c, c;
};

/* Cut the kernel into pieces of at most max_rows weight words each; returns how many, pieces[] is
 * in `a`. One piece unless dilation in x, more taps than N, or max_rows ask for more. */
uint32_t geo_pieces(struct arena *a, const struct geo *g, uint32_t n, uint32_t max_rows,
                    struct geo_piece **pieces);

/* Weight words that one command may have: half the weight memory, so that the next block loads
 * meanwhile. */
static inline uint32_t geo_word_limit(const struct hd_config *hw)
{
    return hw->weight_bytes / hw->n / 2;
}

/* Number of adjacent pixels that are taken as one pixel with that multiple of the channels, 1 or
 * 2. Two where both fit the columns (2 OC <= N) and that takes fewer cycles with half the ports
 * each. With more channels only where `wish` asks for it and two have less than twice the
 * channel tiles of one. wish: 0, or the number to have if possible. Weights and parameters of
 * two are stored twice. */
uint32_t geo_streams(const struct geo *g, const struct hd_config *hw, uint32_t wish);

/* Return true if one pixel of few outputs over many bytes (dense or a 1x1 convolution) is faster
 * one output at a time. That is in the depthwise mode: each column has a part of the bytes, and
 * the columns' sums are added (sum_columns). Then a weight word has N weights of that output,
 * instead of one of each. */
bool geo_sums_columns(const struct geo *g, const struct hd_config *hw);

/* True if the kernel needs several pieces: the accumulators are kept between commands, so a tile
 * has at most acc_depth pixels. */
bool geo_parts(const struct geo *g, const struct hd_config *hw);

/* Output rows that one block of a command may have: its pixels fit the accumulators, its scan
 * positions their 16-bit field (depthwise: strides make many). */
uint32_t geo_block_rows(const struct geo *g, const struct hd_config *hw);

#endif
