/* emit_constants.c - region 1 and the host kernels' constants, one after the other: a C array, or
 * constants.bin with an assembler file that includes it. */

#include "emit.h"

void emit_constants_array(struct text *t, const struct text *bytes)
{
    text_add(t, "/* constants.c - weights, parameters and tables, emitted by heddle. */\n#include "
                "\"model.h\"\n\n"
                "_Alignas(64) const uint8_t model_constants[MODEL_ALL_CONSTANT_BYTES] = {");
    for (size_t i = 0; i < bytes->length; i++)
        text_printf(t, "%s%u,", i % 24 == 0 ? "\n    " : "", (uint8_t)bytes->data[i]);
    text_add(t, "\n};\n");
}

void emit_constants(struct emit_unit *u)
{
    struct text *bytes = &u->program->constants;

    if (bytes->length == 0)
        text_add_n(bytes, "", 1); /* C has no empty arrays */
    if (bytes->length <= EMIT_INLINE_CONSTANTS) {
        emit_constants_array(emit_new_file(u, "constants.c"), bytes);
        return;
    }
    *emit_new_file(u, "constants.bin") = *bytes; /* not copied: they may be most of the network */
    text_add(emit_new_file(u, "constants.S"),
             "    .section .rodata\n    .balign 64\n    .global model_constants\n"
             "model_constants: .incbin \"constants.bin\"\n    .section "
             ".note.GNU-stack,\"\",%progbits\n");
}
