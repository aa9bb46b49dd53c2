/* gguf_wide.h - parts of GGUF_STATIC16, whose residual and gated values are int16. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_WIDE_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_WIDE_H

#include "gguf_model.h"

/* Constants that the norms share. */
void gguf_wide_constants(struct llama *m);
/* y = the norm without gains of x [1,1,width], a value called `y` in the ranges. */
void gguf_wide_norm(struct llama *m, const char *y, const char *x);
/* Return twice the greatest magnitude of `name` in the ranges. */
float gguf_wide_most(const struct llama *m, const char *name);
/* The last node's result is `name`, rounded to int16 up to that. */
void gguf_wide_rounded(struct llama *m, const char *name);

#endif
