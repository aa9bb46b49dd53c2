/* stats.h - the parts of a stats file, shared by stats.c and stats_layers.c. */
#ifndef HEDDLE_RUN_STATS_H
#define HEDDLE_RUN_STATS_H

#include <cjson/cJSON.h>

#include "app/report/account.h"
#include "app/report/energy.h"
#include "run.h"

struct stats {
    const struct run_job *job;
    const struct account *account;
    const struct actions *actions; /* by layer; NULL: no program whose commands could be counted */
};

/* A run on the RTL that simulated an accelerator or a core. */
bool stats_timed(const struct run_job *job);

/* Members: a whole number; a sum over n inferences as a mean; null. */
void stats_count(cJSON *o, const char *name, uint64_t value);
void stats_mean(cJSON *o, const char *name, uint64_t sum, uint32_t n);

/* stats_model.c: the table of --energy into job->energy; what the commands of each layer do; the
 * members that are models: "clock", "time", "energy"; --accelergy's file. */
enum status stats_models(struct run_job *job, struct diag *d);
const struct actions *stats_actions(const struct run_job *job);
void stats_model(const struct stats *s, cJSON *o);
enum status stats_accelergy(const struct run_job *job, const char *path, struct diag *d);

/* stats_layers.c: "layers" and "groups"; the whole's utilisation. */
void stats_layers(const struct stats *s, cJSON *o);
double stats_utilisation(const struct stats *s);
/* The scheduler's and the targets' own estimates of all layers on accelerators. */
uint64_t stats_estimate(const struct stats *s);
/* Cycles of all layers and inferences: measured, and of targets that have none the estimate. */
uint64_t stats_likely(const struct stats *s);

#endif
