/* reuse.h - a simulator that simulates no submission twice: a table like the model's (hd_sim_api),
 * in its place. Each submission is executed by the functional model. Its cycles, counters and times
 * come from a record of the store (measured.h) if there is one. Otherwise the RTL runs it, and its
 * bytes are compared: those of memory, and those of the accelerator's own memories. A record is
 * written if they are equal. If they differ, or the RTL stops, this submission and all later ones
 * are the RTL's alone, so that a run reports what it would without a store.
 *
 * Several processes with `fill` share the work: each simulates the submissions that no other one
 * does, in their order. They see no cycles of those that are left out.
 *
 * While waves are written, the RTL runs the submissions that have some. With REUSE_WAVES it runs
 * only these, and no store is used: waves begin at the cut before them. A driver that polls
 * (HD_WAIT_POLL), random stalls and faults of the bus are not supported. */
#ifndef HEDDLE_SIM_REUSE_REUSE_H
#define HEDDLE_SIM_REUSE_REUSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "hw/gen/config.h"
#include "sim/hd_sim.h"

/* SAME: a record is that of the same bytes too: memory, and the accelerator's memories. CYCLES: of
 * the same commands with any data. CHECK: like CYCLES, but the first record and one in 20 are
 * simulated again and compared. WAVES: only submissions with waves are simulated; the others have
 * bytes and no cycles. */
enum reuse_mode { REUSE_OFF, REUSE_SAME, REUSE_CYCLES, REUSE_CHECK, REUSE_WAVES };

struct reuse_setup {
    enum reuse_mode mode;
    bool fill; /* make records only: submissions that another process simulates are left to it */
    const char *store; /* folder of the records; made if missing; NULL for REUSE_WAVES */
    const struct hd_config *hw;
    const struct hd_sim_api *api; /* of the model */
    const char *source_hash;      /* of the model without waves, which has the same cycles */
    const struct hd_sim_options *options; /* of the model; stall_seed 0 */
};

struct reuse_counts {
    uint32_t submissions, stored; /* stored: with cycles from the store */
    uint32_t filled;  /* of them, those that a process with `fill` simulated in the same run */
    uint32_t skipped; /* of submissions: without cycles (REUSE_WAVES, fill) */
    uint32_t off;     /* records that were simulated again and had other cycles */
};

struct reuse;

/* Open it. Its memory is that of the options. ST_INTERNAL: the functional model does not have this
 * configuration. */
enum status reuse_open(struct arena *a, const struct reuse_setup *s, struct reuse **out,
                       struct diag *d);
/* Return the table, and the simulator for its functions. */
const struct hd_sim_api *reuse_api(const struct reuse *r);
struct hd_sim *reuse_sim(struct reuse *r);
struct reuse_counts reuse_counts(const struct reuse *r);

#endif
