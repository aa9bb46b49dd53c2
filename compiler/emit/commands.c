/* commands.c - command streams as C tables with named fields; fields that are 0 are left out. */
#include <stdio.h>
#include <string.h>

#include "driver/hd_crc.h"
#include "emit.h"
#include "hd_accel_tables.h"

/* HD_SPACE_BIAS: the C name of an enum's value. */
static void add_enum(struct text *t, const struct hd_enum_info *e, int64_t v)
{
    char name[96];
    int n = snprintf(name, sizeof name, "HD_%s_%s", e->name, e->values[v]);

    for (int i = 0; i < n && i < (int)sizeof name; i++)
        if (name[i] >= 'a' && name[i] <= 'z')
            name[i] = (char)(name[i] - 'a' + 'A');
    text_add(t, name);
}

static void add_value(struct text *t, const struct hd_field_info *f, int64_t v)
{
    if (f->values && v < f->values->n_values) {
        add_enum(t, f->values, v);
        return;
    }
    if (!f->is_signed && v > 0xffff)
        text_printf(t, "0x%llx", (unsigned long long)v);
    else if (v == INT32_MIN)
        text_add(t, "INT32_MIN");
    else
        text_printf(t, "%lld", (long long)v);
}

/* "`open`.a = 1, .b = 2": n fields, those that are not 0; returns how many it wrote. */
static uint32_t add_fields(struct text *t, const uint32_t *words, const struct hd_field_info *f,
                           uint32_t n, const char *open, const char *between)
{
    uint32_t written = 0;

    for (uint32_t i = 0; i < n; i++) {
        int64_t v = hd_field_get(words, &f[i]);
        if (v == 0)
            continue;
        text_printf(t, "%s.%s = ", written++ ? between : open, f[i].name);
        add_value(t, &f[i], v);
    }
    return written;
}

static void add_type(struct text *t, const struct sched_stream *s, uint32_t k)
{
    text_printf(t, "struct stream%u {\n    struct hd_header header;\n", k);
    for (uint32_t i = 0; i < s->n; i++)
        text_printf(t, "    struct hd_cmd_%s c%u;\n",
                    hd_command_of_opcode[s->cmd[i].w.common.opcode]->name, i);
    text_add(t, "};\n\n");
}

static void add_command(struct text *t, const struct emit_unit *u, const struct sched_command *c,
                        uint32_t index)
{
    const struct hd_command_info *info = hd_command_of_opcode[c->w.common.opcode];

    text_printf(t, "        /* %s for %s", hd_opcode_names[c->w.common.opcode],
                u->graph->row[c->row].name);
    if (c->note)
        text_printf(t, ": %s", c->note);
    if (c->cost)
        text_printf(t, "; about %llu cycles", (unsigned long long)c->cost);
    text_printf(t, " */\n        .c%u = {", index);
    add_fields(t, c->w.word, hd_common_fields, HD_COMMON_FIELDS, ".common = {", ", ");
    text_add(t, "}");
    add_fields(t, c->w.word, info->fields, info->n_fields, ",\n            ", ",\n            ");
    text_add(t, "},\n");
}

static uint32_t hash_of(const struct emit_unit *u, const struct sched_stream *s)
{
    return u->program->device[s->device].hw->hash;
}

/* Return the C name of the configuration of the unit's device. */
static const char *hash_text(const struct emit_unit *u, const struct sched_stream *s)
{
    return s->device == 0 ? "MODEL_CONFIG_HASH" : arena_printf(u->arena, "0x%08xu", hash_of(u, s));
}

/* Return true if an accelerator holds a variable of the network. */
static bool on_device(const struct emit_unit *u)
{
    for (uint32_t i = 0; i < u->graph->n_tensor; i++)
        if (u->graph->tensor[i]->role == IR_VARIABLE && u->program->place[i].in_memory)
            return true;
    return false;
}

/* Return the number of regions that commands may name, counted from 0. */
static uint32_t regions(const struct emit_unit *u)
{
    uint32_t n = sched_state_region(u->graph) + (on_device(u) ? 1u : 0u);

    for (uint32_t i = 0; i < u->graph->n_op; i++) {
        const uint32_t window = sched_window(u->graph, u->graph->op[i]);
        n = u->graph->op[i]->region != IR_NONE && window >= n ? window + 1 : n;
    }
    return n;
}

/* The header of a stream, with the CRC over all of it. */
static struct hd_header header_of(const struct emit_unit *u, const struct sched_stream *s)
{
    struct hd_header header = {.magic = HD_MAGIC,
                               .version = HD_STREAM_VERSION,
                               .config_hash = hash_of(u, s),
                               .length = s->n_bytes,
                               .region_count = regions(u),
                               .command_count = s->n};
    uint8_t *bytes = arena_alloc(u->arena, s->n_bytes), *to = bytes + sizeof header;

    memcpy(bytes, &header, sizeof header);
    for (uint32_t i = 0; i < s->n; i++) {
        const size_t n = s->cmd[i].w.common.length * (size_t)HD_COMMAND_ALIGN;
        memcpy(to, s->cmd[i].w.word, n);
        to += n;
    }
    header.crc = hd_stream_crc(bytes, s->n_bytes);
    return header;
}

static void add_stream(struct text *t, const struct emit_unit *u, uint32_t k)
{
    const struct sched_stream *s = &u->program->stream[k];
    const struct hd_header header = header_of(u, s);

    text_printf(t, "    /* Submission %u: %s to %s, about %llu cycles. */\n    .s%u = {\n", k,
                u->graph->row[s->cmd[0].row].name, u->graph->row[s->cmd[s->n - 1].row].name,
                (unsigned long long)s->est_cycles, k);
    text_printf(t,
                "        .header = {.magic = HD_MAGIC, .version = HD_STREAM_VERSION, .config_hash "
                "= %s,\n"
                "            .length = sizeof(struct stream%u), .region_count = %u, .command_count "
                "= %u, .crc = 0x%08xu},\n",
                hash_text(u, s), k, header.region_count, header.command_count, header.crc);
    for (uint32_t i = 0; i < s->n; i++)
        add_command(t, u, &s->cmd[i], i);
    text_add(t, "    },\n");
}

void emit_commands(struct emit_unit *u)
{
    const struct sched_program *p = u->program;

    if (p->n_stream == 0)
        return;
    struct text *t = emit_new_file(u, "commands.c");
    text_printf(
        t,
        "/* commands.c - what the accelerator does, emitted by heddle for configuration %s.\n"
        " * Region 0: one stream per submission, each at a multiple of %u bytes. Fields left out "
        "are 0. */\n"
        "#include \"model.h\"\n\n",
        p->hw->name, sched_stream_align(p));
    for (uint32_t k = 0; k < p->n_stream; k++)
        add_type(t, &p->stream[k], k);
    text_add(t, "struct model_commands {\n");
    for (uint32_t k = 0; k < p->n_stream; k++)
        text_printf(t, "    _Alignas(%u) struct stream%u s%u;\n", sched_stream_align(p), k, k);
    text_add(t, "};\n\n_Static_assert(sizeof(struct model_commands) == MODEL_COMMAND_BYTES, "
                "\"command table\");\n");
    for (uint32_t k = 0; k < p->n_stream; k++)
        text_printf(t, "_Static_assert(sizeof(struct stream%u) == %u, \"submission %u\");\n", k,
                    p->stream[k].n_bytes, k);
    text_add(t, "\nconst struct model_commands model_commands = {\n");
    for (uint32_t k = 0; k < p->n_stream; k++)
        add_stream(t, u, k);
    text_add(t, "};\n");
}
