/* onnx_quantize.c - QuantizeLinear and DequantizeLinear. */
#include "compiler/import/onnx/onnx_make.h"

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

/* quantised values from DequantizeLinear, the same scale again: nothing happens. */
static enum status quantize_integers(struct ox *m, uint32_t x, const struct ir_quant *q,
                                     enum ir_type type)
{
    const char *name = ox_out(m, 0)->name;

    if ((type == IR_I16 || m->g->tensor[x]->type == IR_I16) &&
        ox_check_step(m, x, q) == ST_UNSUPPORTED) {
        *m->d = (struct diag){0};
        x = ox_as_float(m, x);
    }
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

/* Quantised values of scale 1: clamp(rint(x / scale) + zero) in float32, scale and zero tensors.
 * 16-bit values stay float32, which has each of them. */
static enum status quantize_by(struct ox *m, uint32_t scale, uint32_t zero_point, int32_t type)
{
    static const float one = 1;
    static const int32_t zero = 0;
    const struct ir_quant plain = {1, 0, &one, &zero};
    const float low = (float)ox_lowest(type), high = (float)ox_highest(type);
    const char *name = ox_out(m, 0)->name;
    uint32_t x, out;

    TRY(ox_float_input(m, 0, "input", &x));
    TRY(ox_f32_div(m, ox_inner(m, name, "steps"), x, scale, &x));
    TRY(ox_f32_round(m, ox_inner(m, name, "rounded"), x, &x));
    TRY(ox_f32_add(m, ox_inner(m, name, "moved"), x, zero_point, &x));
    out = ox_clipped(m, ox_inner(m, name, "saturated"), x, low, high);
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

/* The rank along which q's scales broadcast: 0 after its axis for a single one. */
static uint32_t scaled_rank(const struct ir_quant *q, uint32_t rank)
{
    return q->n > 1 ? rank : q->axis;
}

/* One scale for each channel, or values of 16 bits. */
static enum status quantize_float(struct ox *m, const struct ir_quant *q, int32_t type)
{
    const uint32_t rank = scaled_rank(q, ox_rank(m, ox_in(m, 0)));

    return quantize_by(m, along_axis(m, "scale", q, rank, q->scale),
                       along_axis(m, "zero", q, rank, zero_points(m, q)), type);
}

/* The 16-bit type of a graph input that is int32 here, and of int16; 0 for others. */
static int32_t stored_type(const struct ox *m, uint32_t id)
{
    const uint8_t stored = m->g->tensor[id]->stored;

    return m->g->tensor[id]->type == IR_I16 ? OX_INT16
           : stored == IR_STORED_I16        ? OX_INT16
           : stored == IR_STORED_U16        ? OX_UINT16
                                            : 0;
}

/* The zero point of computed scales in float32, and its type; 0 and output_dtype without one. */
static enum status computed_zero(struct ox *m, uint32_t *zero_point, int32_t *type)
{
    static const float one = 1;
    static const int32_t zero = 0;
    const struct ir_quant plain = {1, 0, &one, &zero};
    const struct ox_value *z = ox_in(m, 2);
    struct ox_const c;

    *type = (int32_t)ox_attr_int(m, "output_dtype", OX_UINT8);
    if (!z) {
        *zero_point = ox_number_tensor(m, ox_out(m, 0)->name, 0);
    } else if (z->kind == OX_TENSOR && m->g->tensor[z->tensor]->type == IR_I32) {
        *type = stored_type(m, z->tensor);
        *zero_point = ox_number_as(m, ox_inner(m, z->name, "float"), z->tensor, IR_F32);
    } else if (z->kind == OX_TENSOR && !z->real) {
        *type = m->g->tensor[z->tensor]->type == IR_I8 ? OX_INT8 : OX_UINT8;
        TRY(ox_set_quant(m, z->tensor, &plain));
        *zero_point = ox_as_float(m, z->tensor);
    } else {
        const struct ox_const *from;

        TRY(ox_want_const(m, 2, "zero point", &from));
        *type = from->halves ? 0 : from->type;
        c = ox_const_values(m, from, &plain);
        *zero_point =
            ox_f32_const(m, ox_inner(m, ox_out(m, 0)->name, "zero"), c.rank, c.dim, c.data);
    }
    if (*type != OX_INT8 && *type != OX_UINT8 && !ox_is_wide(*type) &&
        strcmp(m->op, "QuantizeLinear") == 0)
        return FAIL(m->d, ST_UNSUPPORTED, "output: expected int8, uint8, int16 or uint16, found %s",
                    *type ? ox_type_name(*type) : "another");
    return ST_OK;
}

/* Input 1 is computed (dynamic quantisation), or has a scale for each element: scale, and zero point in
 * float32, which broadcast to input 0. */
static enum status computed_scale(struct ox *m, uint32_t *scale, uint32_t *zero_point,
                                  int32_t *type)
{
    const uint32_t rank = ox_rank(m, ox_in(m, 0));
    const int32_t *x = ox_dim(m, ox_in(m, 0));

    TRY(ox_float_input(m, 1, "scale", scale));
    TRY(computed_zero(m, zero_point, type));
    for (uint32_t k = 0; k < 2; k++) {
        const struct ir_tensor *t = m->g->tensor[k ? *zero_point : *scale];
        bool fits =
            ir_elements(t) == 1 || (t->rank == rank && ox_attr_int(m, "block_size", 0) == 1);

        for (uint32_t i = 0; ir_elements(t) != 1 && fits && i < rank; i++)
            fits = t->dim[i] == x[i] || t->dim[i] == 1;
        if (!fits)
            return FAIL(m->d, ST_MODEL,
                        "%s: expected one number, or one for each of %s, found shape %s",
                        k ? "zero point" : "scale", ir_shape_text(m->arena, rank, x),
                        ir_shape_text(m->arena, t->rank, t->dim));
    }
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

/* Return true for int16 that the operators of 16 bits compute on: one scale, zero point 0, not in ONNX's rounding. */
static bool is_plain_wide(const struct ox *m, const struct ir_quant *q, int32_t type)
{
    return type == OX_INT16 && q->n == 1 && q->zero_point[0] == 0 && !m->options->exact;
}

/* A computed value in one scale. */
static enum status quantize_one(struct ox *m, const struct ox_value *x, const struct ir_quant *q,
                                enum ir_type type)
{
    const char *name = ox_out(m, 0)->name;
    uint32_t id;

    if (x->kind == OX_PENDING) {
        TRY(ox_finish(m, x->deferred, name, type, q, &id));
        ox_set_tensor(m, 0, id, false);
        return ST_OK;
    }
    if (x->real) {
        TRY(ox_operand(m, 0, "input", &id));
        return quantize_integers(m, id, q, type);
    }
    if (m->g->tensor[x->tensor]->type != IR_F32)
        return FAIL(m->d, ST_UNSUPPORTED, "input '%.80s': expected float32, found %s", x->name,
                    ir_type_name(m->g->tensor[x->tensor]->type));
    ox_set_tensor(m, 0, ox_quantized(m, name, x->tensor, type, q), false);
    return ST_OK;
}

enum status ox_quantize(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ir_quant q;
    int32_t type;
    uint32_t id, zero;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    if (ox_in(m, 2) && ox_in(m, 2)->kind == OX_CONST && ox_in(m, 2)->c.halves)
        return FAIL(m->d, ST_UNSUPPORTED, "output: expected 8 or 16 bits, found 4");
    if (is_computed(ox_in(m, 1)) || ox_attr_int(m, "block_size", 0) == 1) {
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
    if (q.n != 1 || (ox_is_wide(type) && !is_plain_wide(m, &q, type)))
        return quantize_float(m, &q, type);
    return quantize_one(m, x, &q, ox_is_wide(type) ? IR_I16 : ox_ir_type(type));
}

/* Computed int32, 16-bit values, quantised values with a scale for each channel or with a computed
 * one: (q - zero_point) * scale in float32, tensors both. */
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
        v = ox_number_as(m, ox_inner(m, name, "float"), id, IR_F32);
    } else {
        TRY(ox_set_quant(m, id, &plain));
        v = ox_as_float(m, id);
    }
    TRY(ox_f32_sub(m, ox_inner(m, name, "offset"), v, zero_point, &v));
    TRY(ox_f32_mul(m, name, v, scale, &v));
    ox_set_tensor(m, 0, v, false);
    return ST_OK;
}

static uint32_t not_int16(struct ox *m, uint32_t id)
{
    return m->g->tensor[id]->type == IR_I16
               ? ox_number_as(m, ox_inner(m, ox_out(m, 0)->name, "int32"), id, IR_I32)
               : id;
}

static enum status dequantize_computed(struct ox *m, uint32_t id)
{
    uint32_t scale, zero;
    int32_t type;

    TRY(computed_scale(m, &scale, &zero, &type));
    return dequantize_by(m, not_int16(m, id), scale, zero);
}

static enum status dequantize_float(struct ox *m, uint32_t id, const struct ir_quant *q)
{
    const uint32_t rank = scaled_rank(q, m->g->tensor[id]->rank);

    return dequantize_by(m, not_int16(m, id), along_axis(m, "scale", q, rank, q->scale),
                         along_axis(m, "zero", q, rank, zero_points(m, q)));
}

/* Values of the file's int16 in its one scale, zero point 0. */
static enum status dequantize_wide(struct ox *m, uint32_t id, const struct ir_quant *q)
{
    struct ox_value *y = ox_out(m, 0);

    if (m->g->tensor[id]->type != IR_I16) {
        id = ox_number_as(m, ox_inner(m, y->name, "int16"), id, IR_I16);
        m->g->tensor[id]->quant = *q;
    }
    if (!ox_same_quant(&m->g->tensor[id]->quant, q))
        return dequantize_float(m, id, q);
    if (m->options->literal)
        id = ox_dequantized(m, y->name, id);
    ox_set_tensor(m, 0, id, !m->options->literal);
    return ST_OK;
}

static int32_t own_type(const struct ox *m, const struct ox_value *x)
{
    const enum ir_type type = x->kind == OX_CONST ? IR_TYPE_COUNT : m->g->tensor[x->tensor]->type;

    return x->kind == OX_CONST         ? x->c.type
           : x->wide                   ? x->wide
           : stored_type(m, x->tensor) ? stored_type(m, x->tensor)
           : type == IR_I8             ? OX_INT8
           : type == IR_U8             ? OX_UINT8
           : type == IR_I32            ? OX_INT32
                                       : OX_FLOAT;
}

/* Constants with a scale for each block of `size` elements along an axis. */
static enum status dequantize_blocks(struct ox *m, const struct ox_value *x, int64_t size)
{
    const struct ox_const *s, *z = NULL;
    struct ox_const c;
    uint32_t k;
    float *to;

    TRY(ox_want_const(m, 0, "block_size: input", &s));
    TRY(ox_want_const(m, 1, "scale", &s));
    if (ox_in(m, 2))
        TRY(ox_want_const(m, 2, "zero point", &z));
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 1), x->c.rank, &k));
    for (uint32_t i = 0; i < x->c.rank; i++) {
        const int64_t n = i == k && size > 0 ? (x->c.dim[i] + size - 1) / size : x->c.dim[i];

        if (size < 1 || s->rank != x->c.rank || s->dim[i] != n ||
            (z && (z->rank != s->rank || z->dim[i] != n)))
            return FAIL(m->d, ST_MODEL, "scale and zero point: expected one for each block of %lld",
                        (long long)size);
    }
    to = ox_new_const(m, &c, OX_FLOAT, x->c.rank, x->c.dim);
    for (uint64_t i = 0; i < c.n; i++) {
        uint64_t at = 0, stride = 1, rest = i;

        for (uint32_t d = c.rank; d-- > 0; stride *= (uint64_t)s->dim[d]) {
            const uint64_t place = rest % (uint64_t)c.dim[d];

            rest /= (uint64_t)c.dim[d];
            at += (d == k ? place / (uint64_t)size : place) * stride;
        }
        to[i] = (float)(ox_int(&x->c, i) - (z ? ox_int(z, at) : 0)) * (float)ox_number(s, at);
    }
    ox_set_const(m, 0, &c);
    return ST_OK;
}

enum status ox_dequantize(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_value *y = ox_out(m, 0);
    struct ir_quant q;
    int32_t type, own;
    uint32_t id;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    if (x->kind == OX_PENDING || x->real)
        return FAIL(m->d, ST_MODEL, "input '%.80s': expected quantised values, found float32",
                    x->name);
    if (ox_attr_int(m, "block_size", 0) != 0 && x->kind == OX_CONST && !is_computed(ox_in(m, 1)) &&
        !is_computed(ox_in(m, 2)))
        return dequantize_blocks(m, x, ox_attr_int(m, "block_size", 0));
    if (x->kind == OX_TENSOR && (is_computed(ox_in(m, 1)) || ox_attr_int(m, "block_size", 0) == 1))
        return dequantize_computed(m, x->tensor);
    own = own_type(m, x);
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
        y = ox_out(m, 0);
        y->wide = is_plain_wide(m, &q, own) ? own : 0;
        y->quant = q;
        return ST_OK;
    }
    if (x->kind == OX_CONST) {
        const struct ox_const *c = ox_one_zero_point(m, &x->c, &q);

        y->kind = OX_CONST;
        y->c = *c;
        y->quant = q;
        y->real = true;
        return ST_OK;
    }
    if (is_plain_wide(m, &q, own) && !x->wide)
        return dequantize_wide(m, x->tensor, &q);
    if (own == OX_INT32 || q.n > 1 || ox_is_wide(own))
        return dequantize_float(m, x->tensor, &q);
    id = x->tensor;
    TRY(ox_read_as(m, y->name, &id, &q));
    if (m->options->literal)
        ox_set_tensor(m, 0, ox_dequantized(m, y->name, id), false);
    else
        ox_set_tensor(m, 0, id, true);
    return ST_OK;
}
