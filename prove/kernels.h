/* kernels.h - host kernels over terms. */
#ifndef HEDDLE_PROVE_KERNELS_H
#define HEDDLE_PROVE_KERNELS_H

#include "package.h"

/* A struct prove_hook's function; ctx: a struct prove_package. */
void prove_kernel_call(void *ctx, const char *name, const void *p, void *const *arg);

#endif
