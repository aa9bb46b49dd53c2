/* read.c (described) - "memories", "instructions" and "order" of a target.json. The schema has checked
 * form and types; this checks names, types of memories, and that a layer can be made of it. */
#include <string.h>

#include "described.h"
#include "read.h"

struct reader {
    struct arena *a;
    struct json_doc *doc;
    struct described_device *device;
    struct diag *d;
};

static const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static const char *text(struct reader *r, const cJSON *o, const char *key)
{
    return arena_strdup(r->a, get(o, key)->valuestring);
}

static uint32_t number(const cJSON *o, const char *key, uint32_t fallback)
{
    const cJSON *n = get(o, key);

    return n ? (uint32_t)n->valuedouble : fallback;
}

static uint32_t word(const cJSON *o, const char *key, const char *const *words)
{
    const cJSON *s = get(o, key);
    uint32_t i = 0;

    while (s && words[i] && strcmp(words[i], s->valuestring) != 0)
        i++;
    return i;
}

/* --- memories --- */

static enum status memory(struct reader *r, const cJSON *o, uint32_t core_bytes)
{
    static const char *const types[] = {"int8", "int32", "channels", NULL}, *const keys[] = {
                                                                                "type", "bytes",
                                                                                "array"};
    const uint32_t i = r->device->n_memory;
    const char *path = arena_printf(r->a, "memories[%u]", i);
    struct described_memory *m = &r->device->memory[i];

    for (uint32_t k = 0; k < 3; k++) {
        const char *key = keys[k];
        if (i == 0 && k != 1 && get(o, key))
            return json_doc_fail(r->doc, arena_printf(r->a, "%s.%s", path, key), r->d,
                                 "the first memory is the core's, which holds bytes: leave it out");
        if (i > 0 && k < 2 && !get(o, key))
            return json_doc_fail(r->doc, path, r->d, "member \"%s\" is missing", key);
    }
    *m = (struct described_memory){text(r, o, "name"), (enum described_type)word(o, "type", types),
                                   number(o, "bytes", core_bytes),
                                   get(o, "array") ? text(r, o, "array") : NULL};
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(r->device->memory[k].name, m->name) == 0)
            return json_doc_fail(r->doc, path, r->d, "duplicate memory '%s'", m->name);
    if (i == 0 && m->bytes > core_bytes)
        return json_doc_fail(r->doc, arena_printf(r->a, "%s.bytes", path), r->d,
                             "expected at most core.memory_bytes, %u", core_bytes);
    r->device->n_memory++;
    return ST_OK;
}

static enum status find_memory(struct reader *r, const cJSON *o, const char *path, const char *key,
                               uint32_t *index)
{
    const char *name = text(r, o, key);

    for (*index = 0; *index < r->device->n_memory; ++*index)
        if (strcmp(r->device->memory[*index].name, name) == 0)
            return ST_OK;
    struct text list;
    text_init(&list, r->a);
    for (uint32_t i = 0; i < r->device->n_memory; i++)
        text_printf(&list, "%s%s", i ? ", " : "", r->device->memory[i].name);
    return json_doc_fail(r->doc, arena_printf(r->a, "%s.%s", path, key), r->d,
                         "no memory '%.40s'; there are: %s", name, list.data);
}

/* --- instructions --- */

static enum status check_type(struct reader *r, const char *path, const char *key, uint32_t memory,
                              enum described_type type)
{
    static const char *const words[] = {"int8", "int32", "channels"};
    const struct described_memory *m = &r->device->memory[memory];

    if (memory > 0 && m->type == type)
        return ST_OK;
    return json_doc_fail(r->doc, arena_printf(r->a, "%s.%s", path, key), r->d,
                         "expected a memory of %s on the chip, '%s' is %s%s", words[type], m->name,
                         memory ? "of " : "the first one", memory ? words[m->type] : "");
}

static enum status check_types(struct reader *r, const char *path,
                               const struct described_instruction *i)
{
    const enum described_type to = r->device->memory[i->to].type;

    switch (i->does) {
    case DESCRIBED_PRODUCT:
    case DESCRIBED_MULTIPLY:
        TRY(check_type(r, path, "from", i->from, DESCRIBED_INT8));
        TRY(check_type(r, path, "with", i->with, DESCRIBED_INT8));
        return check_type(r, path, "to", i->to, DESCRIBED_INT32);
    case DESCRIBED_REQUANTISE:
        TRY(check_type(r, path, "from", i->from, DESCRIBED_INT32));
        return check_type(r, path, "with", i->with, DESCRIBED_CHANNELS);
    case DESCRIBED_SCALE:
        TRY(check_type(r, path, "from", i->from, DESCRIBED_INT8));
        return check_type(r, path, "to", i->to, DESCRIBED_INT32);
    case DESCRIBED_LAYER:
        TRY(check_type(r, path, "from", i->from, DESCRIBED_INT8));
        TRY(check_type(r, path, "with", i->with, DESCRIBED_INT8));
        TRY(check_type(r, path, "channels", i->channels, DESCRIBED_CHANNELS));
        return i->to == 0 ? ST_OK : check_type(r, path, "to", i->to, DESCRIBED_INT8);
    case DESCRIBED_SPREAD:
        TRY(check_type(r, path, "from", i->from, DESCRIBED_INT8));
        return check_type(r, path, "to", i->to, DESCRIBED_INT8);
    default: return i->from == 0 ? ST_OK : check_type(r, path, "from", i->from, to);
    }
}

static uint32_t unit_of(struct described_device *d, const char *name)
{
    uint32_t i = 0;

    while (i < d->n_unit && strcmp(d->unit[i], name) != 0)
        i++;
    if (i == d->n_unit)
        d->unit[d->n_unit++] = name;
    return i;
}

static const char *const words[] = {"copy",   "product", "requantise", "scale",
                                    "spread", "layer",   "multiply",   NULL};

/* Check the members that depend on what it does. */
static enum status check_members(struct reader *r, const cJSON *o, const char *path,
                                 enum described_does does)
{
    static const char *const keys[] = {"with", "depth", "lanes", "channels"};

    for (uint32_t k = 0; k < 4; k++) {
        const bool wanted =
            does == DESCRIBED_LAYER || (does == DESCRIBED_PRODUCT && k < 3) ||
            ((does == DESCRIBED_REQUANTISE || does == DESCRIBED_MULTIPLY) && k == 0);
        if (wanted && !get(o, keys[k]))
            return json_doc_fail(r->doc, path, r->d, "member \"%s\" is missing", keys[k]);
        if (!wanted && get(o, keys[k]))
            return json_doc_fail(r->doc, arena_printf(r->a, "%s.%s", path, keys[k]), r->d,
                                 "a %s has none: leave it out", words[does]);
    }
    return ST_OK;
}

static enum status instruction(struct reader *r, const cJSON *o)
{
    struct described_device *d = r->device;
    const char *path = arena_printf(r->a, "instructions[%u]", d->n_instruction);
    struct described_instruction *i = &d->instruction[d->n_instruction];

    i->name = text(r, o, "name");
    i->call = text(r, o, "call");
    i->cycles = text(r, o, "cycles");
    i->does = (enum described_does)word(o, "does", words);
    i->unit = unit_of(d, text(r, o, "unit"));
    for (uint32_t k = 0; k < d->n_instruction; k++)
        if (strcmp(d->instruction[k].name, i->name) == 0)
            return json_doc_fail(r->doc, path, r->d, "duplicate instruction '%s'", i->name);
    TRY(check_members(r, o, path, i->does));
    TRY(find_memory(r, o, path, "from", &i->from));
    TRY(find_memory(r, o, path, "to", &i->to));
    if (get(o, "with"))
        TRY(find_memory(r, o, path, "with", &i->with));
    if (get(o, "channels"))
        TRY(find_memory(r, o, path, "channels", &i->channels));
    TRY(check_types(r, path, i));
    for (uint32_t f = 0; f < DESCRIBED_FIELDS; f++) {
        const cJSON *field = get(get(o, "fields"), described_fields[f]);
        i->field[f].bits = field ? number(field, "bits", 0) : 0;
        i->field[f].unit = field ? number(field, "unit", 1) : 1;
    }
    if (i->does == DESCRIBED_PRODUCT || i->does == DESCRIBED_LAYER) {
        d->depth = number(o, "depth", 1);
        d->lanes = number(o, "lanes", 1);
    }
    const char *bad = described_bad_cycles(i->cycles);
    if (bad)
        return json_doc_fail(r->doc, arena_printf(r->a, "%s.cycles", path), r->d, "%s", bad);
    d->n_instruction++;
    return ST_OK;
}

enum status described_read(struct arena *a, struct json_doc *doc, uint32_t core_bytes,
                           const struct described_device **device, struct diag *d)
{
    static const char *const keys[] = {"memories", "instructions", "order"};
    struct reader r = {a, doc, ARENA_NEW(a, struct described_device), d};
    const cJSON *root = doc->root, *o;
    const char *first = NULL;

    for (uint32_t i = 0; i < 3; i++)
        first = !first && get(root, keys[i]) ? keys[i] : first;
    *device = NULL;
    if (!first)
        return ST_OK;
    if (!core_bytes)
        return json_doc_fail(doc, first, d, "it needs a \"core\", whose memory it uses");
    for (uint32_t i = 0; i < 3; i++)
        if (!get(root, keys[i]))
            return json_doc_fail(doc, first, d, "it needs \"%s\"", keys[i]);
    if (get(root, "blocks"))
        return json_doc_fail(doc, "blocks", d,
                             "operators are made of \"instructions\": leave one "
                             "of them out");
    cJSON_ArrayForEach(o, get(root, "memories")) TRY(memory(&r, o, core_bytes));
    cJSON_ArrayForEach(o, get(root, "instructions")) TRY(instruction(&r, o));
    o = get(root, "order");
    r.device->queue = number(o, "queue", 1);
    r.device->count_bits = number(o, "count_bits", 8);
    r.device->tokens = cJSON_IsTrue(get(o, "tokens"));
    r.device->issue_cycles = number(o, "issue_cycles", 0);
    const cJSON *transfer = get(get(root, "transfer"), "per_byte");
    r.device->transfer = transfer ? transfer->valuedouble : 0;
    r.device->begin = text(&r, o, "begin");
    r.device->wait = text(&r, o, "wait");
    const char *missing = described_roles(a, r.device);
    *device = r.device;
    return missing ? json_doc_fail(doc, "instructions", d, "%s", missing) : ST_OK;
}
