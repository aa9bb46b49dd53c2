/* targets_text.c - print "heddle targets". */
#include <string.h>

#include "compiler/systolic/layout/geometry.h"
#include "compiler/target/describe.h"
#include "compiler/target/registry.h"

static void attribute(struct text *t, const struct target_attr *attr)
{
    static const char *const types[] = {"int", "bool", "choice", "string"};

    text_printf(t, "    %-18s %s", attr->name, types[attr->type]);
    if (attr->type == TARGET_INT && (attr->low > INT32_MIN || attr->high < INT32_MAX))
        text_printf(t, " %lld to %lld", (long long)attr->low, (long long)attr->high);
    for (uint32_t i = 0; attr->type == TARGET_CHOICE && attr->choice[i]; i++)
        text_printf(t, "%s%s", i ? "|" : " ", attr->choice[i]);
    text_printf(t, ", default %s: %s\n", *attr->fallback ? attr->fallback : "empty", attr->help);
}

static bool has_pattern(const struct target_desc *desc, enum ir_opcode opcode, enum ir_type dtype)
{
    for (uint32_t k = 0; desc->detail && k < desc->detail->n_pattern; k++)
        if (desc->detail->pattern[k].opcode == opcode && desc->detail->pattern[k].dtype == dtype)
            return true;
    return false;
}

/* Add a line with the operators of a type, each once, if there are any. */
static void of_type(struct text *t, const struct target_desc *desc, enum ir_type dtype)
{
    bool any = false;

    for (int i = 0; i < IR_OPCODES; i++)
        if (has_pattern(desc, (enum ir_opcode)i, dtype)) {
            if (!any)
                text_printf(t, "    of %s:", describe_dtype(dtype));
            text_printf(t, " %s", ir_op_info((enum ir_opcode)i)->name);
            any = true;
        }
    text_add(t, any ? "\n" : "");
}

/* Print operators by name, each once; those of types other than int8 on separate lines. */
static void operators(struct text *t, const struct target_desc *desc)
{
    text_add(t, "    operators:");
    for (int i = 0; i < IR_OPCODES; i++)
        if (has_pattern(desc, (enum ir_opcode)i, IR_I8) ||
            (desc == &target_systolic_desc && ir_op_info((enum ir_opcode)i)->unit))
            text_printf(t, " %s", ir_op_info((enum ir_opcode)i)->name);
    text_add(t, desc == &target_host_desc ? " all that heddle supports\n" : "\n");
    of_type(t, desc, IR_U8);
    of_type(t, desc, IR_I16);
    of_type(t, desc, IR_F32);
}

/* Print what operators without a call are made of: memories, instructions by unit. */
static void device(struct text *t, const struct described_device *d)
{
    static const char *const does[] = {"copies",  "multiplies",         "requantises", "scales",
                                       "spreads", "computes layers of", "multiplies"};

    text_add(t, "    memories:");
    for (uint32_t i = 0; i < d->n_memory; i++)
        text_printf(t, "%s %s %u bytes", i ? "," : "", d->memory[i].name, d->memory[i].bytes);
    text_add(t, "\n");
    for (uint32_t i = 0; i < d->n_instruction; i++) {
        const struct described_instruction *of = &d->instruction[i];
        const bool with = of->does == DESCRIBED_PRODUCT || of->does == DESCRIBED_REQUANTISE ||
                          of->does == DESCRIBED_LAYER;

        text_printf(t, "    %-18s unit %s, %s %s to %s%s%s: %s cycles\n", of->name,
                    d->unit[of->unit], does[of->does], d->memory[of->from].name,
                    d->memory[of->to].name, with ? " with " : "",
                    with ? d->memory[of->with].name : "", of->cycles);
    }
}

void target_print(const struct registry *r, struct text *t)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct target_desc *desc = r->entry[i].desc;
        if (!desc) {
            text_printf(t, "%-10s cannot be used: %s\n", r->entry[i].name, r->entry[i].error);
            continue;
        }
        text_printf(t, "%-10s %-7s %s\n    origin: %s\n", desc->name, desc->version, desc->help,
                    desc->origin);
        if (r->entry[i].others)
            text_printf(t, "    not used: %s\n", r->entry[i].others);
        for (uint32_t k = 0; k < desc->n_attr; k++)
            attribute(t, &desc->attr[k]);
        operators(t, desc);
        if (desc->detail && desc->detail->device)
            device(t, desc->detail->device);
    }
}
