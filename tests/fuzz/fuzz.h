/* fuzz.h - what the four fuzzers share. */
#ifndef HEDDLE_TESTS_FUZZ_H
#define HEDDLE_TESTS_FUZZ_H

#include "compiler/ir/ir.h"

/* Read one file's bytes; set *graph if it is a network. */
typedef enum status fuzz_read(struct arena *a, const uint8_t *data, size_t n_bytes,
                              struct ir_graph **graph, struct diag *d);

/* One input: read it within 64 MiB, then, if a network came of it, run the passes that every
 * command runs and print it as text. Aborts where a refusal has no words, more than one line, or a
 * status that only our own mistakes have. */
void fuzz_one(fuzz_read *read, const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
