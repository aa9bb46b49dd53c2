/* fuzz_gguf.c - GGUF files. */
#include "compiler/import/gguf/gguf_llama.h"
#include "fuzz.h"

static enum status read_file(struct arena *a, const uint8_t *data, size_t n_bytes,
                             struct ir_graph **graph, struct diag *d)
{
    const struct gguf_options o = {4, n_bytes % 3 == 0   ? GGUF_INT8
                                      : n_bytes % 3 == 1 ? GGUF_STATIC
                                                         : GGUF_STATIC16};
    struct onnx_options onnx = {0};

    TRY(gguf_llama(a, data, n_bytes, &o, &onnx, d));
    return onnx_import(a, "fuzz", NULL, 0, &onnx, graph, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_one(read_file, data, n_bytes);
    return 0;
}
