/* onnx_elementwise.c - QuantizeLinear and DequantizeLinear, binary and unary operators, softmax. */
#include "onnx_import.h"

#include <math.h>
#include <string.h>

/* rint(x / s) + z in float32, saturated, as ONNX has it; NaN gives z. */
static int32_t code_of(double x, float scale, int32_t zero, int32_t type)
{
    const int32_t low = ox_lowest(type), high = ox_highest(type);
    const float v = rintf((float)x / scale);

    if (isnan(v))
        return zero;
    return v <= (float)(low - zero) ? low : v >= (float)(high - zero) ? high : (int32_t)v + zero;
}

/* Index of element i along dimension k. */
static uint32_t along(const struct ox_const *c, uint32_t k, uint64_t i)
{
    for (uint32_t d = c->rank; d-- > k + 1;)
        i /= (uint64_t)c->dim[d];
    return (uint32_t)(i % (uint64_t)c->dim[k]);
}

static void quantize_const(struct ox *m, const struct ox_const *x, const struct ir_quant *q,
                           int32_t type)
{
    struct ox_const c;
    uint8_t *to = ox_new_const(m, &c, type, x->rank, x->dim);
    const size_t size = ox_type_bytes(type);

    for (uint64_t i = 0; i < c.n; i++) {
        const uint32_t k = q->n > 1 ? along(x, q->axis, i) : 0;
        const int32_t code = code_of(ox_number(x, i), q->scale[k], q->zero_point[k], type);

        memcpy(to + i * size, &code, size); /* little-endian */
    }
    ox_set_const(m, 0, &c);
}

/* Codes behind DequantizeLinear, the same scale again: nothing happens. */
static enum status quantize_codes(struct ox *m, uint32_t x, const struct ir_quant *q,
                                  enum ir_type type)
{
    const char *name = ox_out(m, 0)->name;

    ox_set_tensor(m, 0, ox_rescale(m, name, x, q, type), false);
    return ST_OK;
}

/* A number for each index of q's axis, as a tensor that broadcasts to `rank` dimensions. */
static uint32_t along_axis(struct ox *m, const char *what, const struct ir_quant *q, uint32_t rank,
                           const float *value)
{
    const struct ox_shape s = {rank - q->axis, {(int32_t)q->n, 1, 1, 1, 1, 1}};

    return ox_f32_const(m, ox_inner(m, ox_out(m, 0)->name, what), s.rank, s.dim, value);
}

/* Codes of scale 1: clamp(rint(x / scale) + zero) in float32, scale and zero tensors. 16-bit codes
 * stay float32, which has each of them. */
static enum status quantize_by(struct ox *m, uint32_t scale, uint32_t zero_point, int32_t type)
{
    static const float one = 1;
    static const int32_t zero = 0;
    const struct ir_quant plain = {1, 0, &one, &zero};
    const float low = (float)ox_lowest(type), high = (float)ox_highest(type);
    const char *name = ox_out(m, 0)->name;
    struct ir_op *op;
    uint32_t x, out;

    TRY(ox_float_input(m, 0, "input", &x));
    TRY(ox_f32_binary(m, IR_OP_DIV, ox_inner(m, name, "steps"), x, scale, &x));
    TRY(ox_f32_unary(m, IR_OP_ROUND, ox_inner(m, name, "rounded"), x, &x));
    TRY(ox_f32_binary(m, IR_OP_ADD, ox_inner(m, name, "moved"), x, zero_point, &x));
    out = ox_tensor(m, ox_inner(m, name, "saturated"), IR_F32, ox_shape_of(m, x), NULL);
    op = ox_op(m, IR_OP_CLIP, 1, &x, out);
    memcpy(&op->attr[IR_CLIP_LOW_BITS], &low, 4);
    memcpy(&op->attr[IR_CLIP_HIGH_BITS], &high, 4);
    if (ox_is_wide(type)) {
        ox_set_tensor(m, 0, out, false);
        ox_out(m, 0)->wide = type;
    } else {
        ox_set_tensor(m, 0, ox_quantized(m, name, out, ox_ir_type(type), &plain), false);
    }
    return ST_OK;
}

static float *zero_points(struct ox *m, const struct ir_quant *q)
{
    float *offset = ARENA_ARRAY(m->arena, float, q->n);

    for (uint32_t i = 0; i < q->n; i++)
        offset[i] = (float)q->zero_point[i];
    return offset;
}

/* The rank of what q's scales broadcast along: 0 behind its axis for a single one. */
static uint32_t scaled_rank(const struct ir_quant *q, uint32_t rank)
{
    return q->n > 1 ? rank : q->axis;
}

/* One scale for each channel, or codes of 16 bits. */
static enum status quantize_float(struct ox *m, const struct ir_quant *q, int32_t type)
{
    const uint32_t rank = scaled_rank(q, ox_rank(m, ox_in(m, 0)));

    return quantize_by(m, along_axis(m, "scale", q, rank, q->scale),
                       along_axis(m, "zero", q, rank, zero_points(m, q)), type);
}

/* Input 1 is a computed number (dynamic quantisation): scale, and zero point in float32. */
static enum status computed_scale(struct ox *m, uint32_t *scale, uint32_t *zero_point,
                                  int32_t *type)
{
    static const float one = 1;
    static const int32_t zero = 0;
    const struct ir_quant plain = {1, 0, &one, &zero};
    const struct ox_value *z = ox_in(m, 2);

    TRY(ox_float_input(m, 1, "scale", scale));
    *type = OX_UINT8;
    *zero_point = ox_number_tensor(m, ox_out(m, 0)->name, 0);
    if (z && z->kind == OX_TENSOR && !z->real) {
        *type = m->g->tensor[z->tensor]->type == IR_I8 ? OX_INT8 : OX_UINT8;
        TRY(ox_set_quant(m, z->tensor, &plain));
        *zero_point = ox_as_float(m, z->tensor);
    } else if (z) {
        const struct ox_const *c;

        TRY(ox_want_const(m, 2, "zero point", &c));
        if (c->n != 1 || (c->type != OX_INT8 && c->type != OX_UINT8))
            return FAIL(m->d, ST_UNSUPPORTED,
                        "zero point: expected one int8 or uint8, found %llu of %s",
                        (unsigned long long)c->n, ox_type_name(c->type));
        *type = c->type;
        *zero_point = ox_number_tensor(m, ox_out(m, 0)->name, (float)ox_int(c, 0));
    }
    if (ir_elements(m->g->tensor[*scale]) != 1 || ir_elements(m->g->tensor[*zero_point]) != 1)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "scale '%.80s' is computed: expected one number, found "
                    "shape %s",
                    ox_in(m, 1)->name,
                    ir_shape_text(m->arena, m->g->tensor[*scale]->rank, m->g->tensor[*scale]->dim));
    return ST_OK;
}

static bool is_computed(const struct ox_value *v)
{
    return v && (v->kind == OX_PENDING || v->kind == OX_TENSOR);
}

static int32_t zero_type(struct ox *m, int32_t type)
{
    return ox_in(m, 2) ? type : (int32_t)ox_attr_int(m, "output_dtype", OX_UINT8);
}

enum status ox_quantize(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ir_quant q;
    int32_t type;
    uint32_t id, zero;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    if (is_computed(ox_in(m, 1))) {
        TRY(computed_scale(m, &id, &zero, &type));
        return quantize_by(m, id, zero, type);
    }
    TRY(ox_any_scale(m, 1, 2, ox_rank(m, x), ox_dim(m, x), ox_attr_int(m, "axis", 1), &q, &type));
    type = zero_type(m, type);
    if (type != OX_INT8 && type != OX_UINT8 && !ox_is_wide(type))
        return FAIL(m->d, ST_UNSUPPORTED, "output: expected int8, uint8, int16 or uint16, found %s",
                    ox_type_name(type));
    if (x->kind == OX_CONST) {
        const struct ox_const c = x->real ? ox_const_values(m, &x->c, &x->quant) : x->c;

        quantize_const(m, &c, &q, type);
        return ST_OK;
    }
    if (q.n != 1 || ox_is_wide(type))
        return quantize_float(m, &q, type);
    if (x->kind == OX_PENDING) {
        TRY(ox_finish(m, x->pending, ox_out(m, 0)->name, ox_ir_type(type), &q, &id));
        ox_set_tensor(m, 0, id, false);
        return ST_OK;
    }
    if (x->real) {
        TRY(ox_operand(m, 0, "input", &id));
        return quantize_codes(m, id, &q, ox_ir_type(type));
    }
    if (m->g->tensor[x->tensor]->type != IR_F32)
        return FAIL(m->d, ST_UNSUPPORTED, "input '%.80s': expected float32, found %s", x->name,
                    ir_type_name(m->g->tensor[x->tensor]->type));
    id = ox_tensor(m, ox_out(m, 0)->name, ox_ir_type(type), ox_shape_of(m, x->tensor), &q);
    ox_op(m, IR_OP_QUANTIZE, 1, &x->tensor, id);
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

/* Computed int32, 16-bit codes, codes with a scale for each channel or with a computed one:
 * (q - zero_point) * scale in float32, tensors both. */
static enum status dequantize_by(struct ox *m, uint32_t id, uint32_t scale, uint32_t zero_point)
{
    static const float one = 1;
    static const int32_t zero = 0;
    const struct ir_quant plain = {1, 0, &one, &zero};
    const char *name = ox_out(m, 0)->name;
    uint32_t v;

    if (m->g->tensor[id]->type == IR_F32) {
        v = id;
    } else if (m->g->tensor[id]->type == IR_I32) {
        v = ox_tensor(m, ox_inner(m, name, "float"), IR_F32, ox_shape_of(m, id), NULL);
        ox_op(m, IR_OP_CAST, 1, &id, v);
    } else {
        TRY(ox_set_quant(m, id, &plain));
        v = ox_as_float(m, id);
    }
    TRY(ox_f32_binary(m, IR_OP_SUB, ox_inner(m, name, "offset"), v, zero_point, &v));
    TRY(ox_f32_binary(m, IR_OP_MUL, name, v, scale, &v));
    ox_set_tensor(m, 0, v, false);
    return ST_OK;
}

static enum status dequantize_float(struct ox *m, uint32_t id, const struct ir_quant *q)
{
    const uint32_t rank = scaled_rank(q, m->g->tensor[id]->rank);

    return dequantize_by(m, id, along_axis(m, "scale", q, rank, q->scale),
                         along_axis(m, "zero", q, rank, zero_points(m, q)));
}

enum status ox_dequantize(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_value *y = ox_out(m, 0);
    struct ir_quant q;
    int32_t type, own;
    uint32_t scale, zero;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    if (x->kind == OX_PENDING || x->real)
        return FAIL(m->d, ST_MODEL, "input '%.80s': expected quantised values, found float32",
                    x->name);
    if (x->kind == OX_TENSOR && is_computed(ox_in(m, 1))) {
        TRY(computed_scale(m, &scale, &zero, &type));
        return dequantize_by(m, x->tensor, scale, zero);
    }
    own = x->kind == OX_CONST                       ? x->c.type
          : x->wide                                 ? x->wide
          : m->g->tensor[x->tensor]->type == IR_I8  ? OX_INT8
          : m->g->tensor[x->tensor]->type == IR_U8  ? OX_UINT8
          : m->g->tensor[x->tensor]->type == IR_I32 ? OX_INT32
                                                    : OX_FLOAT;
    TRY(ox_any_scale(m, 1, 2, ox_rank(m, x), ox_dim(m, x), ox_attr_int(m, "axis", 1), &q, &type));
    if (own != OX_INT8 && own != OX_UINT8 && own != OX_INT32 && !ox_is_wide(own))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "input '%.80s': expected int32, or 8 or 16 bits, found %s", x->name,
                    ox_type_name(own));
    if (ox_in(m, 2) && type != own)
        return FAIL(m->d, ST_MODEL, "zero point: expected %s as the input, found %s",
                    ox_type_name(own), ox_type_name(type));
    if (x->kind == OX_CONST && ox_is_wide(own)) {
        const struct ox_const c = ox_const_values(m, &x->c, &q);

        ox_set_const(m, 0, &c);
        return ST_OK;
    }
    if (x->kind == OX_CONST) {
        y->kind = OX_CONST;
        y->c = x->c;
        y->quant = q;
        y->real = true;
        return ST_OK;
    }
    if (own == OX_INT32 || q.n > 1 || x->wide)
        return dequantize_float(m, x->tensor, &q);
    TRY(ox_set_quant(m, x->tensor, &q));
    if (m->options->literal)
        ox_set_tensor(m, 0, ox_literal_dequantize(m, y->name, x->tensor), false);
    else
        ox_set_tensor(m, 0, x->tensor, true);
    return ST_OK;
}

bool ox_broadcast(const struct ox_shape *a, const struct ox_shape *b, struct ox_shape *y)
{
    y->rank = a->rank > b->rank ? a->rank : b->rank;
    for (uint32_t back = 0; back < y->rank; back++) {
        const int32_t m = back < a->rank ? a->dim[a->rank - 1 - back] : 1;
        const int32_t n = back < b->rank ? b->dim[b->rank - 1 - back] : 1;

        if (m != n && m != 1 && n != 1)
            return false;
        y->dim[y->rank - 1 - back] = m > n ? m : n;
    }
    return true;
}

enum status ox_common_shape(struct ox *m, const struct ox_shape *a, const struct ox_shape *b,
                            struct ox_shape *y)
{
    if (ox_broadcast(a, b, y))
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "shapes %s and %s do not broadcast",
                ir_shape_text(m->arena, a->rank, a->dim), ir_shape_text(m->arena, b->rank, b->dim));
}

static enum status binary_pending(struct ox *m, enum ir_opcode opcode, uint32_t a, uint32_t b,
                                  struct ox_pending **p)
{
    const struct ox_shape x = ox_shape_of(m, a), z = ox_shape_of(m, b);
    struct ox_shape y;

    TRY(ox_common_shape(m, &x, &z, &y));
    *p = ox_pending_new(m, opcode, y);
    (*p)->n_in = 2;
    (*p)->in[0] = a;
    (*p)->in[1] = b;
    return ST_OK;
}

static enum ir_opcode binary_opcode(const char *op)
{
    return strstr(op, "Add")   ? IR_OP_ADD
           : strstr(op, "Sum") ? IR_OP_ADD
           : strstr(op, "Sub") ? IR_OP_SUB
           : strstr(op, "Mul") ? IR_OP_MUL
           : strstr(op, "Div") ? IR_OP_DIV
           : strstr(op, "Max") ? IR_OP_MAXIMUM
           : strstr(op, "Min") ? IR_OP_MINIMUM
                               : IR_OP_PRELU;
}

/* The divisor is one constant number and the dividend codes: x / c is x * (1 / c). */
static bool by_constant(const struct ox *m)
{
    const struct ox_value *a = ox_in(m, 0), *b = ox_in(m, 1);

    return a && b && a->kind == OX_TENSOR && a->real && b->kind == OX_CONST && b->c.n == 1;
}

/* Exact but for the rounding of 1 / c to float32. */
static enum status reciprocal(struct ox *m, uint32_t *id)
{
    const struct ox_value *v = ox_in(m, 1);
    struct ir_tensor *t;
    float *scale = ARENA_ARRAY(m->arena, float, 1);
    double c;

    TRY(ox_operand(m, 1, "divisor", id));
    t = m->g->tensor[*id];
    if (t->role != IR_CONST || ir_elements(t) != 1)
        return FAIL(m->d, ST_UNSUPPORTED, "divisor '%.80s': expected a constant of one element",
                    v->name);
    c = (double)t->quant.scale[0] *
        ((t->type == IR_I8 ? (int8_t)t->data[0] : t->data[0]) - t->quant.zero_point[0]);
    if (c == 0 || !isfinite(1 / c))
        return FAIL(m->d, ST_MODEL, "divisor '%.80s' is %.9g", v->name, c);
    *scale = (float)fabs(1 / c);
    *id = ox_ir_const(m, v->name, IR_I8, t->rank, t->dim, c > 0 ? "\x01" : "\xff");
    m->g->tensor[*id]->quant = (struct ir_quant){1, 0, scale, ARENA_ARRAY(m->arena, int32_t, 1)};
    return ST_OK;
}

/* Computed int32 or int64. */
static bool is_integer(const struct ox *m, const struct ox_value *v)
{
    return v && v->kind == OX_TENSOR && !v->real && ir_is_int(m->g->tensor[v->tensor]->type);
}

enum status ox_binary(struct ox *m)
{
    const struct ox_value *a = ox_in(m, 0), *b = ox_in(m, 1);
    enum ir_opcode opcode = binary_opcode(m->op);
    struct ox_pending *p;
    uint32_t ia, ib;

    if (is_integer(m, a) || is_integer(m, b))
        return ox_integers(m, opcode);
    if (opcode == IR_OP_ADD && a && b && ox_may_grow(m, a) && ox_is_bias(a->pending, b))
        return ox_add_bias(m, a->pending, b, 1);
    if (opcode == IR_OP_ADD && a && b && ox_may_grow(m, b) && ox_is_bias(b->pending, a))
        return ox_add_bias(m, b->pending, a, 1);
    TRY(ox_operand(m, 0, "first input", &ia));
    if (opcode == IR_OP_DIV && by_constant(m)) {
        TRY(reciprocal(m, &ib));
        opcode = IR_OP_MUL;
    } else {
        TRY(ox_operand(m, 1, "second input", &ib));
    }
    TRY(binary_pending(m, opcode, ia, ib, &p));
    p->float_only = opcode == IR_OP_DIV || opcode == IR_OP_PRELU;
    ox_set_pending(m, p);
    return ST_OK;
}

/* Codes of input `i` of a QLinear operator with scale q. */
static enum status qlinear_input(struct ox *m, uint32_t i, const struct ir_quant *q, uint32_t *id)
{
    const struct ox_value *v = ox_in(m, i);

    if (v && v->kind == OX_TENSOR) {
        TRY(ox_set_quant(m, v->tensor, q));
        *id = ox_qlinear_codes(m, v->tensor);
        return ST_OK;
    }
    if (!v || v->kind != OX_CONST || v->real || v->c.n == 0 ||
        (v->c.type != OX_INT8 && v->c.type != OX_UINT8))
        return FAIL(m->d, ST_UNSUPPORTED, "input %u: expected quantised values of int8 or uint8",
                    i);
    *id = m->options->literal ? ox_literal_codes(m, v->name, &v->c, q)
                              : ox_code_const(m, v->name, &v->c, q, ox_ir_type(v->c.type));
    return ST_OK;
}

/* a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero */
enum status ox_qlinear_binary(struct ox *m)
{
    struct ir_quant qa, qb;
    struct ox_pending *p;
    uint32_t a, b;
    int32_t type;

    TRY(ox_scale(m, 1, 2, 0, NULL, 0, &qa, &type));
    TRY(ox_scale(m, 4, 5, 0, NULL, 0, &qb, &type));
    TRY(qlinear_input(m, 0, &qa, &a));
    TRY(qlinear_input(m, 3, &qb, &b));
    TRY(binary_pending(m, binary_opcode(m->op), a, b, &p));
    p->attr[IR_QLINEAR] = 1;
    return ox_qlinear_result(m, p, 6);
}

static enum ir_opcode unary_opcode(const char *op)
{
    return strstr(op, "Sigmoid") && !strstr(op, "Hard") ? IR_OP_LOGISTIC
           : strstr(op, "Tanh")                         ? IR_OP_TANH
           : strstr(op, "LeakyRelu")                    ? IR_OP_LEAKY_RELU
           : strstr(op, "HardSwish")                    ? IR_OP_HARD_SWISH
           : strstr(op, "HardSigmoid")                  ? IR_OP_HARD_SIGMOID
           : strcmp(op, "Neg") == 0                     ? IR_OP_NEG
           : strcmp(op, "Abs") == 0                     ? IR_OP_ABS
           : strcmp(op, "Sqrt") == 0                    ? IR_OP_SQRT
           : strcmp(op, "Exp") == 0                     ? IR_OP_EXP
           : strcmp(op, "Erf") == 0                     ? IR_OP_ERF
           : strcmp(op, "Round") == 0                   ? IR_OP_ROUND
           : strcmp(op, "Floor") == 0                   ? IR_OP_FLOOR
           : strcmp(op, "Ceil") == 0                    ? IR_OP_CEIL
           : strcmp(op, "Log") == 0                     ? IR_OP_LOG
           : strcmp(op, "Gelu") == 0                    ? IR_OP_GELU
           : strcmp(op, "Sin") == 0                     ? IR_OP_SIN
           : strcmp(op, "Cos") == 0                     ? IR_OP_COS
           : strcmp(op, "Sign") == 0                    ? IR_OP_SIGN
                                                        : IR_OP_RELU;
}

static enum status unary_pending(struct ox *m, uint32_t id, struct ox_pending **p)
{
    const enum ir_opcode opcode = unary_opcode(m->op);
    const bool hard = opcode == IR_OP_HARD_SIGMOID;
    const float alpha = ox_attr_float(m, "alpha", hard ? 0.2f : 0.01f);
    const float beta = ox_attr_float(m, "beta", 0.5f);

    *p = ox_pending_new(m, opcode, ox_shape_of(m, id));
    (*p)->n_in = 1;
    (*p)->in[0] = id;
    (*p)->float_only = opcode != IR_OP_LOGISTIC && opcode != IR_OP_TANH &&
                       opcode != IR_OP_LEAKY_RELU && opcode != IR_OP_HARD_SWISH &&
                       opcode != IR_OP_RELU;
    if ((opcode == IR_OP_LEAKY_RELU || hard) && !(isfinite(alpha) && isfinite(beta)))
        return FAIL(m->d, ST_MODEL, "alpha: expected a number, found %.9g", (double)alpha);
    if (opcode == IR_OP_LEAKY_RELU || hard)
        memcpy(&(*p)->attr[IR_ALPHA_BITS], &alpha, 4);
    if (hard)
        memcpy(&(*p)->attr[IR_BETA_BITS], &beta, 4);
    if (opcode == IR_OP_GELU)
        (*p)->attr[IR_APPROXIMATE] = strcmp(ox_attr_text(m, "approximate", "none"), "tanh") == 0;
    return ST_OK;
}

/* Clamp a result that is pending, or codes. */
static enum status clamp(struct ox *m, float low, float high)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_pending *p;
    uint32_t id;

    if (x && ox_may_grow(m, x)) {
        p = arena_memdup(m->arena, x->pending, sizeof *p);
    } else {
        TRY(ox_operand(m, 0, "input", &id));
        p = ox_pending_new(m,
                           low == 0 && high == INFINITY ? IR_OP_RELU
                           : low == 0 && high == 6      ? IR_OP_RELU6
                                                        : IR_OP_CLIP,
                           ox_shape_of(m, id));
        p->n_in = 1;
        p->in[0] = id;
        if (p->opcode != IR_OP_CLIP) {
            ox_set_pending(m, p);
            return ST_OK;
        }
    }
    if (m->options->literal) {
        p->low = low;
        p->high = high;
    } else {
        p->low = fmaxf(p->low, low);
        p->high = fmaxf(fminf(p->high, high), p->low);
    }
    if (p->opcode == IR_OP_CLIP) {
        memcpy(&p->attr[IR_CLIP_LOW_BITS], &p->low, 4);
        memcpy(&p->attr[IR_CLIP_HIGH_BITS], &p->high, 4);
    }
    ox_set_pending(m, p);
    return ST_OK;
}

enum status ox_unary(struct ox *m)
{
    struct ox_pending *p;
    uint32_t id;

    if (strcmp(m->op, "Relu") == 0)
        return clamp(m, 0, INFINITY);
    TRY(ox_operand(m, 0, "input", &id));
    TRY(unary_pending(m, id, &p));
    ox_set_pending(m, p);
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
    return clamp(m, low, high);
}

/* Along one axis; before opset 13 (QLinearSoftmax has it as an attribute) everything from `axis` on
 * is one row. */
static enum status softmax_pending(struct ox *m, uint32_t id, struct ox_pending **p)
{
    const float one = 1;
    const int64_t opset = ox_attr_int(m, "opset", m->opset);
    const bool logarithm = strcmp(m->op, "LogSoftmax") == 0;
    const uint32_t rank = m->g->tensor[id]->rank;
    uint32_t axis;

    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", opset < 13 ? 1 : -1), rank, &axis));
    for (uint32_t i = axis + 1; i < rank && opset < 13; i++)
        if (m->g->tensor[id]->dim[i] != 1)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "axis %u: before opset 13 expected size 1 after it, found %d", axis,
                        m->g->tensor[id]->dim[i]);
    *p = ox_pending_new(m, logarithm ? IR_OP_LOG_SOFTMAX : IR_OP_SOFTMAX, ox_shape_of(m, id));
    (*p)->float_only = logarithm;
    (*p)->n_in = 1;
    (*p)->in[0] = id;
    (*p)->attr[IR_AXIS] = (int32_t)axis;
    if (!logarithm)
        memcpy(&(*p)->attr[IR_BETA_BITS], &one, 4);
    return ST_OK;
}

enum status ox_softmax(struct ox *m)
{
    struct ox_pending *p;
    uint32_t id;

    TRY(ox_operand(m, 0, "input", &id));
    TRY(softmax_pending(m, id, &p));
    ox_set_pending(m, p);
    return ST_OK;
}

/* x, x_scale, x_zero, y_scale, y_zero */
enum status ox_qlinear_unary(struct ox *m)
{
    struct ir_quant q;
    struct ox_pending *p;
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
    struct ox_pending *p;
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
    p = ox_pending_new(m, IR_OP_CONCATENATION, (struct ox_shape){0});
    p->n_part = n;
    p->part = part;
    p->in[0] = part[0];
    p->attr[IR_AXIS] = (int32_t)axis;
    return ox_qlinear_result(m, p, 0);
}
