/* core_targets.h - Verilated cores of external targets: built in the parent, opened in the child,
 * reached by emitted code through struct hd_call's ports. */
#ifndef HEDDLE_RUN_CORES_H
#define HEDDLE_RUN_CORES_H

#include "driver/hd_port.h"
#include "run.h"
#include "sim/load.h"

struct core {
    const char *name;        /* of the target, for messages */
    struct sim_core verilog; /* where it is */
    uint32_t memory_bytes;
    struct sim_model so;
    struct sim_port sim;
    struct hd_port port;
    struct hd_sim_totals seen; /* when its cycles were last asked for */
};

struct cores {
    uint32_t n;
    struct core core[TARGET_MAX];
    const struct hd_port *port[TARGET_MAX];
};

/* The cores that the emitted code uses, in the order of its ports. */
void cores_of_targets(const struct run_job *job, struct cores *c);
/* Find or build their models. */
enum status cores_build(const struct run_job *job, struct cores *c, struct diag *d);
/* A core of its own memory each; a second open gives new ones. */
enum status cores_open(struct cores *c, struct arena *a, const struct options *o, struct diag *d);
/* Random stalls go on as those of `seed` (struct hd_sim_api). */
void cores_seed(struct cores *c, uint64_t seed);
void cores_close(struct cores *c);
/* What they did since this was last asked: added to the row and to the sums. */
void cores_collect(struct cores *c, struct run_shared *shared, uint32_t row);
/* Why one of them stopped, as text; "" if none did. */
const char *cores_detail(struct cores *c);
/* True if rows of target `name` take simulated time. */
bool cores_timed(const struct run_job *job, const char *name);

#endif
