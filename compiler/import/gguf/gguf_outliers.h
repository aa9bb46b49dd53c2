/* gguf_outliers.h - the channels of a layer's gated values that have outliers, in front of the others. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_OUTLIERS_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_OUTLIERS_H

#include "gguf_ranges.h"

/* Exchange the channels between `gate`, `up` and `down` so that the `n` with the greatest magnitudes, which `most` has, are
 * the first. Return the greatest magnitude of the others. */
float gguf_outliers_first(struct arena *a, const struct gguf_matrix *gate,
                          const struct gguf_matrix *up, const struct gguf_matrix *down,
                          const float *most, int64_t n);

#endif
