/* launch.h - starting runs: on this machine, by a command of the user's, by Slurm. Each run is a
 * process of its own that leaves <work>/N.json (stats) and <work>/N.err (stderr). */
#ifndef HEDDLE_REGRESS_LAUNCH_H
#define HEDDLE_REGRESS_LAUNCH_H

#include "suite.h"

struct launch {
    struct arena *arena;
    struct suite *suite;
    const char *launcher; /* NULL: this machine; "slurm", "slurm:N"; else a command with {} */
    const char *program;  /* heddle */
    const char *work;     /* folder, absolute */
    uint32_t jobs;        /* at once */
    bool jobs_given;
    const uint32_t *number; /* runs to start: indices into the suite's */
    uint32_t n;
    void *ctx;
    /* A run has ended: its result is in the suite. */
    enum status (*ended)(void *ctx, uint32_t number, struct diag *d);
    /* Nothing has ended for a tenth of a second or more. */
    enum status (*idle)(void *ctx, struct diag *d);
};

/* ST_USAGE: neither slurm, slurm:N nor a command with {}. */
enum status launch_check(const char *launcher, struct diag *d);
/* All of l->number; each has ended once when this returns ST_OK. After a failure nothing runs on. */
enum status launch_all(struct launch *l, struct diag *d);

/* --- launch_files.c: what runs elsewhere need in <work> --- */

/* <work>/run, a script: `sh run N...` runs these, and leaves <work>/N.exit when N has ended. */
enum status launch_write_script(const struct launch *l, struct diag *d);
/* *got: run `number` has left <work>/N.exit; its result is in the suite. */
void launch_collect(const struct launch *l, uint32_t number, bool *got);
/* All that have left one and have no result yet; each has ended. Also of an interrupted launch. */
enum status launch_collect_left(struct launch *l, struct diag *d);
/* The result of a run that has none after several starts. */
void launch_lost(const struct launch *l, uint32_t number, const char *message);

enum { LAUNCH_TRIES = 3 }; /* of a run that its launcher loses */

/* --- slurm.c --- */

enum status launch_slurm(struct launch *l, struct diag *d);
/* Cancel the job elements that an interrupted launch in l->work has left. */
void launch_slurm_cancel(const struct launch *l);

#endif
