/* restore.h - give an accelerator the memories of the functional model, by a submission of LOAD and
 * WEIGHT commands. Nothing of the RTL is bypassed. */
#ifndef HEDDLE_SIM_REUSE_RESTORE_H
#define HEDDLE_SIM_REUSE_RESTORE_H

#include "base/status.h"
#include "sim/functional/hd_func.h"
#include "sim/hd_sim.h"

/* Bytes of memory that restore_run needs for `f`. */
uint64_t restore_bytes(const struct hd_func *f);
/* Run it. room: restore_bytes at bus address `base`, a multiple of 64. All regions of the device
 * are bound anew after that. ST_DEVICE: it fails, or does not end. */
enum status restore_run(const struct hd_func *f, const struct hd_sim_api *api, struct hd_sim *sim,
                        uint8_t *room, uint64_t base, struct diag *d);

#endif
