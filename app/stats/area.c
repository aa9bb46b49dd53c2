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

enum status area_of(struct arena *a, const struct hd_config *c, struct area *area, struct diag *d)
{
    struct arena *scratch = arena_beside(a);
    const double words = (double)c->weight_bytes / c->n,
                 table_bits = TABLE_BITS * hd_config_tables(c) + (c->softmax_rows ? EXP_BITS : 0);
    const char *home, *path;
    uint8_t *text;
    size_t n_bytes;

    *area = (struct area){.multipliers = (double)c->rows * c->columns,
                          .memory_bits =
                              BYTE * (double)c->scratchpad_bytes +
                              c->columns * (BYTE * words + PARAM_BITS * (double)c->param_entries +
                                            ACC_BITS * (double)c->acc_depth) +
                              c->n * table_bits + ROW_BITS * (double)c->softmax_rows,
                          .lut4 = -1};
    enum status st = home_find(scratch, &home, d);
    if (st == ST_OK) {
        path = arena_printf(scratch, "%s/hw/area.csv", home);
        st = file_read(scratch, path, MAX_BYTES, &text, &n_bytes, d);
    }
    if (st == ST_OK)
        st = find_line(path, (const char *)text, c, &area->lut4, d);
    arena_free(scratch);
    return st;
}
