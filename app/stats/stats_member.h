/* stats_member.h - write single members of a stats file. */
#ifndef HEDDLE_STATS_STATS_MEMBER_H
#define HEDDLE_STATS_STATS_MEMBER_H

#include <cjson/cJSON.h>

#include "app/job/job.h"

struct stats {
    const struct job *job;
    const struct run_measured *measured;
    const struct account *account;
    const struct actions *actions; /* by layer; NULL: no program with commands to count */
};

/* Return true for a run on the RTL that simulated an accelerator or a core, with cycles of all
 * submissions. */
bool stats_timed(const struct job *job, const struct run_measured *m);

/* Add a member: a whole number; the mean of a sum over n inferences; null. */
void stats_count(cJSON *o, const char *name, uint64_t value);
void stats_mean(cJSON *o, const char *name, uint64_t sum, uint32_t n);

#endif
