/* watcher.h - follow the calls of an inference. */
#ifndef HEDDLE_ENGINE_WATCHER_H
#define HEDDLE_ENGINE_WATCHER_H

#include "app/job/shared.h"

struct runner;

/* Functions that a process of the run calls with ctx. */
struct watcher {
    void *ctx;
    /* The commands of p's accelerators are executed from now on; `shared` receives results. */
    void (*attach)(void *ctx, struct runner *p, struct run_shared *shared);
    /* Called when inference k begins, when the emitted run() enters a host call or submission, and
     * when the inference ends. */
    enum status (*begin)(void *ctx, uint32_t k, struct diag *d);
    void (*enter)(void *ctx, uint32_t submission);
    void (*end)(void *ctx);
};

#endif
