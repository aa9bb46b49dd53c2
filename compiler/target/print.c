/* print.c - "heddle targets". */
#include <string.h>

#include "../schedule/geometry.h"
#include "describe.h"
#include "registry.h"

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

/* Operators by name, each once. */
static void operators(struct text *t, const struct target_desc *desc)
{
    text_add(t, "    operators:");
    for (int i = 0; i < IR_OP_COUNT; i++) {
        bool has = desc == &target_systolic_desc && geo_unit((enum ir_opcode)i);
        for (uint32_t k = 0; desc->detail && k < desc->detail->n_pattern; k++)
            has = has || desc->detail->pattern[k].opcode == (enum ir_opcode)i;
        if (has)
            text_printf(t, " %s", ir_op_info((enum ir_opcode)i)->name);
    }
    text_add(t, desc == &target_host_desc ? " all that heddle knows\n" : "\n");
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
        for (uint32_t k = 0; k < desc->n_attr; k++)
            attribute(t, &desc->attr[k]);
        operators(t, desc);
    }
}
