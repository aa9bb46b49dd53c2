/* ref_kernels.h - the reference kernels named in operators.def, and their common helpers. */
#ifndef HEDDLE_REFERENCE_REF_KERNELS_H
#define HEDDLE_REFERENCE_REF_KERNELS_H

#include <string.h>

#include "ref_constants.h"

/* The arguments of a kernel: tensors and bytes of inputs and outputs (NULL for an absent input). */
struct ref_call {
    const struct ir_op *op;
    const struct ir_tensor *const *in;
    const uint8_t *const *x;
    const struct ir_tensor *const *out;
    uint8_t *const *y;
    const struct ref_constants *k; /* NULL: of operators that only move bytes */
};

typedef enum status ref_kernel(const struct ref_call *c, struct diag *d);

#define REFERENCE(kernel) ref_kernel ref_##kernel;
#define F32(kernel)       ref_kernel ref_##kernel;
#include "operators/operators.def"

/* Operators of one float32 value, and of two (ref_float.c, ref_float_unary.c). */
ref_kernel ref_f32_unary, ref_f32_binary, ref_none;

/* v with the fused activation of a float32 operator. */
float ref_activated(const struct ir_op *op, float v);

/* The kernel of an operator whose first input has `type`; never NULL. */
ref_kernel *ref_kernel_of(enum ir_opcode opcode, enum ir_type type);

/* SRDHM, RDBPOT and MBQM of NUMERICS.md, double rounding. x << shift wraps modulo 2^32. */
int32_t ref_srdhm(int32_t a, int32_t b);
int32_t ref_rdbpot(int32_t x, int32_t exponent);
int32_t ref_mbqm(int32_t x, int32_t multiplier, int32_t shift);

/* 1 / sqrt(v) = multiplier * 2^(-31 - *shift), v at least 1, as L2_NORMALIZATION and RSQRT have it.
 */
int32_t ref_inverse_root(int32_t v, int32_t *shift);

/* 1 / (1 + x) of x from 0 to 1, Q0.31, as SOFTMAX and DIV have it. */
int32_t ref_one_over_one_plus(int32_t x);
/* x * 2^shift, saturating; shift 0 to 31. */
int32_t ref_shift_saturating(int32_t x, int shift);

/* int16 activations (ref_int16.c): MBQM of a 64-bit x, shift at most 7, rounded once. */
int32_t ref_mbqm64(int64_t x, int32_t multiplier, int32_t shift);
ref_kernel ref_conv2d_i16, ref_depthwise_i16, ref_dense_i16, ref_transpose_conv_i16, ref_matmul_i16,
    ref_softmax_i16;
/* A convolution of int16 as halves (attribute halves). */
ref_kernel ref_conv_halves;

/* RESIZE_BILINEAR of uint8 (ref_resize_u8.c). */
ref_kernel ref_resize_u8;

/* Binary operators of int32 and int64 (ref_number.c). */
ref_kernel ref_arithmetic;

/* Kernels of operators with k->real: ONNX's rounding (ref_onnx.c). */
enum status ref_real_binary(const struct ref_call *c, struct diag *d);
ref_kernel ref_real_average_pool, ref_real_mean, ref_real_softmax, ref_real_quantize;
/* rint(v) + zero point, clamped; NaN gives the zero point. */
int32_t ref_real_value(const struct ref_call *c, float v);
/* Offset of matrix `batch` of y in an operand whose other dimensions are broadcast. */
size_t ref_matrix(const struct ir_tensor *t, const struct ir_tensor *y, size_t batch);
/* Element of operand `t`, broadcast to y, for element i of y. */
size_t ref_broadcast_at(const struct ir_tensor *t, const struct ir_tensor *y, size_t i);
/* Offset in x of the i-th of the elements that mask's dimensions enumerate, the others at 0. */
size_t ref_pick(const struct ir_tensor *x, uint32_t mask, size_t i);

/* v + zero point, clamped to the operator's range. */
static inline int32_t ref_value(const struct ref_call *c, int32_t v)
{
    const int64_t value = (int64_t)v + c->out[0]->quant.zero_point[0];

    return (int32_t)(value < c->k->low ? c->k->low : value > c->k->high ? c->k->high : value);
}

/* A value v of the inner scale (k->rescale) as one of the output's. */
static inline int32_t ref_rescaled(const struct ref_call *c, int32_t v)
{
    const uint32_t last = c->k->n - 1;
    const int64_t value =
        (int64_t)ref_mbqm(v - c->k->inner_zero, c->k->multiplier[last], c->k->shift[last]) +
        c->out[0]->quant.zero_point[0];
    const int64_t low = ref_lowest(c->out[0]->type), high = ref_highest(c->out[0]->type);

    return (int32_t)(value < low ? low : value > high ? high : value);
}

/* Code i of a tensor of int8, uint8 or int16. */
static inline int32_t ref_at(const struct ir_tensor *t, const uint8_t *p, size_t i)
{
    int16_t wide;

    if (t->type != IR_I16)
        return t->type == IR_U8 ? p[i] : (int8_t)p[i];
    memcpy(&wide, p + 2 * i, sizeof wide);
    return wide;
}

static inline void ref_put(const struct ir_tensor *t, uint8_t *p, size_t i, int32_t code)
{
    const int16_t wide = (int16_t)code;

    if (t->type == IR_I16)
        memcpy(p + 2 * i, &wide, sizeof wide);
    else
        p[i] = (uint8_t)code;
}

/* Bytes from an upper byte to its lower one in a tensor of halves [N,H,2 W,C]. */
static inline size_t ref_halves_apart(const struct ir_tensor *t)
{
    return (size_t)(t->dim[2] / 2 * t->dim[3]);
}

/* The int16 whose upper byte is at i, and to put it there. */
static inline int32_t ref_at_halves(const struct ir_tensor *t, const uint8_t *p, size_t i)
{
    return 256 * ref_at(t, p, i) + ref_at(t, p, i + ref_halves_apart(t)) + 128;
}

static inline void ref_put_halves(const struct ir_tensor *t, uint8_t *p, size_t i, int32_t v)
{
    const int32_t lower = v & 255;

    ref_put(t, p, i, (v - lower) / 256);
    ref_put(t, p, i + ref_halves_apart(t), lower - 128);
}

static inline const int8_t *ref_i8(const uint8_t *p)
{
    return (const int8_t *)p;
}

#endif
