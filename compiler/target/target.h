/* target.h - the interface of all targets among which a graph is partitioned. `systolic` and `c`
 * (the host) are built in; every folder with a target.json (describe.h) adds one with the same
 * functions. A target decides whether it accepts an operator, names the failed rule and its value
 * if not, and states the operator's cost. */
#ifndef HEDDLE_COMPILER_TARGET_TARGET_H
#define HEDDLE_COMPILER_TARGET_TARGET_H

#include "compiler/ir/ir.h"
#include "hw/gen/config.h"

enum target_attr_type { TARGET_INT, TARGET_BOOL, TARGET_CHOICE, TARGET_STRING };

/* An option of a target: --target-NAME-ATTR=VALUE. */
struct target_attr {
    const char *name;
    const char *help;
    enum target_attr_type type;
    const char *fallback;      /* the default, as text */
    int64_t low, high;         /* TARGET_INT */
    const char *const *choice; /* TARGET_CHOICE: words, NULL-terminated */
};

/* The value of an attribute. */
struct target_setting {
    const char *text; /* as written */
    int64_t number;   /* int; bool as 0 or 1; index of the choice; 0 for a string */
};

struct target;

/* The memory of the command line, from --mem-latency and --mem-bytes: cycles to the first beat of a
 * read; bytes per cycle, 0: the AXI width. */
struct target_memory {
    uint32_t latency, bytes;
};

/* Estimated cycles of an operator. */
struct target_cost {
    double cycles; /* with its operands present, in a submission that has begun */
    double alone;  /* including transfers in and out, if it is alone there */
    double start;  /* cycles to start the submission, if it is the first there */
};

/* A question: whether `op` of the legalised `graph` may run on `target`. */
struct target_question {
    struct arena *arena; /* answers live here */
    const struct ir_graph *graph;
    const struct ir_op *op;
    const struct target *target;
    const struct hd_config *hw;
    struct target_memory memory;
};

/* Operators that a target executes together: one call at the position of the last. */
struct target_group {
    const char *name; /* of the composite */
    uint32_t n;
    const uint32_t *op; /* positions, upwards */
    double cycles;
};
struct target_groups {
    uint32_t n;
    const struct target_group *group;
    const char *const
        *why; /* by position: why it is in no group, NULL: no reason; NULL as a whole: no reasons */
};

/* A kind of target, built in or described by a folder. */
struct target_desc {
    const char *name, *version, *help;
    const char *origin; /* "built in", or the folder of target.json */
    bool outside;       /* described by a target.json: its code is not heddle's */
    bool accelerator;   /* its operators form regions: one submission of commands each */
    bool own_memory;    /* has its own memory: `transfer` counts the copies */
    uint32_t n_attr;
    const struct target_attr *attr;
    uint32_t n_knob;
    const char *const *knob; /* attributes that tuning may vary */
    /* Return NULL if the target accepts the operator, otherwise the failed rule as text. */
    const char *(*refusal)(const struct target_question *q);
    /* Return the cost of an operator that the target accepts. */
    struct target_cost (*cost)(const struct target_question *q);
    /* Return the estimated cycles to move `n_bytes` of one tensor between the host and the target. */
    double (*transfer)(const struct target *t, const struct hd_config *hw,
                       const struct target_memory *m, uint64_t n_bytes);
    /* Return groups of operators that the target executes in one call, among those that `closed`
     * (by position) does not exclude; NULL: none. Groups of a target share no operator. */
    struct target_groups (*groups)(const struct target_question *q, const bool *closed);
    const struct describe *detail; /* describe.h; NULL for built-in targets */
};

/* A target selected by a run, with its name and settings. */
struct target {
    const struct target_desc *desc;
    const char *name;                     /* desc->name, or B of --target=A:B */
    const struct target_setting *setting; /* by attribute */
    const struct hd_config *hw; /* an accelerator's configuration; NULL: that of the run */
};

/* The attribute of an accelerator that selects its configuration: --target-NAME-hw. */
#define TARGET_ATTR_HW "hw"

extern const struct target_desc target_systolic_desc, target_host_desc;
extern const struct target target_systolic, target_host_c;

/* processor.c: values of -mcpu for Cortex-M and of -march for RISC-V in the package's toolchain
 * files; the first is "any". */
extern const char *const processor_cortex_m[], *const processor_riscv[];

/* Return the configuration of `t` in a run whose --hw is `hw`. */
static inline const struct hd_config *target_hw(const struct target *t, const struct hd_config *hw)
{
    return t->hw ? t->hw : hw;
}

/* The targets of a run, in the order named; the host is added last. */
#define TARGET_MAX 8
struct target_list {
    uint32_t n;
    const struct target *target[TARGET_MAX];
};

/* A target's cycles as a ratio: `own` of them are `report` cycles of the reports. */
struct target_clock {
    uint32_t own, report;
};

/* select.c: return the configuration in whose clock reports count cycles: that of the slowest
 * accelerator; `hw` without one. */
const struct hd_config *target_report_clock(const struct target_list *list,
                                            const struct hd_config *hw);
/* Return the ratio of the clock of `t` to it, {1, 1} unless its target.json has "clock_mhz". */
struct target_clock target_clock(const struct target *t, const struct target_list *list,
                                 const struct hd_config *hw);
/* Convert cycles of `t` to those of the reports. */
double target_report_cycles(const struct target *t, const struct target_list *list,
                            const struct hd_config *hw, double cycles);

/* processor.c: check the processors. ST_USAGE: more than one is named. */
enum status processor_check(struct arena *a, const struct target_list *list, struct diag *d);
/* Return the package's bare/toolchain.cmake for --target-NAME-mcpu or -march; NULL: any
 * processor. */
const char *processor_toolchain(struct arena *a, const struct target_list *list);

/* Check `text` as a value of `attr`. ST_USAGE: "`option`: found 'x', expected ...". */
enum status target_set(struct arena *a, const struct target_attr *attr, const char *option,
                       const char *text, struct target_setting *setting, struct diag *d);

#endif
