/* gguf_round.h - values of a model that are rounded between operators, by QuantizeLinear and DequantizeLinear. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_ROUND_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_ROUND_H

#include "gguf_model.h"
#include "gguf_ranges.h"

/* Return `v` as int8 whose -128 is `low` and whose 127 is `high`. */
int8_t gguf_byte_of(float low, float high, float v);
/* Return the step of the value `name` in int8. */
float gguf_step_of(const struct llama *m, const char *name);
/* The last node's result is `name`, rounded to int8 from low to high. */
void gguf_round_to(struct llama *m, const char *name, float low, float high);
/* The same in the range of the value of that name. */
void gguf_rounded(struct llama *m, const char *name);
/* The last node's result is `name`, rounded to int16 whose 32767 is `most`. */
void gguf_round_wide(struct llama *m, const char *name, float most);

#endif
