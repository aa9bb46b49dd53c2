/* stats.h - results of a run as JSON of schema heddle.stats.v2. */
#ifndef HEDDLE_STATS_STATS_H
#define HEDDLE_STATS_STATS_H

#include <cjson/cJSON.h>

#include "app/job/job.h"

/* cJSON_Delete frees it. */
struct cJSON *run_stats_json(const struct run_job *job);
enum status run_stats(const struct run_job *job, const char *path, struct diag *d);

#endif
