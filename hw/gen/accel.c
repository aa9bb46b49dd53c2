/* accel.c - read hw/accel.json into struct accel. Every rule that the generators rely on is checked
 * here. */
#include "accel.h"

#include <string.h>

#include "base/file.h"
#include "config_read.h"
#include "facts_read.h"
#include "json.h"
#include "timing_read.h"

#define MODEL "model.csv"

enum { MAX_ACCEL_BYTES = 4 << 20, COMMON_WORDS = 4, MAX_UNITS_OF_16 = 255 };

/* The state shared by the readers below. */
struct reader {
    struct arena *a;
    struct accel *acc;
    struct accel_enum *enums; /* acc->enums, not yet const */
    struct diag *d;
    const char *where; /* file name; every message begins with it */
};

static uint32_t bits_for(uint32_t n_values)
{
    uint32_t bits = 1;

    while (bits < 32 && (1u << bits) < n_values)
        bits++;
    return bits;
}

/* Read an array of distinct names. */
static enum status read_names(struct reader *r, const cJSON *object, const char *where,
                              const char *key, const char *const **out, uint32_t *n)
{
    const cJSON *array, *item;
    const char **names;
    uint32_t i = 0;

    TRY(json_child(object, where, key, true, &array, n, r->d));
    names = ARENA_ARRAY(r->a, const char *, *n);
    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsString(item))
            return FAIL(r->d, ST_USAGE, "%s: \"%s\": expected strings only", where, key);
        TRY(json_check_identifier(item->valuestring, where, r->d));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(names[k], item->valuestring) == 0)
                return FAIL(r->d, ST_USAGE, "%s: \"%s\": duplicate '%s'", where, key, names[k]);
        names[i++] = arena_strdup(r->a, item->valuestring);
    }
    if (i == 0)
        return FAIL(r->d, ST_USAGE, "%s: \"%s\": expected at least one name", where, key);
    *out = names;
    return ST_OK;
}

static enum status read_enums(struct reader *r, const cJSON *root)
{
    const cJSON *object, *item;
    struct accel_enum *e;

    TRY(json_child(root, r->where, "enums", false, &object, &r->acc->n_enums, r->d));
    e = ARENA_ARRAY(r->a, struct accel_enum, r->acc->n_enums);
    r->acc->enums = r->enums = e;
    cJSON_ArrayForEach(item, object)
    {
        const char *where = arena_printf(r->a, "%s: enums.%.40s", r->where, item->string);

        TRY(json_check_identifier(item->string, where, r->d));
        TRY(json_only(item, where, "doc values sv_prefix", r->d));
        e->name = arena_strdup(r->a, item->string);
        TRY(json_string(r->a, item, where, "doc", &e->doc, r->d));
        TRY(json_string_or(r->a, item, where, "sv_prefix", NULL, &e->sv_prefix, r->d));
        TRY(read_names(r, item, where, "values", &e->values, &e->n_values));
        e++;
    }
    r->acc->opcode_enum = accel_enum_index(r->acc, "opcode");
    if (r->acc->opcode_enum == r->acc->n_enums)
        return FAIL(r->d, ST_USAGE, "%s: enums: expected one named 'opcode'", r->where);
    return ST_OK;
}

static enum status read_constants(struct reader *r, const cJSON *root)
{
    const cJSON *object, *item;
    struct accel_constant *c;

    TRY(json_child(root, r->where, "constants", false, &object, &r->acc->n_constants, r->d));
    c = ARENA_ARRAY(r->a, struct accel_constant, r->acc->n_constants);
    r->acc->constants = c;
    cJSON_ArrayForEach(item, object)
    {
        const char *where = arena_printf(r->a, "%s: constants.%.40s", r->where, item->string);

        TRY(json_check_identifier(item->string, where, r->d));
        TRY(json_only(item, where, "doc value", r->d));
        c->name = arena_strdup(r->a, item->string);
        TRY(json_string(r->a, item, where, "doc", &c->doc, r->d));
        TRY(json_uint(item, where, "value", 0, UINT32_MAX, &c->value, r->d));
        if (strcmp(c->name, "counter_slots") == 0)
            r->acc->counter_slots = c->value;
        c++;
    }
    return ST_OK;
}

static enum status read_field(struct reader *r, const cJSON *item, const char *where,
                              struct accel_field *f)
{
    TRY(json_only(item, where, "name bits signed enum doc", r->d));
    TRY(json_identifier(r->a, item, where, "name", &f->name, r->d));
    TRY(json_string(r->a, item, where, "doc", &f->doc, r->d));
    TRY(json_uint(item, where, "bits", 1, 32, &f->bits, r->d));
    TRY(json_bool_or(item, where, "signed", false, &f->is_signed, r->d));
    TRY(json_string_or(r->a, item, where, "enum", NULL, &f->enum_name, r->d));
    if (f->enum_name != NULL) {
        const uint32_t e = accel_enum_index(r->acc, f->enum_name);

        if (e == r->acc->n_enums)
            return FAIL(r->d, ST_USAGE, "%s: \"enum\": unknown enum '%.40s'", where, f->enum_name);
        if (bits_for(r->acc->enums[e].n_values) > f->bits)
            return FAIL(r->d, ST_USAGE, "%s: \"bits\": %u cannot hold enum '%s' of %u values",
                        where, f->bits, f->enum_name, r->acc->enums[e].n_values);
    }
    return ST_OK;
}

/* Pack the fields upward from bit 0, never across a word. Returns the words used. */
static uint32_t pack(struct accel_field *f, uint32_t n, uint32_t first_word)
{
    uint32_t word = first_word, bit = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (bit + f[i].bits > 32) {
            word++;
            bit = 0;
        }
        f[i].word = word;
        f[i].lsb = bit;
        bit += f[i].bits;
    }
    return word - first_word + (bit != 0);
}

static enum status read_fields(struct reader *r, const cJSON *object, const char *where,
                               uint32_t first_word, const struct accel_field **out, uint32_t *n,
                               uint32_t *n_words)
{
    const cJSON *array, *item;
    struct accel_field *fields;
    uint32_t i = 0;

    TRY(json_child(object, where, "fields", true, &array, n, r->d));
    fields = ARENA_ARRAY(r->a, struct accel_field, *n);
    cJSON_ArrayForEach(item, array)
    {
        TRY(read_field(r, item, arena_printf(r->a, "%s.fields[%u]", where, i), &fields[i]));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(fields[k].name, fields[i].name) == 0)
                return FAIL(r->d, ST_USAGE, "%s: duplicate field '%s'", where, fields[i].name);
        i++;
    }
    *n_words = pack(fields, *n, first_word);
    *out = fields;
    return ST_OK;
}

static enum status read_register(struct reader *r, const cJSON *item, const char *where,
                                 struct accel_register *reg)
{
    uint32_t words = 0;

    TRY(json_only(item, where, "name access doc count fields reset", r->d));
    TRY(json_identifier(r->a, item, where, "name", &reg->name, r->d));
    TRY(json_string(r->a, item, where, "doc", &reg->doc, r->d));
    TRY(json_string(r->a, item, where, "access", &reg->access, r->d));
    if (strcmp(reg->access, "ro") != 0 && strcmp(reg->access, "wo") != 0 &&
        strcmp(reg->access, "rw") != 0 && strcmp(reg->access, "w1c") != 0)
        return FAIL(r->d, ST_USAGE, "%s: \"access\": expected ro, wo, rw or w1c, found '%.20s'",
                    where, reg->access);
    TRY(json_uint_or(item, where, "count", 1, 256, 0, &reg->count, r->d));
    TRY(json_string_or(r->a, item, where, "reset", NULL, &reg->reset, r->d));
    if (reg->reset != NULL && strcmp(reg->reset, "config_hash") != 0 &&
        accel_constant(r->acc, reg->reset) == NULL)
        return FAIL(r->d, ST_USAGE,
                    "%s: \"reset\": expected config_hash or a constant, found '%.40s'", where,
                    reg->reset);
    if (cJSON_GetObjectItemCaseSensitive(item, "fields") != NULL)
        TRY(read_fields(r, item, where, 0, &reg->fields, &reg->n_fields, &words));
    if (words > 1)
        return FAIL(r->d, ST_USAGE, "%s: the fields of '%s' need more than 32 bits", where,
                    reg->name);
    return ST_OK;
}

static enum status read_registers(struct reader *r, const cJSON *root)
{
    const cJSON *array, *item;
    struct accel_register *regs;
    uint32_t i = 0, word = 0;

    TRY(json_child(root, r->where, "registers", true, &array, &r->acc->n_registers, r->d));
    regs = ARENA_ARRAY(r->a, struct accel_register, r->acc->n_registers);
    r->acc->registers = regs;
    cJSON_ArrayForEach(item, array)
    {
        const char *where = arena_printf(r->a, "%s: registers[%u]", r->where, i);

        TRY(read_register(r, item, where, &regs[i]));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(regs[k].name, regs[i].name) == 0)
                return FAIL(r->d, ST_USAGE, "%s: duplicate register '%s'", where, regs[i].name);
        regs[i].word = word;
        word += regs[i].count == 0 ? 1 : regs[i].count;
        i++;
    }
    r->acc->register_words = word;
    return ST_OK;
}

static enum status read_units(struct reader *r, const cJSON *root)
{
    const uint32_t unit = accel_enum_index(r->acc, "unit");
    const cJSON *array, *item;
    struct accel_unit *u;

    TRY(json_child(root, r->where, "units", true, &array, &r->acc->n_units, r->d));
    if (unit == r->acc->n_enums || r->acc->enums[unit].n_values != r->acc->n_units)
        return FAIL(r->d, ST_USAGE, "%s: units: expected one for each value of enum unit, found %u",
                    r->where, r->acc->n_units);
    u = ARENA_ARRAY(r->a, struct accel_unit, r->acc->n_units);
    r->acc->units = u;
    cJSON_ArrayForEach(item, array)
    {
        const uint32_t i = (uint32_t)(u - r->acc->units);
        const char *where = arena_printf(r->a, "%s: units[%u]", r->where, i);

        TRY(json_only(item, where, "name doc counters", r->d));
        TRY(json_identifier(r->a, item, where, "name", &u->name, r->d));
        TRY(json_string(r->a, item, where, "doc", &u->doc, r->d));
        TRY(read_names(r, item, where, "counters", &u->counters, &u->n_counters));
        if (strcmp(u->name, r->acc->enums[unit].values[i]) != 0)
            return FAIL(r->d, ST_USAGE, "%s: expected '%s', the order of enum unit, found '%s'",
                        where, r->acc->enums[unit].values[i], u->name);
        if (u->n_counters > r->acc->counter_slots)
            return FAIL(r->d, ST_USAGE, "%s: %u counters, expected at most counter_slots, %u",
                        where, u->n_counters, r->acc->counter_slots);
        u++;
    }
    return ST_OK;
}

/* Read the header and the common part: fixed sizes that the RTL's fetch unit and the driver rely
 * on. */
static enum status read_fixed(struct reader *r, const cJSON *root, const char *key,
                              uint32_t n_words, struct accel_record *out)
{
    const char *where = arena_printf(r->a, "%s: %s", r->where, key);
    const cJSON *object;
    uint32_t count;

    TRY(json_child(root, r->where, key, false, &object, &count, r->d));
    TRY(json_only(object, where, "doc fields", r->d));
    out->name = key;
    TRY(json_string(r->a, object, where, "doc", &out->doc, r->d));
    TRY(read_fields(r, object, where, 0, &out->fields, &out->n_fields, &out->n_words));
    out->n_words = (out->n_words + 3) & ~3u;
    if (out->n_words != n_words)
        return FAIL(r->d, ST_USAGE, "%s: expected %u words, found %u", where, n_words,
                    out->n_words);
    return ST_OK;
}

static enum status add_opcode(struct reader *r, const cJSON *item, const char *where,
                              struct accel_record *c)
{
    const struct accel_enum *e = &r->acc->enums[r->acc->opcode_enum];

    if (!cJSON_IsString(item) || c->n_opcodes == 4)
        return FAIL(r->d, ST_USAGE, "%s: \"opcode\": expected one to four names of enum opcode",
                    where);
    for (uint32_t i = 0; i < e->n_values; i++) {
        if (strcmp(e->values[i], item->valuestring) == 0) {
            c->opcodes[c->n_opcodes++] = i;
            return ST_OK;
        }
    }
    return FAIL(r->d, ST_USAGE, "%s: \"opcode\": '%.40s' is not in enum opcode", where,
                item->valuestring);
}

static enum status read_command(struct reader *r, const cJSON *item, const char *where,
                                struct accel_record *c)
{
    const cJSON *opcode, *name;

    TRY(json_only(item, where, "name opcode doc fields", r->d));
    TRY(json_identifier(r->a, item, where, "name", &c->name, r->d));
    TRY(json_string(r->a, item, where, "doc", &c->doc, r->d));
    opcode = cJSON_GetObjectItemCaseSensitive(item, "opcode");
    if (cJSON_IsArray(opcode)) {
        cJSON_ArrayForEach(name, opcode) TRY(add_opcode(r, name, where, c));
    } else {
        TRY(add_opcode(r, opcode, where, c));
    }
    c->first_word = COMMON_WORDS;
    TRY(read_fields(r, item, where, COMMON_WORDS, &c->fields, &c->n_fields, &c->n_words));
    c->n_words = (COMMON_WORDS + c->n_words + 3) & ~3u;
    if (c->n_words / 4 > MAX_UNITS_OF_16)
        return FAIL(r->d, ST_USAGE, "%s: %u bytes exceed the length field", where, c->n_words * 4);
    for (uint32_t i = 0; i < c->n_fields; i++)
        for (uint32_t k = 0; k < r->acc->common.n_fields; k++)
            if (strcmp(c->fields[i].name, r->acc->common.fields[k].name) == 0)
                return FAIL(r->d, ST_USAGE, "%s: field '%s' is in the common part already", where,
                            c->fields[i].name);
    return ST_OK;
}

static enum status read_commands(struct reader *r, const cJSON *root)
{
    const cJSON *array, *item;
    struct accel_record *c;
    bool taken[256] = {false};

    TRY(json_child(root, r->where, "commands", true, &array, &r->acc->n_commands, r->d));
    c = ARENA_ARRAY(r->a, struct accel_record, r->acc->n_commands);
    r->acc->commands = c;
    cJSON_ArrayForEach(item, array)
    {
        const char *where =
            arena_printf(r->a, "%s: commands[%u]", r->where, (uint32_t)(c - r->acc->commands));

        TRY(read_command(r, item, where, c));
        for (uint32_t i = 0; i < c->n_opcodes; i++) {
            if (c->opcodes[i] > 255 || taken[c->opcodes[i]])
                return FAIL(r->d, ST_USAGE, "%s: opcode %u belongs to two commands", where,
                            c->opcodes[i]);
            taken[c->opcodes[i]] = true;
        }
        c++;
    }
    return ST_OK;
}

/* Set the width of each enum to that of the command fields that carry it, so that RTL compares them
 * without a cast (Icarus 11 and yosys 0.23 have none). */
static enum status size_enums(struct reader *r)
{
    struct accel_enum *enums = r->enums;
    const uint32_t n = r->acc->n_commands;

    for (uint32_t c = 0; c <= n; c++) {
        const struct accel_record *rec = c < n ? &r->acc->commands[c] : &r->acc->common;

        for (uint32_t i = 0; i < rec->n_fields; i++) {
            const struct accel_field *f = &rec->fields[i];
            struct accel_enum *e;

            if (f->enum_name == NULL)
                continue;
            e = &enums[accel_enum_index(r->acc, f->enum_name)];
            if (e->bits != 0 && e->bits != f->bits)
                return FAIL(r->d, ST_USAGE, "%s: fields of %u and %u bits carry enum '%s'",
                            r->where, e->bits, f->bits, e->name);
            e->bits = f->bits;
        }
    }
    for (uint32_t i = 0; i < r->acc->n_enums; i++)
        if (enums[i].bits == 0)
            enums[i].bits = bits_for(enums[i].n_values);
    return ST_OK;
}

static void add_part(struct text *t, const cJSON *root, const char *key)
{
    text_printf(t, "\"%s\":", key);
    json_canonical(t, cJSON_GetObjectItemCaseSensitive(root, key));
}

/* Prepare CONFIG_HASH, which is over one object with sorted keys; "configuration" is in the
 * middle. */
static void prepare_hash(struct reader *r, const cJSON *root)
{
    static const char *const after[] = {"constants", "enums", "header", "registers"};
    struct text t;

    text_init(&t, r->a);
    text_add(&t, "{");
    add_part(&t, root, "commands");
    text_add(&t, ",");
    add_part(&t, root, "common");
    text_add(&t, ",\"configuration\":");
    r->acc->hash_before = t.data;

    text_init(&t, r->a);
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) {
        text_add(&t, ",");
        add_part(&t, root, after[i]);
    }
    text_add(&t, "}");
    r->acc->hash_after = t.data;
}

static enum status read_configs(struct reader *r, const cJSON *root)
{
    const cJSON *array, *item;
    struct hd_config *configs;
    uint32_t i = 0;

    TRY(json_child(root, r->where, "configurations", true, &array, &r->acc->n_configs, r->d));
    configs = ARENA_ARRAY(r->a, struct hd_config, r->acc->n_configs);
    r->acc->configs = configs;
    cJSON_ArrayForEach(item, array)
    {
        const char *where = arena_printf(r->a, "%s: configurations[%u]", r->where, i);

        TRY(config_read(r->acc, item, where, &configs[i], r->d));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(configs[k].name, configs[i].name) == 0)
                return FAIL(r->d, ST_USAGE, "%s: duplicate '%s'", where, configs[i].name);
        i++;
    }
    return ST_OK;
}

static enum status read_root(struct reader *r, const cJSON *root)
{
    TRY(json_only(root, r->where,
                  "name version doc enums facts constants registers units header common commands "
                  "timing configurations",
                  r->d));
    TRY(json_identifier(r->a, root, r->where, "name", &r->acc->name, r->d));
    TRY(json_uint(root, r->where, "version", 1, 65535, &r->acc->version, r->d));
    TRY(read_enums(r, root));
    TRY(read_constants(r, root));
    TRY(read_registers(r, root));
    TRY(read_units(r, root));
    TRY(read_fixed(r, root, "header", 8, &r->acc->header));
    TRY(read_fixed(r, root, "common", COMMON_WORDS, &r->acc->common));
    TRY(read_commands(r, root));
    TRY(size_enums(r));
    TRY(facts_read(r->a, r->acc, root, r->where, r->d));
    TRY(timing_read(r->a, r->acc, root, r->where, r->d));
    prepare_hash(r, root);
    return read_configs(r, root);
}

/* Return the length of a path's folder, with the '/'. */
static size_t folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash + 1 - path) : 0;
}

enum status accel_parse(struct arena *a, const char *text, size_t n, const char *where,
                        const char *model, const struct accel **out, struct diag *d)
{
    struct reader r = {.a = a, .acc = ARENA_NEW(a, struct accel), .d = d, .where = where};
    cJSON *root;
    enum status st;

    r.acc->model = model;
    r.acc->model_path = arena_printf(a, "%.*s%s", (int)folder_bytes(where), where, MODEL);
    TRY(json_parse(a, text, n, where, &root, d));
    st = read_root(&r, root);
    cJSON_Delete(root);
    *out = r.acc;
    return st;
}

enum status accel_load(struct arena *a, const char *path, const struct accel **out, struct diag *d)
{
    const char *beside = arena_printf(a, "%.*s%s", (int)folder_bytes(path), path, MODEL);
    uint8_t *data, *model = NULL;
    size_t n_bytes, n_model;

    TRY(file_read(a, path, MAX_ACCEL_BYTES, &data, &n_bytes, d));
    if (file_exists(beside))
        TRY(file_read(a, beside, MAX_ACCEL_BYTES, &model, &n_model, d));
    return accel_parse(a, (const char *)data, n_bytes, path, (const char *)model, out, d);
}
