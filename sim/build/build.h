/* build.h - from RTL and a configuration to a shared object with the table of hd_sim.h.
 * The object lives in <cache>/<hash>/; the hash covers every file and flag that goes in, so that a
 * stale model cannot be found, and a model that is there is used as it is, in milliseconds. */
#ifndef HEDDLE_SIM_BUILD_H
#define HEDDLE_SIM_BUILD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/output.h"
#include "base/status.h"
#include "hw/gen/config.h"
#include "sim/ports/sim_core.h"

struct sim_paths {
    const char *home;  /* heddle's files (home.h): hw/accel.json, hw/rtl, sim */
    const char *cache; /* where models are kept (home.h) */
    const char
        *rtl; /* NULL: home/hw/rtl. Else a folder of .sv, .svh and .v files with a module hd_top */
    const struct sim_core *core; /* NULL: the accelerator of hw/ */
    const char
        *cpu; /* NULL, or the Verilog of the processor (sim/cpu), in place of an accelerator */
    const struct output *output; /* or NULL: informed while a model is built */
    bool checked;     /* with the RTL's assertions: a failing one stops the run. Slower. */
    const char *why;  /* NULL, or a note gives this reason why a model is built now */
    uint32_t seconds; /* 0, or what each of its two steps may take, else ST_INTERNAL */
    bool waves;       /* trace_start works; a model of its own, slower to build and to run */
};

struct sim_model {
    const char *path;        /* of the shared object */
    const char *folder;      /* that it is in, with its sources and build.log */
    const char *source_hash; /* 32 hex digits, what the object must state */
    bool built;              /* now, rather than found */
};

/* Find or build the model of `config`. Tools: $HEDDLE_VERILATOR or verilator, $HEDDLE_CXX or g++,
 * make. ST_INTERNAL with the command and its first error lines when one of them fails or is
 * missing; ST_NO_MEMORY when the disk is full; ST_INTERRUPTED after Ctrl-C. */
enum status sim_build(struct arena *a, const struct sim_paths *paths,
                      const struct hd_config *config, struct sim_model *model, struct diag *d);

struct ports;
/* Find what the ports of `paths->core` are (ports/ports.h), and check nothing. ST_INTERNAL with Verilator's first error
 * lines. */
enum status sim_ports(struct arena *a, const struct sim_paths *paths,
                      const struct hd_config *config, struct ports *ports, struct diag *d);

#endif
