/* attrs.h - knobs of external targets: attributes that target.json names in "knobs". They are
 * measured on the target's own Verilog; nothing estimates them. */
#ifndef HEDDLE_TUNE_ATTRS_H
#define HEDDLE_TUNE_ATTRS_H

#include "app/options/options.h"

/* One knob: a value from low to high (bool 0 or 1, choice: index). */
struct tune_attr {
    uint32_t target, attr; /* index into the target list, into its attributes */
    const char *owner, *name;
    int64_t low, high;
};

struct tune_attrs {
    uint32_t n;
    struct tune_attr *at;
};

/* Knobs of the targets that have operators of the network and a core to measure them on. */
struct tune_attrs tune_attrs_of(const struct pipeline *p);
/* The current values by index, in p->arena. */
int64_t *tune_attrs_values(const struct pipeline *p, const struct tune_attrs *attrs);
/* p->targets with these values; what they were belongs to others and stays. */
void tune_attrs_set(struct pipeline *p, const struct tune_attrs *attrs, const int64_t *value);
/* Propose values for a trial that differ from `n` known ones: known[i] by index. `random` in and
 * out. False: all proposals were known. */
bool tune_attrs_propose(const struct tune_attrs *attrs, const int64_t *const *known, uint32_t n,
                        uint64_t *random, int64_t *value);

/* The proposals of the targets' own native code (heddle_target.h) for trial `number`, into `value`;
 * *any: there was one. known and cycles: of the `n` trials measured. ST_USAGE: a value that the
 * knob cannot have. */
enum status tune_attrs_ask(const struct pipeline *p, const struct tune_attrs *attrs,
                           uint32_t number, const int64_t *const *known, const uint64_t *cycles,
                           uint32_t n, int64_t *value, bool *any, struct diag *d);
/* Return true if `value` is none of the `n` known ones. */
bool tune_attrs_new(const struct tune_attrs *attrs, const int64_t *const *known, uint32_t n,
                    const int64_t *value);

#endif
