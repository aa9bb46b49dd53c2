/* suite.h - read a suite's file as a list of runs: networks x configurations x engines x options x
 * seeds. docs/REGRESS.md explains the file, suite.v1.schema.json is its schema. */
#ifndef HEDDLE_REGRESS_SUITE_H
#define HEDDLE_REGRESS_SUITE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/stats/columns.h"
#include "base/json/json_doc.h"

/* The result of a run; numbers are -1 if unknown. */
struct suite_result {
    const char *verdict; /* from the stats file, or "failed"; NULL: not run yet */
    int exit;            /* exit code of heddle run; -1: it was killed */
    const char
        *message; /* its last line; after a success the number of layers not simulated, or "" */
    double inferences;
    union column_numbers number; /* from its stats file */
    double wall_seconds;         /* from start to end */
    double energy;               /* of an inference, by a table of energies */
    const char *energy_unit;     /* "" without an energy */
    const char *detail;          /* JSON of changes_list: its layers and groups, or "" */
};

struct suite_run {
    const char *network, *configuration, *engine, *options; /* as named in the results */
    uint64_t seed;
    const char *label;       /* all of these: identifies a run in every session */
    const char *model;       /* hash of the model file */
    const char *const *argv; /* arguments of heddle run, without the program and --stats; NULL at
                              * the end */
    const char *hw;          /* value for --hw; NULL in a run read from the database */
    const char *key;         /* hash of everything except heddle that decides the result */
    struct suite_result result;
    double baseline;    /* cycles, -1: none */
    double wall_before; /* seconds of the last run; -1: never run */
};

struct suite_limits {
    double cycles, estimate, layer; /* percent */
    double layer_cycles; /* layers and groups with at most this many cycles are left out */
};

struct suite_exception {
    const char *kind, *network, *configuration, *layer,
        *why;       /* configuration and layer may be NULL */
    double percent; /* -1: without limit */
    bool used;
};

struct suite {
    struct arena *arena;
    const char *path, *folder; /* its file, absolute; runs start in the folder */
    const char *name;
    uint32_t seconds; /* time limit of a run */
    bool sweeps;      /* a sweep: runs that fail or change are rows, not findings */
    struct suite_limits limits;
    struct suite_exception *exception;
    uint32_t n_exception;
    struct suite_run *run;
    uint32_t n;
    struct suite_run **by_label; /* sorted */
};

/* Make s->by_label from s->run; suite_read has done so. */
void suite_sort(struct suite *s);
/* Return the run of that label, or NULL. */
struct suite_run *suite_find(const struct suite *s, const char *label);

/* Return true if the exception, of `kind` (NULL: any), applies to this run. */
bool suite_excepts(const struct suite_exception *e, const char *kind, const struct suite_run *r);

/* Read a suite. ST_USAGE: the message has the place in the file and the error. */
enum status suite_read(struct arena *a, const char *path, struct suite *s, struct diag *d);

#endif
