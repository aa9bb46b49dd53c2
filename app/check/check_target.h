/* check_target.h - "heddle check-target DIR": check a target against its target.json. in: a folder
 * with target.json. out: a line for each check; ST_MISMATCH when one fails, with the pattern, the
 * sizes and the byte. Checked: the file against the schema; attributes at and beyond their limits;
 * every pattern with random sizes, scales and edges against the reference kernels, at every limit
 * of every attribute, between guard pages, with sanitizers; a target's core on its Verilated model,
 * whose memory is separate. */
#ifndef HEDDLE_CHECK_H
#define HEDDLE_CHECK_H

#include "app/options/options.h"

enum status check_target(struct arena *a, const struct options *o, struct diag *d);

/* cases.c: operators that a pattern accepts. */
#include "compiler/target/describe.h"

#define CHECK_CASES 24 /* of each pattern, usual sizes */

struct check_case {
    enum ir_type dtype;
    double tolerance;
    int end;           /* 1: inputs near their greatest value, -1: near their least, 0: any */
    const char *words; /* "conv2d 5x4x3 -> 3x2x8, kernel 3x3, ..." */
    uint32_t pattern;  /* its number, UINT32_MAX: a composite, a chain */
    double amount[COST_TERMS], estimate, measured; /* cycles on the core, where it was run */
};

struct check_cases {
    struct arena *arena;
    struct ir_graph *graph; /* one operator per row, each with separate input and output */
    uint32_t n;
    struct check_case item[CHECK_CASES * 96];
    uint64_t rng; /* splitmix64 */
};

/* The values of a pattern's cases: the least and the greatest of each. */
struct check_reach {
    uint32_t n;
    int64_t low[TARGET_VALUE_COUNT], high[TARGET_VALUE_COUNT];
};

uint32_t check_random(struct check_cases *c,
                      uint32_t n);              /* Return a random number in 0 .. n - 1. */
float check_random_real(struct check_cases *c); /* -1 .. 1 */

/* Add CHECK_CASES operators that `p` of `target` accepts; *n_added: how many were found; *why: the
 * last refusal. False: no generator exists for this operator. */
bool check_add_cases(struct check_cases *c, const struct target *target,
                     const struct describe_pattern *p, const struct hd_config *hw,
                     uint32_t *n_added, const char **why, struct check_reach *r);
/* Add operators that reach for each of the pattern's values: to the end of its limit, and anywhere in it. */
void check_add_reach(struct check_cases *c, const struct target *target,
                     const struct describe_pattern *p, const struct hd_config *hw,
                     struct check_reach *r);
/* Count an operator's values (reach.c). */
void check_note_reach(struct check_reach *r, const struct target_values *v);
/* Return "depth up to 468 of 3136, ...": limits whose end no case comes to, a sixteenth off for bytes and other
 * products; NULL: none. */
const char *check_short_text(struct arena *a, const struct target *target,
                             const struct describe_pattern *p, const struct check_reach *r);
/* Return "in_h 1..181, ...": those that differ. */
const char *check_reach_text(struct arena *a, const struct check_reach *r);
/* Add chains of operators for a target that takes whole regions (composite_cases.c). */
void check_add_chains(struct check_cases *c, const struct target *target,
                      const struct hd_config *hw, uint32_t *n_added, const char **why);
/* The same for a composite (composite_cases.c). */
bool check_add_composites(struct check_cases *c, const struct target *target,
                          const struct describe_composite *p, const struct hd_config *hw,
                          uint32_t *n_added, const char **why);

#endif
