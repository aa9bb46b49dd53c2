/* fuzz.h - what the four fuzzers share. */
#ifndef HEDDLE_TESTS_FUZZ_H
#define HEDDLE_TESTS_FUZZ_H

#include "compiler/ir/ir.h"

/* Read one file's bytes; set *graph if they are a network. */
typedef enum status fuzz_read(struct arena *a, const uint8_t *data, size_t n_bytes,
                              struct ir_graph **graph, struct diag *d);

/* Process one input: read it within 64 MiB and, if it is a network, run the passes of every command
 * and print it as text. Aborts if a refusal has no text, several lines, or a status that only
 * heddle's own faults have. */
void fuzz_one(fuzz_read *read, const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
