/* fuzz_tosa.c - TOSA files. */
#include "compiler/import/tosa/tosa.h"
#include "fuzz.h"

static enum status read_file(struct arena *a, const uint8_t *data, size_t n_bytes,
                             struct ir_graph **graph, struct diag *d)
{
    struct ir_graph *literal;

    TRY(tosa_import(a, "fuzz", data, n_bytes, &(struct tosa_options){.literal = true}, &literal,
                    d));
    return tosa_import(a, "fuzz", data, n_bytes, &(struct tosa_options){.twice = true}, graph, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_one(read_file, data, n_bytes);
    return 0;
}
