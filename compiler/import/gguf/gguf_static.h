/* gguf_static.h - the step of a model with values of int8, some of int16 (gguf_wide.h), and scales that are known before. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_STATIC_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_STATIC_H

#include "gguf_model.h"

/* Append the constants and nodes from the token to the logits. */
enum status gguf_static(struct llama *m);

#endif
