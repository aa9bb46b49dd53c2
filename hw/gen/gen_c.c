/* gen_c.c - write hd_accel.h, the hardware facts for driver, emitted code, functional model and
 * benches; and hd_timing.h, its cycles and fields for compiler and benches. C11, freestanding, and
 * readable by C++. */
#include <ctype.h>
#include <string.h>

#include "gen.h"

const char *gen_upper(struct text *t, const char *name)
{
    char *s = arena_strdup(t->arena, name);

    for (char *p = s; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return s;
}

const char *gen_camel(struct text *t, const char *name)
{
    char *s = arena_strdup(t->arena, name), *to = s;
    bool start = true;

    for (const char *p = s; *p; p++) {
        if (*p == '_') {
            start = true;
            continue;
        }
        *to++ = start ? (char)toupper((unsigned char)*p) : *p;
        start = false;
    }
    *to = '\0';
    return s;
}

const char *gen_member_name(struct text *t, const struct accel_field *f)
{
    return f->name != NULL ? f->name : arena_printf(t->arena, "pad_w%u", f->word);
}

static void comment(struct text *t, const char *doc)
{
    text_add(t, "/* ");
    text_add_escaped(t, doc, 2000);
    text_add(t, " */\n");
}

static void enums(struct text *t, const struct accel *acc)
{
    for (uint32_t i = 0; i < acc->n_enums; i++) {
        const struct accel_enum *e = &acc->enums[i];
        const char *prefix = gen_upper(t, e->name);

        comment(t, e->doc);
        text_printf(t, "enum hd_%s {\n", e->name);
        for (uint32_t k = 0; k < e->n_values; k++)
            text_printf(t, "    HD_%s_%s = %u,\n", prefix, gen_upper(t, e->values[k]), k);
        text_printf(t, "};\n#define HD_%s_COUNT %u\n\n", prefix, e->n_values);
    }
}

static void constants(struct text *t, const struct accel *acc)
{
    for (uint32_t i = 0; i < acc->n_constants; i++) {
        const struct accel_constant *c = &acc->constants[i];

        text_printf(t, "#define HD_%s %uu ", gen_upper(t, c->name), c->value);
        comment(t, c->doc);
    }
    text_add(t, "\n");
}

static void register_offsets(struct text *t, const struct accel *acc)
{
    text_add(t, "/* Registers: byte offsets. (i) gives element i of an array. */\n");
    for (uint32_t i = 0; i < acc->n_registers; i++) {
        const struct accel_register *r = &acc->registers[i];
        const char *name = gen_upper(t, r->name);

        if (r->count == 0) {
            text_printf(t, "#define HD_REG_%s 0x%03xu ", name, r->word * 4);
        } else {
            text_printf(t, "#define HD_REG_%s_COUNT %uu\n", name, r->count);
            text_printf(t, "#define HD_REG_%s(i) (0x%03xu + 4u * (uint32_t)(i)) ", name,
                        r->word * 4);
        }
        comment(t, r->doc);
    }
    text_printf(t, "#define HD_REG_BYTES 0x%03xu /* all of them */\n\n", acc->register_words * 4);
}

static uint32_t mask_of(const struct accel_field *f)
{
    const uint32_t ones = f->bits == 32 ? UINT32_MAX : (1u << f->bits) - 1;

    return ones << f->lsb;
}

static void register_fields(struct text *t, const struct accel *acc)
{
    text_add(t, "/* Register fields: lowest bit, and mask in place. */\n");
    for (uint32_t i = 0; i < acc->n_registers; i++) {
        const struct accel_register *r = &acc->registers[i];

        for (uint32_t k = 0; k < r->n_fields; k++) {
            const struct accel_field *f = &r->fields[k];
            const char *reg = gen_upper(t, r->name), *name = gen_upper(t, f->name);

            text_printf(t, "#define HD_%s_%s_LSB %uu\n", reg, name, f->lsb);
            text_printf(t, "#define HD_%s_%s_MASK 0x%08xu ", reg, name, mask_of(f));
            comment(t, f->doc);
        }
    }
    text_add(t, "\n");
}

static void counters(struct text *t, const struct accel *acc)
{
    text_add(t, "/* Slots of the register array `counter`: unit * HD_COUNTER_SLOTS + kind. */\n"
                "enum hd_counter {\n");
    for (uint32_t i = 0; i < acc->n_units; i++) {
        const struct accel_unit *u = &acc->units[i];

        for (uint32_t k = 0; k < u->n_counters; k++)
            text_printf(t, "    HD_COUNTER_%s_%s = %u,\n", gen_upper(t, u->name),
                        gen_upper(t, u->counters[k]), i * acc->counter_slots + k);
    }
    text_add(t, "};\n\n");
}

static void member(struct text *t, const struct accel_field *f)
{
    const char *type = f->is_signed ? "int32_t" : "uint32_t";
    const char *name = gen_member_name(t, f);

    if (f->bits == 32)
        text_printf(t, "    %s %s; ", type, name);
    else
        text_printf(t, "    %s %s : %u; ", type, name, f->bits);
    comment(t, f->name != NULL ? f->doc : "0.");
}

/* Write as initialisers the bits of a record's words that must be 0. */
static void reserved(struct text *t, const struct accel_record *r,
                     const struct accel_record *common, const char *name)
{
    text_printf(t, "#define HD_%s_RESERVED {", name);
    for (uint32_t word = 0; word < r->n_words; word++)
        text_printf(t, "%s0x%08xu", word != 0 ? ", " : "",
                    accel_reserved(word < r->first_word ? common : r, word));
    text_add(t, "} /* bits that must be 0, by word */\n\n");
}

/* Write one struct. Padding has names, so that a designated initialiser sets it to 0 in every kind
 * of object. */
static void record(struct text *t, const struct accel_record *r, const char *tag)
{
    const struct accel_field *m;
    uint32_t n;

    m = accel_members(t->arena, r, &n);
    comment(t, r->doc);
    text_printf(t, "struct hd_%s {\n", tag);
    if (r->first_word != 0)
        text_add(t, "    struct hd_common common;\n");
    for (uint32_t i = 0; i < n; i++)
        member(t, &m[i]);
    text_printf(t, "};\nHD_STATIC_ASSERT(sizeof(struct hd_%s) == %u, \"hd_%s\");\n", tag,
                r->n_words * 4, tag);
}

static void commands(struct text *t, const struct accel *acc)
{
    for (uint32_t i = 0; i < acc->n_commands; i++) {
        const struct accel_record *r = &acc->commands[i];
        const char *name = gen_upper(t, r->name);

        record(t, r, arena_printf(t->arena, "cmd_%s", r->name));
        text_printf(t, "#define HD_CMD_%s_BYTES %uu\n", name, r->n_words * 4);
        text_printf(t, "#define HD_CMD_%s_UNITS %uu /* its common.length */\n", name,
                    r->n_words / 4);
        reserved(t, r, &acc->common, arena_printf(t->arena, "CMD_%s", name));
    }
}

void gen_c_header(struct text *t, const struct accel *acc)
{
    text_add(
        t, "/* hd_accel.h - generated by hdgen from hw/accel.json; do not edit.\n"
           " * Registers, the command stream and its structs. C11 freestanding; C++ reads it too.\n"
           " * The structs have the layout of the stream: little-endian words, fields upward\n"
           " * from bit 0. Build them with designated initialisers; what is not named is 0. */\n"
           "#ifndef HD_ACCEL_H\n#define HD_ACCEL_H\n\n"
           "#include <stdint.h>\n\n"
           "#ifdef __cplusplus\n#define HD_STATIC_ASSERT static_assert\n#else\n"
           "#define HD_STATIC_ASSERT _Static_assert\n#endif\n\n"
           "#ifdef __BYTE_ORDER__\n"
           "HD_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, \"little-endian only\");\n"
           "#endif\n\n");
    enums(t, acc);
    constants(t, acc);
    register_offsets(t, acc);
    register_fields(t, acc);
    counters(t, acc);
    record(t, &acc->header, "header");
    text_printf(t, "#define HD_HEADER_BYTES %uu\n", acc->header.n_words * 4);
    reserved(t, &acc->header, NULL, "HEADER");
    record(t, &acc->common, "common");
    text_add(t, "\n");
    commands(t, acc);
    text_add(t, "#endif\n");
}

static void most(struct text *t, const struct accel_record *command, const struct accel_field *f)
{
    const uint32_t bits = f->bits - f->is_signed;

    if (f->bits <= 16)
        text_printf(t, "    HD_MOST_%s_%s = %u,\n", gen_upper(t, command->name),
                    gen_upper(t, f->name), (1u << bits) - 1);
}

void gen_timing(struct text *t, const struct accel *acc)
{
    text_add(t, "/* hd_timing.h - generated by hdgen from hw/accel.json; do not edit.\n"
                " * Delays of the RTL in cycles, and depths: \"A to B\" is B's cycle minus A's.\n"
                " * hw/REGISTERS.md has the module of each, and the bench that measures it. */\n"
                "#ifndef HD_TIMING_H\n#define HD_TIMING_H\n\n"
                "enum hd_timing {\n");
    for (uint32_t i = 0; i < acc->n_timing; i++) {
        text_printf(t, "    HD_TIMING_%s = %u, ", gen_upper(t, acc->timing[i].name),
                    acc->timing[i].value);
        comment(t, acc->timing[i].doc);
    }
    text_add(t, "};\n\n/* The largest value of each command field of 16 bits or fewer. */\n"
                "enum hd_most {\n");
    for (uint32_t i = 0; i < acc->n_commands; i++)
        for (uint32_t k = 0; k < acc->commands[i].n_fields; k++)
            most(t, &acc->commands[i], &acc->commands[i].fields[k]);
    text_add(t, "};\n\n#endif\n");
}
