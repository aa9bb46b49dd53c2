/* options_target.c - see options_target.h. */
#define _GNU_SOURCE
#include "options_target.h"

#include <stdio.h>
#include <string.h>

#include "base/json_doc.h"

#define KEY_FIRST 4096

/* The value of argv[*i] if it is --`name` VALUE or --`name`=VALUE, else NULL. */
static const char *value_of(const char *name, int argc, char **argv, int *i)
{
    const char *s = argv[*i];
    size_t n = strlen(name);
    if (strncmp(s, "--", 2) != 0 || strncmp(s + 2, name, n) != 0)
        return NULL;
    if (s[2 + n] == '=')
        return s + 3 + n;
    return s[2 + n] == '\0' && *i + 1 < argc ? argv[++*i] : NULL;
}

static enum status find_dirs(struct target_options *t, int argc, char **argv, struct diag *d)
{
    static const char *const names[] = {"target-dir", "uma-backends", "experimental-tvm-extension"};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        for (unsigned k = 0; k < 3; k++) {
            const char *dir = value_of(names[k], argc, argv, &i);
            if (dir)
                TRY(registry_add_dir(t->registry, dir, d));
        }
    return ST_OK;
}

/* A row for each attribute of `desc` under the name that it has in the run. */
static void add_rows(struct target_options *t, const char *name, const struct target_desc *desc)
{
    for (uint32_t i = 0; i < t->n_row; i++)
        if (strcmp(t->attr_row[i].name, name) == 0)
            return;
    struct registry_setting *old = t->attr_row;
    t->attr_row = ARENA_ARRAY(t->arena, struct registry_setting, t->n_row + desc->n_attr + 1);
    if (t->n_row)
        memcpy(t->attr_row, old, t->n_row * sizeof *old);
    for (uint32_t i = 0; i < desc->n_attr; i++)
        t->attr_row[t->n_row++] = (struct registry_setting){name, desc->attr[i].name, NULL};
}

/* "systolic:big" makes options of big. */
static void find_names(struct target_options *t, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        const char *word = arena_strndup(t->arena, text, n), *colon = strchr(word, ':');
        const struct registry_entry *e =
            colon
                ? registry_find(t->registry, arena_strndup(t->arena, word, (size_t)(colon - word)))
                : NULL;
        if (e && e->desc)
            add_rows(t, colon + 1, e->desc);
        text += n + (text[n] == ',');
    }
}

enum status target_options_find(struct target_options *t, struct arena *a, struct registry *r,
                                int argc, char **argv, struct diag *d)
{
    *t = (struct target_options){.arena = a, .registry = r};
    t->choice = ARENA_ARRAY(a, const char *, (size_t)argc + 1);
    t->setting = ARENA_ARRAY(a, struct registry_setting, (size_t)argc + 1);
    registry_init(r, a);
    TRY(find_dirs(t, argc, argv, d));
    TRY(registry_add_environment(r, d));
    for (uint32_t i = 0; i < r->n; i++)
        if (r->entry[i].desc)
            add_rows(t, r->entry[i].desc->name, r->entry[i].desc);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *text = value_of("target", argc, argv, &i);
        if (text && *text != '{' && *text != '[')
            find_names(t, text);
    }
    return ST_OK;
}

/* "int from 1 to 16, default 4: rows at once". */
static const char *attr_help(struct arena *a, const struct target_attr *attr)
{
    struct text t;
    text_init(&t, a);
    if (attr->type == TARGET_INT && (attr->low > INT32_MIN || attr->high < INT32_MAX))
        text_printf(&t, "%lld to %lld", (long long)attr->low, (long long)attr->high);
    else if (attr->type == TARGET_INT)
        text_add(&t, "a whole number");
    else if (attr->type == TARGET_BOOL)
        text_add(&t, "true or false");
    else if (attr->type == TARGET_STRING)
        text_add(&t, "text");
    for (uint32_t i = 0; attr->type == TARGET_CHOICE && attr->choice[i]; i++)
        text_printf(&t, "%s%s", i ? ", " : "", attr->choice[i]);
    text_printf(&t, " (default %s): %s", *attr->fallback ? attr->fallback : "empty", attr->help);
    return t.data;
}

static const struct target_attr *attr_of(const struct target_options *t,
                                         const struct registry_setting *row)
{
    for (uint32_t i = 0; i < t->registry->n; i++) {
        const struct target_desc *desc = t->registry->entry[i].desc;
        for (uint32_t k = 0; desc && k < desc->n_attr; k++)
            if (desc->attr[k].name == row->attr)
                return &desc->attr[k];
    }
    return NULL;
}

const struct argp_option *target_options_table(struct target_options *t,
                                               const struct argp_option *table)
{
    uint32_t n = 0, k = 0;
    while (table[n].name)
        n++;
    struct argp_option *all = ARENA_ARRAY(t->arena, struct argp_option, n + t->n_row + 2);
    memcpy(all, table, n * sizeof *table);
    k = n;
    if (t->n_row)
        all[k++] = (struct argp_option){.doc = "Attributes of targets:", .group = 9};
    for (uint32_t i = 0; i < t->n_row; i++)
        all[k++] = (struct argp_option){
            .name = target_option(t->arena, t->attr_row[i].name, t->attr_row[i].attr) + 2,
            .key = KEY_FIRST + (int)i,
            .arg = "VALUE",
            .doc = attr_help(t->arena, attr_of(t, &t->attr_row[i])),
            .group = 9};
    return all;
}

void target_options_choose(struct target_options *t, const char *text)
{
    t->choice[t->n_choice++] = text;
}

bool target_options_take(struct target_options *t, int key, const char *value)
{
    if (key < KEY_FIRST || key >= KEY_FIRST + (int)t->n_row)
        return false;
    t->setting[t->n_setting] = t->attr_row[key - KEY_FIRST];
    t->setting[t->n_setting++].value = value;
    return true;
}

/* --target-a-b-c is b_c of a, or c of a_b: names have _ where options have -. */
static enum status check_unique(const struct target_options *t, const struct registry_setting *one,
                                struct diag *d)
{
    const char *option = target_option(t->arena, one->name, one->attr);
    for (uint32_t i = 0; i < t->n_row; i++) {
        const struct registry_setting *row = &t->attr_row[i];
        if (strcmp(row->name, one->name) != 0 &&
            strcmp(target_option(t->arena, row->name, row->attr), option) == 0)
            return FAIL(d, ST_USAGE,
                        "%s: '%s' of %s, or '%s' of %s? Name an instance: --target=%s:NAME", option,
                        one->attr, one->name, row->attr, row->name, one->name);
    }
    return ST_OK;
}

enum status target_options_select(struct target_options *t, struct target_list *list,
                                  struct diag *d)
{
    static const char *const usual[] = {"systolic,c"};
    for (uint32_t i = 0; i < t->n_setting; i++)
        TRY(check_unique(t, &t->setting[i], d));
    if (t->n_choice)
        return registry_select(t->registry, t->choice, t->n_choice, t->setting, t->n_setting, list,
                               d);
    return registry_select(t->registry, usual, 1, t->setting, t->n_setting, list, d);
}

/* --- what argp refused --- */

/* The row that argp takes for --`name`: the exact one, or the only one that begins so. */
static const struct argp_option *row_of(const struct argp_option *table, const char *name, size_t n)
{
    const struct argp_option *found = NULL;
    uint32_t many = 0;
    for (const struct argp_option *o = table; o->name || o->doc; o++) {
        if (!o->name || strncmp(o->name, name, n) != 0)
            continue;
        if (o->name[n] == '\0')
            return o;
        many++;
        found = o;
    }
    return many == 1 ? found : NULL;
}

static enum status unknown_long(const struct argp_option *table, const char *name, size_t n,
                                struct diag *d)
{
    char word[64];
    const char *words[256];
    uint32_t k = 0;
    snprintf(word, sizeof word, "%.*s", (int)n, name);
    for (const struct argp_option *o = table; (o->name || o->doc) && k < 256; o++)
        if (o->name && !(o->flags & OPTION_HIDDEN))
            words[k++] = o->name;
    const char *near = json_doc_near(word, words, k);
    return FAIL(d, ST_USAGE, "unknown option '--%s'; %s%s%s", word,
                near ? "did you mean --" : "heddle --help lists them", near ? near : "",
                near ? "?" : "");
}

enum status target_options_unknown(const struct argp_option *table, int argc, char **argv,
                                   struct diag *d)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *s = argv[i];
        if (s[0] != '-' || s[1] != '-')
            continue;
        size_t n = strcspn(s + 2, "=");
        const struct argp_option *o = row_of(table, s + 2, n);
        if (!o)
            return unknown_long(table, s + 2, n, d);
        if (s[2 + n] == '=')
            continue;
        if (o->arg && ++i == argc)
            return FAIL(d, ST_USAGE, "--%s: expected a value behind it", o->name);
    }
    return FAIL(d, ST_USAGE, "unknown option or missing value; heddle --help lists them");
}
