/* stored.h - numbers of a model's type that the IR does not have, at the border of a run. */
#ifndef HEDDLE_INPUTS_STORED_H
#define HEDDLE_INPUTS_STORED_H

#include "compiler/ir/ir.h"

/* NumPy's name of the type in which files hold the tensor; "V2" for bfloat16, as NumPy writes it. */
const char *stored_npy_type(const struct ir_tensor *t);
/* Bytes of one inference in a file. */
uint64_t stored_bytes(const struct ir_tensor *t);
/* `n` elements of a file as the tensor's. ST_UNSUPPORTED: a uint64 over 2^63 - 1. */
enum status stored_load(struct arena *a, const struct ir_tensor *t, const uint8_t *from, uint64_t n,
                        uint8_t **to, struct diag *d);
/* `n` elements of the tensor as those of a file: floats rounded to the nearest, integers modulo
 * 2^bits. */
const uint8_t *stored_save(struct arena *a, const struct ir_tensor *t, const uint8_t *from,
                           uint64_t n);

#endif
