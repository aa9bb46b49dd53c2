/* geometry.h - an operator in the accelerator's terms: rows of bytes, windows, strides. Filled from
 * a legalised operator; the lowering files read nothing else of it. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_GEOMETRY_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_GEOMETRY_H

#include "compiler/systolic/program/sched_program.h"

enum geo_kind {
    GEO_CONV,
    GEO_DEPTHWISE,
    GEO_TRANSPOSED,
    GEO_DENSE,
    GEO_PRODUCT, /* product of two tensors' matrices, the second as weights (geo_product.c) */
    GEO_ELEMENTWISE,
    GEO_POOL,
    GEO_LUT,
    GEO_SOFTMAX,
    GEO_LSTM, /* rows are time steps; ARRAY multiplies, VECTOR computes gates and state */
    /* Operators that only move bytes (geo_moves, geo_move.c). */
    GEO_PAD,
    GEO_GATHER,
    GEO_PERMUTE /* TRANSPOSE */
};

/* The part of an image that an operator reads or writes: rows from `row` on, `cols` pixels of each
 * from `col` on, `channels` channels of each from `channel` on. */
struct geo_box {
    uint32_t row, col, channel, cols, channels;
};

/* Indices of boxes: the operands, and the result. */
enum { GEO_RESULT = 2, GEO_BOXES };

struct geo {
    enum geo_kind kind;
    const struct ir_op *op;
    const struct ir_tensor *x, *y2, *filter, *bias, *out; /* y2: second operand, if there are two */
    uint32_t h, w, c;                                     /* input rows, columns, channels */
    uint32_t oh, ow, oc;                                  /* output */
    uint32_t kh, kw, sy, sx, dy, dx;
    int32_t pt, pl;
    int32_t z_in, z_w, z_out;
    uint32_t multiplier; /* outputs per channel of a depthwise layer executed as CONV, whose other
                          * weights are 0 */
    uint32_t up_y, up_x; /* phase of a transposed convolution: distance between its output rows and
                          * columns */
    uint32_t first_y, first_x; /* its first output row and column; otherwise 1 and 0 */
    uint32_t tap_y, tap_x;     /* kernel row and column of its last tap */
    uint32_t vop;              /* enum hd_vop for VECTOR operators */
    bool transposed;           /* true for a mean over rows whose result has the input's columns as
                                * rows */
    bool rows_are_pixels;      /* matrix product: each row of its images is one pixel */
    bool over_axes;            /* the window covers all rows, columns or both, as in a mean */
    bool copies;               /* the result's bytes equal those of the input */
    bool halves; /* int16: a row of x, and of the result, has each pixel's upper bytes,
                                * then the lower ones; w and ow count pixels */
    bool apart;  /* pixels of the result are not contiguous */
    /* for geo_moves; dimensions are counted from the back */
    const struct ir_tensor *table; /* paddings, indices or permutation */
    int32_t before[3], after[3];   /* PAD */
    uint32_t back, from[3];        /* dimension of GATHER; for TRANSPOSE the input's dimension of
                                    * each output dimension */
    uint32_t step;                 /* largest distance of input rows for two adjacent rows of the
                                    * result */
    bool shared;                   /* a tensor is part of another tensor's image */
    /* A copy from or to a position in memory that is known at run time only (geo_start.c). */
    const struct ir_tensor *start; /* the start indices; NULL if none */
    uint32_t start_box;            /* the side of the copy at that position */
    uint32_t images; /* images of a batch; 1 if their rows do not interact and count as one image */
    /* the strip (strips.h); before cutting, all images and channels */
    struct geo_box box[GEO_BOXES];
    bool flat;              /* rows may be cut anywhere: each byte counts as a pixel */
    uint32_t all_c, all_oc; /* channels of the whole operator */
    uint32_t k_cut;         /* maximum input channels of a kernel piece */
    bool deep;              /* product: both operands come in such pieces (strips.h) */
};

/* Fill in `g` from the definition of `op`; false if no kind fits. */
bool geo_of(const struct ir_graph *graph, const struct ir_op *op, struct geo *g);

/* Fill in `g` in the form that the accelerator executes, in rows of its tensors' images
 * (geo_image). A matrix product of several rows becomes a convolution over them, so that they can
 * be tiled. A depthwise convolution with several outputs per channel becomes a convolution. */
bool geo_device(const struct ir_graph *graph, const struct ir_op *op, struct geo *g);
/* Set the boxes to all images and channels; geo_device has filled in the rest. */
void geo_whole(struct geo *g);

/* Return true if a depthwise operator over an image of one column is faster with its rows treated
 * as pixels of one row, spaced by the row pitch. All taps are then one kernel piece instead of one
 * piece per port. */
bool geo_rows_as_pixels(const struct geo *g, const struct hd_config *hw, uint32_t in_pitch,
                        uint32_t out_pitch);

/* A transposed convolution of strides sy, sx is sy * sx convolutions of stride 1, called phases.
 * Output row y uses kernel rows (y + pt) % sy and every sy-th after it; columns likewise. Set the
 * phase that starts at kernel row tap_y and column tap_x as GEO_CONV; false if it has no output. */
bool geo_phase(const struct geo *g, uint32_t tap_y, uint32_t tap_x, struct geo *phase);

/* Return the rows of a phase within output rows [y, y + n), beginning at *from. Without phases, [y,
 * y + n) itself. */
uint32_t geo_phase_rows(const struct geo *phase, uint32_t y, uint32_t n, uint32_t *from);

/* --- geo_product.c: the image of a matrix is one row, its rows are pixels. --- */

/* Return true if the tensor's rows are pixels of the product's images rather than rows of its own
 * image. */
bool geo_rows_of_matrix(const struct geo *g, const struct ir_tensor *t);
/* Return the index of the tensor's matrix that contributes to matrix `image` of the result. */
uint32_t geo_matrix(const struct geo *g, const struct ir_tensor *t, uint32_t image);
/* Convert places of rows into places of matrices. */
void geo_place_matrices(const struct geo *g, const struct ir_tensor *t, struct sched_place *s);
/* Return true if output channels of the product are rows of the second operand's matrices. */
bool geo_transposed_weights(const struct geo *g);

/* geo_move.c: fill in PAD, GATHER or TRANSPOSE; false if it involves several images. */
bool geo_move(const struct ir_graph *graph, struct geo *g);
/* Return element i of a constant of int32 or int64. */
int32_t geo_number(const struct ir_tensor *t, uint64_t i);
/* Return true if output rows read consecutive input rows in order. */
bool geo_keeps_rows(const struct geo *g);
/* Return the input rows for output rows of an operator that does not keep rows in order. */
void geo_move_rows(const struct geo *g, uint32_t y, uint32_t n, uint32_t *lo, uint32_t *hi);

/* geo_start.c: `part` is copied to the position in a variable that `start` gives, or one row is
 * copied from the position in a constant that an index gives. Return false if its rows have no
 * common pitch. */
bool geo_update(const struct ir_graph *graph, struct geo *g);
bool geo_pick(const struct ir_graph *graph, struct geo *g);
/* Change `s` from the whole tensor's place to that of its first part. */
void geo_start_place(const struct ir_graph *graph, const struct geo *g, struct sched_place *s);

static inline bool geo_starts(const struct geo *g, uint32_t box)
{
    return g->start && g->start_box == box;
}

/* Return true if MEAN reduces dimension `back` (1 W, 2 H) and its size is not 1. */
bool geo_mean_over(const struct geo *g, uint32_t back);

/* Return true if no window of a pool extends beyond the image, so that all have kh * kw cells. */
bool geo_windows_inside(const struct geo *g);

/* m = ceil(2^31 / n), 2 <= n <= 2048. For sums s of n values of 0..255 the one rounding of the high
 * product, (s m + 2^30) >> 31, is floor(s / n + 1/2): s m / 2^31 exceeds s / n by less than 255 n /
 * 2^31, and the next smaller fraction is 1 / 2n or more below a tie. */
static inline int32_t geo_reciprocal(uint32_t n)
{
    return (int32_t)(((UINT64_C(1) << 31) + n - 1) / n);
}

/* Return operand i: 0 the input, 1 the second operand. */
static inline const struct ir_tensor *geo_operand(const struct geo *g, uint32_t i)
{
    return i == 0 ? g->x : g->y2;
}

/* Return the columns of operand i, 1 where it is broadcast along them; pixels of int16 count once. */
static inline uint32_t geo_columns(const struct geo *g, uint32_t i)
{
    return (uint32_t)ir_dim_back(geo_operand(g, i), 1) / (g->halves ? 2 : 1);
}

/* Return the pixels of a row of the result's image, or of the input's, in memory: a half of int16 counts
 * as one. */
static inline uint32_t geo_row_pixels(const struct geo *g, bool result)
{
    return (g->halves ? 2 : 1) * (result ? g->ow : g->w);
}

static inline bool geo_moves(const struct geo *g)
{
    return g->kind == GEO_PAD || g->kind == GEO_GATHER || g->kind == GEO_PERMUTE;
}

/* Return the output channel of the whole operator for a column of ARRAY. With two pixel streams,
 * column oc + k is channel k of the second pixel. */
static inline uint32_t geo_channel(const struct geo *g, uint32_t column)
{
    return g->box[GEO_RESULT].channel + column % g->oc;
}

/* Return the maximum input channels of a kernel piece. */
static inline uint32_t geo_k_cut(const struct geo *g)
{
    return g->k_cut && g->k_cut < g->c ? g->k_cut : g->c;
}

static inline bool geo_on_array(const struct geo *g)
{
    return g->kind == GEO_CONV || g->kind == GEO_DEPTHWISE || g->kind == GEO_TRANSPOSED ||
           g->kind == GEO_DENSE || g->kind == GEO_PRODUCT;
}

/* Return the input rows [*lo, *hi) that output rows [y, y + n) read, clamped to the image. */
void geo_rows(const struct geo *g, uint32_t y, uint32_t n, uint32_t *lo, uint32_t *hi);

/* Strides of an elementwise operand along the result: rows of its image between rows of the result,
 * 0 where it is broadcast; between columns a pixel, or a row of one pixel. */
struct geo_walk {
    uint32_t rows;
    bool by_pixel, by_row;
};
struct geo_walk geo_walk(const struct geo *g, uint32_t i);

/* The same for operand i, which may be broadcast if the operator is elementwise. */
void geo_operand_rows(const struct geo *g, uint32_t i, uint32_t y, uint32_t n, uint32_t *lo,
                      uint32_t *hi);

/* Return the image of a tensor, the same in scratchpad and memory for all its readers: [N,H,W,C]
 * has N * H rows of W pixels. A tensor of fewer dimensions has rows of one pixel: [1,S,D] has S of
 * them, and a vector is one row. */
void geo_image(const struct ir_tensor *t, uint32_t *h, uint32_t *w, uint32_t *c);

/* Return the rows of the result's image that equal `rows` rows of the operator. */
uint32_t geo_result_rows(const struct geo *g, uint32_t rows);

/* A rectangle of the kernel that one ARRAY command can process: kernel rows [ky, ky + n_ky), lanes
 * [b, b + n_b) of each. For a convolution lanes are bytes of kw * c, from input channels [first_c,
 * first_c + c); for depthwise they are taps. Lane b of every row is x_shift bytes (depthwise:
 * columns) to the right of kernel column 0. */
struct geo_piece {
    uint32_t ky, n_ky, b, n_b;
    uint32_t x_shift;
    uint32_t first_c, c;
};

/* Cut the kernel into pieces of at most max_rows weight words each; pieces[] is allocated from `a`.
 * Returns their number. There is one piece unless dilation in x, more taps than N, or max_rows
 * require more. */
uint32_t geo_pieces(struct arena *a, const struct geo *g, uint32_t n, uint32_t max_rows,
                    struct geo_piece **pieces);

/* Return the maximum weight words of a command: half the weight memory, so that the next block
 * loads meanwhile. */
static inline uint32_t geo_word_limit(const struct hd_config *hw)
{
    return hw->weight_bytes / hw->n / 2;
}

/* Return the channels of a tile: the array's columns, or the lanes of VECTOR. */
static inline uint32_t geo_tile_lanes(const struct geo *g, const struct hd_config *hw)
{
    return geo_on_array(g) ? hw->columns : hw->n;
}

/* Return the number of adjacent pixels (1 or 2) that are processed as one pixel with that multiple
 * of the channels. It is two if both fit the columns (2 OC <= N) and the result takes fewer cycles
 * with half the ports each. With more channels it is two only if `wish` requests it and that needs
 * less than twice the channel tiles. wish: 0, or the preferred number. Weights and parameters of
 * two pixels are stored twice. */
uint32_t geo_streams(const struct geo *g, const struct hd_config *hw, uint32_t wish);

/* Return true if one pixel with few outputs over many bytes (dense or a 1x1 convolution) is faster
 * one output at a time. That is in the depthwise mode: each column has a part of the bytes, and the
 * columns' sums are added (sum_columns). A weight word then has N weights of one output, instead of
 * one weight of each output. */
bool geo_sums_columns(const struct geo *g, const struct hd_config *hw);

/* Return the digits of each sum if the result is sums as digits (raw_sums.c) in blocks of a channel
 * tile: their sums are made once and held, and each digit is requantised from them. 0: it is not. */
uint32_t geo_held_digits(const struct geo *g, const struct hd_config *hw);

/* Return true if the kernel needs several pieces, or sums are held for their digits. The accumulators are then kept between commands,
 * so a tile has at most acc_depth pixels. */
bool geo_parts(const struct geo *g, const struct hd_config *hw);

/* Return the maximum output rows of a block of a command: its pixels must fit the accumulators, and
 * its scan positions their 16-bit field (strides of depthwise layers make many). */
uint32_t geo_block_rows(const struct geo *g, const struct hd_config *hw);

#endif
