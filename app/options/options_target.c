/* options_target.c - see options_target.h. */
#include "options_target.h"

#include <string.h>

/* Add a row for each attribute of `desc`, under the target's name in the run. */
static void add_rows(struct target_options *t, const char *name, const struct target_desc *desc)
{
    for (uint32_t i = 0; i < t->n_row; i++)
        if (strcmp(t->row[i].name, name) == 0)
            return;
    const struct registry_setting *old = t->row;
    t->row = ARENA_ARRAY(t->arena, struct registry_setting, t->n_row + desc->n_attr + 1);
    if (t->n_row)
        memcpy(t->row, old, t->n_row * sizeof *old);
    for (uint32_t i = 0; i < desc->n_attr; i++)
        t->row[t->n_row++] = (struct registry_setting){name, desc->attr[i].name, NULL};
}

/* Find the names that have options: "systolic:big" adds options of big. */
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

/* Return an attribute's help: "int from 1 to 16, default 4: rows at once". */
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

/* Return the values of the attribute if they can be listed. */
static const char *const *attr_words(const struct target_attr *attr)
{
    static const char *const truth[] = {"true", "false", NULL};

    return attr->type == TARGET_CHOICE ? attr->choice : attr->type == TARGET_BOOL ? truth : NULL;
}

/* Make an option for each row. */
static void show_rows(struct target_options *t)
{
    t->option = ARENA_ARRAY(t->arena, struct heddle_option, t->n_row + 1);
    for (uint32_t i = 0; i < t->n_row; i++)
        t->option[i] = (struct heddle_option){
            .name = target_option(t->arena, t->row[i].name, t->row[i].attr) + 2,
            .value = "VALUE",
            .help = attr_help(t->arena, attr_of(t, &t->row[i])),
            .group = HEDDLE_GROUP_TARGETS,
            .words = attr_words(attr_of(t, &t->row[i]))};
}

enum status target_options_find(struct target_options *t, struct diag *d)
{
    struct registry *r = t->registry;

    t->n_row = 0;
    registry_init(r, t->arena);
    for (uint32_t i = 0; i < t->n_dir; i++)
        TRY(registry_add_dir(r, t->dir[i], d));
    TRY(registry_add_environment(r, d));
    for (uint32_t i = 0; i < r->n; i++)
        if (r->entry[i].desc)
            add_rows(t, r->entry[i].desc->name, r->entry[i].desc);
    for (uint32_t i = 0; i < t->n_choice; i++)
        if (t->choice[i][0] != '{' && t->choice[i][0] != '[')
            find_names(t, t->choice[i]);
    show_rows(t);
    return ST_OK;
}

bool target_options_take(struct target_options *t, const char *name, const char *value)
{
    for (uint32_t i = 0; i < t->n_row; i++)
        if (strcmp(t->option[i].name, name) == 0) {
            t->setting[t->n_setting] = t->row[i];
            t->setting[t->n_setting++].value = value;
            return true;
        }
    return false;
}

/* Check that options are unique: --target-a-b-c may be b_c of a, or c of a_b, since options have -
 * for _. */
static enum status check_unique(const struct target_options *t, const struct registry_setting *one,
                                struct diag *d)
{
    const char *option = target_option(t->arena, one->name, one->attr);

    for (uint32_t i = 0; i < t->n_row; i++) {
        const struct registry_setting *row = &t->row[i];
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
