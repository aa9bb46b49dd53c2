/* xnnpack_ops.h - int8 layers by libXNNPACK on the calling thread. The library's operators are made
 * once per set of parameters and kept until the program ends. Not thread-safe. Each function
 * returns 0, or HD_ERROR_HOST_OP if the library refuses. */
#ifndef XNNPACK_OPS_H
#define XNNPACK_OPS_H

#include "kernels/hdk.h"

#include <stdint.h>

/* Sizes as docs/TARGET.md names them; a fully_connected is a row of batch pixels. */
struct xnnpack_sizes {
    int32_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
    int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    int32_t pad_top, pad_left, pad_bottom, pad_right;
    int32_t
        depthwise; /* 1: w is [kernel_h, kernel_w, out_c], else [out_c, kernel_h, kernel_w, in_c] */
    int32_t z_in, z_w, z_out, act_min, act_max, scales;
};
int xnnpack_product(const int8_t *x, const int8_t *w, const int32_t *bias, const float *scale,
                    int8_t *y, const struct xnnpack_sizes *s);
int xnnpack_add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y);
int xnnpack_max_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y);
/* Without padding. */
int xnnpack_average_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y);
int xnnpack_softmax(const struct hdk_softmax *p, const int8_t *x, int8_t *y);

#endif
