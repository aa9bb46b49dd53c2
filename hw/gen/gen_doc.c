/* gen_doc.c - hw/REGISTERS.md. */
#include <string.h>

#include "gen.h"

/* Write a table cell, which must not contain '|' or a newline. */
static void cell(struct text *t, const char *s)
{
    for (; *s; s++)
        text_add_n(t, *s == '|' || (unsigned char)*s < 0x20 ? "/" : s, 1);
}

static void fields(struct text *t, const struct accel_field *f, uint32_t n, bool with_word)
{
    text_add(t, with_word ? "| word | bits | field | |\n|---|---|---|---|\n"
                          : "| bits | field | |\n|---|---|---|\n");
    for (uint32_t i = 0; i < n; i++) {
        if (with_word)
            text_printf(t, "| %u ", f[i].word);
        if (f[i].bits == 1)
            text_printf(t, "| %u ", f[i].lsb);
        else
            text_printf(t, "| %u:%u ", f[i].lsb + f[i].bits - 1, f[i].lsb);
        text_printf(t, "| `%s`%s | ", f[i].name, f[i].is_signed ? " (signed)" : "");
        cell(t, f[i].doc);
        if (f[i].enum_name != NULL)
            text_printf(t, " Enum `%s`.", f[i].enum_name);
        text_add(t, " |\n");
    }
    text_add(t, "\n");
}

static void registers(struct text *t, const struct accel *acc)
{
    text_add(t, "## Registers\n\n32 bits each, little-endian; `[i]`: 4 bytes from element to "
                "element.\n\n| offset | register | access | |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < acc->n_registers; i++) {
        const struct accel_register *r = &acc->registers[i];

        text_printf(t, "| 0x%03x | `%s%s", r->word * 4, r->name, r->count != 0 ? "[" : "");
        if (r->count != 0)
            text_printf(t, "%u]", r->count);
        text_printf(t, "` | %s | ", r->access);
        cell(t, r->doc);
        text_add(t, " |\n");
    }
    text_add(t, "\n");
    for (uint32_t i = 0; i < acc->n_registers; i++) {
        const struct accel_register *r = &acc->registers[i];

        if (r->n_fields == 0)
            continue;
        text_printf(t, "### `%s`\n\n", r->name);
        fields(t, r->fields, r->n_fields, false);
    }
}

static void counters(struct text *t, const struct accel *acc)
{
    text_printf(t, "## Counters\n\nElement unit * %u + kind of `counter`.\n\n", acc->counter_slots);
    text_add(t, "| unit | | kinds, from element |\n|---|---|---|\n");
    for (uint32_t i = 0; i < acc->n_units; i++) {
        const struct accel_unit *u = &acc->units[i];

        text_printf(t, "| `%s` | ", u->name);
        cell(t, u->doc);
        text_printf(t, " | %u:", i * acc->counter_slots);
        for (uint32_t k = 0; k < u->n_counters; k++)
            text_printf(t, " `%s`", u->counters[k]);
        text_add(t, " |\n");
    }
    text_add(t, "\n");
}

static void commands(struct text *t, const struct accel *acc)
{
    text_add(t, "## Command stream\n\nLittle-endian 32-bit words. ");
    text_printf(t, "%s\n\n### Header\n\n", acc->header.doc);
    fields(t, acc->header.fields, acc->header.n_fields, true);
    text_printf(t, "### Common part\n\n%s\n\n", acc->common.doc);
    fields(t, acc->common.fields, acc->common.n_fields, true);
    for (uint32_t i = 0; i < acc->n_commands; i++) {
        const struct accel_record *r = &acc->commands[i];

        text_printf(t, "### `%s`: %u bytes\n\nOpcode", r->name, r->n_words * 4);
        for (uint32_t k = 0; k < r->n_opcodes; k++)
            text_printf(t, "%s `%s` (%u)", k == 0 ? "" : " or",
                        acc->enums[acc->opcode_enum].values[r->opcodes[k]], r->opcodes[k]);
        text_printf(t, ". %s\n\n", r->doc);
        if (r->n_fields != 0)
            fields(t, r->fields, r->n_fields, true);
    }
}

static void names(struct text *t, const struct accel *acc)
{
    text_add(t, "## Enums\n\n");
    for (uint32_t i = 0; i < acc->n_enums; i++) {
        const struct accel_enum *e = &acc->enums[i];

        text_printf(t, "- `%s`: %s", e->name, e->doc);
        for (uint32_t k = 0; k < e->n_values; k++)
            text_printf(t, "%s %u `%s`", k == 0 ? "" : ",", k, e->values[k]);
        text_add(t, "\n");
    }
    text_add(t, "\n## Constants\n\n");
    for (uint32_t i = 0; i < acc->n_constants; i++)
        text_printf(t, "- `%s` = %u (0x%08x): %s\n", acc->constants[i].name,
                    acc->constants[i].value, acc->constants[i].value, acc->constants[i].doc);
    text_add(t, "\n");
}

/* Write a table with a row for each value of the enum, and the meaning of its columns. */
static void facts(struct text *t, const struct accel_facts *f)
{
    text_printf(t, "## Facts on `%s`\n\n%s\n\n| |", f->of->name, f->doc);
    for (uint32_t c = 0; c < f->n_columns; c++)
        text_printf(t, " %s |", f->columns[c].name);
    text_add(t, "\n|---|");
    for (uint32_t c = 0; c < f->n_columns; c++)
        text_add(t, "---|");
    for (uint32_t i = 0; i < f->of->n_values; i++) {
        text_printf(t, "\n| `%s` |", f->of->values[i]);
        for (uint32_t c = 0; c < f->n_columns; c++)
            text_printf(t, f->value[i * f->n_columns + c] != 0 ? " %u |" : " |",
                        f->value[i * f->n_columns + c]);
    }
    text_add(t, "\n\n");
    for (uint32_t c = 0; c < f->n_columns; c++)
        text_printf(t, "- `%s`: %s\n", f->columns[c].name, f->columns[c].doc);
    text_add(t, "\n");
}

static void timing(struct text *t, const struct accel *acc)
{
    text_add(t, "## Timing\n\nWhat the scheduler's cycle model counts with, in cycles and entries "
                "(`hd_timing.h`); \"A to B\" is B's cycle minus A's. The bench in `tests/hw` "
                "measures the number.\nThe RTL takes those marked as a parameter from here.\n\n"
                "| name | value | | module | bench | |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < acc->n_timing; i++) {
        const struct accel_timing *e = &acc->timing[i];

        text_printf(t, "| `%s` | %u | %s | `%s` | `%s` | ", e->name, e->value,
                    e->parameter ? "parameter" : "", e->module, e->bench);
        cell(t, e->doc);
        text_add(t, " |\n");
    }
    text_add(t, "\n");
}

static void configs(struct text *t, const struct accel *acc)
{
    text_add(
        t,
        "## Configurations\n\n| name | n | scratchpad | banks | ports | weights | "
        "accumulators | parameters | softmax rows | lstm | AXI bytes | address bits | read bursts "
        "| clock, MHz | hash |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < acc->n_configs; i++) {
        const struct hd_config *c = &acc->configs[i];

        text_printf(t,
                    "| `%s` | %u | %u | %u | %u | %u | %u | %u | %u | %u | %u | %u | %u | %u, %s | "
                    "0x%08x |\n",
                    c->name, c->n, c->scratchpad_bytes, c->banks, c->ports, c->weight_bytes,
                    c->acc_depth, c->param_entries, c->softmax_rows, c->lstm, c->axi_bytes,
                    c->axi_addr_bits, c->read_bursts, c->clock_mhz,
                    accel_clock_origins[c->clock_origin], c->hash);
    }
}

void gen_doc(struct text *t, const struct accel *acc)
{
    text_add(t, "# Registers, commands and timing\n\nGenerated by `hdgen` from `hw/accel.json` "
                "(`make registers`); do not edit.\n\n");
    registers(t, acc);
    counters(t, acc);
    commands(t, acc);
    names(t, acc);
    for (uint32_t i = 0; i < acc->n_facts; i++)
        facts(t, &acc->facts[i]);
    timing(t, acc);
    configs(t, acc);
}
