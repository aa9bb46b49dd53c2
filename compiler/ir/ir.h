/* ir.h - the whole data model of the compiler: one graph of tensors and operators in an arena.
 * Importers build it, passes change it, every pass is followed by ir_verify. IR.md states the text
 * form and the invariants. Layout is NHWC, sizes are elements unless a name ends in bytes. */
#ifndef HEDDLE_COMPILER_IR_IR_H
#define HEDDLE_COMPILER_IR_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "operators/operators.h"

#define IR_MAX_RANK 6
#define IR_NONE     UINT32_MAX

/* Affine quantisation, real = scale * (value - zero_point). n = 0: none; 1: per tensor; else one
 * per index of `axis`. */
struct ir_quant {
    uint32_t n, axis;
    const float *scale;
    const int32_t *zero_point;
};

enum ir_role {
    IR_VALUE,    /* produced by an operator */
    IR_INPUT,    /* of the graph */
    IR_CONST,    /* data is set */
    IR_VARIABLE, /* state: bytes persist between inferences; data is the initial value or
                    NULL (zeros) */
};

/* Types of a file's inputs and outputs that the IR does not have. A run converts them at its border: floats as float32,
 * 16-bit integers as int32, others as int64. */
enum ir_stored {
    IR_STORED_ALIKE,
    IR_STORED_F16,
    IR_STORED_BF16,
    IR_STORED_F64,
    IR_STORED_U16,
    IR_STORED_I16,
    IR_STORED_U32,
    IR_STORED_U64
};

struct ir_tensor {
    uint32_t id;
    const char *name; /* text from the model file: escape before printing */
    enum ir_type type;
    enum ir_role role;
    uint32_t rank;
    int32_t dim[IR_MAX_RANK]; /* each at least 1 */
    struct ir_quant quant;
    const uint8_t *data; /* constants: ir_bytes(t) little-endian bytes, else NULL */
    uint32_t producer;   /* operator id or IR_NONE; maintained by ir_link */
    bool is_output;
    uint8_t stored; /* enum ir_stored */
    /* Channel c of the model's tensor of that name is channel order[c] of this tensor; NULL: the
     * order is unchanged. */
    const uint32_t *order;
    bool moved;     /* its last dimension is another one of the model's tensor of that name */
    bool flipped;   /* input or output of the network, int8 inside and uint8 for the caller:
                     LOAD and STORE flip the top bits */
    bool quantised; /* input or output of the network, int8 inside and float32 for the caller: LOAD
                       quantises, STORE dequantises by `quant` as those operators do */
};

/* EXPLICIT: the attributes pad_*. SAME: the padding that ceil(size / stride) windows need, an odd
 * cell at the end (for TRANSPOSE_CONV: of its output); pad_* are 0 until legalise resolves it. */
enum ir_padding { IR_PADDING_EXPLICIT, IR_PADDING_SAME };

/* Fixed-point constants, made by legalise/requant.c and by nothing else.
 *   conv, depthwise, fully connected, mul, mean, quantize: requantise by multiplier[c], shift[c] (n
 * = 1: all channels) add, sub: index 0 first operand, 1 second operand, 2 output softmax: index 0
 * scales the differences to Q5.26 lut: table[256], index code + 128 */
struct ir_fixed {
    uint32_t n;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t act_min, act_max; /* clamp of the quantised output */
    const int8_t *table;
    uint32_t n_wide; /* int16: interpolated tables, laid out by legalise/table16.h; */
    const int16_t *wide;
    uint32_t n_real;   /* ONNX's rounding: float32 constants instead of multipliers and shifts, */
    const float *real; /* laid out by legalise/real.c; NULL if unused */
};

struct hdk_layer;

struct ir_op {
    uint32_t id;
    enum ir_opcode opcode;
    uint32_t row; /* row of the model's operator table, graph->row */
    uint32_t n_in, n_out;
    uint32_t *in;  /* tensor ids; IR_NONE for an optional input that is absent */
    uint32_t *out; /* tensor ids */
    int32_t attr[IR_ATTR_COUNT];
    struct ir_fixed fixed;
    uint32_t target; /* index into the target list after partition, else IR_NONE */
    uint32_t region; /* accelerator region after partition, otherwise IR_NONE */
    uint32_t call;   /* operators of one call of an external target after partition, else IR_NONE */
    uint32_t scratch; /* bytes of scratch memory of the target's call, after partition */
    const struct describe_cut *cut; /* parts of its target's calls after partition; NULL: one */
    const struct hdk_layer *layer;  /* of a described device, after partition; else NULL */
    const char *reason;             /* why it is not on an accelerator; NULL if it is */
    bool dead;                      /* removed; skip */
};

/* An interval of values, both ends included. */
struct ir_range {
    int32_t low, high;
};

/* A channel of a row's output that has one value whatever the input, the reason, and its value
 * before the clamp. */
struct ir_constant {
    uint32_t channel;
    int32_t value;
    struct ir_range unclamped;
};

/* One operator of the model file, in file order; reports have one line for each. */
struct ir_row {
    const char *name;    /* "03_conv2d" */
    const char *op;      /* the source format's name: "CONV_2D" */
    const char *tensor;  /* first output's name */
    const char *shape;   /* first output's shape, "1x32x32x16" */
    uint64_t macs;       /* from the operator in the file; passes do not change it */
    uint32_t fused_into; /* row, or IR_NONE */
    const char *target;  /* "systolic", "c", "none"; set by partition */
    const char *reason;  /* why on the host; NULL otherwise */
    const char *slow;    /* why it takes over four times its limit on the accelerator; or NULL */
    const char *limit;   /* the limit that kept the importer from integers; NULL if none */
    /* Constant channels of its output, if any (legalise/channels/constant_channels.c): */
    uint32_t n_channel, n_constant;
    const struct ir_constant *constant; /* upwards */
    bool moved;                         /* the channels are not the output's last dimension */
};

struct ir_graph {
    struct arena *arena;
    const char *name; /* model's base name */
    uint32_t n_tensor, cap_tensor;
    struct ir_tensor **tensor;
    uint32_t n_op, cap_op;
    struct ir_op **op; /* a topological order at all times */
    uint32_t n_in, n_out;
    uint32_t *in, *out; /* tensor ids in graph order */
    uint32_t n_row;
    struct ir_row *row;
    int32_t newer_than; /* the last opset known, if the file's is a later one; else 0 */
    struct ir_bias_note {
        uint32_t n;            /* number of operators whose bias scale differs from that of its
                                * products */
        const char *name;      /* of the first such operator: its row, */
        double found, product; /* its bias scale, and the product of input scale and weight scale */
    } bias_note;
    const char *open_note; /* "dimension 0 of input 'x' as 1, ...": sizes that the importer chose
                            * for dimensions that the file leaves open; NULL if there are none */
};

struct ir_graph *ir_graph_new(struct arena *a, const char *name);
struct ir_tensor *ir_tensor_new(struct ir_graph *g, const char *name, enum ir_type type,
                                uint32_t rank, const int32_t *dim);
struct ir_op *ir_op_new(struct ir_graph *g, enum ir_opcode opcode, uint32_t row, uint32_t n_in,
                        uint32_t n_out);
#define CONSTRUCTOR(word, code)                                                                    \
    static inline struct ir_op *ir_make_##word(struct ir_graph *g, uint32_t row, uint32_t n_in,    \
                                               uint32_t n_out)                                     \
    {                                                                                              \
        return ir_op_new(g, IR_OP_##code, row, n_in, n_out);                                       \
    }
#include "operators/constructors.def"
#undef CONSTRUCTOR
/* Count the operator of row `name` in g->bias_note. */
void ir_note_bias(struct ir_graph *g, const char *name, double found, double product);
/* Add "dimension `dim` of input `input` as `size`" to g->open_note; "..." once that is long. */
void ir_note_open(struct ir_graph *g, const char *input, uint32_t dim, int32_t size);
/* Elements / bytes. Overflow is checked when the tensor is made (at most 2^31 - 1 bytes). */
uint64_t ir_elements(const struct ir_tensor *t);
uint64_t ir_bytes(const struct ir_tensor *t);
/* Bytes of an input or output as the caller sees it. */
uint64_t ir_border_bytes(const struct ir_tensor *t);
/* Return value i (flat index) of a tensor's bytes as stored, without applying the scale. */
double ir_element(const struct ir_tensor *t, const uint8_t *bytes, uint64_t i);
/* Return true for equal ranks and dimensions. */
bool ir_same_shape(const struct ir_tensor *a, const struct ir_tensor *b);
/* Dimension counted from the innermost: 0 = C, 1 = W, 2 = H, 3 = N; 1 if the rank is smaller. */
int32_t ir_dim_back(const struct ir_tensor *t, uint32_t back);
/* Return n rounded up to whole blocks of `each`, an operator's `multiplier`: the sums that digits have
 * room for. */
int32_t ir_in_blocks(int32_t each, int32_t n);
enum {
    IR_CURVE_ENTRIES =
        512 /* LOGISTIC, TANH of halves: fixed.wide has a base and a slope for each */
};
/* The shape of an int16 tensor as halves: a row's upper bytes, then its lower ones. */
void ir_halves_shape(const struct ir_tensor *t, int32_t dim[4]);
/* Return true for a DEQUANTIZE of int8. */
bool ir_dequantises_i8(const struct ir_graph *g, const struct ir_op *op);
static inline bool ir_is_int(enum ir_type type)
{
    return type == IR_I32 || type == IR_I64;
}
/* The least and the greatest quantised value of a type of activations. */
static inline int32_t ir_least_code(enum ir_type type)
{
    return type == IR_I16 ? INT16_MIN : type == IR_I8 ? INT8_MIN : 0;
}
static inline int32_t ir_greatest_code(enum ir_type type)
{
    return ir_least_code(type) + (type == IR_I16 ? UINT16_MAX : UINT8_MAX);
}
/* Return quantised value i of a constant. */
static inline int32_t ir_code_at(const struct ir_tensor *t, uint64_t i)
{
    return t->type == IR_I16  ? ((const int16_t *)(const void *)t->data)[i]
           : t->type == IR_I8 ? (int8_t)t->data[i]
                              : t->data[i];
}
/* Return true for types of quantised activations. */
static inline bool ir_is_code(enum ir_type type)
{
    return type == IR_I8 || type == IR_U8 || type == IR_I16;
}
static inline struct ir_tensor *ir_in(const struct ir_graph *g, const struct ir_op *op, uint32_t i)
{
    return i < op->n_in && op->in[i] != IR_NONE ? g->tensor[op->in[i]] : NULL;
}
/* Return the zero point of a tensor with one scale; 0 for NULL and for a tensor that is not
 * quantised. */
static inline int32_t ir_zero_point(const struct ir_tensor *t)
{
    return t && t->quant.n ? t->quant.zero_point[0] : 0;
}
/* Return an input or output as the caller sees it: uint8 if its top bits are flipped on the way,
 * float32 if LOAD quantises it. */
const struct ir_tensor *ir_border(const struct ir_graph *g, uint32_t id);
/* Return true for the last operator of a call, at whose position the call is made, and for any
 * operator that is its own call. */
bool ir_ends_call(const struct ir_graph *g, uint32_t position);
/* Return true if only operators of one call access the tensor, so it needs no memory outside the
 * call. */
bool ir_inside_call(const struct ir_graph *g, uint32_t tensor);
static inline struct ir_tensor *ir_out(const struct ir_graph *g, const struct ir_op *op, uint32_t i)
{
    return g->tensor[op->out[i]];
}
/* Return the number of inputs that are data; the others are parameters. */
static inline uint32_t ir_n_data(const struct ir_op *op)
{
    const uint32_t n = ir_op_info(op->opcode)->n_data;

    return n != 0 ? n : op->n_in;
}
/* Return true if the result has each value of the input once, in another shape or order. */
static inline bool ir_rearranges(const struct ir_op *op)
{
    return ir_op_info(op->opcode)->moves && ir_op_info(op->opcode)->keeps_values;
}
static inline bool ir_is_depthwise(const struct ir_op *op)
{
    return ir_op_info(op->opcode)->depthwise;
}
/* Return true if it only reads a variable. */
static inline bool ir_is_read(const struct ir_op *op)
{
    return ir_op_info(op->opcode)->reads_state;
}
/* Return true if it moves no byte: its result shares the bytes of its input. */
static inline bool ir_is_reshape(const struct ir_op *op)
{
    return op->opcode == IR_OP_RESHAPE;
}
static inline bool ir_gathers(const struct ir_op *op)
{
    return op->opcode == IR_OP_GATHER;
}
static inline bool ir_is_join(const struct ir_op *op)
{
    return op->opcode == IR_OP_CONCATENATION;
}
/* Multiply-accumulates of `op`, by its shapes (macs.c); 0 for operators that do not multiply and
 * add. */
uint64_t ir_macs(const struct ir_graph *g, const struct ir_op *op);
/* Return the sum of these over all live operators. */
uint64_t ir_graph_macs(const struct ir_graph *g);
/* Return the number of live readers of tensor `id`. */
uint32_t ir_uses(const struct ir_graph *g, uint32_t id);
/* Return the tensor whose bytes `id` shares: itself, or the input of the RESHAPEs that lead to
 * it. */
uint32_t ir_storage(const struct ir_graph *g, uint32_t id);
/* Return true if rank and dimensions are legal and the tensor has at most 2^31 - 1 bytes. */
bool ir_shape_ok(uint32_t rank, const int32_t *dim, enum ir_type type);
/* "1x32x32x16"; "scalar" for rank 0. */
const char *ir_shape_text(struct arena *a, uint32_t rank, const int32_t *dim);
/* Return true if x is 2^exponent within 0.07 %, as in TFLite. */
bool ir_power_of_two(float x, int *exponent);
/* Move the operator at `from` ahead to `to` and shift those between; ids and producers are
 * updated. */
void ir_move_op(struct ir_graph *g, uint32_t from, uint32_t to);
/* Recompute producer fields, drop dead operators from the order, keep it topological. */
enum status ir_link(struct ir_graph *g, struct diag *d);

/* Copy `g` so that changes of `g` do not affect the copy: operators, tensors, rows and lists
 * are duplicated. Names and bytes that are never written again (constants, scales, tables) are
 * shared. */
struct ir_graph *ir_copy(struct arena *a, const struct ir_graph *g);

/* Check the invariants of IR.md; `stage` names the pass in the message. */
enum status ir_verify(const struct ir_graph *g, const char *stage, struct diag *d);
/* Compute output shapes and types from input shapes and attributes, and check those of the file
 * against them. */
enum status ir_infer(struct ir_graph *g, struct diag *d);
/* Print the text form, and parse it. ir_parse(ir_print(g)) prints the same text. */
void ir_print(const struct ir_graph *g, struct text *t);
enum status ir_parse(struct arena *a, const char *source, struct ir_graph **g, struct diag *d);

#endif
