/* fuzz_tflite.c - TFLite files. */
#include "compiler/import/tflite/tflite.h"
#include "fuzz.h"

static enum status read_file(struct arena *a, const uint8_t *data, size_t n_bytes,
                             struct ir_graph **graph, struct diag *d)
{
    return tfl_import(a, "fuzz", data, n_bytes, graph, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_one(read_file, data, n_bytes);
    return 0;
}
