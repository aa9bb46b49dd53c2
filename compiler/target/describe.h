/* describe.h - an external target: target.json in memory. targets/target.schema.json specifies its
 * members and their meaning; docs/TARGET.md is printed from it. A pattern holds its limits, its
 * cost and its call. */
#ifndef HEDDLE_COMPILER_TARGET_DESCRIBE_H
#define HEDDLE_COMPILER_TARGET_DESCRIBE_H

#include <cjson/cJSON.h>

#include "blocks.h"
#include "compiler/described/described.h"
#include "include/heddle_target.h"
#include "target.h"
#include "values.h"

/* A number in the file, or the attribute or operator value that supplies it. */
struct describe_bound {
    bool given;
    int64_t number;
    const struct target_attr *attr; /* NULL: `number` */
    enum target_value value;        /* TARGET_VALUE_COUNT: another one */
};

/* One member of "where". */
struct describe_limit {
    enum target_value value;
    struct describe_bound low, high, multiple;
    uint32_t n_one_of;
    const int64_t *one_of;
};

enum describe_bias { BIAS_OPTIONAL, BIAS_REQUIRED, BIAS_NONE };
enum describe_zero { ZERO_NONE, ZERO_ACTIVATIONS, ZERO_BOTH };
enum describe_requantise { REQUANTISE_MULTIPLIER, REQUANTISE_SHIFT_BITS, REQUANTISE_FLOAT };

struct describe_pattern {
    const char *name;
    enum ir_opcode opcode;
    enum describe_bias bias;
    uint32_t activations; /* bit IR_ACT_* */
    enum describe_zero zero_points;
    enum describe_requantise requantise;
    bool single_rounding, per_tensor;
    enum ir_type dtype; /* type of activations: IR_I8, IR_U8, IR_I16 (weights int8), IR_F32 */
    double tolerance; /* tolerance as a fraction of the output's range; 0: answers must be equal */
    bool hwio;        /* order of $w */
    uint32_t n_limit;
    const struct describe_limit *limit;
    double cost[COST_TERMS];
    const char *call;    /* NULL: built from the target's blocks or instructions */
    const char *scratch; /* expression for the call's scratch bytes (size.c); NULL: none */
    bool accumulate;     /* its call takes and gives sums: parts of the input channels */
    bool overlap;        /* its call is made in stages, those of two parts at once */
};

/* The dimensions of a cut (compiler/cut): those of the result, and the input channels. The batch of
 * fully_connected is its rows. */
enum describe_cut_dim { CUT_BATCH, CUT_ROWS, CUT_COLUMNS, CUT_CHANNELS, CUT_IN_CHANNELS, CUT_DIMS };

/* An operator that exceeds a pattern's limits, in parts that do not: one call each. */
struct describe_cut {
    const struct describe_pattern *pattern;
    const char *why; /* the limit that the whole exceeds */
    uint32_t all[CUT_DIMS], size[CUT_DIMS];
    uint32_t n_parts;
    double cycles; /* of all calls, copies and transfers beyond those of the whole */
    /* Offsets in the operator's scratch memory: copies of parts, sums, what the call wants. */
    uint32_t x_at[2], y_at[2], sums_at, own_at, n_bytes; /* y: of even and odd parts */
};

/* One operator of a composite: a pattern, and the edges that connect it to the others. */
struct describe_step {
    const char *name;
    struct describe_pattern pattern;
    bool broadcast;     /* true if operands may be smaller than the output */
    uint32_t n_in, out; /* edges */
    const uint32_t *in;
};

/* Several operators in one call. Steps are in an order in which they can be computed; the last step
 * makes the output, which no step reads. */
struct describe_composite {
    const char *name;
    uint32_t n_step;
    const struct describe_step *step;
    uint32_t n_edge;
    const char *const *edge;
    double tolerance, cost[COST_TERMS];
    const char *call;
};

struct describe_files {
    uint32_t n;
    const char *const *name; /* relative to the folder */
};

/* "ports" of a core: what the names of its ports do not state (sim/build/build.h has the same list). */
enum describe_port_kind {
    PORT_IS_CLOCK,
    PORT_IS_RESET_LOW,
    PORT_IS_RESET_HIGH,
    PORT_IS_IRQ_HIGH,
    PORT_IS_IRQ_LOW,
    PORT_IS_IRQ_RISING,
    PORT_IS_IRQ_FALLING,
    PORT_IS_REGISTERS,
    PORT_IS_NAMED,
    PORT_IS_CONSTANT,
};
struct describe_ports {
    uint32_t n;
    struct describe_port {
        enum describe_port_kind kind;
        const char *port, *as;
        uint64_t a, b;
    } * port;
};

#define PARAMETER_NUMBER UINT32_MAX
struct describe_parameter {
    const char *name;
    uint32_t attr; /* or PARAMETER_NUMBER */
    int64_t number;
};

struct describe {
    struct describe_files headers, sources, libraries;
    struct describe_files include_dirs, library_dirs; /* $NAME: an environment variable */
    uint32_t n_pattern;
    const struct describe_pattern *pattern;
    uint32_t n_composite;
    const struct describe_composite *composite;
    const char *region_call; /* the call for whole regions; NULL: operators, composites */
    double transfer_fixed, transfer_per_byte;
    uint32_t clock_mhz;   /* 0: the clock in which reports count */
    bool on_host;         /* its calls are work of the host processor */
    const char *core_top; /* NULL: the target has no Verilog */
    struct describe_files verilog, verilog_lists, verilog_includes; /* also $NAME/... */
    uint32_t n_parameter;
    const struct describe_parameter *parameter;
    struct describe_ports ports;
    const char *ports_json; /* NULL: none */
    uint32_t core_bytes;
    uint32_t n_counter; /* of the core */
    const struct describe_counter {
        const char *name, *port;
    } * counter;
    double macs_per_cycle;                 /* of the core; 0: not stated */
    const char *blocks;                    /* C name of its struct hdk_blocks_unit; NULL: none */
    struct blocks_unit blocks_unit;        /* memory_bytes: the core's */
    const struct described_device *device; /* of "instructions"; NULL: none */
    const char *estimator;                 /* program that returns verdicts and costs; NULL: none */
    const struct estimator_answers *answers; /* set while a graph is partitioned */
    const char *native_file;                 /* NULL: the target has no shared object */
    const struct heddle_target_api *native;  /* NULL until native_load */
};

/* Read DIR/target.json. ST_USAGE: the message has file, line, column and what was expected. */
enum status describe_read(struct arena *a, const char *dir, const struct target_desc **desc,
                          struct diag *d);

/* Read "ports" of a core. */
void describe_read_ports(struct arena *a, const cJSON *o, struct describe_ports *p);
/* Return the path of a core's file: in `folder`, or below $NAME/. */
enum status describe_path(struct arena *a, const char *folder, const char *name, const char **path,
                          struct diag *d);
/* Return NAME=VALUE of a Verilog parameter, with the settings of t. */
const char *describe_parameter_text(struct arena *a, const struct target *t,
                                    const struct describe_parameter *p);

/* Return the name of a type in target.json: int8, uint8, int16, float32. */
const char *describe_dtype(enum ir_type type);

/* match.c: return the first pattern that accepts the operator; NULL: *why lists the rules that
 * failed. */
const struct describe_pattern *describe_match(const struct target_question *q, const char **why);
/* Return the tolerance of a network whose operators run on several targets: the root of the sum of
 * squares, as independent roundings add up; 0: answers are equal. */
double describe_tolerance(struct arena *a, const struct ir_graph *g, const struct target_list *list,
                          const struct hd_config *hw);
/* Compute all values of an operator for pattern `p`: uint8 values are 0 to 255. */
void describe_values(const struct describe_pattern *p, const struct ir_graph *g,
                     const struct ir_op *op, struct target_values *v);
/* The same for a composite's step. */
const char *describe_step_refusal(const struct describe_step *s, const struct target_question *q);
/* Return true if the call has weights and sums, which the compiler passes as constants. */
bool describe_has_weights(enum ir_opcode opcode);
/* Return NULL if `p` accepts the operator, otherwise the reason. */
const char *describe_refusal(const struct describe_pattern *p, const struct target_question *q);
/* The pattern that the operator's target computes it by, whole or cut; NULL: none. */
const struct describe_pattern *describe_pattern_of(const struct target_question *q);
/* The device whose instructions compute the operator of q->target; NULL: none. */
const struct described_device *describe_device_of(const struct target_question *q);
/* pattern.c: plan an operator without a call, of the target's blocks or instructions: return NULL and set
 * *cycles, or return the rule that failed. */
const char *describe_plan(const struct target_question *q, double *cycles);
/* The cost of the operator by pattern `p`, and the bytes of scratch memory that its call wants. */
double describe_pattern_cost(const struct describe_pattern *p, const struct target_question *q);
uint32_t describe_pattern_scratch(const struct describe_pattern *p,
                                  const struct target_question *q);
/* Functions for struct target_desc. */
const char *describe_refuses(const struct target_question *q);
struct target_cost describe_cost(const struct target_question *q);
double describe_transfer(const struct target *t, const struct hd_config *hw,
                         const struct target_memory *m, uint64_t n_bytes);
/* Return the description of a target from a target.json; NULL for others. */
static inline const struct describe *describe_of(const struct target *t)
{
    return t->desc->detail;
}

/* estimator.c: the program that "estimator" names; operators of such a target are computed by the
 * host's kernels. Call estimator_ask before a graph is partitioned, with the numbers of the
 * operators that patterns accept ("0,1,5"), and estimator_forget after it; in between, questions
 * about operators of that graph use the answers. Without an estimator, or without a call: NULL, 0.
 * ST_USAGE: the program reported that something is missing. */
enum status estimator_ask(struct arena *a, const struct target *t, const struct ir_graph *g,
                          const char *list, struct diag *d);
void estimator_forget(const struct target *t);
const char *estimator_refusal(const struct target_question *q);
double estimator_cost(const struct target_question *q);
/* Return the target's name in reports: its name, or "NAME (not simulated)" with an estimator. */
const char *describe_label(struct arena *a, const struct target *t);

/* native.c: the shared object that "native" names. native_load is called for selected targets; its
 * answers then follow those of the patterns. Without a shared object: accepted, -1, the pattern's
 * call. */
enum status native_load(struct arena *a, const struct target_desc *desc, bool allow,
                        struct diag *d);
const char *native_refusal(const struct describe_pattern *p, const struct target_question *q);
double native_cost(const struct describe_pattern *p, const struct target_question *q);
const char *native_call(const struct describe_pattern *p, const struct target_question *q);
/* native_tune.c: return true if its `tune` proposes knobs; `value` then holds n_knobs values of
 * *about. *about has a question for each operator of target index `target`. */
bool native_tune(const struct target_question *q, uint32_t target, struct heddle_tuning *about,
                 int64_t *value);

#define COMPOSITE_STEPS 16 /* maximum steps of a composite */
#define COMPOSITE_EDGES 48

/* Where a composite is in a graph: by step the operator's position and whether its two operands are
 * exchanged, by edge the tensor. */
struct composite_match {
    uint32_t op[COMPOSITE_STEPS];
    bool swapped[COMPOSITE_STEPS];
    uint32_t tensor[COMPOSITE_EDGES];
};
/* composite.c: return NULL if the operator of `q` is the last step of `c`, otherwise the edge or
 * rule that failed; "" if it is a different operator. */
const char *composite_refusal(const struct describe_composite *c, const struct target_question *q,
                              struct composite_match *m);
/* Return the composite whose call includes the operator of `q` after the partition; NULL: none. */
const struct describe_composite *composite_of(const struct target_question *q,
                                              struct composite_match *m);
/* Return the operator of a step with the step's operand order: its two operands exchanged if
 * necessary. */
struct ir_op composite_op(const struct ir_graph *g, const struct composite_match *m, uint32_t step);
/* The words of a region's call, as edges: REGION_*. */
enum { REGION_BLOB, REGION_BYTES, REGION_INPUTS, REGION_OUTPUTS };
extern const struct describe_composite describe_region_words;
struct target_groups composite_groups(const struct target_question *q, const bool *closed);

/* call.c: return what is wrong with a call template, such as "'$foo' is not a pointer, value or
 * attribute"; NULL if it is one C call. `composite`: the composite of the call, or NULL. The text
 * is valid until the next call. */
const char *describe_bad_call(const struct target_desc *desc,
                              const struct describe_composite *composite, const char *call);

/* Return the value or attribute most similar to a name; with `pointer` also pointers, otherwise
 * only attributes of type int. NULL: nothing similar. */
const char *describe_near_word(const struct target_desc *desc,
                               const struct describe_composite *composite, const char *name,
                               size_t n_bytes, bool pointers);

/* size.c: return what is wrong with an expression for bytes, or NULL; valid until the next call.
 * And its value for an operator, from 0 to 2^31 - 1. */
const char *describe_bad_size(const struct target_desc *desc, const char *text);
uint32_t describe_size(const struct target *t, const char *text, const struct target_values *v);
/* Return the bytes of scratch memory of an operator's call on an external target; 0: none. */
uint32_t describe_scratch(const struct target_question *q);

/* call.c: pointers that $NAME in a call may name, in addition to values and attributes. */
enum describe_pointer {
    POINTER_X,       /* const int8_t *, or the pattern's dtype: first input */
    POINTER_X2,      /* likewise: second operand */
    POINTER_Y,       /* int8_t *, or the dtype: output */
    POINTER_W,       /* const int8_t * (uint8: const uint8_t *, float32: const float *): weights */
    POINTER_BIAS,    /* const int32_t * (int16: const int64_t *, float32: const float *) */
    POINTER_SCALES,  /* const int32_t *: `scales` multipliers */
    POINTER_SHIFTS,  /* const int8_t *: `scales` shifts */
    POINTER_FLOATS,  /* const float *: `scales` real scales */
    POINTER_LOW,     /* float: lower end of the fused activation; -infinity if there is none */
    POINTER_HIGH,    /* float: upper end */
    POINTER_TABLE,   /* const int8_t * (uint8: const uint8_t *): 256 values of a lut */
    POINTER_PARAMS,  /* const struct hdk_...*: parameters of the host's kernel */
    POINTER_DEV,     /* const struct hd_port *: the core's registers and memory; NULL without RTL */
    POINTER_SCRATCH, /* void *: scratch memory of the call */
    POINTER_SCRATCH_BYTES, /* its size */
    POINTER_SUMS_IN,  /* const int32_t *, or of the pattern's bias: sums to begin with, or NULL */
    POINTER_SUMS_OUT, /* int32_t *: where to leave the sums, or NULL: requantise them to y */
    POINTER_STAGE,    /* int, enum describe_stage: what the call does */
    POINTER_HALF,     /* int: the half of the core's memory that it uses, 0 or 1 */
    POINTER_COUNT
};
/* Stages of a call with "overlap". */
enum describe_stage { STAGE_LOAD, STAGE_START, STAGE_WAIT, STAGE_STORE, STAGES };
/* Resolve the word after a '$': a pointer, a value or an attribute, in this order. For a composite:
 * an edge, or a pointer or value of one of its steps. */
struct describe_word {
    uint32_t edge;                 /* COMPOSITE_EDGES: not one */
    uint32_t step;                 /* step of the pointer or value */
    enum describe_pointer pointer; /* POINTER_COUNT: not one */
    enum target_value value;       /* TARGET_VALUE_COUNT: not one */
    uint32_t attr;                 /* desc->n_attr: not one */
    size_t n_bytes;                /* of the name */
};
void describe_word(const struct target_desc *desc, const struct describe_composite *composite,
                   const char *name, struct describe_word *w);
const char *describe_pointer_name(enum describe_pointer p);
const char *describe_pointer_help(enum describe_pointer p);

#endif
