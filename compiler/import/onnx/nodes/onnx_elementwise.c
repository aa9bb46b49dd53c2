/* onnx_elementwise.c - binary and unary operators, softmax. */
#include "compiler/import/onnx/onnx_sum.h"

#include <math.h>
#include <string.h>

/* A constant `id` of zeros is zeros in any scale: give it that of a sum's other term, which its own
 * may be too far from for fixed point. */
static uint32_t zeros_like(struct ox *m, uint32_t id, uint32_t other)
{
    const struct ir_tensor *t = m->g->tensor[id], *o = m->g->tensor[other];

    if (t->role != IR_CONST || ir_type_bytes(t->type) != 1 || t->quant.n != 1 || o->quant.n != 1)
        return id;
    for (uint64_t i = 0; i < ir_elements(t); i++)
        if (t->data[i] != (uint8_t)t->quant.zero_point[0])
            return id;
    id = ox_ir_const(m, t->name, t->type, t->rank, t->dim, t->data);
    m->g->tensor[id]->quant = (struct ir_quant){1, 0, o->quant.scale, t->quant.zero_point};
    return id;
}

static enum status binary_pending(struct ox *m, enum ir_opcode opcode, uint32_t a, uint32_t b,
                                  struct ox_deferred **p)
{
    const struct ox_shape x = ox_shape_of(m, a), z = ox_shape_of(m, b);
    const bool sums = !m->options->literal && ir_op_info(opcode)->sum != 0;
    struct ox_shape y;

    TRY(ox_common_shape(m, &x, &z, &y));
    *p = ox_deferred_new(m, opcode, y);
    (*p)->n_in = 2;
    (*p)->in[1] = sums ? zeros_like(m, b, a) : b;
    (*p)->in[0] = sums ? zeros_like(m, a, (*p)->in[1]) : a;
    return ST_OK;
}

/* Return true if the divisor is one constant number and the dividend quantised values. x / c is
 * then x * (1 / c), except in ONNX's rounding, where a tie of the quotient may not be a tie of
 * the product. */
static bool by_constant(const struct ox *m)
{
    const struct ox_value *a = ox_in(m, 0), *b = ox_in(m, 1);

    return !m->options->exact && a && b && a->kind == OX_TENSOR && a->real && b->kind == OX_CONST &&
           b->c.n == 1;
}

/* Exact except for the rounding of c and of 1 / c to float32. */
static enum status reciprocal(struct ox *m, uint32_t *id)
{
    const struct ox_value *v = ox_in(m, 1);
    struct ir_tensor *t;
    float *scale = ARENA_ARRAY(m->arena, float, 1);
    double c;

    TRY(ox_operand(m, 1, "divisor", id));
    t = m->g->tensor[*id];
    c = (double)*(const float *)ox_const_values(m, &v->c, &v->quant).data;
    *scale = (float)fabs(1 / c);
    if (!(*scale > 0) || !isfinite(*scale))
        return FAIL(m->d, ST_MODEL, "divisor '%.80s' is %.9g", v->name, c);
    *id = ox_ir_const(m, v->name, IR_I8, t->rank, t->dim, c > 0 ? "\x01" : "\xff");
    m->g->tensor[*id]->quant = (struct ir_quant){1, 0, scale, ARENA_ARRAY(m->arena, int32_t, 1)};
    return ST_OK;
}

enum status ox_binary(struct ox *m)
{
    const struct ox_value *a = ox_in(m, 0), *b = ox_in(m, 1);
    enum ir_opcode opcode = m->opcode;
    const bool adds = opcode == IR_OP_ADD && a && b;
    struct ox_deferred *p;
    uint32_t ia, ib;

    if (ox_is_integer(m, a) || ox_is_integer(m, b))
        return ox_integers(m, opcode);
    if (adds && ox_may_grow(m, a) && ox_is_bias(a->deferred, b))
        return ox_add_bias(m, a->deferred, b, 1);
    if (adds && ox_may_grow(m, b) && ox_is_bias(b->deferred, a))
        return ox_add_bias(m, b->deferred, a, 1);
    const uint32_t waiting = ox_waiting_operand(m, opcode, (const struct ox_value *[]){a, b});
    if (waiting < 2) {
        TRY(ox_operand(m, 1 - waiting, "other input", &ia));
        if (m->g->tensor[ia]->type != IR_F32)
            return ox_waiting_sum(m, opcode, waiting == 0 ? a : b, waiting, ia);
    }
    TRY(ox_operand(m, 0, "first input", &ia));
    if (opcode == IR_OP_DIV && by_constant(m)) {
        TRY(reciprocal(m, &ib));
        opcode = IR_OP_MUL;
    } else {
        TRY(ox_operand(m, 1, "second input", &ib));
    }
    TRY(binary_pending(m, opcode, ia, ib, &p));
    p->float_only = !ir_op_info(opcode)->onnx_quantised;
    ox_set_deferred(m, p);
    return ST_OK;
}

/* Max, Min, Sum and Mean of any number of operands but two (of Mean too), left to right. */
enum status ox_variadic(struct ox *m)
{
    const bool mean = strcmp(m->op, "Mean") == 0;
    const enum ir_opcode opcode = mean ? IR_OP_ADD : m->opcode;
    const char *name = ox_out(m, 0)->name;
    uint32_t id, next;

    if (m->node->n_input == 1)
        return ox_identity(m);
    if (m->node->n_input == 2 && !mean)
        return ox_binary(m);
    TRY(ox_float_input(m, 0, "input", &id));
    for (uint32_t i = 1; i < m->node->n_input; i++) {
        TRY(ox_float_input(m, i, "input", &next));
        TRY(ox_f32_binary(m, opcode,
                          i + 1 < m->node->n_input || mean ? ox_inner(m, name, "part") : name, id,
                          next, &id));
    }
    if (mean)
        TRY(ox_f32_div(m, name, id, ox_number_tensor(m, name, (float)m->node->n_input), &id));
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

/* Quantised values of input `i` of a QLinear operator with scale q. */
static enum status qlinear_input(struct ox *m, uint32_t i, const struct ir_quant *q, uint32_t *id)
{
    const struct ox_value *v = ox_in(m, i);

    if (v && v->kind == OX_TENSOR) {
        TRY(ox_set_quant(m, v->tensor, q));
        *id = ox_qlinear_quantised(m, v->tensor);
        return ST_OK;
    }
    if (!v || v->kind != OX_CONST || v->real || v->c.n == 0 ||
        (v->c.type != OX_INT8 && v->c.type != OX_UINT8))
        return FAIL(m->d, ST_UNSUPPORTED, "input %u: expected quantised values of int8 or uint8",
                    i);
    *id = m->options->literal ? ox_literal_quantised(m, v->name, &v->c, q)
                              : ox_code_const(m, v->name, &v->c, q, ox_ir_type(v->c.type));
    return ST_OK;
}

/* a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero */
enum status ox_qlinear_binary(struct ox *m)
{
    struct ir_quant qa, qb;
    struct ox_deferred *p;
    uint32_t a, b;
    int32_t type;

    TRY(ox_scale(m, 1, 2, 0, NULL, 0, &qa, &type));
    TRY(ox_scale(m, 4, 5, 0, NULL, 0, &qb, &type));
    TRY(qlinear_input(m, 0, &qa, &a));
    TRY(qlinear_input(m, 3, &qb, &b));
    TRY(binary_pending(m, m->opcode, a, b, &p));
    p->attr[IR_QLINEAR] = 1;
    return ox_qlinear_result(m, p, 6);
}

static enum status unary_pending(struct ox *m, uint32_t id, struct ox_deferred **p)
{
    const enum ir_opcode opcode = m->opcode;
    const bool hard = ir_op_has(opcode, IR_BETA_BITS); /* HardSigmoid */
    const float alpha = ox_attr_float(m, "alpha", hard ? 0.2f : 0.01f);
    const float beta = ox_attr_float(m, "beta", 0.5f);

    *p = ox_deferred_new(m, opcode, ox_shape_of(m, id));
    (*p)->n_in = 1;
    (*p)->in[0] = id;
    (*p)->float_only = !ir_op_info(opcode)->onnx_quantised;
    if (ir_op_has(opcode, IR_ALPHA_BITS) && !(isfinite(alpha) && isfinite(beta)))
        return FAIL(m->d, ST_MODEL, "alpha: expected a number, found %.9g", (double)alpha);
    if (ir_op_has(opcode, IR_ALPHA_BITS))
        memcpy(&(*p)->attr[IR_ALPHA_BITS], &alpha, 4);
    if (hard)
        memcpy(&(*p)->attr[IR_BETA_BITS], &beta, 4);
    if (ir_op_has(opcode, IR_APPROXIMATE))
        (*p)->attr[IR_APPROXIMATE] = strcmp(ox_attr_text(m, "approximate", "none"), "tanh") == 0;
    return ST_OK;
}

/* Clamp a result that is deferred, or quantised values. */
static enum status clamp(struct ox *m, float low, float high)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_deferred *p;
    uint32_t id;

    if (x && ox_may_grow(m, x)) {
        p = arena_memdup(m->arena, x->deferred, sizeof *p);
    } else {
        TRY(ox_operand(m, 0, "input", &id));
        p = ox_deferred_new(m,
                            low == 0 && high == INFINITY ? IR_OP_RELU
                            : low == 0 && high == 6      ? IR_OP_RELU6
                                                         : IR_OP_CLIP,
                            ox_shape_of(m, id));
        p->n_in = 1;
        p->in[0] = id;
        if (!ir_op_has(p->opcode, IR_CLIP_LOW_BITS)) {
            ox_set_deferred(m, p);
            return ST_OK;
        }
    }
    if (m->options->literal) {
        p->low = low;
        p->high = high;
    } else { /* this clamp of the bounds so far: it comes later, and its maximum is its last word */
        p->low = fminf(fmaxf(p->low, low), high);
        p->high = fminf(fmaxf(p->high, low), high);
    }
    if (ir_op_info(p->opcode)->activation == IR_ACT_CLIP) {
        memcpy(&p->attr[IR_CLIP_LOW_BITS], &p->low, 4);
        memcpy(&p->attr[IR_CLIP_HIGH_BITS], &p->high, 4);
    }
    ox_set_deferred(m, p);
    return ST_OK;
}

enum status ox_unary(struct ox *m)
{
    struct ox_deferred *p;
    uint32_t id;

    if (strcmp(m->op, "Relu") == 0)
        return clamp(m, 0, INFINITY);
    TRY(ox_operand(m, 0, "input", &id));
    TRY(unary_pending(m, id, &p));
    ox_set_deferred(m, p);
    return ST_OK;
}

/* A bound of Clip: input `i` from opset 11 on, an attribute before. */
static enum status bound(struct ox *m, uint32_t i, const char *name, float otherwise, float *v)
{
    const struct ox_value *x = ox_in(m, i);

    *v = ox_attr_float(m, name, otherwise);
    if (!x)
        return ST_OK;
    if (x->kind != OX_CONST || x->c.n != 1)
        return FAIL(m->d, ST_UNSUPPORTED, "%s '%.80s': expected a constant number", name, x->name);
    *v = x->real ? x->quant.scale[0] * (float)(ox_int(&x->c, 0) - x->quant.zero_point[0])
                 : (float)ox_number(&x->c, 0);
    if (isnan(*v))
        return FAIL(m->d, ST_MODEL, "%s: expected a number, found NaN", name);
    return ST_OK;
}

enum status ox_clip(struct ox *m)
{
    float low, high;

    TRY(bound(m, 1, "min", -INFINITY, &low));
    TRY(bound(m, 2, "max", INFINITY, &high));
    if (low == -INFINITY && high == INFINITY)
        return ox_identity(m);
    return clamp(m, low, high);
}

/* Along one axis; before opset 13 (QLinearSoftmax has it as an attribute) everything from `axis` on
 * is one row. */
static enum status softmax_pending(struct ox *m, uint32_t id, struct ox_deferred **p)
{
    const float one = 1;
    const int64_t opset = ox_attr_int(m, "opset", m->opset);
    const uint32_t rank = m->g->tensor[id]->rank;
    uint32_t axis;

    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", opset < 13 ? 1 : -1), rank, &axis));
    for (uint32_t i = axis + 1; i < rank && opset < 13; i++)
        if (m->g->tensor[id]->dim[i] != 1)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "axis %u: before opset 13 expected size 1 after it, found %d", axis,
                        m->g->tensor[id]->dim[i]);
    *p = ox_deferred_new(m, m->opcode, ox_shape_of(m, id));
    (*p)->float_only = !ir_op_info(m->opcode)->onnx_quantised;
    (*p)->n_in = 1;
    (*p)->in[0] = id;
    (*p)->attr[IR_AXIS] = (int32_t)axis;
    if (ir_op_has(m->opcode, IR_BETA_BITS))
        memcpy(&(*p)->attr[IR_BETA_BITS], &one, 4);
    return ST_OK;
}

enum status ox_softmax_row(struct ox *m, uint32_t id)
{
    struct ox_deferred *p;

    TRY(softmax_pending(m, id, &p));
    ox_set_deferred(m, p);
    return ST_OK;
}

/* x, x_scale, x_zero, y_scale, y_zero */
enum status ox_qlinear_unary(struct ox *m)
{
    struct ir_quant q;
    struct ox_deferred *p;
    uint32_t id;
    int32_t type;

    TRY(ox_scale(m, 1, 2, 0, NULL, 0, &q, &type));
    TRY(qlinear_input(m, 0, &q, &id));
    if (strcmp(m->op, "QLinearSoftmax") == 0)
        TRY(softmax_pending(m, id, &p));
    else
        TRY(unary_pending(m, id, &p));
    return ox_qlinear_result(m, p, 3);
}

/* y_scale, y_zero, then x, scale, zero of each part */
enum status ox_qlinear_concat(struct ox *m)
{
    const uint32_t n = (uint32_t)(m->node->n_input - 2) / 3;
    uint32_t *part = ARENA_ARRAY(m->arena, uint32_t, n), axis;
    struct ox_deferred *p;
    struct ir_quant q;
    int32_t type;

    if (m->node->n_input != 2 + 3 * (size_t)n || n == 0)
        return FAIL(m->d, ST_MODEL, "expected 2 inputs and 3 for each part, found %zu",
                    m->node->n_input);
    for (uint32_t i = 0; i < n; i++) {
        TRY(ox_scale(m, 3 + 3 * i, 4 + 3 * i, 0, NULL, 0, &q, &type));
        TRY(qlinear_input(m, 2 + 3 * i, &q, &part[i]));
    }
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), m->g->tensor[part[0]]->rank, &axis));
    TRY(ox_check_parts(m, n, part, axis, false));
    p = ox_deferred_new(m, m->opcode, (struct ox_shape){0});
    p->n_part = n;
    p->part = part;
    p->in[0] = part[0];
    p->attr[IR_AXIS] = (int32_t)axis;
    return ox_qlinear_result(m, p, 0);
}
