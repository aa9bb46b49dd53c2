/* onnx_import.h - shared by the files of the ONNX importer.
 *
 * An ONNX tensor of 8-bit values has no scale: QuantizeLinear, DequantizeLinear and the QLinear
 * operators carry it. Three kinds of values make QDQ islands and QLinear operators the same
 * quantised operators:
 *   OX_CONST    known now; with `quant`, if `real`, what DequantizeLinear read from quantised
 *   values OX_TENSOR   an IR tensor of quantised values; `real`: DequantizeLinear has been applied
 *   to it OX_TENSOR with `wide`: 16-bit values as float32, which DequantizeLinear alone may read
 *   OX_PENDING  a float result that waits for its reader: QuantizeLinear specifies its scale and
 *               makes it an operator on quantised values (onnx_deferred.c); any other reader, or a
 *               graph output, makes it one in float32 (onnx_float.c) */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_ONNX_IMPORT_H
#define HEDDLE_COMPILER_IMPORT_ONNX_ONNX_IMPORT_H

#include "onnx.h"
#include "onnx_scan.h"

enum {
    ONNX_FIRST_OPSET = 7,
#define SINCE_LAST(opset) ONNX_LAST_OPSET = opset
#include "onnx_since.def"
};

/* TensorProto.DataType. */
enum ox_type {
    OX_FLOAT = 1,
    OX_UINT8 = 2,
    OX_INT8 = 3,
    OX_UINT16 = 4,
    OX_INT16 = 5,
    OX_INT32 = 6,
    OX_INT64 = 7,
    OX_BOOL = 9,
    OX_HALF = 10,
    OX_DOUBLE = 11,
    OX_UINT32 = 12,
    OX_UINT64 = 13,
    OX_BFLOAT = 16,
    OX_UINT4 = 21,
    OX_INT4 = 22
};

/* Row-major, native endian, aligned to 16; dimensions may be 0. */
struct ox_const {
    int32_t type; /* enum ox_type */
    bool halves;  /* int4 or uint4 in the file: int8 or uint8 here */
    uint32_t rank;
    int32_t dim[IR_MAX_RANK];
    uint64_t n; /* elements */
    const void *data;
};

enum ox_kind { OX_NONE, OX_CONST, OX_TENSOR, OX_PENDING };

struct ox_deferred;
struct ox;
/* Import a node of the file or, with `index` IR_NONE, of a text. */
typedef enum status ox_import(struct ox *m, const Onnx__NodeProto *node, uint32_t index);

struct ox_value {
    const char *name;
    enum ox_kind kind;
    bool real;    /* a float in the file: quantised values from DequantizeLinear */
    int32_t wide; /* 16-bit type of quantised values as float32, of a dequantised constant; or 0 */
    struct ox_const c;
    struct ir_quant quant; /* of a real constant */
    uint32_t tensor;
    const struct ox_deferred *deferred;
    uint32_t maker; /* node that makes it, IR_NONE */
    uint32_t n_use; /* readers in the file, graph outputs among them */
    bool is_input;
    bool is_inner; /* of a copy of a function or graph (onnx_inline.c) */
};

struct ox {
    struct arena *arena;
    struct diag *d;
    const struct onnx_options *options;
    const Onnx__ModelProto *model;
    const Onnx__GraphProto *graph;
    const uint32_t *place; /* of each of its nodes: the number in the file */
    struct ir_graph *g;
    int64_t opset, ms_opset; /* of ai.onnx and com.microsoft; 0: not imported */
    struct ox_value *value;
    uint32_t n_value, cap_value;
    uint32_t *slot; /* hash table of value + 1 */
    uint32_t n_slot;
    uint32_t *same_as; /* of each IR tensor: the one whose scale it has while it has none */
    uint32_t cap_same;
    uint32_t *float_of; /* of each quantised IR tensor: its DEQUANTIZEd values, 0 without */
    uint32_t cap_float;
    const Onnx__NodeProto *node; /* being imported */
    const char *op;              /* its operator, our own text */
    enum ir_opcode opcode;       /* what it becomes; IR_OPCODES: several operators */
    ox_import *import_node;      /* ox_import_node, for the nodes of a text */
    const char *scope;           /* of inner values of the node, NULL without any */
    uint32_t n_scope;
    uint32_t depth, n_inlined; /* of nodes inside nodes: onnx_inline.c */
    uint32_t cap_row;          /* rows that the graph has room for */
    uint32_t row;              /* its row, IR_NONE until an IR operator is made */
};

/* --- onnx_tensor.c: names, constants, types --- */

/* Index of the value called `name`, made if it is new. */
uint32_t ox_name(struct ox *m, const char *name);
/* The value called `name` (NULL: ""), made if it is new: which may move m->value. */
struct ox_value *ox_called_value(struct ox *m, const char *name);
enum status ox_initializer(struct ox *m, const Onnx__TensorProto *t, struct ox_const *c);
const char *ox_type_name(int32_t type);
size_t ox_type_bytes(int32_t type);
/* Type in the IR, after conversion at the border if `*stored` is not IR_STORED_ALIKE; IR_TYPE_COUNT: none. */
enum ir_type ox_border_type(int32_t type, enum ir_stored *stored);
/* Type in the IR; IR_TYPE_COUNT for those it does not have. */
enum ir_type ox_ir_type(int32_t type);
/* ST_MODEL unless the shape has at most IR_MAX_RANK dimensions and 2^31 - 1 bytes. */
enum status ox_shape(struct ox *m, const char *what, size_t rank, const int64_t *dim, int32_t type,
                     struct ox_const *c);
int64_t ox_int(const struct ox_const *c, uint64_t i);
double ox_number(const struct ox_const *c, uint64_t i);
/* A new constant with room for its elements. */
void *ox_new_const(struct ox *m, struct ox_const *c, int32_t type, uint32_t rank,
                   const int32_t *dim);

/* Return true for values of 16 bits. */
bool ox_is_wide(int32_t type);
/* Least and largest code of an 8- or 16-bit type. */
int32_t ox_lowest(int32_t type);
int32_t ox_highest(int32_t type);

/* --- onnx_node.c: what node handlers share --- */

const Onnx__AttributeProto *ox_attr(const struct ox *m, const char *name);
int64_t ox_attr_int(const struct ox *m, const char *name, int64_t otherwise);
float ox_attr_float(const struct ox *m, const char *name, float otherwise);
/* The text of a string attribute, or `otherwise`. */
const char *ox_attr_text(struct ox *m, const char *name, const char *otherwise);
/* `n` integers each within 0 .. INT32_MAX / 4, `otherwise` for all when the attribute is absent. */
enum status ox_attr_sizes(struct ox *m, const char *name, uint32_t n, int32_t otherwise,
                          int32_t *value);
struct ox_value *ox_in(const struct ox *m, uint32_t i); /* NULL if absent */
struct ox_value *ox_out(const struct ox *m, uint32_t i);
/* Return true if the node names output `i`. */
bool ox_has_output(const struct ox *m, uint32_t i);
uint32_t ox_rank(const struct ox *m, const struct ox_value *v);
const int32_t *ox_dim(const struct ox *m, const struct ox_value *v);
bool ox_is_integer(const struct ox *m, const struct ox_value *v); /* computed int32 or int64 */
/* A constant input; fails with `what` otherwise. */
enum status ox_want_const(struct ox *m, uint32_t i, const char *what, const struct ox_const **c);
/* Constant integers of input `i` (rank 0 or 1) or, if that is absent, of attribute `name`; *n is 0
 * when neither is there. */
enum status ox_ints(struct ox *m, uint32_t i, const char *name, uint32_t *n, int64_t **value);
/* An axis that may count from the end. */
enum status ox_axis(struct ox *m, const char *what, int64_t axis, uint32_t rank, uint32_t *k);
/* Scale and zero point of inputs `is` and `iz`: one each, or (allow_axis) one per index of `axis`
 * of a tensor of shape `dim`. `type`: of the zero point, OX_UINT8 if it is absent. */
enum status ox_scale(struct ox *m, uint32_t is, uint32_t iz, uint32_t rank, const int32_t *dim,
                     int64_t axis, struct ir_quant *q, int32_t *type);
/* The same, also of 16-bit values. */
enum status ox_any_scale(struct ox *m, uint32_t is, uint32_t iz, uint32_t rank, const int32_t *dim,
                         int64_t axis, struct ir_quant *q, int32_t *type);
/* Give constant quantised values one zero point for all channels, if their type has room for it. */
const struct ox_const *ox_one_zero_point(struct ox *m, const struct ox_const *c,
                                         struct ir_quant *q);
/* Give tensor `id` scale and zero point, or check that it has these. */
enum status ox_set_quant(struct ox *m, uint32_t id, const struct ir_quant *q);
/* Require one scale of the quantised values of two tensors to be mixed; a scale not known yet
 * becomes that. */
bool ox_one_scale(struct ox *m, uint32_t a, uint32_t b);
bool ox_same_quant(const struct ir_quant *a, const struct ir_quant *b);
/* A constant IR tensor with its own copy of the data. */
uint32_t ox_ir_const(struct ox *m, const char *name, enum ir_type type, uint32_t rank,
                     const int32_t *dim, const void *data);
/* Quantised values of constant `c` as an IR tensor of `type` (int8, uint8): the other one is moved
 * by 128. */
uint32_t ox_code_const(struct ox *m, const char *name, const struct ox_const *c,
                       const struct ir_quant *q, enum ir_type type);
/* Define output `i`. */
void ox_set_const(struct ox *m, uint32_t i, const struct ox_const *c);

/* --- onnx_const.c, onnx_const_move.c: what is known now --- */

/* The handler of a node of arithmetic whose every operand is constant, or NULL. */
typedef enum status ox_handler(struct ox *m);
ox_handler *ox_folder(const struct ox *m);
/* A constant result, its size checked. */
enum status ox_const_new(struct ox *m, struct ox_const *c, int32_t type, uint32_t rank,
                         const int32_t *dim);
/* Input `i`, which must be constant; quantised values from DequantizeLinear as their values. */
enum status ox_const_input(struct ox *m, uint32_t i, struct ox_const *c);
/* Element of `c` for element `k` of shape `y`, to which it broadcasts. */
struct ox_shape;
/* A list of int64 as a shape. */
enum status ox_read_shape(struct ox *m, const struct ox_const *c, struct ox_shape *s);
/* Output 0 is a part of constant `x`, or what Gather takes from it. */
enum status ox_slice_const(struct ox *m, const struct ox_value *v, const int32_t *begin,
                           const int32_t *size, const int32_t *step);
enum status ox_gather_const(struct ox *m, const struct ox_value *v, const struct ox_const *index);

/* --- onnx_emit.c: IR operators --- */

struct ox_shape {
    uint32_t rank;
    int32_t dim[IR_MAX_RANK];
};
struct ox_shape ox_shape_of(const struct ox *m, uint32_t id);
uint32_t ox_tensor(struct ox *m, const char *name, enum ir_type type, struct ox_shape s,
                   const struct ir_quant *q);
/* An operator that writes a new tensor. The row of the node is made at its first operator. */
struct ir_op *ox_op(struct ox *m, enum ir_opcode opcode, uint32_t n_in, const uint32_t *in,
                    uint32_t out);
#define CONSTRUCTOR(word, code)                                                                    \
    static inline struct ir_op *ox_make_##word(struct ox *m, uint32_t n_in, const uint32_t *in,    \
                                               uint32_t out)                                       \
    {                                                                                              \
        return ox_op(m, IR_OP_##code, n_in, in, out);                                              \
    }
#include "operators/constructors.def"
#undef CONSTRUCTOR
/* The operator's MACs are the row's, once its attributes are set; `taps`, `taps_filled`: as struct
 * ox_deferred. */
void ox_count_macs(struct ox *m, const struct ir_op *op, int32_t taps, int32_t taps_filled);
/* A tensor of another shape that shares the scale of `id`; no operator yet. */
uint32_t ox_like(struct ox *m, const char *name, uint32_t id, struct ox_shape s);
uint32_t ox_transpose(struct ox *m, const char *name, uint32_t id, const int32_t *perm);
uint32_t ox_reshape(struct ox *m, const char *name, uint32_t id, struct ox_shape s);
uint32_t ox_slice(struct ox *m, const char *name, uint32_t id, const int32_t *begin,
                  const int32_t *size, const int32_t *step); /* step NULL: 1 */
uint32_t ox_gather(struct ox *m, const char *name, uint32_t id, uint32_t axis, uint32_t rank,
                   const int32_t *dim, const int32_t *index);
uint32_t ox_pad(struct ox *m, const char *name, uint32_t id, const int32_t *before,
                const int32_t *after, uint32_t value); /* IR_NONE: the zero point */
uint32_t ox_concat(struct ox *m, const char *name, uint32_t n, const uint32_t *id, uint32_t axis);
/* Tensor `id` as quantised values of `type` with scale `q`. */
uint32_t ox_quantized(struct ox *m, const char *name, uint32_t id, enum ir_type type,
                      const struct ir_quant *q);
/* Quantised values `id`, whose scale is known, in float32. */
uint32_t ox_dequantized(struct ox *m, const char *name, uint32_t id);
/* Numbers `id` as numbers of another type. */
uint32_t ox_number_as(struct ox *m, const char *name, uint32_t id, enum ir_type type);
/* Tensor `id` clamped to two real bounds. */
uint32_t ox_clipped(struct ox *m, const char *name, uint32_t id, float low, float high);
/* [N,C,L] or [N,C,H,W] to [N,H,W,C], and a tensor [N,H,W,C] back to rank 3 or 4. */
uint32_t ox_to_nhwc(struct ox *m, uint32_t id);
uint32_t ox_from_nhwc(struct ox *m, const char *name, uint32_t id, uint32_t rank);
/* Quantised values of `id` in another scale: itself, or QUANTIZE. */
uint32_t ox_rescale(struct ox *m, const char *name, uint32_t id, const struct ir_quant *q,
                    enum ir_type type);
/* Name for a tensor that the file does not have. */
const char *ox_inner(struct ox *m, const char *name, const char *what);

/* Define output `i`. */
void ox_set_tensor(struct ox *m, uint32_t i, uint32_t id, bool real);
/* --- onnx_shape.c --- */
/* Compute the shape that two operands broadcast to; false if they do not. */
bool ox_broadcast(const struct ox_shape *a, const struct ox_shape *b, struct ox_shape *y);
/* The same; ST_MODEL with both shapes when they do not. */
enum status ox_common_shape(struct ox *m, const struct ox_shape *a, const struct ox_shape *b,
                            struct ox_shape *y);
/* Parts of a concatenation: equal shapes except along `axis` and, if asked, types. */
enum status ox_check_parts(struct ox *m, uint32_t n, const uint32_t *id, uint32_t axis, bool types);

/* --- onnx_deferred.c --- */

struct ox_deferred {
    const char *op; /* row's operator */
    enum ir_opcode opcode;
    uint32_t n_in, in[2];  /* IR tensors; the weights of conv and dense are `weight` */
    struct ox_shape shape; /* of the result, in the file's order */
    int32_t attr[IR_ATTR_COUNT];
    struct ox_const weight; /* [OC,C/group,KH,KW], or [OC,K]: quantised values */
    struct ir_quant weight_quant;
    int32_t group;
    /* Kernel taps that the file has, and those of `weight` with the zeros between them: MACs of the
     * file are that part of the operator's. 0 of 1: it multiplies nothing there. */
    int32_t taps, taps_filled;
    int32_t copies;     /* of the input's channels, one after the other, that `weight` multiplies */
    const double *bias; /* real values [OC], or NULL */
    struct ir_quant bias_quant;   /* of the file's bias; n 0: float32, or made of several */
    const int32_t *bias_integers; /* the same in units of s_in * s_w (QLinearConv, ConvInteger) */
    bool float_only;              /* there is no arithmetic on quantised values */
    bool count_pad;               /* average pool: cells outside the image count as zero */
    bool global;                  /* of the whole image */
    uint32_t n_part;              /* concatenation */
    const uint32_t *part;
    float low, high;                /* clamp of the real result; infinite without */
    const struct ox_value *late;    /* of a sum: an operand that waits too, in[late_at]; or NULL */
    uint32_t late_at;               /* in[late_at] is the other operand until then */
    uint32_t n_literal, literal[2]; /* literal graph: tensors of weights and bias */
};

struct ox_deferred *ox_deferred_new(struct ox *m, enum ir_opcode opcode, struct ox_shape shape);
#define CONSTRUCTOR(word, code)                                                                    \
    static inline struct ox_deferred *ox_defer_##word(struct ox *m, struct ox_shape shape)         \
    {                                                                                              \
        return ox_deferred_new(m, IR_OP_##code, shape);                                            \
    }
#include "operators/constructors.def"
#undef CONSTRUCTOR
/* Output 0 of the node is this deferred result. */
void ox_set_deferred(struct ox *m, const struct ox_deferred *p);
/* QLinearConv and QLinearMatMul: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, ...
 * Operand 0 becomes p's; *w and *q are the weights and their scales along dimension `axis`. */
enum status ox_qlinear_operands(struct ox *m, struct ox_deferred *p, uint32_t axis,
                                const struct ox_const **w, struct ir_quant *q);
/* The operator ends with the result's scale (input `scale`) and zero point (the next one). */
enum status ox_qlinear_result(struct ox *m, const struct ox_deferred *p, uint32_t scale);
/* int32 values of p's bias: input `i`, or none. */
enum status ox_bias_integers(struct ox *m, struct ox_deferred *p, uint32_t i);
/* Make the operator with its output in scale `q`; *id is the tensor, in the file's order. */
enum status ox_finish(struct ox *m, const struct ox_deferred *p, const char *name,
                      enum ir_type type, const struct ir_quant *q, uint32_t *id);
/* The same in float32. */
enum status ox_finish_float(struct ox *m, const struct ox_deferred *p, const char *name,
                            uint32_t *id);

/* Weights `w` [OC,C/group,KH,KW] with scales `q` for input tensor p->in[0]: window, shape and group
 * of `p`. */
enum status ox_conv_geometry(struct ox *m, struct ox_deferred *p, const struct ox_const *w,
                             const struct ir_quant *q);
/* [O,C,KH,KW] as [O,KH,KW,C]. */
struct ox_const ox_transposed(struct ox *m, const struct ox_const *w);
/* [N,C,H,W] or [N,C,L] as [N,H,W,C]. */
struct ox_shape ox_nhwc_shape(struct ox_shape s);
/* Shape of the product of tensors `a` and `b` as matrices. */
enum status ox_matrices_shape(struct ox *m, uint32_t a, uint32_t b, struct ox_shape *y);

/* --- onnx_literal.c: nodes as in the file, if options->literal --- */
/* `p` as one float32 operator called `name`. */
uint32_t ox_literal(struct ox *m, const struct ox_deferred *p, const char *name);
/* Add quantised values `c` of scale `q` with a DEQUANTIZE. */
uint32_t ox_literal_quantised(struct ox *m, const char *name, const struct ox_const *c,
                              const struct ir_quant *q);
/* Add a constant in float32; quantised values get a DEQUANTIZE. */
uint32_t ox_literal_const(struct ox *m, const struct ox_value *v);
/* Quantised values of tensor `id`, whose scale is known, for a QLinear operator: after a DEQUANTIZE
 * if the graph is literal, else as they are. */
uint32_t ox_qlinear_quantised(struct ox *m, uint32_t id);
/* Add tensor `id` to p's weights and bias; times `factor`, if that is not 1. */
enum status ox_literal_add(struct ox *m, struct ox_deferred *p, uint32_t id, float factor);
/* --- onnx_float.c --- */

/* Tensor `id` in float32: itself, a constant's values, or what DEQUANTIZE makes of it. */
uint32_t ox_as_float(struct ox *m, uint32_t id);
/* Constant `c` (quantised values with scales `q`, or float32) as float32. */
struct ox_const ox_const_values(struct ox *m, const struct ox_const *c, const struct ir_quant *q);
uint32_t ox_f32_const(struct ox *m, const char *name, uint32_t rank, const int32_t *dim,
                      const float *value);
/* A constant of rank 0. */
uint32_t ox_number_tensor(struct ox *m, const char *name, float v);
/* Return true if an operand is float32, or there is no arithmetic on quantised values. */
bool ox_is_float(const struct ox *m, const struct ox_deferred *p);
/* `p` with operands, weights and bias in float32. */
struct ox_deferred ox_float_pending(struct ox *m, const struct ox_deferred *p);
/* Float32 operators that write a new tensor. */
enum status ox_f32_unary(struct ox *m, enum ir_opcode opcode, const char *name, uint32_t x,
                         uint32_t *id);
enum status ox_f32_binary(struct ox *m, enum ir_opcode opcode, const char *name, uint32_t a,
                          uint32_t b, uint32_t *id);
/* ox_f32_abs, .. */
#define OX_F32_UNARY(X)                                                                            \
    X(abs, ABS)                                                                                    \
    X(ceil, CEIL)                                                                                  \
    X(elu, ELU)                                                                                    \
    X(exp, EXP)                                                                                    \
    X(floor, FLOOR)                                                                                \
    X(log, LOG)                                                                                    \
    X(neg, NEG)                                                                                    \
    X(relu, RELU)                                                                                  \
    X(round, ROUND)                                                                                \
    X(sqrt, SQRT)                                                                                  \
    X(tanh, TANH)
#define OX_F32_BINARY(X)                                                                           \
    X(add, ADD)                                                                                    \
    X(div, DIV)                                                                                    \
    X(maximum, MAXIMUM)                                                                            \
    X(minimum, MINIMUM)                                                                            \
    X(mul, MUL)                                                                                    \
    X(pow, POW)                                                                                    \
    X(sub, SUB)
#define OX_UNARY(word, code)                                                                       \
    static inline enum status ox_f32_##word(struct ox *m, const char *name, uint32_t x,            \
                                            uint32_t *id)                                          \
    {                                                                                              \
        return ox_f32_unary(m, IR_OP_##code, name, x, id);                                         \
    }
#define OX_BINARY(word, code)                                                                      \
    static inline enum status ox_f32_##word(struct ox *m, const char *name, uint32_t a,            \
                                            uint32_t b, uint32_t *id)                              \
    {                                                                                              \
        return ox_f32_binary(m, IR_OP_##code, name, a, b, id);                                     \
    }
OX_F32_UNARY(OX_UNARY)
OX_F32_BINARY(OX_BINARY)
/* Over the axes of `mask`, kept as 1 or left out. */
uint32_t ox_f32_reduce(struct ox *m, enum ir_opcode opcode, const char *name, uint32_t x,
                       uint32_t mask, bool keep);
static inline uint32_t ox_f32_mean(struct ox *m, const char *name, uint32_t x, uint32_t mask,
                                   bool keep)
{
    return ox_f32_reduce(m, IR_OP_MEAN, name, x, mask, keep);
}
static inline uint32_t ox_f32_sum(struct ox *m, const char *name, uint32_t x, uint32_t mask,
                                  bool keep)
{
    return ox_f32_reduce(m, IR_OP_SUM, name, x, mask, keep);
}
/* Return true if a clamp, a bias or a scale may go into the deferred result `v`: no other reader
 * would have it computed twice. */
bool ox_may_grow(const struct ox *m, const struct ox_value *v);
/* --- onnx_value.c: inputs of a node as IR tensors --- */

/* A deferred value becomes a float32 tensor, in a row of its own. */
enum status ox_settle(struct ox *m, struct ox_value *v);
/* As ox_operand, in float32. */
enum status ox_float_input(struct ox *m, uint32_t i, const char *what, uint32_t *id);
/* Input `i` as an IR tensor: quantised values with a scale, or float32. Constants become tensors
 * (one float is exact as a code), deferred results float32. */
enum status ox_operand(struct ox *m, uint32_t i, const char *what, uint32_t *id);
/* Input 0 as a tensor that can be moved: quantised values, plain or after DequantizeLinear, float32,
 * integers, bool; the same without the last two. */
enum status ox_moved(struct ox *m, struct ox_value **x);
enum status ox_values(struct ox *m, struct ox_value **x);
/* Input `i` as a tensor of numbers: bool, int32 and int64 as they are, all else in float32. */
enum status ox_number_input(struct ox *m, uint32_t i, const char *what, uint32_t *id);
/* Input `i`, if it is there, is p's weights or bias, times `factor`. */
enum status ox_literal_input(struct ox *m, struct ox_deferred *p, uint32_t i, float factor);

/* --- what handlers have of each other --- */

/* onnx_compare.c: the node as `opcode` of two operands of int32 or int64. */
enum status ox_integers(struct ox *m, enum ir_opcode opcode);
/* onnx_compare.c: float32 tensor `x` where `by`, which broadcasts to it, is not 0; else 0. */
enum status ox_where_not_zero(struct ox *m, const char *name, uint32_t by, uint32_t x,
                              uint32_t *id);
/* onnx_emit.c: note p's bias if its scale is not that of the input times that of the weights, to 1e-5 of it:
 * quantisers round that product to float32. 0 is 0 in any scale. p is finished on quantised values. */
void ox_note_bias(struct ox *m, const struct ox_deferred *p);
/* onnx_dense.c: add constant `b`, times `factor`, to the unclamped result `p` as its bias, if it
 * may be. */
bool ox_is_bias(const struct ox_deferred *p, const struct ox_value *b);
enum status ox_add_bias(struct ox *m, const struct ox_deferred *p, const struct ox_value *b,
                        double factor);
/* onnx_norm.c: return true if BatchNormalization reads the rows of Gemm or MatMul, and alone. */
bool ox_norm_after_dense(const struct ox *m);
/* onnx_elementwise.c: the softmax operator of tensor `id` along one axis. */
enum status ox_softmax_row(struct ox *m, uint32_t id);

/* Once all scales are known, on quantised values: LSTM and GRU of integers, LAYER_NORM, INTERPOLATE,
 * sums of squares. */
ox_handler ox_cells, ox_layer_norms, ox_interpolations, ox_squares;
void ox_drop_unread(struct ir_graph *g, uint32_t *row);

/* --- handlers, one per operator (onnx_op.c has the table) --- */

ox_handler ox_quantize, ox_dequantize, ox_qlinear_conv, ox_qlinear_matmul, ox_qlinear_binary,
    ox_qlinear_pool, ox_qlinear_unary, ox_qlinear_concat, ox_qlinear_softmax;
ox_handler ox_conv, ox_batch_norm, ox_gemm, ox_matmul, ox_binary, ox_unary, ox_clip, ox_softmax,
    ox_average_pool, ox_max_pool, ox_reduce, ox_reduce_norm, ox_select;
ox_handler ox_identity, ox_dropout, ox_reshape_node, ox_flatten, ox_squeeze, ox_transpose_node,
    ox_concat_node, ox_slice_node, ox_split, ox_pad_node, ox_gather_node, ox_depth_space,
    ox_constant, ox_shape_node, ox_cast, ox_layer_norm, ox_pow, ox_resize, ox_conv_transpose,
    ox_matmul_integer, ox_conv_integer, ox_dynamic_quantize, ox_matmul_nbits, ox_variadic;
ox_handler ox_constant_of_shape, ox_range, ox_size, ox_tile, ox_concat_const, ox_qgemm, ox_arg,
    ox_instance_norm, ox_group_norm, ox_lp_norm, ox_curve, ox_cumsum, ox_top_k, ox_where,
    ox_reduce_log, ox_recurrent, ox_compare, ox_not, ox_is_nan, ox_thresholded_relu,
    ox_integer_pair, ox_quant;
/* onnx_attributes.c: refuse an unknown attribute of the operator m->op, an operator that the file's opset has not. */
enum status ox_check_attributes(struct ox *m);
enum status ox_check_since(struct ox *m, const char *op);
ox_import ox_import_node; /* onnx_op.c */
/* onnx_fallback.c: the node, refused otherwise, is an operator that ONNX Runtime computes. */
enum status ox_fallback(struct ox *m, const Onnx__NodeProto *node);

/* --- onnx_expand.c: nodes made of others --- */

/* The node is the nodes of `text` (syntax: onnx_expand.c). */
enum status ox_expand(struct ox *m, const char *text);
/* The model's function that the node calls, or NULL; import the call. */
const Onnx__FunctionProto *ox_called(const struct ox *m, const Onnx__NodeProto *node);
enum status ox_call(struct ox *m, const Onnx__FunctionProto *f);
#define ox_expandf(m, ...) ox_expand(m, arena_printf((m)->arena, __VA_ARGS__))
/* "[1,2]" for a text. */
const char *ox_list(struct ox *m, uint32_t n, const int64_t *value);
const char *ox_shape_list(struct ox *m, const struct ox_shape *s);
/* "[1,-1,1,..]": a list of channels beside `rank` dimensions. */
const char *ox_channel_list(struct ox *m, uint32_t rank);
/* A text's inner value `name` is constant `c`. */
void ox_inner_const(struct ox *m, const char *name, const struct ox_const *c);
/* The inner value "places": 0 .. n-1 along `axis`, the other dimensions 1. */
void ox_inner_places(struct ox *m, uint32_t rank, uint32_t axis, int32_t n);
ox_handler ox_function;
/* onnx_narrow.c: return true with *st if the node is arithmetic that its own handler does not have. */
bool ox_narrow(struct ox *m, enum status *st);
ox_handler ox_conv_taps, ox_transposed_taps, ox_conv_depths, ox_pool_taps, ox_pool_counted;
#define COMPOSED(name, least, most, attributes, fn)     ox_handler ox_##fn;
#define MICROSOFT_OF(name, least, most, attributes, fn) ox_handler ox_##fn;
#include "onnx_functions.def"

#endif
