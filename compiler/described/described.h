/* described.h - a convolution, dense layer or addition on a device whose memories, instructions and order a
 * target.json describes. in: an operator, the description. out: struct hdk_layer, from which
 * kernels/described issues the instructions, and its cycles by the formulas of the description. */
#ifndef HEDDLE_COMPILER_DESCRIBED_DESCRIBED_H
#define HEDDLE_COMPILER_DESCRIBED_DESCRIBED_H

#include "compiler/systolic/layout/geometry.h"
#include "kernels/described/hdk_described.h"

/* Numbers of an instruction that its queue transports (described_fields has their names). */
enum described_field {
    FIELD_ROWS,
    FIELD_COLUMNS,
    FIELD_BYTES,
    FIELD_FROM,
    FIELD_FROM_ROW,
    FIELD_FROM_COLUMN,
    FIELD_WITH,
    FIELD_TO,
    FIELD_TO_ROW,
    FIELD_TO_COLUMN,
    FIELD_TAP_ROWS,
    FIELD_TAP_COLUMNS,
    FIELD_TAP_ROW,
    FIELD_TAP_COLUMN,
    FIELD_WITH_ROW,
    FIELD_WITH_COLUMN,
    FIELD_CHANNELS,
    DESCRIBED_FIELDS
};
extern const char *const described_fields[DESCRIBED_FIELDS];

enum described_type { DESCRIBED_INT8, DESCRIBED_INT32, DESCRIBED_CHANNELS };
enum described_does {
    DESCRIBED_COPY,
    DESCRIBED_PRODUCT,
    DESCRIBED_REQUANTISE,
    DESCRIBED_SCALE,
    DESCRIBED_SPREAD,
    DESCRIBED_LAYER,
    DESCRIBED_MULTIPLY
};

struct described_instruction {
    const char *name, *call, *cycles; /* cycles: expression of rows, columns, bytes and steps */
    enum described_does does;
    uint32_t unit, from, with, to; /* memories; with: not of a copy */
    uint32_t channels;             /* likewise, of a layer */
    struct {
        uint32_t bits, unit; /* the width of value / unit; bits 0: no such field */
    } field[DESCRIBED_FIELDS];
};

#define DESCRIBED_NONE UINT32_MAX

struct described_device {
    uint32_t n_memory, n_unit, n_instruction;
    struct described_memory {
        const char *name;
        enum described_type type;
        uint32_t bytes;
        const char *array;  /* of the core's Verilog; NULL: unknown */
    } memory[HDK_MEMORIES]; /* the first is the core's, which the host reaches */
    const char *unit[HDK_UNITS];
    struct described_instruction instruction[HDK_ROLES];
    uint32_t role[HDK_ROLES]; /* of each role its instruction, or DESCRIBED_NONE */
    uint32_t depth, lanes;    /* of a product */
    uint32_t queue, count_bits, issue_cycles;
    bool tokens;              /* instructions wait for tokens, not for counts */
    double transfer;          /* cycles of a byte from the host to the first memory */
    const char *begin, *wait; /* C functions */
};

/* roles.c: set `role`, or return what is missing: "no instruction copies ... to NAME". */
const char *described_roles(struct arena *a, struct described_device *device);
/* The instruction of a role; NULL: there is none. */
static inline const struct described_instruction *
described_of(const struct described_device *device, uint32_t role)
{
    const uint32_t i = device->role[role];

    return i == DESCRIBED_NONE ? NULL : &device->instruction[i];
}
/* Return what is wrong if units may be `n` instructions apart, or NULL. */
const char *described_apart(struct arena *a, const struct described_device *device, uint64_t n);
/* issue_clock.c: return what is wrong with a formula for cycles, or NULL; valid until the next call. */
const char *described_bad_cycles(const char *text);
/* Issue the layer's instructions without a device; return NULL and set *cycles, or the first field
 * or memory that an instruction exceeds. */
const char *described_record(struct arena *a, const struct described_device *device,
                             const struct hdk_layer *p, double *cycles);
/* Return NULL, or the first field or memory of the description that an instruction exceeds. */
const char *described_check(struct arena *a, const struct described_device *device,
                            const struct hdk_issue *i);
/* Set the numbers of an instruction, in the order of described_fields. */
void described_numbers(const struct hdk_issue *i, uint32_t number[DESCRIBED_FIELDS]);
/* How an operator's images are on the chip. operand, result: as in struct hdk_layer. */
struct described_stay {
    struct hdk_place operand[2], result;
    uint32_t top, left, bottom, right;
    uint32_t free_at, free_bytes; /* of the memory of pixels, for other images */
    uint32_t band, group;         /* exactly these; 0: the fewest cycles */
};
/* Return true if instructions make such operators. */
bool described_makes(enum ir_opcode opcode);
/* Return what an operator is for such a device; HDK_LAYER_CONVOLVE if it is none of the others. */
enum hdk_kind described_kind(enum ir_opcode opcode);
/* Nothing stays, and the whole memory is free. */
struct described_stay described_alone(const struct described_device *device);
/* plan.c: return NULL and set *layer and *cycles, or return the rule that failed, with its value. */
const char *described_plan(struct arena *a, const struct ir_graph *g, const struct ir_op *op,
                           const struct described_device *device, const struct described_stay *stay,
                           struct hdk_layer *layer, double *cycles);
/* The requantisation of each sum of an addition or of a pool's window. */
struct hdk_channel described_channel(const struct hdk_layer *layer, const struct ir_op *op);
/* Return the largest values of an operator's knobs, band, weight_group and to_host. */
struct sched_knobs described_knobs_most(const struct described_device *device,
                                        const struct ir_graph *graph, const struct ir_op *op);
/* stay.c: plan the operators marked in mine[] of g, whose images stay in the memory of pixels from
 * the operator that makes them to the last that reads them, where there is room. layer[i],
 * cycles[i] of each. knobs[i]: in, what is given (0: by rule); out, what was chosen. Return NULL,
 * or why operator *failed has no plan. */
const char *described_settle(struct arena *a, const struct ir_graph *g, const bool *mine,
                             const struct described_device *device, struct sched_knobs *knobs,
                             struct hdk_layer *layer, double *cycles, uint32_t *failed);
/* The description as kernels/described has it, without functions and model. */
struct hdk_device described_hdk(const struct described_device *device);

#endif
