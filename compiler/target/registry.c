/* registry.c - the targets heddle knows and the list a user asked for. */
#include <string.h>

#include "target.h"

static const struct target *const known[] = {&target_systolic, &target_host_c, NULL};

const struct target *const *target_all(void)
{
    return known;
}

const struct target *target_find(const char *name)
{
    for (const struct target *const *t = known; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

static bool listed(const struct target_list *list, const struct target *t)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->target[i] == t)
            return true;
    return false;
}

static enum status add(struct target_list *list, const char *name, size_t length, struct diag *d)
{
    char text[64];
    if (length == 0 || length >= sizeof text)
        return FAIL(d, ST_USAGE,
                    "--target: a name is missing or too long; expected a list like systolic,c");
    memcpy(text, name, length);
    text[length] = '\0';
    const struct target *t = target_find(text);
    if (!t)
        return FAIL(d, ST_USAGE, "--target: no target '%s'; there are: systolic, c", text);
    if (t == &target_host_c || listed(list, t))
        return ST_OK;
    list->target[list->n++] = t;
    return ST_OK;
}

enum status target_parse(const char *names, struct target_list *list, struct diag *d)
{
    list->n = 0;
    for (const char *p = names;; p++) {
        size_t length = strcspn(p, ",");
        TRY(add(list, p, length, d));
        p += length;
        if (*p == '\0')
            break;
    }
    list->target[list->n++] = &target_host_c;
    return ST_OK;
}
