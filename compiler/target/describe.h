/* describe.h - an external target: target.json in memory.
 * targets/target.schema.json specifies its members and their meaning; docs/TARGET.md is
 * printed from it. A pattern, its limits, its cost and its call are one object. */
#ifndef HEDDLE_COMPILER_TARGET_DESCRIBE_H
#define HEDDLE_COMPILER_TARGET_DESCRIBE_H

#include <cjson/cJSON.h>

#include "blocks.h"
#include "include/heddle_target.h"
#include "target.h"
#include "values.h"

/* A number of the file, or the attribute or the operator's value that states it. */
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
    enum ir_type dtype; /* of activations: IR_I8, IR_U8, IR_I16 (weights int8), IR_F32 */
    double tolerance;   /* part of the output's range by which answers may differ; 0: not at all */
    bool hwio;          /* order of $w */
    uint32_t n_limit;
    const struct describe_limit *limit;
    double fixed, per_mac, per_output, per_byte; /* cost */
    const char *call;                            /* NULL: made of the target's blocks */
    const char *scratch; /* bytes of memory for the call (size.c); NULL: none */
    bool accumulate;     /* its call takes and gives sums: parts of the input channels */
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
    uint32_t x_at[2], y_at, sums_at, own_at, n_bytes;
};

/* One operator of a composite: a pattern, and by which edges it is tied to the others. */
struct describe_step {
    const char *name;
    struct describe_pattern pattern;
    bool broadcast;     /* operands may be smaller than the output */
    uint32_t n_in, out; /* edges */
    const uint32_t *in;
};

/* Several operators in one call. Steps are in an order in which they can be computed; the last makes
 * the output, which no step reads. */
struct describe_composite {
    const char *name;
    uint32_t n_step;
    const struct describe_step *step;
    uint32_t n_edge;
    const char *const *edge;
    double tolerance, fixed, per_mac, per_output, per_byte;
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
    const char *region_call; /* it takes whole regions; NULL: operators, composites */
    double transfer_fixed, transfer_per_byte;
    const char *core_top; /* NULL: no Verilog of its own */
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
    double macs_per_cycle;          /* of the core; 0: not said */
    const char *blocks;             /* the C name of its struct hdk_blocks_unit; NULL: none */
    struct blocks_unit blocks_unit; /* memory_bytes: the core's */
    const char *estimator;          /* a program that says what it takes at what cost; NULL: none */
    const struct estimator_answers *answers; /* while a graph is partitioned */
    const char *native_file;                 /* NULL: all is in target.json */
    const struct heddle_target_api *native;  /* NULL until native_load */
};

/* Read DIR/target.json. ST_USAGE: file, line, column, what was expected. */
enum status describe_read(struct arena *a, const char *dir, const struct target_desc **desc,
                          struct diag *d);

/* "ports" of a core. */
void describe_read_ports(struct arena *a, const cJSON *o, struct describe_ports *p);
/* A file of a core: in `folder`, or from $NAME/ on. */
enum status describe_path(struct arena *a, const char *folder, const char *name, const char **path,
                          struct diag *d);
/* NAME=VALUE of a Verilog parameter, with the settings of t. */
const char *describe_parameter_text(struct arena *a, const struct target *t,
                                    const struct describe_parameter *p);

/* The name of a type in target.json: int8, uint8, int16, float32. */
const char *describe_dtype(enum ir_type type);

/* match.c: the first pattern that takes the operator; NULL: *why names the rules that failed. */
const struct describe_pattern *describe_match(const struct target_question *q, const char **why);
/* The difference that the targets of a graph's operators may make together, as independent
 * roundings add up (the root of the sum of squares); 0: answers are equal. */
double describe_tolerance(struct arena *a, const struct ir_graph *g, const struct target_list *list,
                          const struct hd_config *hw);
/* All values of an operator as pattern `p` has them: those of uint8 from 0 to 255. */
void describe_values(const struct describe_pattern *p, const struct ir_graph *g,
                     const struct ir_op *op, struct target_values *v);
/* The same of a composite's step. */
const char *describe_step_refusal(const struct describe_step *s, const struct target_question *q);
/* Return true if the call has weights and sums, which the compiler passes as constants. */
bool describe_has_weights(enum ir_opcode opcode);
/* NULL if `p` takes the operator, else why not. */
const char *describe_refusal(const struct describe_pattern *p, const struct target_question *q);
/* The pattern that the operator's target computes it by, whole or cut; NULL: none. */
const struct describe_pattern *describe_pattern_of(const struct target_question *q);
/* The cost of the operator by pattern `p`, and the bytes of scratch memory that its call wants. */
double describe_pattern_cost(const struct describe_pattern *p, const struct target_question *q);
uint32_t describe_pattern_scratch(const struct describe_pattern *p,
                                  const struct target_question *q);
/* The functions of struct target_desc. */
const char *describe_refuses(const struct target_question *q);
struct target_cost describe_cost(const struct target_question *q);
double describe_transfer(const struct target *t, const struct hd_config *hw,
                         const struct target_memory *m, uint64_t n_bytes);
/* NULL unless `target` was described by a target.json. */
static inline const struct describe *describe_of(const struct target *t)
{
    return t->desc->detail;
}

/* estimator.c: the program that "estimator" names; operators of such a target are computed by the
 * host's kernels. estimator_ask is called before a graph is partitioned, with the numbers of the
 * operators that patterns let through ("0,1,5"), estimator_forget after it; between them a question
 * about an operator of that graph has its answer. Without an estimator, or not asked: NULL, 0.
 * ST_USAGE: what the program says is missing. */
enum status estimator_ask(struct arena *a, const struct target *t, const struct ir_graph *g,
                          const char *list, struct diag *d);
void estimator_forget(const struct target *t);
const char *estimator_refusal(const struct target_question *q);
double estimator_cost(const struct target_question *q);
/* The target's name in reports: its name, "NAME (not simulated)" with an estimator. */
const char *describe_label(struct arena *a, const struct target *t);

/* native.c: the shared object that "native" names. native_load is called for targets that take
 * part; then its answers come after those of the patterns. Without one: taken, -1, the pattern's
 * call. */
enum status native_load(struct arena *a, const struct target_desc *desc, bool allow,
                        struct diag *d);
const char *native_refusal(const struct describe_pattern *p, const struct target_question *q);
double native_cost(const struct describe_pattern *p, const struct target_question *q);
const char *native_call(const struct describe_pattern *p, const struct target_question *q);
/* native_tune.c: return true if its `tune` proposes knobs; *about's n_knobs values are then in
 * `value`. The operators of position `target` in the target list become *about's questions. */
bool native_tune(const struct target_question *q, uint32_t target, struct heddle_tuning *about,
                 int64_t *value);

#define COMPOSITE_STEPS 16 /* of a composite, at most */
#define COMPOSITE_EDGES 48

/* Where a composite is in a graph: by step the operator's position, whether its two operands are the
 * other way round, by edge the tensor. */
struct composite_match {
    uint32_t op[COMPOSITE_STEPS];
    bool swapped[COMPOSITE_STEPS];
    uint32_t tensor[COMPOSITE_EDGES];
};
/* composite.c: NULL if the operator of `q` is the last step of `c`, else the edge or the rule that
 * failed; "" if it is another operator. */
const char *composite_refusal(const struct describe_composite *c, const struct target_question *q,
                              struct composite_match *m);
/* The composite whose call the operator of `q` is part of after the partition; NULL: none. */
const struct describe_composite *composite_of(const struct target_question *q,
                                              struct composite_match *m);
/* The operator of a step as the step has it: its two operands exchanged, if they must be. */
struct ir_op composite_op(const struct ir_graph *g, const struct composite_match *m, uint32_t step);
/* The words of a region's call, as edges: REGION_*. */
enum { REGION_BLOB, REGION_BYTES, REGION_INPUTS, REGION_OUTPUTS };
extern const struct describe_composite describe_region_words;
struct target_groups composite_groups(const struct target_question *q, const bool *closed);

/* call.c: what is wrong with a call template, "'$foo' is no pointer, value or attribute"; NULL if
 * it is one C call; `composite`: whose call it is, or NULL. The text is valid until the next call. */
const char *describe_bad_call(const struct target_desc *desc,
                              const struct describe_composite *composite, const char *call);

/* The value or attribute that a name was meant to be, or pointer, if asked, else attributes of type
 * int only; NULL: nothing near. */
const char *describe_near_word(const struct target_desc *desc,
                               const struct describe_composite *composite, const char *name,
                               size_t n_bytes, bool pointers);

/* size.c: what is wrong with an expression for bytes, NULL if nothing is, valid until the next call;
 * its value for an operator, at least 0 and at most 2^31 - 1. */
const char *describe_bad_size(const struct target_desc *desc, const char *text);
uint32_t describe_size(const struct target *t, const char *text, const struct target_values *v);
/* Bytes of scratch memory that the call of an operator on an outside target wants; 0: none. */
uint32_t describe_scratch(const struct target_question *q);

/* call.c: what $NAME in a call may stand for besides values and attributes. */
enum describe_pointer {
    POINTER_X,    /* const int8_t *, or of the pattern's dtype: first input */
    POINTER_X2,   /* likewise: second operand */
    POINTER_Y,    /* int8_t *, or of the dtype: output */
    POINTER_W,    /* const int8_t * (of uint8 const uint8_t *, of float32 const float *): weights */
    POINTER_BIAS, /* const int32_t * (of int16 const int64_t *, of float32 const float *) */
    POINTER_SCALES,  /* const int32_t *: `scales` multipliers */
    POINTER_SHIFTS,  /* const int8_t *: `scales` shifts */
    POINTER_FLOATS,  /* const float *: `scales` real scales */
    POINTER_LOW,     /* float: lower end of the fused activation, -infinity without */
    POINTER_HIGH,    /* float: upper end */
    POINTER_TABLE,   /* const int8_t * (of uint8 const uint8_t *): 256 values of a lut */
    POINTER_PARAMS,  /* const struct hdk_...*: parameters as the host's kernel takes them */
    POINTER_DEV,     /* const struct hd_port *: the core's registers and memory, NULL without RTL */
    POINTER_SCRATCH, /* void *: memory of the call alone */
    POINTER_SCRATCH_BYTES, /* its size */
    POINTER_SUMS_IN,  /* const int32_t *, or of the pattern's bias: sums to begin with, or NULL */
    POINTER_SUMS_OUT, /* int32_t *: where to leave the sums, or NULL: requantise them to y */
    POINTER_COUNT
};
/* The word after a '$': a pointer, else a value, else an attribute, else nothing; for a
 * composite an edge, or a pointer or value of one of its steps. */
struct describe_word {
    uint32_t edge;                 /* COMPOSITE_EDGES: not one */
    uint32_t step;                 /* of the pointer or value */
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
