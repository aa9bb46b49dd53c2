/* area_model.h - what a configuration takes on an ECP5, and how fast it is, by the formulas of
 * hw/model.csv, which hw/model.py fits to syntheses. docs/AREA.md, "A model". */
#ifndef HEDDLE_HW_GEN_AREA_MODEL_H
#define HEDDLE_HW_GEN_AREA_MODEL_H

#include "base/status.h"
#include "config.h"

/* The resources, in the order of hw/units.csv. */
enum area_resource {
    AREA_LUT4,
    AREA_CARRY, /* CCU2C, two LUTs each */
    AREA_FLIP_FLOPS,
    AREA_MULT18X18D,
    AREA_DP16KD,  /* block RAM of 18 kbit */
    AREA_DPR16X4, /* 64 bits in LUTs */
    AREA_RESOURCES
};

extern const char *const area_resources[AREA_RESOURCES]; /* "lut4", ... */

enum { AREA_UNITS = 24, AREA_NAME = 24 };

struct area_unit {
    char name[AREA_NAME];
    double count[AREA_RESOURCES];
};

struct area_model {
    struct area_unit unit[AREA_UNITS]; /* in the file's order */
    uint32_t n;
    double whole[AREA_RESOURCES];
    double mhz; /* 0: the file states no period */
};

/* Compute the model of `c` from `text`, hw/model.csv. `where` names the file. ST_USAGE: a line is
 * malformed. */
enum status area_model(const char *text, const char *where, const struct hd_config *c,
                       struct area_model *m, struct diag *d);

/* Return the DP16KD that a memory of `depth` words of `width` bits takes, whose `lanes` are written
 * apart (1: the word at once); 0: it is so small that it is in LUTs. */
uint32_t area_blocks(uint32_t width, uint32_t depth, uint32_t lanes);

#endif
