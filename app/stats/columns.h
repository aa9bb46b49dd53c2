/* columns.h - the numbers of a layer, a group and a run, as listed in columns.def. */
#ifndef HEDDLE_STATS_COLUMNS_H
#define HEDDLE_STATS_COLUMNS_H

#include <stdbool.h>

#include "base/text.h"

/* The place of a column among a layer's members: the first two before its parts, MEMORY after them,
 * BUS after its energy. */
enum column_place { COLUMN_CYCLES, COLUMN_WORK, COLUMN_MEMORY, COLUMN_BUS };

/* A cell of the table: the number; empty for 0; percent; for a group the sum of its members. */
enum column_cell { COLUMN_NUMBER, COLUMN_POSITIVE, COLUMN_SHARE, COLUMN_MOVED };

struct column {
    const char *name, *type;
    enum column_place place;
    bool csv;
    const char *heading; /* "": not in the table */
    int width;
    enum column_cell cell;
    const char *label, *meaning; /* "": none */
    bool run;                    /* a run has this column */
    int run_width;               /* in the table of runs; 0: not among its generic columns */
};

/* The last name is NULL. */
extern const struct column columns[];

enum {
#define COLUMN(name, ...) COLUMN_OF_##name,
#include "columns.def"
#undef COLUMN
    N_COLUMNS
};

/* A number for each column, by name and by its index in columns[]. */
union column_numbers {
    struct {
#define COLUMN(name, ...) double name;
#include "columns.def"
#undef COLUMN
    };
    double at[N_COLUMNS];
};

/* Add the columns as JSON: a list of objects, for report.html. */
void columns_json(struct text *t);

#endif
