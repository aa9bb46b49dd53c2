/* area.h - area of a configuration: multipliers and bits of memory from its sizes; LUTs as `make
 * synth` has counted them (hw/area.csv), otherwise by the model (hw/model.csv), as all else. */
#ifndef HEDDLE_STATS_AREA_H
#define HEDDLE_STATS_AREA_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "hw/gen/area_model.h"

struct area {
    double multipliers; /* of the array: products per cycle */
    double memory_bits; /* scratchpad, weights, parameters, accumulators, look-up tables */
    double lut4;        /* on an ECP5; -1: there is no array */
    bool counted;       /* lut4 is; otherwise it is the model's */
};

/* Compute the area. ST_USAGE: hw/area.csv or hw/model.csv has a malformed line. */
enum status area_of(struct arena *a, const struct hd_config *c, struct area *area, struct diag *d);
/* Compute the model alone, by unit. */
enum status area_model_of(struct arena *a, const struct hd_config *c, struct area_model *m,
                          struct diag *d);
/* Return "counted" or "model". */
const char *area_origin(const struct area *area);

#endif
