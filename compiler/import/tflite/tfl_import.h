/* tfl_import.h - shared by the files of the TFLite importer. */
#ifndef HEDDLE_COMPILER_IMPORT_TFLITE_TFL_IMPORT_H
#define HEDDLE_COMPILER_IMPORT_TFLITE_TFL_IMPORT_H

#include "compiler/ir/ir.h"
#include "tfl_shim.h"

struct tfl_importer {
    struct arena *arena;
    const struct tfl_file *file;
    struct ir_graph *g;
    uint32_t *tensor_id;  /* of each file tensor, IR_NONE until first met */
    const uint8_t **copy; /* of each file buffer, NULL until first met */
    bool *merged;         /* by file operator: merged into an earlier one */
    bool *
        resized; /* of each file tensor: its shape is no longer the file's; NULL: all are the file's */
    enum status (*import_op)(struct tfl_importer *m, uint32_t index); /* tfl_op */
    uint32_t call_row; /* inside a subgraph: the row of the operator around it */
    uint32_t depth,
        n_inlined; /* subgraphs around this one; subgraphs inlined and their operators */
    struct tfl_rows {
        uint32_t x, rows, codes, scales, zero;
        bool asymmetric;
    } rows; /* activations last quantised for int8 weights; rows 0: none (tfl_weights.c) */
    uint32_t n_variable;
    struct tfl_variable *variable; /* tfl_state.c */
    struct diag *d;
};

/* The part of tfl_import that follows tfl_read; tests call it with files that FlatBuffers cannot
 * encode. */
enum status tfl_build(struct arena *a, const char *name, const struct tfl_file *file,
                      struct ir_graph **graph, struct diag *d);
/* Return the IR tensor of file tensor `index`; it is made and checked at first use. */
enum status tfl_tensor(struct tfl_importer *m, int32_t index, uint32_t *id);
/* Return the data of sparse constant `t` with all its values, `size` bytes each
 * (tfl_sparse.c). */
enum status tfl_dense(struct tfl_importer *m, const struct tfl_tensor *t, uint32_t size,
                      const struct tfl_buffer *stored, struct tfl_buffer *dense);
/* Return file tensor `index`, the state of one operator, as an IR_VARIABLE that starts at its zero
 * point. */
enum status tfl_state(struct tfl_importer *m, int32_t index, uint32_t *id);
/* Return zero point i of a file tensor; 0 if the file has none. */
int64_t tfl_zero_point(const struct tfl_tensor *t, uint32_t i);
/* Return the values of constant integer tensor `index` (int32 or int64) as int32. */
enum status tfl_param(struct tfl_importer *m, int32_t index, const char *what, uint32_t *n,
                      const int32_t **value);
/* Make an int32 constant. */
uint32_t tfl_new_const(struct tfl_importer *m, const char *name, uint32_t rank, const int32_t *dim,
                       const int32_t *value);
/* Return true if a size of any tensor is open: what the file has for it may be 1, whatever follows. */
bool tfl_has_open_sizes(const struct tfl_file *f);
/* Replace the shapes of graph inputs by those of file->sizes (tfl_follow.c). */
enum status tfl_sizes(struct tfl_importer *m);
/* After tfl_sizes: give the outputs of operator `index` the shapes that follow from its inputs. */
enum status tfl_follow(struct tfl_importer *m, uint32_t index);
/* Return the dimensions of the result of `src`, a STRIDED_SLICE of `x`. */
enum status tfl_slice_dims(struct tfl_importer *m, const struct tfl_operator *src,
                           const struct ir_tensor *x, uint32_t *n, int32_t *dim);
/* Import operator `index` of the file as a row and an ir_op. */
enum status tfl_op(struct tfl_importer *m, uint32_t index);

/* A rule of column TFLITE of operators.def: sets the attributes and parameters of `op`, whose inputs and
 * output are set (tfl_rule.c). */
typedef enum status tfl_rule(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op);
#define TFLITE(name, options, n_value, min_in, max_in, fn) tfl_rule tfl_rule_##fn;
#include "operators/operators.def"

/* --- building one file operator out of several ir_ops (tfl_build.c) --- */

/* The importer function of a row of tfl_op.c's table, if one ir_op is not enough. */
typedef enum status tfl_builder(struct tfl_importer *m, const struct tfl_operator *src,
                                uint32_t row);

/* Return input i of `src` as a tensor that exists at this point: a constant, a graph input or a
 * computed one. */
enum status tfl_value(struct tfl_importer *m, const struct tfl_operator *src, uint32_t i,
                      uint32_t *id);
/* Fail with ST_MODEL if `src` does not have `n` outputs. */
enum status tfl_want_outputs(struct tfl_importer *m, const struct tfl_operator *src, uint32_t n);
/* Return output k of `src`, which must not have been computed yet. */
enum status tfl_result(struct tfl_importer *m, const struct tfl_operator *src, uint32_t k,
                       uint32_t *id);
/* Fail with ST_MODEL if a tensor of that shape and the type of `like` is too large. */
enum status tfl_want_size(struct tfl_importer *m, const struct ir_tensor *like, uint32_t rank,
                          const int32_t *dim);
/* Make a tensor between two ir_ops of one row, with the type and scale of `like`. */
enum status tfl_between(struct tfl_importer *m, const struct ir_tensor *like, uint32_t rank,
                        const int32_t *dim, uint32_t *id);
/* Make an ir_op that computes tensor `out`. If its inputs are constant and it moves bytes, is a
 * CAST or is integer arithmetic, evaluate it here and make `out` a constant. */
enum status tfl_emit(struct tfl_importer *m, enum ir_opcode opcode, uint32_t row, uint32_t n_in,
                     const uint32_t *in, uint32_t out, struct ir_op **op);
#define CONSTRUCTOR(word, code)                                                                    \
    static inline enum status tfl_make_##word(struct tfl_importer *m, uint32_t row, uint32_t n_in, \
                                              const uint32_t *in, uint32_t out, struct ir_op **op) \
    {                                                                                              \
        return tfl_emit(m, IR_OP_##code, row, n_in, in, out, op);                                  \
    }
#include "operators/constructors.def"
#undef CONSTRUCTOR
/* Make `y` the part of `x` from `begin` on, with y's shape; `step` NULL is 1. */
enum status tfl_part(struct tfl_importer *m, uint32_t row, uint32_t x, const int32_t *begin,
                     const int32_t *step, uint32_t y);
/* Make `y` the tensor `x` in another shape. */
enum status tfl_reshape(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t y);
/* Make y the bytes of x with y's scale and zero point. */
enum status tfl_recode(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t y);
/* Make `y` the tensor `x` cut into `dim` and transposed: dimension i of that is dimension from[i] of `dim`. */
enum status tfl_shuffle(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t rank,
                        const int32_t *dim, const int32_t *from, uint32_t y);
/* Replace *x by its elements index[0 .. n-1] along `axis`. */
enum status tfl_pick(struct tfl_importer *m, uint32_t row, uint32_t *x, uint32_t axis, uint32_t n,
                     const int32_t *index);
/* Make an int32 constant vector. */
uint32_t tfl_vector(struct tfl_importer *m, uint32_t n, const int32_t *value);
/* Read integer parameter `i` of `src`, which must hold one value. */
enum status tfl_scalar(struct tfl_importer *m, const struct tfl_operator *src, uint32_t i,
                       const char *what, int32_t *value);
/* Read an axis, which may count from the end; fail if it is out of range. */
enum status tfl_axis(struct tfl_importer *m, int32_t axis, uint32_t rank, uint32_t *k);

/* Import a convolution, FULLY_CONNECTED or BATCH_MATMUL of float32 activations and int8 weights (tfl_weights.c): quantise
 * activations, make sums of int32, scale them. `op` is replaced. */
bool tfl_is_dynamic(const struct ir_tensor *x, const struct ir_tensor *w);
enum status tfl_dynamic_conv(struct tfl_importer *m, struct ir_op *op);
enum status tfl_dynamic_dense(struct tfl_importer *m, const struct tfl_operator *src,
                              struct ir_op *op);
enum status tfl_dynamic_matmul(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op);
/* Refuse float32 activations `x` with 8-bit weights `w`. */
enum status tfl_want_static(struct tfl_importer *m, const struct ir_tensor *x,
                            const struct ir_tensor *w);
/* Refuse int8 weights with a zero point other than 0. */
enum status tfl_want_symmetric(struct tfl_importer *m, const struct ir_tensor *w);
/* Set `narrow` of a product of int16 activations whose bias is int32, or that has none and is summed
 * in 32 bits then; its bias becomes int64. */
enum status tfl_sum_width(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op);
/* Note biases whose scale is not that of the input times that of the weights (tfl_bias.c). */
void tfl_note_biases(struct tfl_importer *m);
/* Set the fused activation of `src` as an attribute of `op`. */
enum status tfl_activation(struct tfl_importer *m, const struct tfl_operator *src,
                           struct ir_op *op);
/* Import a FULLY_CONNECTED with computed weights as a BATCH_MATMUL (tfl_math.c). */
enum status tfl_computed_weights(struct tfl_importer *m, struct ir_op *op);
/* For a uint8 CONCATENATION, pass parts whose scale differs from the output's through RESCALE. */
enum status tfl_rescale_parts(struct tfl_importer *m, struct ir_op *op);

/* Block sizes and paddings or crops of `src`, a SPACE_TO_BATCH_ND or BATCH_TO_SPACE_ND whose first
 * input is `x`; one or two spatial dimensions. */
struct tfl_blocks {
    uint32_t n;
    int32_t block[2], edge[2][2];
};
enum status tfl_blocks_of(struct tfl_importer *m, const struct tfl_operator *src,
                          const struct ir_tensor *x, struct tfl_blocks *b);
/* Merge a convolution between those two operators and both of them into one dilated convolution. */
enum status tfl_dilate(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op);

/* Builders, by file. */
tfl_builder tfl_split, tfl_split_v, tfl_pack, tfl_unpack, tfl_strided_slice, tfl_gather,
    tfl_embedding, tfl_tile, tfl_reverse_sequence, tfl_scatter_nd; /* tfl_slice.c */
tfl_builder tfl_space_to_depth, tfl_depth_to_space, tfl_space_to_batch, tfl_batch_to_space,
    tfl_mirror_pad, tfl_resize_nearest, tfl_resize_bilinear, tfl_reverse, tfl_broadcast_to,
    tfl_shape, tfl_rank, tfl_fill, tfl_range;                     /* tfl_move.c */
tfl_builder tfl_neg, tfl_abs, tfl_sign, tfl_sqrt, tfl_zeros_like; /* tfl_number.c */
tfl_builder tfl_lstm;                                             /* tfl_lstm.c */
tfl_builder tfl_detection_post_process;                           /* tfl_detection.c */
tfl_builder tfl_svdf;                                             /* tfl_svdf.c */
tfl_builder tfl_transpose_conv, tfl_conv_3d, tfl_square, tfl_add_n, tfl_top_k,
    tfl_one_hot;                                                                   /* tfl_math.c */
tfl_builder tfl_if, tfl_while, tfl_composite;                                      /* tfl_flow.c */
tfl_builder tfl_var_handle, tfl_read_variable, tfl_assign_variable, tfl_call_once; /* tfl_state.c */

#endif
