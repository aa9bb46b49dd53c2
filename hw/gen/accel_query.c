/* accel_query.c - names, reserved bits and members of what accel.c has read. */
#include "accel.h"

#include <string.h>

uint32_t accel_enum_index(const struct accel *acc, const char *name)
{
    uint32_t i = 0;

    while (i < acc->n_enums && strcmp(acc->enums[i].name, name) != 0)
        i++;
    return i;
}

const struct accel_constant *accel_constant(const struct accel *acc, const char *name)
{
    for (uint32_t i = 0; i < acc->n_constants; i++)
        if (strcmp(acc->constants[i].name, name) == 0)
            return &acc->constants[i];
    return NULL;
}

uint32_t accel_reserved(const struct accel_record *r, uint32_t word)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < r->n_fields; i++)
        if (r->fields[i].word == word)
            used |= (r->fields[i].bits == 32 ? UINT32_MAX : (1u << r->fields[i].bits) - 1)
                    << r->fields[i].lsb;
    return ~used;
}

const struct accel_field *accel_members(struct arena *a, const struct accel_record *r, uint32_t *n)
{
    const uint32_t end = r->n_words * 32;
    struct accel_field *m = ARENA_ARRAY(a, struct accel_field, 2 * r->n_fields + r->n_words);
    uint32_t at = r->first_word * 32, i = 0, k = 0;

    while (at < end) {
        const struct accel_field *f = i < r->n_fields ? &r->fields[i] : NULL;
        const uint32_t next = f != NULL ? f->word * 32 + f->lsb : end;

        if (at == next) {
            m[k++] = *f;
            at += f->bits;
            i++;
        } else {
            const uint32_t word_end = (at / 32 + 1) * 32;

            m[k].word = at / 32;
            m[k].lsb = at % 32;
            m[k].bits = (next < word_end ? next : word_end) - at;
            at += m[k++].bits;
        }
    }
    *n = k;
    return m;
}
