/* target.h - the one door: what a graph is partitioned among.
 * A target says whether it takes an operator, and if not, which rule failed with which value. `c`,
 * the host, takes everything that the reference and the kernels know and always stands last. */
#ifndef HEDDLE_TARGET_H
#define HEDDLE_TARGET_H

#include "../../hw/gen/config.h"
#include "../ir/ir.h"

struct target {
    const char *name;
    const char *help;
    bool accelerator; /* its operators form regions, one submission each */
    /* NULL if it takes `op`; else the rule that failed, in words, in `a`. */
    const char *(*refusal)(struct arena *a, const struct ir_graph *g, const struct ir_op *op,
                           const struct hd_config *hw);
};

extern const struct target target_systolic, target_host_c;

/* All targets heddle knows, NULL-terminated. */
const struct target *const *target_all(void);
const struct target *target_find(const char *name);

/* The targets of a run, in the order named; the host is added last. */
#define TARGET_MAX 8
struct target_list {
    uint32_t n;
    const struct target *target[TARGET_MAX];
};
/* "systolic,c". ST_USAGE names an unknown target and those that exist. */
enum status target_parse(const char *names, struct target_list *list, struct diag *d);

#endif
