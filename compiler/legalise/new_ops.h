/* new_ops.h - operators and constants that passes add. */
#ifndef HEDDLE_COMPILER_LEGALISE_NEW_OPS_H
#define HEDDLE_COMPILER_LEGALISE_NEW_OPS_H

#include "compiler/ir/ir.h"

/* An int8 value of four dimensions with `like`'s name and `quant`. */
struct ir_tensor *lgl_new_image(struct ir_graph *g, const struct ir_tensor *like,
                                struct ir_quant quant, const int32_t dim[4]);

/* Scale `scale`, one zero point. */
struct ir_quant lgl_new_quant(struct ir_graph *g, float scale, int32_t zero);

/* A constant; `values` is copied, NULL: zeros. */
struct ir_tensor *lgl_new_constant(struct ir_graph *g, const char *name, enum ir_type type,
                                   uint32_t rank, const int32_t *dim, const void *values);

/* A constant of `t`'s name, type and quantisation; `data` is kept. */
struct ir_tensor *lgl_constant_like(struct ir_graph *g, const struct ir_tensor *t, uint32_t rank,
                                    const int32_t *dim, const uint8_t *data);

/* A matrix of bytes [rows,columns] as [columns,rows]. */
const uint8_t *lgl_turned(struct ir_graph *g, const uint8_t *w, size_t rows, size_t columns);

/* The id of a constant of n int32. */
uint32_t lgl_new_numbers(struct ir_graph *g, uint32_t n, const int32_t *values);

/* Add an operator that computes y from `in`, with int8's range as its clamp. */
struct ir_op *lgl_new_op(struct ir_graph *g, enum ir_opcode code, uint32_t row, uint32_t n_in,
                         const uint32_t *in, struct ir_tensor *y);
#define CONSTRUCTOR(word, code)                                                                    \
    static inline struct ir_op *lgl_make_##word(struct ir_graph *g, uint32_t row, uint32_t n_in,   \
                                                const uint32_t *in, struct ir_tensor *y)           \
    {                                                                                              \
        return lgl_new_op(g, IR_OP_##code, row, n_in, in, y);                                      \
    }
#include "operators/constructors.def"
#undef CONSTRUCTOR

struct lgl_fixed_scale;
/* Set the operator's n multipliers and shifts. */
void lgl_set_scales(struct ir_graph *g, struct ir_op *op, uint32_t n,
                    const struct lgl_fixed_scale *scale);

/* A copy of `op` from x, in place of its first operand, to y. */
struct ir_op *lgl_again(struct ir_graph *g, const struct ir_op *op, const struct ir_tensor *x,
                        struct ir_tensor *y);

/* Sums of the n rows above each pixel of an image, each row with a weight for each channel: in[0]
 * [1,rows,W,C], in[1] [1,n,1,C], in[2] a bias for each channel. No scales yet. */
struct ir_op *lgl_new_column_sum(struct ir_graph *g, uint32_t row, const uint32_t in[3],
                                 struct ir_tensor *y);

/* The operator with weights becomes a CONV2D. */
void lgl_become_conv(struct ir_op *op);

/* The operator of two operands becomes a MUL of one scale. */
void lgl_become_product(struct ir_op *op);

/* The operator becomes a LUT of tensor `of` with table[code + 128], which is kept. */
void lgl_become_table(struct ir_op *op, uint32_t of, const int8_t *table);

/* Operands of float32 operator `op` that are numbers of a function of these; 0: it is none. */
uint32_t lgl_float_operands(const struct ir_op *op);
/* Return true if all elements of the constant are one float32 number. */
bool lgl_is_number(const struct ir_tensor *x);
/* The result of such an operator, of up to two numbers. */
float lgl_float_applied(const struct ir_op *op, const float x[2]);
/* The float32 number that y is where the tensor `of`, which it is a function of, is v. */
float lgl_float_at(const struct ir_graph *g, const struct ir_tensor *y, const struct ir_tensor *of,
                   float v);
/* Return 1 if y, a float32 function of `of`, never falls where that rises from `low` to `high`, -1 if it
 * never rises; 0: it is no function of `of` alone, or not known to be either. */
int32_t lgl_float_slope(const struct ir_graph *g, const struct ir_tensor *y,
                        const struct ir_tensor *of, float low, float high);

/* QUANTIZE of v to y: halves away from zero, under ONNX's rounding to even; NaN is 0. */
int8_t lgl_quantized(const struct ir_op *quantize, const struct ir_tensor *y, float v);

/* Put operators of int8 in place of `op`, whose result is table[a + 128][b + 128] of the tensors of[0]
 * and of[1] in the shapes of as[0] and as[1] (quotient.c). False: it is linear in none of them. */
bool lgl_quotient(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *const of[2],
                  const struct ir_tensor *const as[2], const int8_t *table);

/* The average, whose windows all have n cells, becomes a depthwise convolution with ones of scale 1/n. */
void lgl_become_sums(struct ir_graph *g, struct ir_op *op);

/* An average over the whole image, without a clamp, becomes a MEAN with the scale that the
 * convolution would have; false: it is another. */
bool lgl_become_mean(struct ir_graph *g, struct ir_op *op);

/* Dimension i of a TRANSPOSE's result is its operand's dimension [i]. */
const int32_t *lgl_perm(const struct ir_graph *g, const struct ir_op *transpose);

/* x transposed, dimension i being its dimension perm[i]; x itself if that is the identity. */
const struct ir_tensor *lgl_transposed(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                                       const char *name, const int32_t *perm);

/* y = x in another shape. */
struct ir_op *lgl_new_reshape(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                              struct ir_tensor *y);

/* The id of x, or of x in the shape of `like`. */
uint32_t lgl_in_shape(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                      const struct ir_tensor *like);

/* The operator makes `wide`, its result in another shape; a RESHAPE makes that of it. */
void lgl_widen_result(struct ir_graph *g, struct ir_op *op, struct ir_tensor *wide);

/* The MEAN's result keeps all dimensions, those of the mean 1; a RESHAPE drops them. */
void lgl_keep_dims(struct ir_graph *g, struct ir_op *mean);

/* y = elements from[..] of x's dimension `axis`. */
void lgl_new_gather(struct ir_graph *g, uint32_t row, const struct ir_tensor *x, uint32_t axis,
                    const int32_t *from, struct ir_tensor *y);

/* y = x from element `begin` on, each `step`th; NULL: all. */
void lgl_new_slice(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                   const int32_t *begin, const int32_t *step, struct ir_tensor *y);

/* y = the n parts, side by side along dimension `axis`. */
void lgl_new_join(struct ir_graph *g, uint32_t row, uint32_t n, const uint32_t *part, uint32_t axis,
                  struct ir_tensor *y);

#endif
