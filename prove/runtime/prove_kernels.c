/* prove_kernels.c - the kernels of hdk.h as emitted code calls them while it is proven: each hands its
 * arguments to the prover. A kernel that is not here has no rule; calls.def has those that are compared,
 * and with any other the package does not load. */
#include "hook.h"
#include "kernels/hdk.h"

struct prove_hook prove_hook;

static void give(const char *name, const void *p, const void *x, const void *b, void *y)
{
    void *const arg[4] = {(void *)(uintptr_t)x, (void *)(uintptr_t)b, y, 0};

    prove_hook.call(prove_hook.ctx, name, p, arg);
}

#define ONE(kernel, params, type_x, type_y)                                                        \
    void hdk_##kernel(const struct hdk_##params *p, const type_x *x, type_y *y)                    \
    {                                                                                              \
        give(#kernel, p, x, 0, y);                                                                 \
    }
#define TWO(kernel, params, type)                                                                  \
    void hdk_##kernel(const struct hdk_##params *p, const type *a, const type *b, type *y)         \
    {                                                                                              \
        give(#kernel, p, a, b, y);                                                                 \
    }

ONE(copy, copy, void, void)
ONE(transpose, transpose, void, void)
ONE(pad, pad, void, void)
ONE(flip, flip, int8_t, int8_t)
ONE(lut, lut, int8_t, int8_t)
ONE(requantize, requantize, int8_t, int8_t)
ONE(dequantize, dequantize, int8_t, float)
ONE(avg_pool, pool, int8_t, int8_t)
ONE(max_pool, pool, int8_t, int8_t)
ONE(mean, mean, int8_t, int8_t)
ONE(softmax, softmax, int8_t, int8_t)
TWO(add, add, int8_t)
TWO(sub, add, int8_t)
TWO(mul, mul, int8_t)
TWO(maximum, extremum, int8_t)
TWO(minimum, extremum, int8_t)
ONE(i16_unary, i16_unary, int16_t, int16_t)
ONE(i16_logistic, i16_sigmoid, int16_t, int16_t)
ONE(i16_tanh, i16_sigmoid, int16_t, int16_t)
ONE(i16_to_int8, requantize, int16_t, int8_t)
ONE(i8_to_int16, requantize, int8_t, int16_t)
ONE(i16_mean, mean, int16_t, int16_t)
ONE(byte_of, byte_of, int16_t, int8_t)
ONE(split_halves, halves, int16_t, int8_t)
ONE(join_halves, halves, int8_t, int16_t)
ONE(i16_avg_pool, pool, int16_t, int16_t)
ONE(i16_max_pool, pool, int16_t, int16_t)
TWO(i16_maximum, extremum, int16_t)
TWO(i16_minimum, extremum, int16_t)
TWO(i16_add, add, int16_t)
TWO(i16_sub, add, int16_t)
TWO(i16_mul, mul, int16_t)

void hdk_quantize(const struct hdk_quantize *p, const float *x, int8_t *y)
{
    give("quantize", p, x, 0, y);
}

void hdk_gather(const struct hdk_gather *p, const void *x, const void *index, void *y)
{
    give("gather", p, x, index, y);
}

#define PRODUCTS(kernel, params, type_x, type_bias)                                                \
    void hdk_##kernel(const struct hdk_##params *p, const type_x *x, const int8_t *w,              \
                      const type_bias *bias, type_x *y)                                            \
    {                                                                                              \
        void *const arg[4] = {(void *)(uintptr_t)x, (void *)(uintptr_t)w, y,                       \
                              (void *)(uintptr_t)bias};                                            \
                                                                                                   \
        prove_hook.call(prove_hook.ctx, #kernel, p, arg);                                          \
    }
PRODUCTS(transpose_conv, transpose_conv, int8_t, int32_t)
PRODUCTS(i16_conv2d, i16_conv2d, int16_t, int64_t)
PRODUCTS(i16_depthwise_conv2d, i16_depthwise_conv2d, int16_t, int64_t)
PRODUCTS(i16_fully_connected, i16_fully_connected, int16_t, int64_t)

void hdk_join_wide(const struct hdk_join_wide *p, const int8_t *upper, const int8_t *lower,
                   const int64_t *bias, int16_t *y)
{
    void *const arg[4] = {(void *)(uintptr_t)upper, (void *)(uintptr_t)lower, y,
                          (void *)(uintptr_t)bias};

    prove_hook.call(prove_hook.ctx, "join_wide", p, arg);
}

void hdk_join_digits(const struct hdk_join_digits *p, const int8_t *x, const int8_t *zero,
                     int32_t *y)
{
    give("join_digits", p, x, zero, y);
}

void hdk_concat(const struct hdk_concat *p, const void *const *x, void *y)
{
    give("concat", p, x, 0, y);
}
