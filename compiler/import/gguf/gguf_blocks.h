/* gguf_blocks.h - sizes of a tensor's rows. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_BLOCKS_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_BLOCKS_H

#include "gguf.h"

/* Bytes of dim[0] values of the tensor's type. */
enum status gguf_row_bytes(const struct gguf_tensor *t, uint64_t *n, struct diag *d);

#endif
