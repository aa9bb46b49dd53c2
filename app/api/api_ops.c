/* api_ops.c - "heddle ops": print a row per operator, then the names that files use for them. */
#include <string.h>

#include "compiler/host/host_kernel.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/tflite/tflite.h"
#include "context.h"

/* Return the types that an operator's first input may have. uint8 becomes int8 at the graph's
 * inputs and outputs; int16 (with int8 weights) runs on the host. */
static const char *types_of(struct arena *a, uint32_t types)
{
    static const struct {
        uint32_t type;
        const char *name;
    } names[] = {{TYPE_I8, "int8"},      {TYPE_U8, "uint8"},     {TYPE_I16, "int16"},
                 {1 << IR_I32, "int32"}, {1 << IR_I64, "int64"}, {TYPE_BOOL, "bool"},
                 {TYPE_F32, "float32"}};
    const char *all = "";

    if (types == TYPES_ANY || types == TYPES_NUMBERS)
        return types == TYPES_ANY ? "any" : "any but bool";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (types & names[i].type)
            all = arena_printf(a, "%s%s%s", all, *all ? ", " : "", names[i].name);
    return all;
}

/* Add a word to a list, on a new line if the line would be too long. */
static void add_word(struct text *t, size_t *column, const char *domain, const char *name)
{
    size_t n = strlen(domain) + (*domain != '\0') + strlen(name);

    if (*column + 1 + n > 100) {
        text_add(t, "\n   ");
        *column = 3;
    }
    text_printf(t, " %s%s%s", domain, *domain ? "." : "", name);
    *column += 1 + n;
}

static void file_names(struct text *t)
{
    const char *name, *domain;
    size_t column = 7;

    text_add(t, "\nTFLite:");
    for (uint32_t i = 0; (name = tfl_operator_name(i)) != NULL; i++)
        add_word(t, &column, "", name);
    column = 5;
    text_add(t, "\n\nONNX:");
    for (uint32_t i = 0; (name = onnx_operator_name(i, &domain)) != NULL; i++)
        add_word(t, &column, domain, name);
    text_add(t, "\n");
}

static void rows(struct arena *a, struct text *t)
{
    text_printf(t, "%-20s %-42s %-10s %-20s %-14s %s\n", "operator", "types", "systolic",
                "host kernel", "tested against", "note");
    for (int i = 0; i < IR_OPCODES; i++) {
        const struct ir_op_info *op = ir_op_info((enum ir_opcode)i);
        const char *kernel = host_kernel((enum ir_opcode)i);
        const char *note = op->becomes_lut ? "becomes lut" : "";

        text_printf(t, "%-20s %-42s %-10s %-20s %-14s %s\n", op->name, types_of(a, op->types),
                    op->unit ? op->unit : "-", kernel ? kernel : "-",
                    op->tested ? op->tested : "TFLite", op->note ? op->note : note);
    }
}

void ops_print(struct arena *a, struct text *t)
{
    rows(a, t);
    file_names(t);
}
