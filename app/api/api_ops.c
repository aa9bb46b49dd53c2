/* api_ops.c - "heddle ops": print a row per operator, then the names that files use for them. */
#include <string.h>

#include "compiler/host/host_kernel.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/import/tosa/tosa.h"
#include "context.h"

static const struct {
    uint32_t type;
    const char *name;
} type_names[] = {{TYPE_I8, "int8"},      {TYPE_U8, "uint8"},     {TYPE_I16, "int16"},
                  {1 << IR_I32, "int32"}, {1 << IR_I64, "int64"}, {TYPE_BOOL, "bool"},
                  {TYPE_F32, "float32"}};

enum { TYPE_NAMES = sizeof type_names / sizeof *type_names };

/* Return the types that an operator's first input may have. uint8 becomes int8 at the graph's
 * inputs and outputs; int16 (with int8 weights) runs on the host. */
static const char *types_of(struct arena *a, uint32_t types)
{
    const char *all = "";

    if (types == TYPES_ANY || types == TYPES_NUMBERS)
        return types == TYPES_ANY ? "any" : "any but bool";
    for (size_t i = 0; i < TYPE_NAMES; i++)
        if (types & type_names[i].type)
            all = arena_printf(a, "%s%s%s", all, *all ? ", " : "", type_names[i].name);
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
    column = 5;
    text_add(t, "\n\nTOSA:");
    for (uint32_t i = 0; (name = tosa_operator_name(i)) != NULL; i++)
        add_word(t, &column, "", name);
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

/* A table with a column for each type, then the names of each format and how many it has. */
static void markdown_of(struct text *t)
{
    const char *name, *domain;
    struct text names;
    uint32_t n = 0;

    text_add(t, "| operator |");
    for (size_t k = 0; k < TYPE_NAMES; k++)
        text_printf(t, " %s |", type_names[k].name);
    text_add(t, " systolic | host kernel | tested against |\n|---|");
    for (size_t k = 0; k < TYPE_NAMES + 3; k++)
        text_add(t, "---|");
    for (int i = 0; i < IR_OPCODES; i++) {
        const struct ir_op_info *op = ir_op_info((enum ir_opcode)i);
        const char *kernel = host_kernel((enum ir_opcode)i);

        text_printf(t, "\n| %s |", op->name);
        for (size_t k = 0; k < TYPE_NAMES; k++)
            text_add(t, op->types & type_names[k].type ? " x |" : "  |");
        text_printf(t, " %s | %s | %s |", op->unit ? op->unit : "-", kernel ? kernel : "-",
                    op->tested ? op->tested : "TFLite");
    }
    text_init(&names, t->arena);
    for (n = 0; (name = tfl_operator_name(n)) != NULL; n++)
        text_printf(&names, " %s", name);
    text_printf(t, "\n\nTFLite, %u operators:%s\n", n, names.data);
    text_init(&names, t->arena);
    for (n = 0; (name = onnx_operator_name(n, &domain)) != NULL; n++)
        text_printf(&names, " %s%s%s", domain, *domain ? "." : "", name);
    text_printf(t, "\nONNX, %u operators:%s\n", n, names.data);
    text_init(&names, t->arena);
    for (n = 0; (name = tosa_operator_name(n)) != NULL; n++)
        text_printf(&names, " %s", name);
    text_printf(t, "\nTOSA, %u operators:%s\n", n, names.data);
}

void ops_print(struct arena *a, bool markdown, struct text *t)
{
    if (markdown) {
        markdown_of(t);
        return;
    }
    rows(a, t);
    file_names(t);
}
