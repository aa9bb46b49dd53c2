/* build.h - build a shared object with the table of hd_sim.h from RTL and a configuration. The
 * object is in <cache>/<hash>/. The hash covers every file and flag used, so that a stale model is
 * never found, and an existing model is found in milliseconds. */
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
        *rtl; /* NULL: home/hw/rtl. Otherwise a folder of .sv, .svh and .v files with a module
               * hd_top */
    const struct sim_core *core; /* NULL: the accelerator of hw/ */
    const char *cpu; /* NULL, or the Verilog of the processor (sim/cpu) instead of an accelerator */
    const struct output *output; /* receives messages while a model is built, or NULL */
    bool checked;                /* with the RTL's assertions: a failure stops the run. Slower. */
    const char *why;             /* NULL, or the reason why a model is built now, for a note */
    uint32_t seconds; /* 0, or the time limit of each of its two steps, beyond which ST_INTERNAL is
                       * returned */
    bool coverage;    /* of lines and of toggles, of a core (hd_sim_options) */
    bool waves; /* trace_start works; such a model is separate, and slower to build and to run */
};

struct sim_model {
    const char *path;        /* path of the shared object */
    const char *folder;      /* its folder, with its sources and build.log */
    const char *source_hash; /* 32 hex digits, which the object must state */
    bool built;              /* built now, not found */
};

/* Find or build the model of `config`. Tools: $HEDDLE_VERILATOR or verilator, $HEDDLE_CXX or g++,
 * make. ST_INTERNAL with the command and its first error lines when one of them fails or is
 * missing; ST_NO_MEMORY when the disk is full; ST_INTERRUPTED after Ctrl-C. */
enum status sim_build(struct arena *a, const struct sim_paths *paths,
                      const struct hd_config *config, struct sim_model *model, struct diag *d);

struct ports;
/* Find the roles of the ports of `paths->core` (ports/ports.h) without checking them. ST_INTERNAL
 * with Verilator's first error lines. */
enum status sim_ports(struct arena *a, const struct sim_paths *paths,
                      const struct hd_config *config, struct ports *ports, struct diag *d);

#endif
