/* cmsis_nn_ops.h - int8 layers by CMSIS-NN (5.0 or later), whose headers and library the user has
 * built. Freestanding, no allocation: multipliers, shifts and the library's own buffer are in
 * `scratch`. Each returns 0, or HD_ERROR_HOST_OP where the library refuses or wants more than n
 * bytes. */
#ifndef CMSIS_NN_OPS_H
#define CMSIS_NN_OPS_H

#include "kernels/hdk.h"

#include <stdint.h>

/* Sizes as docs/TARGET.md names them. */
struct cmsis_nn_sizes {
    int32_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
    int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    int32_t pad_top, pad_left, depth_multiplier;
    int32_t z_in, z_out, act_min, act_max, scales;
};
/* x [batch, in_h, in_w, in_c], w [out_c, kernel_h, kernel_w, in_c] (depthwise [kernel_h, kernel_w,
 * out_c]), bias [out_c] or NULL, multiplier and shift [scales], y [batch, out_h, out_w, out_c]. */
int cmsis_nn_conv2d(const int8_t *x, const int8_t *w, const int32_t *bias,
                    const int32_t *multiplier, const int8_t *shift, int8_t *y, void *scratch,
                    uint32_t n, const struct cmsis_nn_sizes *s);
int cmsis_nn_depthwise(const int8_t *x, const int8_t *w, const int32_t *bias,
                       const int32_t *multiplier, const int8_t *shift, int8_t *y, void *scratch,
                       uint32_t n, const struct cmsis_nn_sizes *s);
/* x [batch, in_c], w [out_c, in_c], y [batch, out_c]; one scale. */
int cmsis_nn_dense(const int8_t *x, const int8_t *w, const int32_t *bias, int8_t *y, void *scratch,
                   uint32_t n, int32_t multiplier, int32_t shift, const struct cmsis_nn_sizes *s);
int cmsis_nn_add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y,
                 int32_t elements);
int cmsis_nn_average_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y, void *scratch,
                          uint32_t n);
int cmsis_nn_max_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y);
int cmsis_nn_softmax(const struct hdk_softmax *p, const int8_t *x, int8_t *y);

#endif
