/* stats.h - write the results of a run as JSON of schema heddle.stats.v2. */
#ifndef HEDDLE_STATS_STATS_H
#define HEDDLE_STATS_STATS_H

#include <cjson/cJSON.h>

#include "app/job/job.h"

/* cJSON_Delete frees it. */
cJSON *run_stats_json(const struct run *run);
enum status run_stats_write(const cJSON *stats, const char *path, struct diag *d);

#endif
