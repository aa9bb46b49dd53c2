/* stats_model.h - members of a stats file that are models: "clock", "time", "energy". */
#ifndef HEDDLE_STATS_STATS_MODEL_H
#define HEDDLE_STATS_STATS_MODEL_H

#include "app/job/job.h"
#include "stats_member.h"

/* Read the table of --energy into job->energy. */
enum status stats_models(struct run_job *job, struct diag *d);
/* The actions of each layer's commands. */
const struct actions *stats_actions(const struct run_job *job);
void stats_model(const struct stats *s, cJSON *o);
/* --accelergy's file. */
enum status stats_accelergy(const struct run_job *job, const char *path, struct diag *d);

#endif
