/* target.h - the interface of all targets, among which a graph is partitioned.
 * `systolic` and `c` (the host) are built in; every folder with a target.json (describe.h) is one
 * more, with the same functions. A target states whether it takes an operator, and if not, which
 * rule failed with which value; and what the operator would cost. */
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
    int64_t number;   /* int; bool 0 or 1; index of the choice; 0 for a string */
};

struct target;

/* The memory of the command line, --mem-latency and --mem-bytes: cycles to the first beat of a
 * read; bytes a cycle, 0: the AXI width. */
struct target_memory {
    uint32_t latency, bytes;
};

/* Estimated cycles of an operator. */
struct target_cost {
    double cycles; /* its operands at hand, in a submission that has begun */
    double alone;  /* brought in and out, if it is the only one there */
    double start;  /* of the submission, if it is the first there */
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

/* Operators that a target takes together: one call in the place of the last. */
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
        *why; /* by position: why it is in none, NULL: as it is; NULL: all as they are */
};

/* A kind of target, as built in or as its folder describes it. */
struct target_desc {
    const char *name, *version, *help;
    const char *origin; /* "built in", or the folder of target.json */
    bool outside;       /* described by a target.json: what it brings is not heddle's own */
    bool accelerator;   /* its operators form regions: one submission of commands each */
    bool own_memory;    /* it works on copies; `transfer` counts them */
    uint32_t n_attr;
    const struct target_attr *attr;
    uint32_t n_knob;
    const char *const *knob; /* attributes that tuning may vary */
    /* NULL if it takes the operator; else the rule that failed, as text. */
    const char *(*refusal)(const struct target_question *q);
    /* The cost of an operator that it takes. */
    struct target_cost (*cost)(const struct target_question *q);
    /* Estimated cycles to bring `n_bytes` of one tensor in from, or out to, the host. */
    double (*transfer)(const struct target *t, const struct hd_config *hw,
                       const struct target_memory *m, uint64_t n_bytes);
    /* Operators that it takes several of in one call, among those that `closed` (by position)
     * leaves; NULL: none. Groups of a target share no operator. */
    struct target_groups (*groups)(const struct target_question *q, const bool *closed);
    const struct describe *detail; /* describe.h; NULL for the built-in ones */
};

/* A target that a run selects: its own name and settings. */
struct target {
    const struct target_desc *desc;
    const char *name;                     /* desc->name, or B of --target=A:B */
    const struct target_setting *setting; /* by attribute */
    const struct hd_config *hw;           /* an accelerator's own; NULL: that of the run */
};

/* The attribute of an accelerator that names its configuration: --target-NAME-hw. */
#define TARGET_ATTR_HW "hw"

extern const struct target_desc target_systolic_desc, target_host_desc;
extern const struct target target_systolic, target_host_c;

/* processor.c: a Cortex-M's -mcpu, a RISC-V's -march, as the package's toolchain files take them;
 * the first is "any". */
extern const char *const processor_cortex_m[], *const processor_riscv[];

/* The configuration of `t` in a run with --hw of `hw`. */
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

/* processor.c. ST_USAGE: more than one processor is named. */
enum status processor_check(struct arena *a, const struct target_list *list, struct diag *d);
/* The package's bare/toolchain.cmake, of --target-NAME-mcpu or -march; NULL: any processor. */
const char *processor_toolchain(struct arena *a, const struct target_list *list);

/* Check `text` as a value of `attr`. ST_USAGE: "`option`: found 'x', expected ...". */
enum status target_set(struct arena *a, const struct target_attr *attr, const char *option,
                       const char *text, struct target_setting *setting, struct diag *d);

#endif
