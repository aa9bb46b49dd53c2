/* sweep.h - a session as points: the time and cost of each configuration for each network, and
 * which points no other beats. docs/REGRESS.md, "Sweeps". */
#ifndef HEDDLE_REGRESS_SWEEP_H
#define HEDDLE_REGRESS_SWEEP_H

#include "app/stats/area.h"
#include "session_views.h"

enum { SWEEP_CLOCK_MHZ = 100 }; /* the clock that heddle run assumes */

enum sweep_axis {
    SWEEP_TIME,
    SWEEP_MULTIPLIERS,
    SWEEP_MEMORY,
    SWEEP_LUT4,
    SWEEP_ENERGY,
    SWEEP_AXES
};

/* A configuration of the sweep. */
struct sweep_hw {
    const char *name;
    const char *wrong; /* why it cannot be built; NULL: it can */
    struct hd_config config;
    struct area area;
};

struct sweep_point {
    const struct sweep_hw *hw;
    const struct suite_run *run; /* NULL: the mean of all networks */
    double v[SWEEP_AXES];        /* -1: unknown; SWEEP_TIME < 0: the run has no answer and is on no
                                  * front */
    bool front[SWEEP_AXES];      /* no other point is at least as good in time and this axis and
                                  * better in one */
};

/* A network with one engine, options and seed, in all configurations, fastest first. */
struct sweep_series {
    const char *name;
    struct sweep_point *point;
    uint32_t n;
};

struct sweep {
    struct arena *arena;
    const struct view *view;
    double mhz;
    bool clock_given;
    const char *energy_unit; /* "" if no run has an energy */
    struct sweep_hw *hw;
    uint32_t n_hw;
    struct sweep_series
        *series; /* the geometric mean of all comes first if there are at least two */
    uint32_t n;
};

/* Make the sweep of a session. ST_USAGE: hw/area.csv cannot be read. */
enum status sweep_of(struct arena *a, const struct view *v, uint32_t clock_mhz, struct sweep *s,
                     struct diag *d);
/* "time", "multipliers", ... */
const char *sweep_axis_name(enum sweep_axis axis);
/* Return the unit of an axis ("" for a count), and the divisor of its values. */
const char *sweep_axis_unit(const struct sweep *s, enum sweep_axis axis, double *divisor);

/* --- sweep_text.c: a table for people; CSV with one line per run --- */

void sweep_table(struct text *t, const struct sweep *s);
void sweep_csv(struct text *t, const struct sweep *s);

/* --- sweep_page.c: pictures of the fronts, and the whole table --- */

enum status sweep_page(const struct sweep *s, const char *path, struct diag *d);
/* sweep_plot.c: draw one picture: time over `axis`. */
void sweep_plot(struct text *t, const struct sweep *s, const struct sweep_series *series,
                enum sweep_axis axis);

#endif
