/* select.c - select the targets of a run, from --target and --target-NAME-ATTR. */
#include <string.h>

#include "base/json/json_doc.h"
#include "compiler/target/describe.h"
#include "compiler/target/registry.h"

struct select {
    const struct registry *r;
    struct arena *a;
    struct target_list *list;
    struct target *host;
    struct diag *d;
};

static const char *names(const struct select *s)
{
    struct text t;

    text_init(&t, s->a);
    for (uint32_t i = 0; i < s->r->n; i++)
        text_printf(&t, "%s%s", i ? ", " : "", s->r->entry[i].name);
    return t.data;
}

static enum status find(const struct select *s, const char *name, const struct target_desc **desc)
{
    const struct registry_entry *e = registry_find(s->r, name);
    const char *words[64];
    uint32_t n = 0;

    if (e && e->desc) {
        *desc = e->desc;
        return ST_OK;
    }
    if (e)
        return FAIL(s->d, ST_USAGE, "--target: '%s' cannot be used: %s", name, e->error);
    while (n < s->r->n && n < 64) {
        words[n] = s->r->entry[n].name;
        n++;
    }
    const char *near = json_doc_near(name, words, n);
    return FAIL(s->d, ST_USAGE, "--target: no target '%s'%s%s%s; there are: %s", name,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", names(s));
}

static struct target *named(const struct select *s, const char *name)
{
    if (strcmp(name, s->host->name) == 0)
        return s->host; /* always present, always last */
    for (uint32_t i = 0; i < s->list->n; i++)
        if (strcmp(s->list->target[i]->name, name) == 0)
            return (struct target *)(uintptr_t)s->list->target[i];
    return NULL;
}

/* Add a target with its attributes' defaults. */
static enum status instance(struct select *s, const struct target_desc *desc, const char *name,
                            struct target **out)
{
    struct target *t = ARENA_NEW(s->a, struct target);
    struct target_setting *setting = ARENA_ARRAY(s->a, struct target_setting, desc->n_attr + 1);

    for (uint32_t i = 0; i < desc->n_attr; i++)
        TRY(target_set(s->a, &desc->attr[i], desc->attr[i].name, desc->attr[i].fallback,
                       &setting[i], s->d));
    *t = (struct target){desc, arena_strdup(s->a, name), setting, NULL};
    *out = t;
    return ST_OK;
}

static enum status add(struct select *s, const char *kind, const char *name, struct target **out)
{
    const struct target_desc *desc;

    TRY(find(s, kind, &desc));
    *out = desc == &target_host_desc ? s->host : named(s, name);
    if (*out && (*out)->desc == desc)
        return ST_OK;
    if (*out)
        return FAIL(s->d, ST_USAGE, "--target: two targets are called '%s'", name);
    if (s->list->n == TARGET_MAX - 1)
        return FAIL(s->d, ST_USAGE, "--target: at most %d targets in addition to c",
                    TARGET_MAX - 1);
    TRY(instance(s, desc, name, out));
    s->list->target[s->list->n++] = *out;
    return ST_OK;
}

/* Convert a kind as written, such as cmsis-nn, to its name, cmsis_nn, as in options. */
static char *kind_name(struct arena *a, const char *written, size_t n)
{
    char *name = arena_strndup(a, written, n);

    for (char *p = name; *p; p++)
        if (*p == '-')
            *p = '_';
    return name;
}

static bool good_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return n > 0 && n < 33 && name[n] == '\0';
}

/* "systolic" or "systolic:big". */
static enum status add_word(struct select *s, const char *word)
{
    const char *colon = strchr(word, ':');
    const char *kind = kind_name(s->a, word, strcspn(word, ":"));
    struct target *t;

    if (*word == '\0' || strlen(word) > 66)
        return FAIL(s->d, ST_USAGE,
                    "--target: a name is missing or too long; expected a list like systolic,c");
    if (colon && !good_name(colon + 1))
        return FAIL(s->d, ST_USAGE,
                    "--target: found '%s', expected lower-case letters, digits and _ after the ':'",
                    word);
    return add(s, kind, colon ? colon + 1 : kind, &t);
}

/* Set an attribute. `option`: the option with the user's value. */
static enum status set(struct select *s, struct target *t, const char *attr, const char *option,
                       const char *value, struct diag *d)
{
    const char *words[64];
    uint32_t i = 0;

    for (; i < t->desc->n_attr && strcmp(t->desc->attr[i].name, attr) != 0; i++)
        if (i < 64)
            words[i] = t->desc->attr[i].name;
    if (i < t->desc->n_attr)
        return target_set(s->a, &t->desc->attr[i], option, value,
                          (struct target_setting *)(uintptr_t)&t->setting[i], d);
    const char *near = json_doc_near(attr, words, i < 64 ? i : 64);
    return FAIL(d, ST_USAGE, "%s has no attribute '%.40s'%s%s%s", t->name, attr,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static const char *scalar(struct select *s, const cJSON *v)
{
    if (cJSON_IsString(v))
        return v->valuestring;
    if (cJSON_IsBool(v))
        return cJSON_IsTrue(v) ? "true" : "false";
    return cJSON_IsNumber(v) ? arena_printf(s->a, "%.15g", v->valuedouble) : NULL;
}

static enum status add_object(struct select *s, const struct json_doc *doc, const cJSON *o,
                              const char *path)
{
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(o, "kind"),
                *name = cJSON_GetObjectItemCaseSensitive(o, "name"), *m;
    struct target *t;

    if (!cJSON_IsObject(o) || !cJSON_IsString(kind))
        return json_doc_fail(doc, path, s->d,
                             "expected {\"kind\": \"NAME\", \"ATTRIBUTE\": VALUE, ...}");
    if (name && (!cJSON_IsString(name) || !good_name(name->valuestring)))
        return json_doc_fail(doc, *path ? arena_printf(s->a, "%s.name", path) : "name", s->d,
                             "expected lower-case letters, digits and _");
    const char *plain = kind_name(s->a, kind->valuestring, strlen(kind->valuestring));
    TRY(add(s, plain, name ? name->valuestring : plain, &t));
    cJSON_ArrayForEach(m, o)
    {
        if (m == kind || m == name)
            continue;
        const char *value = scalar(s, m),
                   *at = arena_printf(s->a, "%s%s%.40s", path, *path ? "." : "", m->string);
        struct diag inner = {0};
        if (!value)
            return json_doc_fail(doc, at, s->d, "expected a string, a number, true or false");
        if (set(s, t, m->string, "its value", value, &inner) != ST_OK)
            return json_doc_fail(doc, at, s->d, "%s", inner.text);
    }
    return ST_OK;
}

static enum status add_json(struct select *s, const char *text)
{
    struct json_doc doc;
    const cJSON *o;
    uint32_t i = 0;
    enum status st = json_doc_parse(s->a, "--target", text, strlen(text), &doc, s->d);

    if (st == ST_OK && !cJSON_IsArray(doc.root))
        st = add_object(s, &doc, doc.root, "");
    else if (st == ST_OK)
        for (o = doc.root->child; o && st == ST_OK; o = o->next, i++)
            st = cJSON_IsString(o) ? add_word(s, o->valuestring)
                                   : add_object(s, &doc, o, arena_printf(s->a, "[%u]", i));
    json_doc_free(&doc);
    return st;
}

static enum status add_list(struct select *s, const char *text)
{
    if (*text == '{' || *text == '[')
        return add_json(s, text);
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, ",");
        TRY(add_word(s, arena_strndup(s->a, p, n)));
        p += n;
        if (*p == '\0')
            return ST_OK;
    }
}

enum status registry_select(const struct registry *r, const char *const *choice, uint32_t n_choice,
                            const struct registry_setting *setting, uint32_t n_setting,
                            struct target_list *list, struct diag *d)
{
    struct select s = {r, r->arena, list, NULL, d};

    list->n = 0;
    TRY(instance(&s, &target_host_desc, target_host_desc.name, &s.host));
    for (uint32_t i = 0; i < n_choice; i++)
        TRY(add_list(&s, choice[i]));
    for (uint32_t i = 0; i < n_setting; i++) {
        struct target *t = named(&s, setting[i].name);
        if (!t)
            return FAIL(d, ST_USAGE, "%s: %s is not selected; name it in --target",
                        target_option(s.a, setting[i].name, setting[i].attr), setting[i].name);
        TRY(set(&s, t, setting[i].attr, target_option(s.a, t->name, setting[i].attr),
                setting[i].value, d));
    }
    list->target[list->n++] = s.host;
    return processor_check(s.a, list, d);
}

const struct hd_config *target_report_clock(const struct target_list *list,
                                            const struct hd_config *hw)
{
    const struct hd_config *slowest = NULL;

    for (uint32_t i = 0; i < list->n; i++) {
        const struct hd_config *one = target_hw(list->target[i], hw);
        if (list->target[i]->desc->accelerator && (!slowest || one->clock_mhz < slowest->clock_mhz))
            slowest = one;
    }
    return slowest ? slowest : hw;
}

struct target_clock target_clock(const struct target *t, const struct target_list *list,
                                 const struct hd_config *hw)
{
    const uint32_t own = t->desc->detail ? t->desc->detail->clock_mhz : 0,
                   report = target_report_clock(list, hw)->clock_mhz;

    return own && report ? (struct target_clock){own, report} : (struct target_clock){1, 1};
}

double target_report_cycles(const struct target *t, const struct target_list *list,
                            const struct hd_config *hw, double cycles)
{
    const struct target_clock c = target_clock(t, list, hw);

    return cycles * c.report / c.own;
}
