/* describe_read.h - shared by the files that read a target.json: describe.c, describe_operators.c,
 * describe_composites.c. */
#ifndef HEDDLE_COMPILER_TARGET_DESCRIBE_READ_H
#define HEDDLE_COMPILER_TARGET_DESCRIBE_READ_H

#include "base/json/json_doc.h"
#include "compiler/target/describe.h"

struct reader {
    struct arena *a;
    const char *dir;
    struct json_doc doc;
    struct target_desc *desc;
    struct describe *detail;
    struct diag *d;
};

static inline const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static inline const char *string(struct reader *r, const cJSON *o, const char *key,
                                 const char *fallback)
{
    const cJSON *s = get(o, key);

    return s ? arena_strdup(r->a, s->valuestring) : fallback;
}

static inline double number(const cJSON *o, const char *key)
{
    const cJSON *n = get(o, key);

    return n ? n->valuedouble : 0;
}

/* describe_read.c: read a whole number; numbers beyond a double's exact range become the largest
 * exact one. */
int64_t read_whole(const cJSON *v);
/* Return the index of a word in the schema's enum; 0 if the member is absent. */
int read_word(const cJSON *o, const char *key, const char *const *words);
/* Return "; did you mean "NAME"?" for a similar attribute of the target (only ints if requested),
 * or an empty text. */
const char *read_near_attr(struct reader *r, const char *name, bool ints);

/* describe_operators.c: read "operators"; and the members of one other than its call: "op", types,
 * limits, cost. */
enum status read_operators(struct reader *r, const cJSON *root);
enum status read_operator(struct reader *r, const cJSON *o, const char *path,
                          struct describe_pattern *p);
/* describe_composites.c: "composites". */
enum status read_composites(struct reader *r, const cJSON *root);

#endif
