/* launch.h - start runs: on this machine, by a user's command, or by Slurm. Each run is a process
 * that leaves <work>/N.json (stats) and <work>/N.err (stderr). */
#ifndef HEDDLE_REGRESS_LAUNCH_H
#define HEDDLE_REGRESS_LAUNCH_H

#include "app/regress/suite/suite.h"

struct launch {
    struct arena *arena;
    struct suite *suite;
    const char *launcher; /* NULL: this machine; "slurm", "slurm:N"; otherwise a command with {} */
    const char *program;  /* heddle */
    const char *work;     /* folder, absolute */
    uint32_t jobs;        /* at once */
    bool jobs_given;
    const uint32_t *number; /* runs to start: indices into the suite's runs */
    uint32_t n;
    void *ctx;
    /* Called when a run has ended; its result is in the suite. */
    enum status (*ended)(void *ctx, uint32_t number, struct diag *d);
    /* Called when nothing has ended for at least a tenth of a second. */
    enum status (*idle)(void *ctx, struct diag *d);
};

/* Check the launcher. ST_USAGE: neither slurm, slurm:N nor a command with {}. */
enum status launch_check(const char *launcher, struct diag *d);
/* Start all of l->number; when this returns ST_OK each has ended once. After a failure no run
 * continues. */
enum status launch_all(struct launch *l, struct diag *d);

/* --- launch_files.c: files that runs on other machines need in <work> --- */

/* Write the script <work>/run: `sh run N...` runs these, and leaves <work>/N.exit when N has
 * ended. */
enum status launch_write_script(const struct launch *l, struct diag *d);
/* Collect run `number` if it has left <work>/N.exit; *got: its result is in the suite. */
void launch_collect(const struct launch *l, uint32_t number, bool *got);
/* Collect all runs that have left that file and have no result yet, including those of an
 * interrupted launch. */
enum status launch_collect_left(struct launch *l, struct diag *d);
/* Set the result of a run that has none after several starts. */
void launch_lost(const struct launch *l, uint32_t number, const char *message);

enum { LAUNCH_TRIES = 3 }; /* starts of a run that its launcher loses */

/* --- slurm.c --- */

enum status launch_slurm(struct launch *l, struct diag *d);
/* Cancel the array elements that an interrupted launch left queued, as recorded in l->work. */
void launch_slurm_cancel(const struct launch *l);

#endif
