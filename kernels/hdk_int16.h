/* hdk_int16.h - host kernels on int16 activations (TFLite's int16x8), part of hdk.h: include that.
 * Zero points are 0, so no kernel adds them; act_min and act_max are in [-32768, 32767]. Where a
 * parameter struct is another kernel's, the same rules hold and z_* are not read. */
#ifndef HDK_INT16_H
#define HDK_INT16_H

#include "hdk_ops.h"

/* CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, TRANSPOSE_CONV: sums of 64 bits, y = clamp((sum (x *
 * w) + bias) * scale) with 15 bits of the multiplier, rounded once, half up; shifts at most 7.
 * With scale.narrow: 32 bits and both roundings, as int8.
 *   w: conv2d [out_c, kernel_h, kernel_w, in_c / groups], depthwise [kernel_h, kernel_w, out_c],
 *   fully connected [out_c, in_c], transposed as hdk_transpose_conv   bias [out_c] or NULL */
struct hdk_i16_conv2d {
    struct hdk_conv2d layer;
    struct hdk_scale scale;
};
void hdk_i16_conv2d(const struct hdk_i16_conv2d *p, const int16_t *x, const int8_t *w,
                    const int64_t *bias, int16_t *y);
struct hdk_i16_depthwise_conv2d {
    struct hdk_depthwise_conv2d layer;
    struct hdk_scale scale;
};
void hdk_i16_depthwise_conv2d(const struct hdk_i16_depthwise_conv2d *p, const int16_t *x,
                              const int8_t *w, const int64_t *bias, int16_t *y);
struct hdk_i16_fully_connected {
    struct hdk_fully_connected layer;
    struct hdk_scale scale;
};
void hdk_i16_fully_connected(const struct hdk_i16_fully_connected *p, const int16_t *x,
                             const int8_t *w, const int64_t *bias, int16_t *y);
/* BYTE_OF. y = the upper byte of x (high) or its lower one less 128. */
struct hdk_byte_of {
    uint32_t n, high;
};
void hdk_byte_of(const struct hdk_byte_of *p, const int16_t *x, int8_t *y);

/* HALVES. x int16 [rows, n], y int8 [rows, 2 n]: a row's upper bytes, then its lower ones less 128; and
 * back. */
struct hdk_halves {
    uint32_t rows, n;
};
void hdk_split_halves(const struct hdk_halves *p, const int16_t *x, int8_t *y);
void hdk_join_halves(const struct hdk_halves *p, const int8_t *x, int16_t *y);

/* JOIN_WIDE. The sum is 256 * upper + lower, y as that of the products above.
 *   upper, lower [pixels, ..] of digits_upper and digits_lower each, as hdk_join_digits has them
 *   bias [out_c] or NULL   y [pixels, out_c] */
struct hdk_join_wide {
    uint32_t pixels, out_c, each, digits_upper, digits_lower;
    int32_t act_min, act_max;
    struct hdk_scale scale;
};
void hdk_join_wide(const struct hdk_join_wide *p, const int8_t *upper, const int8_t *lower,
                   const int64_t *bias, int16_t *y);

void hdk_i16_transpose_conv(const struct hdk_transpose_conv *p, const int16_t *x, const int8_t *w,
                            const int64_t *bias, int16_t *y);
void hdk_i16_matmul(const struct hdk_matmul *p, const int16_t *a, const int16_t *b,
                    const int64_t *bias, int16_t *y);

/* As int8, with 15 bits of headroom in ADD and SUB. */
void hdk_i16_add(const struct hdk_add *p, const int16_t *a, const int16_t *b, int16_t *y);
void hdk_i16_sub(const struct hdk_add *p, const int16_t *a, const int16_t *b, int16_t *y);
void hdk_i16_mul(const struct hdk_mul *p, const int16_t *a, const int16_t *b, int16_t *y);
void hdk_i16_div(const struct hdk_mul *p, const int16_t *a, const int16_t *b, int16_t *y);
void hdk_i16_maximum(const struct hdk_extremum *p, const int16_t *a, const int16_t *b, int16_t *y);
void hdk_i16_minimum(const struct hdk_extremum *p, const int16_t *a, const int16_t *b, int16_t *y);
void hdk_i16_avg_pool(const struct hdk_pool *p, const int16_t *x, int16_t *y);
void hdk_i16_max_pool(const struct hdk_pool *p, const int16_t *x, int16_t *y);
void hdk_i16_mean(const struct hdk_mean *p, const int16_t *x, int16_t *y);
void hdk_i16_reduce_prod(const struct hdk_mean *p, const int16_t *x, int16_t *y);
void hdk_i16_reduce_max(const struct hdk_mean *p, const int16_t *x, int16_t *y);
void hdk_i16_reduce_min(const struct hdk_mean *p, const int16_t *x, int16_t *y);
void hdk_i16_resize_bilinear(const struct hdk_resize_bilinear *p, const int16_t *x, int16_t *y);

/* RELU, RELU6, LEAKY_RELU, ABS, QUANTIZE int16 to int16: y = clamp(x * (multiplier[0], shift[0])),
 * negative x by [1] instead; `absolute`: |x| by [0]. y may be x. */
struct hdk_i16_unary {
    uint32_t n, absolute;
    int32_t act_min, act_max;
    int32_t multiplier[2], shift[2];
};
void hdk_i16_unary(const struct hdk_i16_unary *p, const int16_t *x, int16_t *y);
/* QUANTIZE int16 to int8 and int8 to int16: y = clamp((x - z_in) * (multiplier, shift) + z_out). */
void hdk_i16_to_int8(const struct hdk_requantize *p, const int16_t *x, int8_t *y);
void hdk_i8_to_int16(const struct hdk_requantize *p, const int8_t *x, int16_t *y);

/* LOGISTIC, TANH: x * multiplier / 2^shift is in 1/12288; output scale 1/32768. y may be x. */
struct hdk_i16_sigmoid {
    uint32_t n;
    int32_t multiplier, shift;
    const uint16_t *table; /* [256]: about 65536 sigmoid(i / 24) */
};
void hdk_i16_logistic(const struct hdk_i16_sigmoid *p, const int16_t *x, int16_t *y);
void hdk_i16_tanh(const struct hdk_i16_sigmoid *p, const int16_t *x, int16_t *y);

/* SOFTMAX over the last dimension; output scale 1/32768. Differences come to 10/65535 by multiplier
 * and shift. x, y [rows, cols]; y may be x. */
struct hdk_i16_softmax {
    uint32_t rows, cols;
    int32_t multiplier, shift;
    const int16_t *exp, *inverse; /* [513] each: e^x on [-10, 0], 1 / (1 + x) on [0, 1] */
};
void hdk_i16_softmax(const struct hdk_i16_softmax *p, const int16_t *x, int16_t *y);

/* As hdk_quantize and hdk_dequantize. */
void hdk_i16_quantize(const struct hdk_quantize *p, const float *x, int16_t *y);
void hdk_i16_dequantize(const struct hdk_quantize *p, const int16_t *x, float *y);

#endif
