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
    PARAM_BITS = 32 + 32 + 8, /* bias, multiplier, shift of a lane */
    ACC_BITS = 32,
    TABLE_BITS = 256 * 8, /* each lane has the whole table */
    EXP_BITS = 256 * 32,  /* and, with softmax, all exponentials */
    ROW_BITS = 8 + 36     /* a row of softmax: maximum, scale and shift */
};

/* A line of hw/area.csv: the sizes in the order of accel_sizes, LUT4. *same: they are those of `c`. */
static bool read_line(const char *line, const struct hd_config *c, bool *same, double *lut4)
{
    uint32_t value;
    int n;

    *same = true;
    for (const struct accel_size *size = accel_sizes; size->name; size++, line += n) {
        if (sscanf(line, "%u,%n", &value, &n) != 1)
            return false;
        *same = *same && value == accel_size_of(c, size);
    }
    return sscanf(line, "%lf", lut4) == 1;
}

static enum status find_line(const char *path, const char *line, const struct hd_config *c,
                             double *lut4, struct diag *d)
{
    double found;
    bool same;

    line += strcspn(line, "\n"); /* names of the columns */
    for (int number = 2; *line && line[1]; number++) {
        line++;
        if (!read_line(line, c, &same, &found))
            return FAIL(d, ST_USAGE, "%s:%d: expected the sizes of a configuration and its LUT4",
                        path, number);
        *lut4 = same ? found : *lut4;
        line += strcspn(line, "\n");
    }
    return ST_OK;
}

enum status area_of(struct arena *a, const struct hd_config *c, struct area *area, struct diag *d)
{
    struct arena *scratch = arena_beside(a);
    const double n = c->n, table_bits = TABLE_BITS + (c->softmax_rows ? EXP_BITS : 0);
    const char *home, *path;
    uint8_t *text;
    size_t n_bytes;

    *area = (struct area){.multipliers = n * n,
                          .memory_bits = BYTE * ((double)c->scratchpad_bytes + c->weight_bytes) +
                                         n * (PARAM_BITS * (double)c->param_entries +
                                              ACC_BITS * (double)c->acc_depth + table_bits) +
                                         ROW_BITS * (double)c->softmax_rows,
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
