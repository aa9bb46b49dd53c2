/* history.h - database of regress: sessions, their runs and findings, baselines. One SQLite file,
 * one writer. Times are in seconds since 1970, UTC. */
#ifndef HEDDLE_REGRESS_HISTORY_H
#define HEDDLE_REGRESS_HISTORY_H

#include "base/database.h"
#include "judge.h"

struct history {
    struct database base;
    struct database_kind kind;
    struct sqlite3_stmt *add; /* statement that adds a run, prepared at first use */
    bool pending;             /* a transaction is open */
    double since;             /* it was opened */
};

/* All runs of one suite with one heddle. */
struct history_session {
    int64_t id;
    const char *suite, *commit, *versions;
    const char *plan;       /* hash of all runs' keys and of heddle */
    int64_t started, ended; /* ended 0: it was interrupted */
    int64_t n_planned, n_done, n_bad;
};

enum status history_open(struct arena *a, const char *path, enum database_mode mode,
                         struct history *h, struct diag *d);
void history_close(struct history *h);

/* Set s->id to the last session of the same suite and plan, unless `again`; otherwise to a new
 * one. */
enum status history_begin(struct history *h, struct history_session *s, bool again, struct diag *d);
/* Read results that the session has; those for which heddle failed are discarded. */
enum status history_resume(struct history *h, int64_t session, struct suite *s, uint32_t *n_done,
                           struct diag *d);
/* Read baselines, and earlier durations of runs. */
enum status history_recall(struct history *h, struct suite *s, struct diag *d);
/* Add a result. It is stored at the next history_flush, within half a second, so a kill loses no
 * more. */
enum status history_add(struct history *h, int64_t session, uint32_t number,
                        const struct suite_run *r, struct diag *d);
enum status history_flush(struct history *h, bool now, struct diag *d);
/* Store the findings of a finished session, and baselines for runs without one. */
enum status history_end(struct history *h, int64_t session, struct suite *s, const struct judge *j,
                        struct diag *d);
/* Set a baseline for `label`. */
enum status history_baseline(struct history *h, const char *suite, const char *label, double cycles,
                             int64_t session, const char *why, struct diag *d);

/* Read s->started and s->ended. */
enum status history_times(struct history *h, struct history_session *s, struct diag *d);

/* Read the sessions of `suite` (NULL: all), oldest first. */
enum status history_sessions(struct history *h, const char *suite, struct history_session **s,
                             uint32_t *n, struct diag *d);
/* Read a session's runs (name, run and n of *s) and findings. */
enum status history_read(struct history *h, const struct history_session *session, struct suite *s,
                         struct judge *j, struct diag *d);

#endif
