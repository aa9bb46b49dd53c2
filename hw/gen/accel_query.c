/* accel_query.c - names, reserved bits and members of what accel.c has read; sizes by name. */
#include "accel.h"

#include <string.h>

/* Sorted by key, since canonical JSON is printed from this table. The upper bounds come from the
 * widths of the command fields that carry the numbers, and from what the RTL can build. */
const struct accel_size accel_sizes[] = {
    {"acc_depth", offsetof(struct hd_config, acc_depth), 16, 4096},
    {"axi_addr_bits", offsetof(struct hd_config, axi_addr_bits), 32, 63},
    {"axi_bytes", offsetof(struct hd_config, axi_bytes), 4, 64},
    {"banks", offsetof(struct hd_config, banks), 8, 8},
    {"columns", offsetof(struct hd_config, columns), 2, 32},
    {"lstm", offsetof(struct hd_config, lstm), 0, 1},
    {"n", offsetof(struct hd_config, n), 4, 32},
    {"param_entries", offsetof(struct hd_config, param_entries), 2, 4096},
    {"ports", offsetof(struct hd_config, ports), 1, 4},
    {"read_bursts", offsetof(struct hd_config, read_bursts), 1, 64},
    {"rows", offsetof(struct hd_config, rows), 2, 32},
    {"scratchpad_bytes", offsetof(struct hd_config, scratchpad_bytes), 32, 16u << 20},
    {"softmax_rows", offsetof(struct hd_config, softmax_rows), 0, 1024},
    {"weight_bytes", offsetof(struct hd_config, weight_bytes), 16, 2u << 20},
    {NULL, 0, 0, 0},
};

uint32_t accel_size_of(const struct hd_config *c, const struct accel_size *s)
{
    return *(const uint32_t *)((const char *)c + s->offset);
}

bool accel_is_side(const struct accel_size *s)
{
    return s->offset == offsetof(struct hd_config, rows) ||
           s->offset == offsetof(struct hd_config, columns);
}

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
