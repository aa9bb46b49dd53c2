/* describe_read.c - see describe_read.h. */
#include "describe_read.h"

#include <string.h>

int64_t read_whole(const cJSON *v)
{
    const double most = 9007199254740992.0; /* 2^53 */

    return (int64_t)(v->valuedouble > most    ? most
                     : v->valuedouble < -most ? -most
                                              : v->valuedouble);
}

int read_word(const cJSON *o, const char *key, const char *const *words)
{
    const cJSON *s = get(o, key);

    for (int i = 0; s && words[i]; i++)
        if (strcmp(words[i], s->valuestring) == 0)
            return i;
    return 0;
}

const char *read_near_attr(struct reader *r, const char *name, bool ints)
{
    const char **words = ARENA_ARRAY(r->a, const char *, r->desc->n_attr + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->desc->n_attr; i++)
        if (!ints || r->desc->attr[i].type == TARGET_INT)
            words[n++] = r->desc->attr[i].name;
    const char *near = json_doc_near(name, words, n);
    return near ? arena_printf(r->a, "; did you mean \"%s\"?", near) : "";
}
