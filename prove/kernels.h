/* kernels.h - host kernels over terms. */
#ifndef HEDDLE_PROVE_KERNELS_H
#define HEDDLE_PROVE_KERNELS_H

#include "package.h"

/* A struct prove_hook's function; ctx: a struct prove_package. */
void prove_kernel_call(void *ctx, const char *name, const void *p, void *const *arg);
/* kernels_product.c. arg: x, w, y, bias (or NULL). */
void prove_transpose_conv(struct prove_package *k, const void *params, void *const *arg);

#endif
