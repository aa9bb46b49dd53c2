/* stats_member.c - write members of a stats file; see stats.h. */

#include "stats_member.h"
#include "app/engine/core_targets.h"
#include <stdio.h>

bool stats_timed(const struct job *job, const struct run_measured *m)
{
    return job->options->engine == ENGINE_RTL && job->p->program &&
           !(m->shared && m->shared->reuse.skipped) &&
           (job->p->program->n_stream > 0 || (m->cores && m->cores->n > 0));
}

void stats_count(cJSON *o, const char *name, uint64_t value)
{
    char text[40];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    cJSON_AddRawToObject(o, name, text);
}

void stats_mean(cJSON *o, const char *name, uint64_t sum, uint32_t n)
{
    if (n && sum % n == 0)
        stats_count(o, name, sum / n);
    else
        cJSON_AddNumberToObject(o, name, n ? (double)sum / n : 0);
}
