/* qdq_own.h - state while an ONNX file of float operators between QuantizeLinear and
 * DequantizeLinear is written. */
#ifndef HEDDLE_QUANTISE_QDQ_OWN_H
#define HEDDLE_QUANTISE_QDQ_OWN_H

#include "onnx_bytes.h"
#include "quant_own.h"

/* Images are NHWC in the IR and NCHW in ONNX. A tensor is written in the form that its producer
 * makes, and transposed if a reader needs the other. */
enum qdq_form { QDQ_PLAIN, QDQ_NCHW };

/* One form of a tensor. */
struct qdq_value {
    const char *name;     /* the tensor's name, unique in the file */
    const char *raw, *dq; /* names in the file: the float32 tensor, and DequantizeLinear's output;
                           * NULL if absent */
    bool is_border;       /* input or output of the graph, whose name is fixed */
};

struct qdq {
    struct arena *arena;
    const struct quant *q;
    const struct ir_graph *g;
    struct text nodes, initializers, borders;
    struct qdq_value **value[2]; /* by form, by tensor; NCHW of four dimensions only */
    const char **name;           /* all names in the file so far */
    uint32_t n_name, cap_name;
    const struct ir_op *op; /* being written */
};

/* --- qdq_value.c --- */

void qdq_values(struct qdq *w);
/* Return `base`, with a number appended if that name is taken. */
const char *qdq_unique(struct qdq *w, const char *base);
/* Return the name of an input of w->op: the tensor's values in this form. */
const char *qdq_read(struct qdq *w, uint32_t id, enum qdq_form form);
/* Return the name for the result of a node of w->op; qdq_made quantises it if the operator is
 * quantised. */
const char *qdq_result(struct qdq *w, uint32_t id, enum qdq_form form);
void qdq_made(struct qdq *w, uint32_t id, enum qdq_form form, const char *name);
/* Return the form in which an operator that accepts either finds its operands. */
enum qdq_form qdq_found(const struct qdq *w);
/* Write a node of one to three operands (NULL: absent). */
void qdq_node(struct qdq *w, const char *op, const char *out, const char *a, const char *b,
              const char *c, const struct text *attributes);
/* Write QuantizeLinear and DequantizeLinear of `from`; the result is called `to`. */
void qdq_pair(struct qdq *w, const char *from, struct quant_scale s, const char *to);
/* Constants: the name. */
const char *qdq_ints(struct qdq *w, uint32_t n, const int64_t *value);
const char *qdq_number(struct qdq *w, float value);
struct qdq_quantised { /* int8 or int32, of one scale, or one for each index of `axis` */
    enum ir_type type;
    uint32_t rank;
    int32_t dim[IR_MAX_RANK];
    const void *data;
    uint32_t n_scale, axis;
    const float *scale;
    int32_t zero;
};
const char *qdq_quantised(struct qdq *w, const char *name, const struct qdq_quantised *c);
const char *qdq_floats(struct qdq *w, const char *name, uint32_t rank, const int32_t *dim,
                       const float *data);
/* Return true for a TRANSPOSE between NHWC and NCHW: its result in one form equals its input in the
 * other. */
bool qdq_turns(const struct ir_graph *g, const struct ir_op *op, enum qdq_form *of_input);
/* Return the position of the IR's dimension `i` (of four) in this form. */
static inline uint32_t qdq_axis(enum qdq_form form, uint32_t i)
{
    static const uint32_t to[4] = {0, 2, 3, 1};

    return form == QDQ_NCHW ? to[i] : i;
}

/* --- column TO_ONNX of operators.def --- */

/* Write w->op; `node` names the node. */
typedef void qdq_writer(struct qdq *w, const char *node);
/* qdq_layers.c: with weights, matrix products, pools */
qdq_writer qdq_conv2d, qdq_depthwise, qdq_transpose_conv, qdq_pool, qdq_dense, qdq_product;
/* qdq_move.c: operators that only move values */
qdq_writer qdq_reshape, qdq_transpose, qdq_concatenation, qdq_slice, qdq_pad, qdq_gather;
/* qdq_parts.c: several nodes */
qdq_writer qdq_not_equal, qdq_rsqrt, qdq_l2_normalization, qdq_interpolate;
/* qdq_resize.c: a linear INTERPOLATE, with its coordinates as ONNX names them */
qdq_writer qdq_resize;
/* Write any operator; ST_UNSUPPORTED: it has no ONNX form here. */
enum status qdq_op(struct qdq *w, struct diag *d);
/* --- qdq_clamp.c --- */

/* If w->op clamps, return a temporary name for the node's result; qdq_clamp then computes `out`
 * from it. */
const char *qdq_unclamped(struct qdq *w, const char *out);
void qdq_clamp(struct qdq *w, const char *from, const char *out);

#endif
