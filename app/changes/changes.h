/* changes.h - two runs of a network side by side: what became slower or larger, by layer, unit and
 * wait, and where the schedules differ. "heddle diff", and the slips of regress. */
#ifndef HEDDLE_CHANGES_CHANGES_H
#define HEDDLE_CHANGES_CHANGES_H

#include <cjson/cJSON.h>

#include "base/text.h"

/* One of the two runs. */
struct changes_side {
    const char *name;  /* as the user named it */
    const cJSON *run;  /* a stats file, or those of its members of a whole run that are known */
    const cJSON *list; /* from changes_list */
};

/* --- changes_list.c --- */

/* Return what is compared of the layers of a stats file: an array of name, tensor, cycles, estimate,
 * host, commands, tiles, moved (bytes on the bus) and counters; a number that is 0 or unknown is
 * absent. Groups follow the layers, with the indices of their members; a member has no cycles.
 * regress keeps this array. */
cJSON *changes_list(struct arena *a, const cJSON *stats);

/* --- changes.c --- */

/* Compare the runs: JSON, docs/diff.v1.schema.json. */
cJSON *changes_of(struct arena *a, const struct changes_side *before,
                  const struct changes_side *after);

/* --- changes_text.c --- */

/* Print all of it; print the `most` layers that changed the most, in the direction in which the
 * whole did, a line each. */
void changes_text(struct text *t, const cJSON *changes);
void changes_causes(struct text *t, const cJSON *changes, uint32_t most);

/* --- changes_page.c --- */

/* Write diff.html. */
void changes_page(struct text *t, const cJSON *changes);

#endif
