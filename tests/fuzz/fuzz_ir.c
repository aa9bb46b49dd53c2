/* fuzz_ir.c - networks in the IR's text form. */
#include "compiler/import/ir_text.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_one(ir_text_import, data, n_bytes);
    return 0;
}
