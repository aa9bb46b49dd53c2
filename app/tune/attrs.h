/* attrs.h - knobs of external targets: attributes that target.json lists in "knobs". They are
 * measured on the target's Verilog; there is no estimate. */
#ifndef HEDDLE_TUNE_ATTRS_H
#define HEDDLE_TUNE_ATTRS_H

#include "app/options/options.h"

/* One knob: a value from low to high (bool: 0 or 1, choice: index). */
struct tune_attr {
    uint32_t target, attr; /* index into the target list, and into its attributes */
    const char *owner, *name;
    int64_t low, high;
};

struct tune_attrs {
    uint32_t n;
    struct tune_attr *at;
};

/* Find the knobs of targets that have operators of the network and a core to measure them on. */
struct tune_attrs tune_attrs_of(const struct pipeline *p);
/* Return the current values by index, allocated in p->arena. */
int64_t *tune_attrs_values(const struct pipeline *p, const struct tune_attrs *attrs);
/* Set these values in a copy of p->targets; the original belongs to others and is unchanged. */
void tune_attrs_set(struct pipeline *p, const struct tune_attrs *attrs, const int64_t *value);
/* Propose values for a trial that differ from `n` known ones: known[i] by index. `random` is the
 * generator's state. False: all proposals were known. */
bool tune_attrs_propose(const struct tune_attrs *attrs, const int64_t *const *known, uint32_t n,
                        uint64_t *random, int64_t *value);

/* Ask the targets' native code (heddle_target.h) for values of trial `number`, into `value`; *any:
 * there was a proposal. known and cycles: of the `n` trials measured. ST_USAGE: a value out of the
 * knob's range. */
enum status tune_attrs_ask(const struct pipeline *p, const struct tune_attrs *attrs,
                           uint32_t number, const int64_t *const *known, const uint64_t *cycles,
                           uint32_t n, int64_t *value, bool *any, struct diag *d);
/* Return true if `value` differs from all `n` known ones. */
bool tune_attrs_new(const struct tune_attrs *attrs, const int64_t *const *known, uint32_t n,
                    const int64_t *value);

#endif
