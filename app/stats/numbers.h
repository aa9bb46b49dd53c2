/* numbers.h - the values of columns.def for a layer, a group and a run. */
#ifndef HEDDLE_STATS_NUMBERS_H
#define HEDDLE_STATS_NUMBERS_H

#include <cjson/cJSON.h>

#include "account.h"
#include "app/job/shared.h"
#include "columns.h"

/* Figures of a layer, or their sums over a group or a run. */
struct share {
    bool timed;     /* it has cycles */
    bool on_units;  /* on a built-in accelerator, which has counters */
    bool estimated; /* part of it runs on an accelerator */
    bool peak;      /* multipliers is known */
    uint64_t macs, cycles, estimate;
    double multipliers; /* of the widest array or core */
    uint64_t counter[HD_SIM_UNITS][HD_SIM_KINDS];
};

/* A layer, a group or a run, with the values that columns.def reads. */
struct numbers {
    const struct job *job;
    const struct account_layer *layer; /* these two for a layer; otherwise NULL */
    const struct run_row *row;
    const struct account *account; /* these two for a run; otherwise NULL */
    const struct board_host *host; /* NULL if `native` */
    uint64_t read_bytes, write_bytes;
    struct share share;
    double utilisation;
    bool own;    /* not a member of a group */
    bool units;  /* has counters of a built-in accelerator */
    bool native; /* the host is modelled */
    bool by_row; /* the host is simulated and its cycles are known by layer */
    bool memory; /* these are known: */
    uint64_t live, held;
};

/* Add the columns of one place. */
void numbers_add(cJSON *o, const struct numbers *v, enum column_place place);

#endif
