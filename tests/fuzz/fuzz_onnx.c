/* fuzz_onnx.c - ONNX files; external data is refused. */
#include "compiler/import/onnx/onnx.h"
#include "fuzz.h"

static enum status read_file(struct arena *a, const uint8_t *data, size_t n_bytes,
                             struct ir_graph **graph, struct diag *d)
{
    const struct onnx_options options = {0};

    return onnx_import(a, "fuzz", data, n_bytes, &options, graph, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_one(read_file, data, n_bytes);
    return 0;
}
