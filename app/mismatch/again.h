/* again.h - repeat the first wrong inference on one engine in this process while its writes or
 * waves are recorded. The engine's answer is ignored. */
#ifndef HEDDLE_MISMATCH_AGAIN_H
#define HEDDLE_MISMATCH_AGAIN_H

#include "app/engine/runner.h"
#include "app/job/job.h"

struct again {
    const struct job *job;
    struct core_targets *cores; /* as in struct run_measured */
    uint32_t inference;         /* the first wrong inference */
    enum options_engine engine;
    const char *so;              /* the emitted object */
    const struct sim_model *sim; /* model of each accelerator, for rtl */
    void (*commits)(void *ctx, const struct hd_sim_commit *commit);
    void *commits_ctx;
    /* Called before submission `index` of the inference on p->v[k]; its first command belongs to
     * `layer`. */
    void (*submission)(void *ctx, struct runner *p, uint32_t k, uint32_t index, uint32_t layer);
    /* Called before each host call and submission of the inference, or NULL. */
    void (*step)(void *ctx, struct runner *p, uint32_t layer);
    /* Called after the inference, before the engine is closed; or NULL. */
    void (*end)(void *ctx, struct runner *p);
    void *ctx;
};

/* Run the inference again. A network with state runs all inferences up to the wrong one; only the
 * last is watched. Stalls are those of the run. */
enum status again_run(const struct again *again, struct diag *d);

#endif
