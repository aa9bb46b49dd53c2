/* reference.c - print docs/TARGET.md: target.json's schema, and the words of limits and calls. */
#include <string.h>

#include "base/home.h"
#include "base/json/json_doc.h"
#include "compiler/target/describe.h"
#include "compiler/target/registry.h"

static const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static const char *string(const cJSON *o, const char *key)
{
    const cJSON *s = get(o, key);

    return cJSON_IsString(s) ? s->valuestring : "";
}

static void words(struct text *t, const cJSON *array, const char *between)
{
    const cJSON *one;
    bool first = true;

    cJSON_ArrayForEach(one, array)
    {
        text_printf(t, "%s%s", first ? "" : between, one->valuestring);
        first = false;
    }
}

/* Print a type: "one of none, both", "list of operator", "name", "integer or string". */
static void type(struct text *t, const cJSON *s)
{
    const cJSON *kind = get(s, "type"), *ref = get(s, "$ref");

    if (ref)
        text_add(t, strrchr(ref->valuestring, '/') + 1);
    else if (get(s, "enum"))
        words(t, get(s, "enum"), ", ");
    else if (get(s, "const"))
        text_printf(t, "%.0f", get(s, "const")->valuedouble);
    else if (cJSON_IsString(kind) && strcmp(kind->valuestring, "array") == 0) {
        text_add(t, "list of ");
        type(t, get(s, "items"));
    } else if (cJSON_IsString(kind) && strcmp(kind->valuestring, "object") == 0 &&
               cJSON_IsObject(get(s, "additionalProperties"))) {
        text_add(t, "object of ");
        type(t, get(s, "additionalProperties"));
    } else if (cJSON_IsString(kind))
        text_add(t, kind->valuestring);
    else
        words(t, kind, " or ");
}

static bool required(const cJSON *object, const char *name)
{
    const cJSON *one;

    cJSON_ArrayForEach(one, get(object, "required")) if (strcmp(one->valuestring, name) ==
                                                         0) return true;
    return false;
}

static void members(struct text *t, const cJSON *object)
{
    const cJSON *m;

    text_add(t, "| member | | meaning |\n|---|---|---|\n");
    cJSON_ArrayForEach(m, get(object, "properties"))
    {
        text_printf(t, "| `%s`%s | ", m->string, required(object, m->string) ? " *" : "");
        type(t, m);
        text_printf(t, " | %s |\n", string(m, "description"));
    }
    text_add(t, "\n");
}

static void tables(struct text *t)
{
    text_add(t, "## Values\n\nIn `where`, and as `$NAME` in calls. Those an operator does not have "
                "are 0.\n\n| name | meaning |\n|---|---|\n");
    for (uint32_t i = 0; i < TARGET_VALUE_COUNT; i++)
        text_printf(t, "| `%s` | %s |\n", target_value_name((enum target_value)i),
                    target_value_help((enum target_value)i));
    text_add(t, "\n## Pointers\n\nAs `$NAME` in calls, in addition to values and the target's own "
                "attributes.\n\n| name | what |\n|---|---|\n");
    for (uint32_t i = 0; i < POINTER_COUNT; i++)
        text_printf(t, "| `$%s` | %s |\n", describe_pointer_name((enum describe_pointer)i),
                    describe_pointer_help((enum describe_pointer)i));
}

enum status target_reference(struct arena *a, struct text *t, struct diag *d)
{
    struct json_doc doc;
    const char *home;
    const cJSON *def;

    TRY(home_find(a, &home, d));
    enum status st =
        json_doc_read(a, arena_printf(a, "%s/targets/target.schema.json", home), &doc, d);
    if (st == ST_OK) {
        text_add(t, "# target.json\n\nPrinted by `heddle targets --reference` from "
                    "`targets/target.schema.json`, which is also what heddle checks files "
                    "against. `*`: must be there.\n\n");
        members(t, doc.root);
        cJSON_ArrayForEach(def, get(doc.root, "$defs"))
        {
            text_printf(t, "## %s\n\n", def->string);
            if (get(def, "properties"))
                members(t, def);
            else
                text_printf(t, "Text like `%s`.\n\n", string(def, "pattern"));
        }
        tables(t);
    }
    json_doc_free(&doc);
    return st;
}
