/* stats_model.h - members of a stats file that are models: "clock", "time", "energy". */
#ifndef HEDDLE_STATS_STATS_MODEL_H
#define HEDDLE_STATS_STATS_MODEL_H

#include "app/job/job.h"
#include "stats_member.h"

/* Read the table of --energy into m->energy. */
enum status stats_models(const struct job *job, struct run_measured *m, struct diag *d);
/* Return the actions of each layer's commands. */
const struct actions *stats_actions(const struct job *job, const struct run_measured *m);
void stats_model(const struct stats *s, cJSON *o);
/* --accelergy's file. */
enum status stats_accelergy(const struct job *job, const struct run_measured *m, const char *path,
                            struct diag *d);

#endif
