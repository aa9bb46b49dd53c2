/* facts_read.c - see facts_read.h. Not hashed: facts describe what the names of an enum mean. */
#include "facts_read.h"

#include <string.h>

enum { MAX_ROW_BITS = 32 };

static enum status read_columns(struct arena *a, const cJSON *item, const char *where,
                                struct accel_facts *f, struct diag *d)
{
    const cJSON *array, *column;
    struct accel_field *to;
    uint32_t lsb = 0;

    TRY(json_child(item, where, "columns", true, &array, &f->n_columns, d));
    to = ARENA_ARRAY(a, struct accel_field, f->n_columns);
    f->columns = to;
    cJSON_ArrayForEach(column, array)
    {
        const uint32_t i = (uint32_t)(to - f->columns);
        const char *path = arena_printf(a, "%s.columns[%u]", where, i);

        TRY(json_only(column, path, "name bits doc", d));
        TRY(json_identifier(a, column, path, "name", &to->name, d));
        TRY(json_uint_or(column, path, "bits", 1, 8, 1, &to->bits, d));
        TRY(json_string(a, column, path, "doc", &to->doc, d));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(f->columns[k].name, to->name) == 0)
                return FAIL(d, ST_USAGE, "%s: duplicate column '%s'", where, to->name);
        to->lsb = lsb;
        lsb += to->bits;
        to++;
    }
    f->bits = lsb;
    if (lsb == 0 || lsb > MAX_ROW_BITS)
        return FAIL(d, ST_USAGE, "%s: expected columns of 1 to %u bits in all, found %u", where,
                    MAX_ROW_BITS, lsb);
    return ST_OK;
}

/* Read a row; facts that it does not name are 0. */
static enum status read_row(struct arena *a, const cJSON *rows, const char *where, const char *name,
                            const char *columns, const struct accel_facts *f, uint32_t *value,
                            struct diag *d)
{
    const char *path = arena_printf(a, "%s.%s", where, name);
    const cJSON *row;
    uint32_t n;

    TRY(json_child(rows, where, name, false, &row, &n, d));
    TRY(json_only(row, path, columns, d));
    for (uint32_t c = 0; c < f->n_columns; c++)
        TRY(json_uint_or(row, path, f->columns[c].name, 0, (1u << f->columns[c].bits) - 1, 0,
                         &value[c], d));
    return ST_OK;
}

static enum status read_rows(struct arena *a, const cJSON *item, const char *where,
                             struct accel_facts *f, struct diag *d)
{
    const char *path = arena_printf(a, "%s.rows", where);
    const cJSON *rows;
    struct text columns, values;
    uint32_t n, *value;

    text_init(&columns, a);
    text_init(&values, a);
    for (uint32_t c = 0; c < f->n_columns; c++)
        text_printf(&columns, "%s%s", c == 0 ? "" : " ", f->columns[c].name);
    for (uint32_t i = 0; i < f->of->n_values; i++)
        text_printf(&values, "%s%s", i == 0 ? "" : " ", f->of->values[i]);
    TRY(json_child(item, where, "rows", false, &rows, &n, d));
    TRY(json_only(rows, path, values.data, d));
    value = ARENA_ARRAY(a, uint32_t, f->of->n_values * f->n_columns);
    f->value = value;
    for (uint32_t i = 0; i < f->of->n_values; i++)
        TRY(read_row(a, rows, path, f->of->values[i], columns.data, f, value + i * f->n_columns,
                     d));
    return ST_OK;
}

enum status facts_read(struct arena *a, struct accel *acc, const cJSON *root, const char *where,
                       struct diag *d)
{
    const cJSON *object, *item;
    struct accel_facts *f;

    TRY(json_child(root, where, "facts", false, &object, &acc->n_facts, d));
    f = ARENA_ARRAY(a, struct accel_facts, acc->n_facts);
    acc->facts = f;
    cJSON_ArrayForEach(item, object)
    {
        const char *path = arena_printf(a, "%s: facts.%.40s", where, item->string);
        uint32_t e = 0;

        while (e < acc->n_enums && strcmp(acc->enums[e].name, item->string) != 0)
            e++;
        if (e == acc->n_enums)
            return FAIL(d, ST_USAGE, "%s: no enum of this name", path);
        f->of = &acc->enums[e];
        TRY(json_only(item, path, "doc columns rows", d));
        TRY(json_string(a, item, path, "doc", &f->doc, d));
        TRY(read_columns(a, item, path, f, d));
        TRY(read_rows(a, item, path, f++, d));
    }
    return ST_OK;
}

uint32_t accel_fact_row(const struct accel_facts *f, uint32_t i)
{
    uint32_t row = 0;

    for (uint32_t c = 0; c < f->n_columns; c++)
        row |= f->value[i * f->n_columns + c] << f->columns[c].lsb;
    return row;
}
