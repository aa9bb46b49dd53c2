/* toy.h - the calls of a core so small that most layers are cut for it. Each returns an error beyond its limits. */
#ifndef TESTS_COMPILER_EMIT_TOY_H
#define TESTS_COMPILER_EMIT_TOY_H

#include "kernels/hdk.h"

struct toy_sizes {
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w;
    int32_t dilation_h, dilation_w, pad_top, pad_left, z_in, z_out, act_min, act_max, scales;
};

/* w [out_c, kernel_h, kernel_w, in_c]; scratch: out_c sums. */
int toy_conv2d(const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *multiplier,
               const int8_t *shift, const int32_t *sums_in, int32_t *sums_out, int8_t *y,
               int32_t *scratch, struct toy_sizes s);
int toy_depthwise(const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *multiplier,
                  const int8_t *shift, int8_t *y, int32_t depth, struct toy_sizes s);
/* w [in_c, out_c] */
int toy_dense(const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *multiplier,
              const int8_t *shift, const int32_t *sums_in, int32_t *sums_out, int8_t *y,
              int32_t rows, int32_t in_c, int32_t out_c, int32_t z_in, int32_t z_out,
              int32_t act_min, int32_t act_max, int32_t scales);
int toy_average_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y, int32_t bytes,
                     int32_t w);
int toy_max_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y, int32_t bytes, int32_t c);
int toy_add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y, int32_t n);
int toy_mul(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *y, int32_t c,
            int32_t w);
int toy_lut(const int8_t *x, const int8_t *table, int8_t *y, int32_t n);
int toy_softmax(const struct hdk_softmax *p, const int8_t *x, int8_t *y, int32_t w);
int toy_mean(const struct hdk_mean *p, const int8_t *x, int8_t *y, int32_t bytes);

#endif
