/* options.c - see options.h. The given options are kept and applied again to the defaults whenever
 * one changes. */
#include "options.h"

#include <string.h>

#include "base/json/json_doc.h"
#include "compiler/target/describe.h"
#include "options_table.h"

/* Add a word to a list of at most TARGET_OPTIONS_MAX. */
static enum status add_word(const char *list[], uint32_t *n, const char *option, const char *word,
                            const char *expected, struct diag *d)
{
    if (*n == TARGET_OPTIONS_MAX)
        return FAIL(d, ST_USAGE, "%s: found '%s', expected %s", option, word, expected);
    list[(*n)++] = word;
    return ST_OK;
}

static enum status take(struct option_set *s, const struct option_row *row, const char *value,
                        struct diag *d)
{
    struct target_options *t = &s->targets;

    switch (row->kind) {
    case OPTION_TARGET:
        return add_word(t->choice, &t->n_choice, "--target", value, "at most 64 times", d);
    case OPTION_TARGET_DIR:
        return add_word(t->dir, &t->n_dir, "--target-dir", value, "at most 64 folders", d);
    default: return option_take(row, value, s->o, d);
    }
}

static void defaults(struct options *o)
{
    *o = (struct options){.engine = ENGINE_RTL,
                          .hw = "sys16",
                          .seed = 1,
                          .mem_latency = MEM_LATENCY,
                          .jobs = 1,
                          .trials = 64,
                          .confirm = 5,
                          .waves_limit = 200000000u,
                          .host_memory = 1,
                          .host_clock = {1, 1},
                          .max_cycles = 2000000000u};
}

/* --- one option after another ----------------------------------------------------------------- */

static enum status unknown(const struct option_set *s, const char *name, struct diag *d)
{
    const char *words[OPTIONS_MAX_GIVEN] = {"help", "usage", "version"}, *near;
    uint32_t n = 3;

    for (const struct option_row *r = options_table; r->shown.name; r++)
        if (!r->shown.hidden)
            words[n++] = r->shown.name;
    for (uint32_t i = 0; i < s->targets.n_row && n < OPTIONS_MAX_GIVEN; i++)
        words[n++] = s->targets.option[i].name;
    near = json_doc_near(name, words, n);
    return FAIL(d, ST_USAGE, "unknown option '%s%s'; %s%s%s", strlen(name) == 1 ? "-" : "--", name,
                near ? "did you mean --" : "heddle --help lists them", near ? near : "",
                near ? "?" : "");
}

/* Apply the given options to the defaults; `find`: search the targets again, since they may have
 * changed. */
static enum status apply(struct option_set *s, bool find, struct diag *d)
{
    const struct output *output = s->o->output;
    const struct registry found = s->o->targets;

    defaults(s->o);
    s->o->targets = found;
    s->targets.n_dir = s->targets.n_choice = s->targets.n_setting = 0;
    s->selected = false;
    s->o->output = output;
    for (uint32_t i = 0; i < s->n_given; i++) {
        const struct option_row *row = option_row_of(s->given[i].name);
        if (row)
            TRY(take(s, row, s->given[i].value, d));
    }
    if (find)
        TRY(target_options_find(&s->targets, d));
    for (uint32_t i = 0; i < s->n_given; i++)
        if (!option_row_of(s->given[i].name) &&
            !target_options_take(&s->targets, s->given[i].name, s->given[i].value))
            return unknown(s, s->given[i].name, d);
    s->o->partition.offload = s->o->offload;
    s->o->partition.keep = s->o->keep;
    s->o->given = s->given;
    s->o->n_given = s->n_given;
    return ST_OK;
}

enum status options_init(struct option_set *s, struct arena *a, struct options *o, struct diag *d)
{
    const struct output *output = o->output;

    *s = (struct option_set){.arena = a, .o = o};
    s->targets = (struct target_options){.arena = a, .registry = &o->targets};
    s->targets.setting = ARENA_ARRAY(a, struct registry_setting, OPTIONS_MAX_GIVEN);
    o->output = output;
    return apply(s, true, d);
}

/* Return the row's full name, also for options of targets; NULL if there is none. */
static const char *full_name(const struct option_set *s, const char *name)
{
    const struct option_row *row = option_row_of(name);

    if (row)
        return row->shown.name;
    for (uint32_t i = 0; i < s->targets.n_row; i++)
        if (strcmp(s->targets.option[i].name, name) == 0)
            return arena_strdup(s->arena, name);
    return NULL;
}

static uint32_t without(struct option_set *s, const char *name)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_given; i++)
        if (strcmp(s->given[i].name, name) != 0)
            s->given[n++] = s->given[i];
    return n;
}

static const char *bare(const char *name)
{
    while (*name == '-')
        name++;
    return name;
}

/* Keep `s->given` as it is now if it can be applied; otherwise restore it. */
static enum status keep(struct option_set *s, const struct option_set *before, bool find,
                        struct diag *d)
{
    struct diag ignored = {0};
    enum status st = apply(s, find, d);

    if (st == ST_OK)
        return ST_OK;
    memcpy(s->given, before->given, sizeof s->given);
    s->n_given = before->n_given;
    (void)apply(s, find, &ignored);
    return st;
}

enum status options_set(struct option_set *s, const char *given, const char *value, struct diag *d)
{
    const struct option_set before = *s;
    const char *name = full_name(s, bare(given));
    const struct option_row *row = name ? option_row_of(name) : NULL;

    if (!name)
        return unknown(s, bare(given), d);
    if (!value && !(row && row->kind == OPTION_FLAG))
        return FAIL(d, ST_USAGE, "--%s: expected a value", name);
    if (!row || row->kind < OPTION_FILES)
        s->n_given = without(s, name);
    if (s->n_given == OPTIONS_MAX_GIVEN)
        return FAIL(d, ST_USAGE, "--%s: more than %d options", name, OPTIONS_MAX_GIVEN);
    s->given[s->n_given++] =
        (struct option_given){name, value ? arena_strdup(s->arena, value) : NULL};
    TRY(keep(s, &before, row && row->kind >= OPTION_TARGET, d));
    if (strcmp(name, "experimental-tvm-extension") == 0)
        output_text(s->o->output, OUTPUT_NOTE,
                    "--experimental-tvm-extension may change; it is --target-dir");
    return ST_OK;
}

enum status options_unset(struct option_set *s, const char *given, struct diag *d)
{
    const struct option_set before = *s;
    const char *name = full_name(s, bare(given));

    if (!name)
        return unknown(s, bare(given), d);
    const struct option_row *row = option_row_of(name);
    s->n_given = without(s, name);
    return keep(s, &before, row && row->kind >= OPTION_TARGET, d);
}

enum status options_select(struct option_set *s, struct diag *d)
{
    if (s->selected)
        return ST_OK;
    TRY(target_options_select(&s->targets, &s->o->target, d));
    for (uint32_t i = 0; i < s->o->target.n; i++) {
        const struct target_desc *desc = s->o->target.target[i]->desc;
        const char *clash = registry_clash(s->arena, registry_find(&s->o->targets, desc->name));
        if (clash)
            output_printf(s->o->output, OUTPUT_NOTE, "note: %s", clash);
        TRY(native_load(s->arena, desc, s->o->allow_native, d));
    }
    s->selected = true;
    return ST_OK;
}

const struct heddle_option *options_list(const struct option_set *s, size_t *n)
{
    const struct option_row *end = options_table;

    while (end->shown.name)
        end++;
    const size_t own = (size_t)(end - options_table);
    struct heddle_option *all =
        ARENA_ARRAY(s->arena, struct heddle_option, own + s->targets.n_row + 1);
    for (*n = 0; *n < own; (*n)++)
        all[*n] = options_table[*n].shown;
    for (uint32_t i = 0; i < s->targets.n_row; i++)
        all[(*n)++] = s->targets.option[i];
    return all;
}

uint64_t options_still_cycles(const struct options *o)
{
    for (uint32_t i = 0; i < o->n_given; i++)
        if (strcmp(o->given[i].name, "max-cycles") == 0)
            return o->max_cycles;
    return 0;
}
