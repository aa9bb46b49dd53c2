/* ref_islands_own.h - shared by ref_islands*.c. `from` is the file's graph, `to` the one that is
 * made; ids are of `to` unless the name specifies file. */
#ifndef HEDDLE_REFERENCE_ISLANDS_REF_ISLANDS_OWN_H
#define HEDDLE_REFERENCE_ISLANDS_REF_ISLANDS_OWN_H

#include "ref_islands.h"

/* The form of a tensor of the file in `to`. */
enum isl_kind {
    ISL_UNKNOWN,
    ISL_TENSOR,    /* tensor `id` of the same type */
    ISL_QUANTISED, /* float32 in the file; here the quantised tensor `id`, dequantised */
    ISL_DEFERRED   /* float32 in the file; its reader decides how it is computed */
};

struct isl_deferred;

struct isl_value {
    enum isl_kind kind;
    uint32_t id;
    uint32_t real; /* of a quantised one: id + 1 of its values in float32, 0 without */
    const struct isl_deferred *deferred;
};

/* Constant weights [OC,C/G,KH,KW], dense ones [OC,K,1,1]. */
struct isl_weights {
    enum ir_type type; /* IR_I8, IR_U8; IR_F32: `data` are floats */
    int32_t dim[4];
    const void *data;
    uint32_t n_scale; /* 1 or OC */
    const float *scale;
    const int32_t *zero;
};

/* An operator whose float result waits for QUANTIZE. */
struct isl_deferred {
    const struct ir_tensor *y; /* the file's result */
    uint32_t row;
    enum ir_opcode opcode;
    int32_t attr[IR_ATTR_COUNT];
    uint32_t n_in, *in; /* operands without weights and bias */
    bool has_weights;
    struct isl_weights w;
    const double *bias;                 /* [OC] in real numbers, or NULL */
    const int32_t *sums;                /* [OC] in units of s_in * s_w, or NULL */
    bool counts_pads;                   /* average: cells outside the image count */
    bool whole_image;                   /* average */
    float low, high;                    /* clamp after it, infinite without */
    int32_t copies;                     /* of the input's channels that `w` multiplies */
    const struct isl_deferred *product; /* of a sum: operand `product_at`, which waits too, or NULL;
                                         * its place in `in` has the other operand */
    uint32_t product_at;
};

/* The result to make: of `type`, with scale `q` unless it is float32. */
struct isl_want {
    const char *name;
    enum ir_type type;
    const struct ir_quant *q;
};

struct isl {
    struct arena *arena;
    struct diag *d;
    bool exact;
    const struct ir_graph *from,
        *plain; /* plain: its operators, for formulas, without Identity and kin */
    struct ir_graph *to;
    struct isl_value *value; /* of each tensor of `from` */
    uint32_t *uses;          /* of each tensor of `from`: readers and graph outputs */
    uint32_t *row_ops; /* of each row of `from`: its operators without DEQUANTIZE and QUANTIZE */
    bool *whole;       /* rows of `from` that are made, an LSTM each */
    uint32_t row;      /* row of the operator being made */
};

/* Groups of a convolution's input channels. */
static inline int32_t isl_groups(const struct isl *s, const struct isl_deferred *p)
{
    return s->to->tensor[p->in[0]]->dim[1] * p->copies / p->w.dim[1];
}

/* --- ref_islands_emit.c: tensors, operators and values of `to`, results that wait --- */

uint32_t isl_tensor(struct isl *s, const char *name, enum ir_type type, uint32_t rank,
                    const int32_t *dim, const struct ir_quant *q);
uint32_t isl_const(struct isl *s, const char *name, enum ir_type type, uint32_t rank,
                   const int32_t *dim, const void *data, const struct ir_quant *q);
struct ir_op *isl_op(struct isl *s, enum ir_opcode opcode, uint32_t n_in, const uint32_t *in,
                     uint32_t out);
#define CONSTRUCTOR(word, code)                                                                    \
    static inline struct ir_op *isl_op_##word(struct isl *s, uint32_t n_in, const uint32_t *in,    \
                                              uint32_t out)                                        \
    {                                                                                              \
        return isl_op(s, IR_OP_##code, n_in, in, out);                                             \
    }
#include "operators/constructors.def"
#undef CONSTRUCTOR
const char *isl_inner(struct isl *s, const char *name, const char *what);
struct ir_quant isl_one_scale(struct isl *s, float scale, int32_t zero);
/* `id` in another shape or order of dimensions; the same quantisation. */
uint32_t isl_reshape(struct isl *s, const char *name, uint32_t id, uint32_t rank,
                     const int32_t *dim);
uint32_t isl_transpose(struct isl *s, const char *name, uint32_t id, const int32_t *perm);
/* [N,C,L] or [N,C,H,W] to [N,H,W,C] and back. */
uint32_t isl_to_nhwc(struct isl *s, uint32_t id);
uint32_t isl_from_nhwc(struct isl *s, const char *name, uint32_t id, uint32_t rank);
/* The shape [N,H,W,C] of an image [N,C,L] or [N,C,H,W]. */
void isl_nhwc_shape(const struct ir_tensor *file, int32_t dim[4]);
/* Quantised or float32 `id` as `type` of scale q: itself, or QUANTIZE. */
uint32_t isl_rescale(struct isl *s, const char *name, uint32_t id, enum ir_type type,
                     const struct ir_quant *q);

bool isl_same_quant(const struct ir_tensor *t, enum ir_type type, const struct ir_quant *q);

struct isl_value *isl_value(struct isl *s, uint32_t file_id);
void isl_set_tensor(struct isl *s, uint32_t file_id, uint32_t id);
/* Tensor `id` in float32; a constant. */
uint32_t isl_as_float(struct isl *s, uint32_t id);
uint32_t isl_float_const(struct isl *s, const struct ir_tensor *t);
/* Quantised `id` in float32, as tensor `name`. */
uint32_t isl_dequantise(struct isl *s, const char *name, uint32_t id);

struct isl_deferred *isl_new_deferred(struct isl *s, const struct ir_op *op, uint32_t n_in);
/* The result that the file's tensor is, to become part of `op`'s, or NULL: somebody else would
 * compute it in float32 again. */
struct isl_deferred *isl_grown(struct isl *s, const struct ir_op *op, uint32_t file_id);
/* `p` is the result of `op`. */
void isl_set_deferred(struct isl *s, const struct ir_op *op, const struct isl_deferred *p);
bool isl_is_clamped(const struct isl_deferred *p);
/* Return true if part of it is float32, or there is no integer arithmetic. */
bool isl_is_float(const struct isl *s, const struct isl_deferred *p);
/* Return true if an operand is int16; if the operator has a form of int16. */
bool isl_reads_wide(const struct isl *s, const struct isl_deferred *p);
bool isl_can_be_wide(const struct isl_deferred *p);
/* Attributes of the result, its clamp among them if the operator has one; the clamp alone. */
void isl_set_attributes(struct ir_op *op, const struct isl_deferred *p);
void isl_set_bounds(int32_t *attr, const struct isl_deferred *p);
/* --- ref_islands_const.c: constants of the file --- */

/* Weights of file operator `op`, its input 1. */
enum status isl_read_weights(struct isl *s, const struct ir_op *op, struct isl_weights *w);
struct isl_weights isl_float_weights(struct isl *s, const struct isl_weights *w);
/* `channels` real numbers from constant `file_id` (of one or of that many); *v NULL if it is none.
 */
enum status isl_read_numbers(struct isl *s, uint32_t file_id, int32_t channels, const double **v);
/* Return true if the file's tensor is a constant, dequantised or float32. */
bool isl_is_const(const struct isl *s, uint32_t file_id);
/* Values of quantised constant `t` in float32. */
const float *isl_values(struct isl *s, const struct ir_tensor *t);

/* --- ref_islands_defer.c --- */

/* Return true if the operator's result may be computed on quantised values, or takes a bias,
 * scale or clamp. */
bool isl_defers(const struct isl *s, const struct ir_op *op);
enum status isl_defer(struct isl *s, const struct ir_op *op);

/* --- ref_islands_norm.c --- */

enum status isl_normalise(struct isl *s, const struct ir_op *op);

/* --- ref_islands_layer.c --- */

/* QUANTIZE of a layer normalisation of quantised values: then its result is made, *done. */
enum status isl_layer_norm(struct isl *s, const struct ir_op *quantise, bool *done);

/* --- ref_islands_squares.c --- */

/* A sum or mean of squares of quantised values: then its result is made, *done. */
enum status isl_squares(struct isl *s, const struct ir_op *op, bool *done);

/* --- ref_islands_cells.c --- */

/* `op` is the first product of node LSTM, GRU or RNN: make its row as an operator of integers if
 * docs/ONNX.md's rules allow. */
void isl_cells(struct isl *s, const struct ir_op *op);

/* --- ref_islands_resize.c --- */

/* QUANTIZE of interpolated quantised values: then its result is made, *done. */
enum status isl_resize(struct isl *s, const struct ir_op *quantise, bool *done);

/* --- ref_islands_result.c --- */

/* The file's tensor as an operand: quantised, or float32. A float constant of one element is the
 * quantised value 1 or -1 of the scale that is its magnitude. */
enum status isl_operand(struct isl *s, uint32_t file_id, uint32_t *id);
/* The same in float32. */
enum status isl_float(struct isl *s, uint32_t file_id, uint32_t *id);
/* Make the result of the file's tensor if it waits for a reader. */
enum status isl_settle(struct isl *s, uint32_t file_id);

/* `p` with a result of `type` and scale `q`, called `name`: in integers if docs/ONNX.md's rule
 * allows, else in float32 and QUANTIZE. */
enum status isl_make(struct isl *s, const struct isl_deferred *p, const char *name,
                     enum ir_type type, const struct ir_quant *q, uint32_t *id);

/* --- ref_islands_wide.c --- */

/* Return true if a step of x is 2^14 of q's or more. */
bool isl_is_far(const struct ir_tensor *x, const struct ir_quant *q);
/* Make `p`, of which an operand or the result is int16. False: in float32. */
bool isl_make_wide(struct isl *s, const struct isl_deferred *p, const struct isl_want *want,
                   uint32_t *id);

/* --- ref_islands_sum.c --- */

/* The scale of the product that waits for sum `p` with its result in `want`, of int16 if `wide`. False: half
 * a step of it is a step of the sum or more. */
bool isl_product_scale(struct isl *s, const struct isl_deferred *p, const struct isl_want *want,
                       bool wide, struct ir_quant *q);

/* --- ref_islands_weights.c --- */

/* `p` for a result in scale `q`: with weights of int8 in copies if it has float32 ones and may. */
const struct isl_deferred *isl_whole_weights(struct isl *s, const struct isl_deferred *p,
                                             const struct ir_quant *q);
/* `p` with weights of few bits times a whole number, if its bias needs smaller units. */
const struct isl_deferred *isl_finer_weights(struct isl *s, const struct isl_deferred *p);
/* Operand `i` as the result's arithmetic reads it. */
uint32_t isl_result_operand(struct isl *s, const struct isl_deferred *p,
                            const struct isl_want *want, uint32_t i);

/* --- ref_islands_products.c --- */

/* Return true if the sums of product `p` are integers although its result is float32; make it. */
bool isl_stays_float(const struct isl *s, const struct isl_deferred *p);
uint32_t isl_make_scaled_sums(struct isl *s, const struct isl_deferred *p);

/* --- ref_islands_image.c --- */

/* The bias in units of s_in * s_w, not rounded. */
double isl_bias_units(const struct isl *s, const struct isl_deferred *p, int32_t channel);
bool isl_has_pads(const struct isl_deferred *p);

/* Weights, and the bias or IR_NONE, as constants of `to`. */
uint32_t isl_weights_const(struct isl *s, const struct isl_deferred *p, const struct isl_want *want,
                           bool depthwise);
uint32_t isl_bias_const(struct isl *s, const struct isl_deferred *p, const struct isl_want *want);

/* Results of column DEFERRED: of images; the others are ref_islands_make.c's. */
typedef uint32_t isl_maker(struct isl *s, const struct isl_deferred *p,
                           const struct isl_want *want);
isl_maker isl_make_conv, isl_make_transposed, isl_make_pool;
/* The operator of `p` in want's type and scale, without a clamp that it has no attribute for. */
isl_maker isl_make_operator;

#endif
