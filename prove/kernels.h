/* kernels.h - host kernels over terms. */
#ifndef HEDDLE_PROVE_KERNELS_H
#define HEDDLE_PROVE_KERNELS_H

#include "package.h"

/* A struct prove_hook's function; ctx: a struct prove_package. */
void prove_kernel_call(void *ctx, const char *name, const void *p, void *const *arg);
/* kernels_product.c. arg: x, w, y, bias (or NULL). */
void prove_transpose_conv(struct prove_package *k, const void *params, void *const *arg);
/* kernels_int16.c. arg alike. */
void prove_i16_conv2d(struct prove_package *k, const void *params, void *const *arg);
void prove_i16_depthwise(struct prove_package *k, const void *params, void *const *arg);
void prove_i16_dense(struct prove_package *k, const void *params, void *const *arg);
void prove_i16_add(struct prove_package *k, const void *params, void *const *arg, bool subtract);
void prove_i16_mul(struct prove_package *k, const void *params, void *const *arg);
void prove_i16_unary(struct prove_package *k, const void *params, void *const *arg);
void prove_i16_extremum(struct prove_package *k, const void *params, void *const *arg,
                        bool largest);
void prove_i16_pool(struct prove_package *k, const void *params, void *const *arg, bool average);
void prove_i16_sigmoid(struct prove_package *k, const void *params, void *const *arg, bool tanh);
void prove_i16_to_int8(struct prove_package *k, const void *params, void *const *arg);
void prove_i16_mean(struct prove_package *k, const void *params, void *const *arg);
void prove_byte_of(struct prove_package *k, const void *params, void *const *arg);
void prove_halves(struct prove_package *k, const void *params, void *const *arg, bool splits);
void prove_join_wide(struct prove_package *k, const void *params, void *const *arg);
/* arg: x, zero point, y. */
void prove_join_digits(struct prove_package *k, const void *params, void *const *arg);

#endif
