/* attr.c - values of target attributes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "registry.h"

static bool whole(const char *text, int64_t *n)
{
    char *end = NULL;

    errno = 0;
    long long v = strtoll(text, &end, 0);
    *n = v;
    return end != text && *end == '\0' && errno == 0;
}

static enum status set_int(const struct target_attr *attr, const char *option, const char *text,
                           struct target_setting *s, struct diag *d)
{
    if (whole(text, &s->number) && s->number >= attr->low && s->number <= attr->high)
        return ST_OK;
    return FAIL(d, ST_USAGE, "%s: found '%.60s', expected a whole number from %lld to %lld", option,
                text, (long long)attr->low, (long long)attr->high);
}

static enum status set_word(struct arena *a, const char *const *words, const char *option,
                            const char *text, struct target_setting *s, struct diag *d)
{
    struct text t;

    text_init(&t, a);
    for (s->number = 0; words[s->number]; s->number++) {
        if (strcmp(words[s->number], text) == 0)
            return ST_OK;
        text_printf(&t, "%s%s", t.length ? ", " : "", words[s->number]);
    }
    return FAIL(d, ST_USAGE, "%s: found '%.60s', expected one of %s", option, text, t.data);
}

const char *target_option(struct arena *a, const char *name, const char *attr)
{
    char *option = arena_printf(a, "--target-%s-%s", name, attr);

    for (char *p = option; *p; p++)
        if (*p == '_')
            *p = '-';
    return option;
}

enum status target_set(struct arena *a, const struct target_attr *attr, const char *option,
                       const char *text, struct target_setting *setting, struct diag *d)
{
    static const char *const truth[] = {"false", "true", "0", "1", "no", "yes", "off", "on", NULL};

    *setting = (struct target_setting){arena_strdup(a, text), 0};
    switch (attr->type) {
    case TARGET_INT: return set_int(attr, option, text, setting, d);
    case TARGET_CHOICE: return set_word(a, attr->choice, option, text, setting, d);
    case TARGET_BOOL:
        TRY(set_word(a, truth, option, text, setting, d));
        setting->number &= 1;
        return ST_OK;
    case TARGET_STRING:
        for (const char *p = text; *p; p++)
            if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\' || *p == '?')
                return FAIL(d, ST_USAGE,
                            "%s: expected printable ASCII without \", \\ and ?, found '%.60s'",
                            option, text);
        return ST_OK;
    }
    return ST_OK;
}
