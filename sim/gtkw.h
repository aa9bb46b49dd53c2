/* gtkw.h - the save file that opens a model's waves in GTKWave: a group per unit with layer,
 * operation, tile, activity, command and completion; the buses; a marker where each layer starts.
 * All paths are ports and scopes of hd_sim_top.sv, which every model has. */
#ifndef HEDDLE_SIM_GTKW_H
#define HEDDLE_SIM_GTKW_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "sim/hd_sim.h"

/* The start of a layer. */
struct gtkw_marker {
    const char *name;
    uint64_t cycle; /* since open */
};

/* Add one marker per layer at the start of its first command, in time order. commands, doorbell: of
 * one submission (hd_sim_api.commands, hd_sim_totals.doorbell). Adds to `markers` (room for
 * n_layers more); *n is their number. */
void gtkw_layers(const struct hd_sim_command *commands, uint32_t n_commands, uint64_t doorbell,
                 const char *const *layer_names, uint32_t n_layers, struct gtkw_marker *markers,
                 uint32_t *n);

/* Write `path` for the waves in `fst`. GTKWave has 26 markers; more layers get none. last_cycle:
 * end of the view, since open; first_cycle: its beginning. */
enum status gtkw_write(struct arena *a, const char *path, const char *fst, bool host,
                       const struct gtkw_marker *markers, uint32_t n_markers, uint64_t first_cycle,
                       uint64_t last_cycle, struct diag *d);

/* The same for a target's core: the ports of module `top`, one per line in the file `ports`, and a marker at the start of
 * each call. */
enum status gtkw_core(struct arena *a, const char *path, const char *fst, const char *top,
                      const char *ports, const struct gtkw_marker *markers, uint32_t n_markers,
                      struct diag *d);

#endif
