/* energy.c - see energy.h. */
#include "energy.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json/json_doc.h"
#include "files.h"

/* "horowitz45, eyeriss65, tpu7" */
static const char *own_tables(struct arena *a)
{
    const char *names = "";

    for (const struct report_file *f = report_files; f->name; f++)
        if (text_ends(f->name, ".json") && strcmp(f->name, "schema.json") != 0)
            names = arena_printf(a, "%s%s%.*s", names, *names ? ", " : "", (int)strlen(f->name) - 5,
                                 f->name);
    return names;
}

static enum status read_table(struct arena *a, const char *name, struct json_doc *doc,
                              struct diag *d)
{
    const char *own = report_file(arena_printf(a, "%s.json", name));

    if (own)
        return json_doc_parse(a, name, own, strlen(own), doc, d);
    if (!file_exists(name))
        return FAIL(d, ST_USAGE, "--energy: found '%s', expected a file or one of %s", name,
                    own_tables(a));
    return json_doc_read(a, name, doc, d);
}

static const char *word(struct arena *a, const cJSON *o, const char *name)
{
    return arena_strdup(a, cJSON_GetObjectItemCaseSensitive(o, name)->valuestring);
}

static enum status check(struct arena *a, const struct json_doc *doc, struct diag *d)
{
    const char *text = report_file("schema.json");
    struct json_doc schema;
    enum status st = json_doc_parse(a, "schema.json", text, strlen(text), &schema, d);

    if (st == ST_OK)
        st = json_doc_check(doc, schema.root, d);
    json_doc_free(&schema);
    return st;
}

enum status energy_table(struct arena *a, const char *name, struct energy_table *t, struct diag *d)
{
    struct json_doc doc = {.arena = a};
    enum status st = read_table(a, name, &doc, d);

    if (st == ST_OK)
        st = check(a, &doc, d);
    if (st == ST_OK) {
        const cJSON *costs = cJSON_GetObjectItemCaseSensitive(doc.root, "energy");
        *t = (struct energy_table){
            word(a, doc.root, "name"), word(a, doc.root, "source"), word(a, doc.root, "unit"), {0}};
        for (uint32_t k = 0; k < ACTION_COUNT; k++)
            t->cost[k] = cJSON_GetObjectItemCaseSensitive(costs, action_names[k])->valuedouble;
    }
    json_doc_free(&doc);
    return st;
}

static double energy_of(const struct energy_table *t, const struct actions *actions)
{
    double sum = 0;

    for (uint32_t k = 0; k < ACTION_COUNT; k++)
        sum += t->cost[k] * (double)actions->n[k];
    return sum;
}

void energy_add(cJSON *o, const struct energy_table *t, const struct actions *actions)
{
    cJSON *counts = cJSON_AddObjectToObject(o, "actions");
    char text[40];

    for (uint32_t k = 0; k < ACTION_COUNT; k++) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)actions->n[k]);
        cJSON_AddRawToObject(counts, action_names[k], text);
    }
    cJSON_AddNumberToObject(o, "energy", energy_of(t, actions));
}
