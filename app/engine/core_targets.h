/* core_targets.h - Verilated cores of external targets: built in the parent, opened in the child,
 * reached by emitted code through struct hd_call's ports. */
#ifndef HEDDLE_ENGINE_CORE_TARGETS_H
#define HEDDLE_ENGINE_CORE_TARGETS_H

#include "app/job/shared.h"
#include "compiler/target/describe.h"
#include "driver/hd_port.h"
#include "sim/load.h"

struct core {
    const char *name;        /* name of the target, for messages */
    struct sim_core verilog; /* where it is */
    uint32_t memory_bytes, n_unit;
    const char *array[HDK_MEMORIES]; /* of a described device: of each memory; NULL: unknown */
    bool copies_uncounted;           /* a memory of its own, and no estimate of the copies */
    bool on_host;                    /* a unit of custom instructions: its work is the host's */
    struct sim_model so;
    struct hd_sim_options opened; /* as it was opened */
    struct sim_port sim;
    struct hd_port port;
    struct hd_sim_bus_fault fault; /* --bus-fault */
    struct hd_sim_totals seen;     /* totals at the last call of core_targets_collect */
};

struct core_targets {
    uint32_t n;
    struct core core[TARGET_MAX];
    const struct hd_port *port[TARGET_MAX];
    const struct output *output; /* of the options it was opened with */
};

/* Ports of a netlist with mutants: the number of the one in it, and whether that changes its bit now. */
#define CORE_MUTANT_PORT "hd_mutant"
#define CORE_EFFECT_PORT "hd_effect"

/* Describe the core of a target. */
void core_targets_verilog(struct arena *a, const struct target *target, struct core *core);
/* List the cores that the emitted code uses, in the order of its ports. */
void core_targets_find(const struct job *job, struct core_targets *c);
/* Convert "ports" of a core for sim/. */
void core_targets_declare(struct arena *a, const struct describe_ports *ports,
                          struct sim_core *core);
/* Find or build their models. */
enum status core_targets_build(const struct job *job, struct core_targets *c, struct diag *d);
/* Open the cores, each with its own memory; a second call opens new ones. */
enum status core_targets_open(struct core_targets *c, struct arena *a, const struct options *o,
                              struct diag *d);
/* Power the open cores up again, with start values, noise and stalls from `seed`. */
enum status core_targets_restart(struct core_targets *c, uint64_t seed, struct diag *d);
/* Add a note for each open core whose port cannot honour the given memory options, and for each one to
 * which copies take no time. */
void core_targets_note(const struct core_targets *c, const struct options *o);
/* Continue random stalls from `seed` (struct hd_sim_api). */
void core_targets_seed(struct core_targets *c, uint64_t seed);
void core_targets_close(struct core_targets *c);
/* Add the cores' work since the last call to the row and to the sums. */
void core_targets_collect(struct core_targets *c, struct run_shared *shared, uint32_t row);
/* Return the external target whose code executes an operator of the row; NULL: none. */
const struct target *core_targets_outside(const struct job *job, uint32_t row);
/* Return the reason why a core stopped, as text; "" if none did. */
const char *core_targets_detail(const struct core_targets *c);
/* Return true if rows of target `name` take simulated time. */
bool core_targets_timed(const struct job *job, const char *name);

#endif
