/* json_schema.c - the part of JSON Schema that json_doc.h lists. The schema is heddle's file and is
 * trusted; the document is not. */
#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "json_doc.h"

struct check {
    const struct json_doc *doc;
    const cJSON *root; /* of the schema */
    struct diag *d;
};

static const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

/* Follow $ref. */
static const cJSON *resolve(const struct check *c, const cJSON *schema)
{
    static const char prefix[] = "#/$defs/";
    const cJSON *ref = get(schema, "$ref");

    if (!cJSON_IsString(ref) || strncmp(ref->valuestring, prefix, sizeof prefix - 1) != 0)
        return schema;
    return get(get(c->root, "$defs"), ref->valuestring + sizeof prefix - 1);
}

static const char *kind(const cJSON *v)
{
    if (cJSON_IsString(v))
        return "string";
    if (cJSON_IsNumber(v))
        return floor(v->valuedouble) == v->valuedouble ? "integer" : "number";
    if (cJSON_IsBool(v))
        return "boolean";
    if (cJSON_IsArray(v))
        return "array";
    return cJSON_IsObject(v) ? "object" : "null";
}

/* Return a value as text: a string with quotes, a number, or the kind of the value. */
static const char *shown(const struct check *c, const cJSON *v)
{
    if (cJSON_IsString(v))
        return arena_printf(c->doc->arena, "\"%.40s\"", v->valuestring);
    if (cJSON_IsNumber(v))
        return arena_printf(c->doc->arena, "%.9g", v->valuedouble);
    if (cJSON_IsBool(v))
        return cJSON_IsTrue(v) ? "true" : "false";
    return kind(v);
}

static bool kind_is(const cJSON *v, const char *want)
{
    const char *is = kind(v);

    return strcmp(is, want) == 0 || (strcmp(want, "number") == 0 && strcmp(is, "integer") == 0);
}

static enum status check_type(const struct check *c, const cJSON *s, const cJSON *v,
                              const char *path)
{
    const cJSON *type = get(s, "type"), *one;
    struct text t;

    if (!type || (cJSON_IsString(type) && kind_is(v, type->valuestring)))
        return ST_OK;
    cJSON_ArrayForEach(one, type) if (kind_is(v, one->valuestring)) return ST_OK;
    text_init(&t, c->doc->arena);
    text_add(&t, cJSON_IsString(type) ? type->valuestring : "");
    cJSON_ArrayForEach(one, type) text_printf(&t, "%s%s", t.length ? " or " : "", one->valuestring);
    return json_doc_fail(c->doc, path, c->d, "expected %s, found %s", t.data, shown(c, v));
}

static enum status check_words(const struct check *c, const cJSON *s, const cJSON *v,
                               const char *path)
{
    const cJSON *same = get(s, "const"), *one;
    struct text t;

    if (same && !cJSON_Compare(same, v, 1))
        return json_doc_fail(c->doc, path, c->d, "expected %s, found %s", shown(c, same),
                             shown(c, v));
    if (!get(s, "enum"))
        return ST_OK;
    text_init(&t, c->doc->arena);
    cJSON_ArrayForEach(one, get(s, "enum"))
    {
        if (cJSON_Compare(one, v, 1))
            return ST_OK;
        text_printf(&t, "%s%s", t.length ? ", " : "", shown(c, one));
    }
    return json_doc_fail(c->doc, path, c->d, "expected one of %s, found %s", t.data, shown(c, v));
}

static bool limit(const cJSON *s, const char *key, double *n)
{
    const cJSON *l = get(s, key);

    *n = l ? l->valuedouble : 0;
    return l != NULL;
}

static enum status check_size(const struct check *c, const cJSON *s, const cJSON *v,
                              const char *path)
{
    static const char *const keys[3][2] = {
        {"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}};
    static const char *const what[3] = {"a number", "a length", "a number of elements"};
    unsigned k = cJSON_IsNumber(v) ? 0 : cJSON_IsString(v) ? 1 : 2;
    double low, high, n = k == 0 ? v->valuedouble : 0;

    if (k == 2 && !cJSON_IsArray(v))
        return ST_OK;
    if (k > 0)
        n = k == 1 ? (double)strlen(v->valuestring) : cJSON_GetArraySize(v);
    if (limit(s, keys[k][0], &low) && n < low)
        return json_doc_fail(c->doc, path, c->d, "expected %s of at least %.9g, found %.9g",
                             what[k], low, n);
    if (limit(s, keys[k][1], &high) && n > high)
        return json_doc_fail(c->doc, path, c->d, "expected %s of at most %.9g, found %.9g", what[k],
                             high, n);
    return ST_OK;
}

static enum status check_pattern(const struct check *c, const cJSON *s, const cJSON *v,
                                 const char *path)
{
    const cJSON *pattern = get(s, "pattern");
    regex_t re;

    if (!pattern || !cJSON_IsString(v))
        return ST_OK;
    if (regcomp(&re, pattern->valuestring, REG_EXTENDED | REG_NOSUB) != 0)
        return FAIL(c->d, ST_INTERNAL, "the schema's pattern %s does not compile",
                    pattern->valuestring);
    bool fits = regexec(&re, v->valuestring, 0, NULL, 0) == 0;
    regfree(&re);
    return fits ? ST_OK
                : json_doc_fail(c->doc, path, c->d, "expected text like %s, found \"%.40s\"",
                                pattern->valuestring, v->valuestring);
}

static enum status check_value(const struct check *c, const cJSON *schema, const cJSON *v,
                               const char *path);

static enum status unknown(const struct check *c, const cJSON *properties, const cJSON *m,
                           const char *path)
{
    const char *words[64];
    size_t n = 0;
    struct text t;
    const cJSON *p;

    text_init(&t, c->doc->arena);
    cJSON_ArrayForEach(p, properties)
    {
        text_printf(&t, "%s%s", t.length ? ", " : "", p->string);
        if (n < 64)
            words[n++] = p->string;
    }
    const char *near = json_doc_near(m->string, words, n);
    if (near)
        return json_doc_fail(c->doc, path, c->d, "unknown member; did you mean \"%s\"?", near);
    return json_doc_fail(c->doc, path, c->d, "unknown member; expected one of %s",
                         t.length ? t.data : "none");
}

static enum status check_object(const struct check *c, const cJSON *s, const cJSON *v,
                                const char *path)
{
    const cJSON *properties = get(s, "properties"), *more = get(s, "additionalProperties"), *m;

    cJSON_ArrayForEach(m, v)
    {
        const char *at =
            arena_printf(c->doc->arena, "%s%s%.60s", path, *path ? "." : "", m->string);
        const cJSON *own = get(properties, m->string);
        if (get(v, m->string) != m)
            return json_doc_fail(c->doc, at, c->d, "duplicate member");
        if (!own && cJSON_IsObject(more))
            own = more;
        if (own)
            TRY(check_value(c, own, m, at));
        else if (cJSON_IsFalse(more))
            return unknown(c, properties, m, at);
    }
    cJSON_ArrayForEach(m, get(s, "required")) if (!get(v, m->valuestring)) return json_doc_fail(
        c->doc, path, c->d, "member \"%s\" is missing", m->valuestring);
    return ST_OK;
}

static enum status check_value(const struct check *c, const cJSON *schema, const cJSON *v,
                               const char *path)
{
    const cJSON *s = resolve(c, schema), *item;
    unsigned i = 0;

    TRY(check_words(c, s, v, path));
    TRY(check_type(c, s, v, path));
    TRY(check_size(c, s, v, path));
    TRY(check_pattern(c, s, v, path));
    if (cJSON_IsObject(v))
        return check_object(c, s, v, path);
    if (cJSON_IsArray(v) && get(s, "items"))
        cJSON_ArrayForEach(item, v) TRY(check_value(
            c, get(s, "items"), item, arena_printf(c->doc->arena, "%s[%u]", path, i++)));
    return ST_OK;
}

enum status json_doc_check(const struct json_doc *doc, const cJSON *schema, struct diag *d)
{
    const struct check c = {doc, schema, d};

    return check_value(&c, schema, doc->root, "");
}
