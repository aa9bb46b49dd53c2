/* pools.h - operators with windows, and sums. */
#ifndef POOLS_H
#define POOLS_H

#include <stdint.h>

struct pools_sizes {
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w,
        dilation_h, dilation_w, pad_top, pad_left, z_in, z_out, act_min, act_max;
};

int pools_depthwise(const int8_t *x, const int8_t *w, const int32_t *bias,
                    const int32_t *multiplier, const int8_t *shift, int8_t *y, struct pools_sizes s,
                    int32_t scales);
int pools_average(const int8_t *x, int8_t *y, struct pools_sizes s);
int pools_max(const int8_t *x, int8_t *y, struct pools_sizes s);
/* zero: of both operands and the result, then the clamps. */
int pools_add(const int8_t *a, const int8_t *b, int8_t *y, int32_t n, const int32_t *multiplier,
              const int8_t *shift, const int32_t zero[5]);

#endif
