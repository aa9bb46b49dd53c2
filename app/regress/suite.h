/* suite.h - a suite's file as a list of runs: networks x configurations x engines x options x seeds.
 * docs/REGRESS.md explains the file, suite.v1.schema.json is its schema. */
#ifndef HEDDLE_REGRESS_SUITE_H
#define HEDDLE_REGRESS_SUITE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/stats/columns.h"
#include "base/json_doc.h"

/* The result of a run; numbers are -1 where there is none. */
struct suite_result {
    const char *verdict; /* of the stats file, or "failed"; NULL: not run yet */
    int exit;            /* of heddle run; -1: it was killed */
    const char
        *message; /* its last line; if it succeeded, how many layers were not simulated, or "" */
    double inferences;
    union column_numbers number; /* of its stats file */
    double wall_seconds;         /* from its start to its end */
    double energy;               /* of an inference, by a table */
    const char *energy_unit;     /* "" if there is none */
    const char *detail;          /* JSON: layers and groups with their cycles and counters, or "" */
};

struct suite_run {
    const char *network, *configuration, *engine, *options; /* as the results name them */
    uint64_t seed;
    const char *label;       /* all of these: names a run in every session */
    const char *model;       /* hash of the model's file */
    const char *const *argv; /* of heddle run, without the program and --stats; NULL at the end */
    const char *hw;          /* what --hw takes; NULL in a run that was read from the database */
    const char *key;         /* hash of everything that decides the result, except heddle itself */
    struct suite_result result;
    double baseline;    /* cycles, -1: none */
    double wall_before; /* seconds it took the last time, -1: never run */
};

struct suite_limits {
    double cycles, estimate, layer; /* percent */
    double layer_cycles;            /* layers and groups with at most this many are left out */
};

struct suite_exception {
    const char *kind, *network, *configuration, *layer,
        *why;       /* configuration, layer: may be NULL */
    double percent; /* -1: without limit */
    bool used;
};

struct suite {
    struct arena *arena;
    const char *path, *folder; /* of its file, absolute; runs start in the folder */
    const char *name;
    uint32_t seconds; /* a run's time limit */
    bool sweeps;      /* what does not run, or not as before, is a row, not a finding */
    struct suite_limits limits;
    struct suite_exception *exception;
    uint32_t n_exception;
    struct suite_run *run;
    uint32_t n;
    struct suite_run **by_label; /* sorted */
};

/* Make s->by_label of s->run; suite_read has done so. */
void suite_sort(struct suite *s);
/* The run of that label, or NULL. */
struct suite_run *suite_find(const struct suite *s, const char *label);

/* Return true if the exception, of `kind` (NULL: any), applies to this run. */
bool suite_excepts(const struct suite_exception *e, const char *kind, const struct suite_run *r);

/* ST_USAGE: where in the file, what is wrong. */
enum status suite_read(struct arena *a, const char *path, struct suite *s, struct diag *d);

#endif
