/* points.h - the configurations of a suite as points of a space: what each costs, and which are
 * next to each other. */
#ifndef HEDDLE_EXPLORE_POINTS_H
#define HEDDLE_EXPLORE_POINTS_H

#include "app/regress/suite/suite.h"
#include "app/stats/area.h"
#include "compiler/pipeline.h"

/* Sizes of accel.json, and one axis for the options of a configuration. */
enum { EXPLORE_AXES = 24 };

/* The costs of a point; less is better. */
enum explore_cost {
    EXPLORE_MS, /* geometric mean over the networks */
    EXPLORE_MULTIPLIERS,
    EXPLORE_MEMORY, /* KiB on chip */
    EXPLORE_BUS,    /* bytes a cycle */
    EXPLORE_LUT4,   /* counted, or by the model */
    EXPLORE_COSTS
};

struct explore_point {
    const char *name;                   /* of the configuration */
    const char *hw;                     /* for --hw */
    const char *key;                    /* hash of all that decides its cycles */
    const char *wrong;                  /* why there is no estimate; NULL: none, or not tried */
    const struct suite_run *const *run; /* one for each network */
    struct hd_config config;
    uint32_t at[EXPLORE_AXES]; /* place of its value on each axis */
    bool tried, before;        /* estimated; by an earlier call */
    bool meets, front, chosen; /* the goal; no other point is better; to be run */
    double *cycles;            /* by network; of accelerator and host, estimated */
    double cost[EXPLORE_COSTS];
    const char *lut4_by; /* "counted" or "model" */
    double lut4_model;   /* the model's in any case: differences are of like numbers */
};

struct explore_space {
    struct arena *arena;
    const struct suite *suite;
    struct explore_point *point; /* in the suite's order */
    uint32_t n, n_network;
    const char **network;
    uint32_t n_wrong; /* points that cannot be built */
};

/* Make the points of a suite. A configuration that cannot be built has `wrong` and counts as tried.
 * ST_USAGE: a network is not run in all configurations. */
enum status explore_points(struct arena *a, const struct suite *suite, struct explore_space *s,
                           struct diag *d);
/* Compare two points, given by the addresses of pointers, by time; those without an estimate come
 * last. For qsort. */
int explore_by_time(const void *a, const void *b);
/* Return true if the values of two points differ on one axis only, and are next to each other
 * there. */
bool explore_adjacent(const struct explore_point *p, const struct explore_point *q);

#endif
