/* area.h - area of a configuration: multipliers and bits of memory from its sizes, LUTs if `make
 * synth` has counted them (hw/area.csv). */
#ifndef HEDDLE_STATS_AREA_H
#define HEDDLE_STATS_AREA_H

#include "base/arena.h"
#include "base/status.h"
#include "hw/gen/config.h"

struct area {
    double multipliers; /* of the array: products per cycle */
    double memory_bits; /* scratchpad, weights, parameters, accumulators, look-up tables */
    double lut4;        /* on an ECP5; -1: not counted */
};

/* Compute the area. ST_USAGE: hw/area.csv has a malformed line. */
enum status area_of(struct arena *a, const struct hd_config *c, struct area *area, struct diag *d);

#endif
