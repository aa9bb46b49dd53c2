/* area.c - see area.h. */
#include "area.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "hw/gen/accel.h"

enum {
    MAX_BYTES = 1 << 20,
    BYTE = 8,
    PARAM_BITS = 32 + 32 + 8, /* bias, multiplier and shift of a lane */
    ACC_BITS = 32,
    TABLE_BITS = 256 * 8, /* each lane has whole tables */
    EXP_BITS = 256 * 32,  /* and, with softmax, all exponentials */
    ROW_BITS = 8 + 36     /* a row of softmax: maximum, scale and shift */
};

/* Read from `line` the value of the column called `name` in `names`. */
static bool column(const char *names, const char *line, const char *name, double *value)
{
    const size_t n = strlen(name);

    for (;;) {
        const size_t length = strcspn(names, ",\n"), width = strcspn(line, ",\n");
        if (length == n && strncmp(names, name, n) == 0)
            return sscanf(line, "%lf", value) == 1;
        if (names[length] != ',' || line[width] != ',')
            return false;
        names += length + 1;
        line += width + 1;
    }
}

/* Return true if the sizes in this line equal those of `c`. */
static bool same_sizes(const char *names, const char *line, const struct hd_config *c)
{
    double value;

    for (const struct accel_size *size = accel_sizes; size->name; size++)
        if (!column(names, line, size->name, &value) || value != accel_size_of(c, size))
            return false;
    return true;
}

static enum status find_line(const char *path, const char *names, const struct hd_config *c,
                             double *lut4, struct diag *d)
{
    const char *line = names + strcspn(names, "\n");
    double found;

    for (int number = 2; *line && line[1]; number++) {
        line++;
        if (!column(names, line, "lut4", &found))
            return FAIL(d, ST_USAGE, "%s:%d: expected a number for each column, lut4 last", path,
                        number);
        *lut4 = same_sizes(names, line, c) ? found : *lut4;
        line += strcspn(line, "\n");
    }
    return ST_OK;
}

/* Read a file of hw/. */
static enum status read_hw(struct arena *a, const char *name, const char **path, const char **text,
                           struct diag *d)
{
    const char *home;
    uint8_t *data;
    size_t n_bytes;

    TRY(home_find(a, &home, d));
    *path = arena_printf(a, "%s/hw/%s", home, name);
    TRY(file_read(a, *path, MAX_BYTES, &data, &n_bytes, d));
    *text = (const char *)data;
    return ST_OK;
}

static enum status find_counted(struct arena *a, const struct hd_config *c, struct area *area,
                                struct diag *d)
{
    const char *path, *text;

    TRY(read_hw(a, "area.csv", &path, &text, d));
    TRY(find_line(path, text, c, &area->lut4, d));
    area->counted = area->lut4 >= 0;
    return ST_OK;
}

enum status area_model_of(struct arena *a, const struct hd_config *c, struct area_model *m,
                          struct diag *d)
{
    const char *path, *text;

    TRY(read_hw(a, "model.csv", &path, &text, d));
    return area_model(text, path, c, m, d);
}

const char *area_origin(const struct area *area)
{
    return area->counted ? "counted" : "model";
}

enum status area_of(struct arena *a, const struct hd_config *c, struct area *area, struct diag *d)
{
    struct arena *scratch = arena_beside(a);
    const double words = (double)c->weight_bytes / c->n,
                 table_bits = TABLE_BITS * hd_config_tables(c) + (c->softmax_rows ? EXP_BITS : 0);
    struct area_model m = {.n = 0};

    *area = (struct area){.multipliers = (double)c->rows * c->columns,
                          .memory_bits =
                              BYTE * (double)c->scratchpad_bytes +
                              c->columns * (BYTE * words + PARAM_BITS * (double)c->param_entries +
                                            ACC_BITS * (double)c->acc_depth) +
                              c->n * table_bits + ROW_BITS * (double)c->softmax_rows,
                          .lut4 = -1};
    enum status st = find_counted(scratch, c, area, d);
    if (st == ST_OK && !area->counted) {
        st = area_model_of(scratch, c, &m, d);
        area->lut4 = st == ST_OK ? m.whole[AREA_LUT4] : -1;
    }
    arena_free(scratch);
    return st;
}
