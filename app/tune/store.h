/* store.h - the file of "heddle tune": an SQLite database with, for each network, hardware and
 * version of the schedule, the trials measured and their knobs. One transaction per trial, so an
 * interrupted or killed run loses only the trial being measured. */
#ifndef HEDDLE_TUNE_STORE_H
#define HEDDLE_TUNE_STORE_H

#include "key.h"
#include "knob_file.h"

struct store;

/* One measured trial. */
struct store_trial {
    uint32_t number;
    uint64_t estimate, cycles;
    struct sched_knobs *knobs; /* by operator position */
    int64_t *value;            /* by knob of external targets */
};

enum store_mode { STORE_READ, STORE_WRITE };

/* Open `path`; STORE_WRITE creates it if missing. ST_USAGE: missing, not a database of heddle tune,
 * damaged, locked by another process, or not writable. Call store_close even then. */
enum status store_open(struct arena *a, const char *path, enum store_mode mode, struct store **s,
                       struct diag *d);
void store_close(struct store *s); /* NULL: nothing */

/* Find the network of `key`. If it has no trials, *id is 0 and *note, unless NULL, states what else
 * exists ("tuned for another version of heddle's schedule"). model, hw: for people. */
enum status store_find(struct store *s, const struct tune_key *key, int64_t *id, const char **note,
                       struct diag *d);
enum status store_make(struct store *s, const struct tune_key *key, const char *model,
                       const char *hw, int64_t *id, struct diag *d);

/* Read all trials of a network by number. ST_USAGE: a stored trial does not have this shape. */
enum status store_trials(struct store *s, int64_t id, const struct knob_shape *shape,
                         struct store_trial **trial, uint32_t *n, struct diag *d);
enum status store_add(struct store *s, int64_t id, const struct store_trial *trial,
                      const struct knob_shape *shape, struct diag *d);

#endif
