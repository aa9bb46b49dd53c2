/* check_round.h - one round of a conformance check: cases in one graph, what they must give, and what was found. */
#ifndef HEDDLE_CHECK_ROUND_H
#define HEDDLE_CHECK_ROUND_H

#include "app/job/job.h"
#include "check_target.h"

#define INFERENCES 3 /* random, all of the greatest value, all of the least; float32: 1 and -1 */

struct check {
    struct arena *arena;
    const struct options *o;
    const struct target_desc *desc;
    struct target target;
    struct pipeline p;
    struct check_cases cases;
    struct run_data *in, *want;
    uint32_t n_failed, n_run;
    double apart;              /* the largest difference that was allowed */
    const char *setting;       /* "max_kernel=1", or "" for the defaults */
    uint32_t inferences;       /* of the round: INFERENCES, or 1, random */
    bool waits;                /* a port of the core can wait; known after its first run */
    struct check_reach *reach; /* of each pattern */
    uint32_t n_measured;       /* cases whose cycles are known */
    const struct check_case *measured;
    const char *failed; /* text of the last failure */
    /* For grade-target: called with the cases of a round instead of running them. */
    enum status (*judge)(void *ctx, struct check *c, bool first, struct diag *d);
    void *judge_ctx;
};

/* check_target.c: read the target of o->model and settle its attributes' defaults; o->output gets what is found. */
enum status check_begin(struct check *c, struct arena *a, const struct options *o, struct diag *d);
/* Draw cases of usual sizes, or those that reach for the ends of limits, from o->seed on, and run them. */
enum status check_usual(struct check *c, bool loud, struct diag *d);
enum status check_ends(struct check *c, struct diag *d);

/* Print a line: "ok" or "FAIL", which counts. */
__attribute__((format(printf, 2, 3))) void check_pass(const struct check *c, const char *format,
                                                      ...);
__attribute__((format(printf, 2, 3))) void check_fails(struct check *c, const char *format, ...);

__attribute__((format(printf, 3, 4))) void check_say(const struct check *c, const char *word,
                                                     const char *format, ...);

/* check_bytes.c: inputs of c->inferences inferences, the answers of the reference, their comparison with n inferences. */
void check_fill(struct check *c);
enum status check_reference(struct check *c, struct diag *d);
void check_compare(struct check *c, const struct run_data *got, uint32_t n, const char *how);
/* " with SETTING", or "". */
const char *check_where(const struct check *c);

/* check_core.c: the cases on the target's Verilated core. */
enum status check_on_core(struct check *c, bool first, struct diag *d);
/* One setting of latency, stalls, start values and errors, below CHECK_SETTINGS, with the emitted code `so`; *m:
 * cycles and outputs. c->n_failed counts what differs. False of check_has_setting: the round does without. */
enum { CHECK_SETTINGS = 6 };
bool check_has_setting(const struct check *c, bool first, uint32_t setting);
enum status check_setting(struct check *c, const char *so, uint32_t setting, struct run_measured *m,
                          struct diag *d);
/* check_instructions.c: single instructions of a described device, with the emitted code `so`. */
enum status check_instructions(struct check *c, const char *so, struct diag *d);
/* check_cost.c: keep the cycles of a run without stalls; then compare all with "cost". */
void check_measure(struct check *c, const struct run_measured *m);
enum status check_cost(struct check *c, struct diag *d);
/* check_errors.c: for a job whose first calls fail; a run whose calls hide that is an error. */
struct watcher;
const struct watcher *check_errors(struct arena *a);
/* check_restart.c: for a job with random start values from `seed`: new ones again and again. */
const struct watcher *check_restarts(struct arena *a, struct run_measured *m, uint64_t seed);

#endif
