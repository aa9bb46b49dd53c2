/* onnx_integer.c - dynamic quantisation: DynamicQuantizeLinear, MatMulInteger, ConvInteger.
 * Quantised values without a scale; sums stay int32 until a Cast. */
#include "compiler/import/onnx/onnx_import.h"

#include <math.h>
#include <string.h>

static uint32_t code_tensor(struct ox *m, const char *name, uint32_t rank, const int32_t *dim,
                            enum ir_type type, const void *data)
{
    static const float one = 1;
    static const int32_t zero = 0;
    const uint32_t id = ox_ir_const(m, name, type, rank, dim, data);

    m->g->tensor[id]->quant = (struct ir_quant){1, 0, &one, &zero};
    return id;
}

/* Input `i`: 8-bit values, computed or constant. */
static enum status integer_input(struct ox *m, uint32_t i, const char *what, uint32_t *id)
{
    const struct ox_value *v = ox_in(m, i);
    const struct ir_tensor *t;

    if (v && v->kind == OX_CONST && !v->real && v->c.n != 0 &&
        (v->c.type == OX_INT8 || v->c.type == OX_UINT8)) {
        *id = code_tensor(m, v->name, v->c.rank, v->c.dim, ox_ir_type(v->c.type), v->c.data);
        return ST_OK;
    }
    t = v && v->kind == OX_TENSOR && !v->real ? m->g->tensor[v->tensor] : NULL;
    if (!t || (t->type != IR_I8 && t->type != IR_U8))
        return FAIL(m->d, ST_UNSUPPORTED, "%s '%.80s': expected quantised values of int8 or uint8",
                    what, v ? v->name : "");
    *id = v->tensor;
    return ST_OK;
}

/* Return the zero point of input `of` in *id: input `i`, or 0 without it. There may be one for each of
 * `n` rows or columns. */
static enum status zero_input(struct ox *m, uint32_t i, uint32_t of, int32_t n, uint32_t *id)
{
    const struct ir_tensor *x = m->g->tensor[of];

    if (ox_in(m, i))
        TRY(integer_input(m, i, "zero point", id));
    else
        *id = code_tensor(m, ox_inner(m, x->name, "zero"), 0, NULL, x->type, "");
    if (ir_elements(m->g->tensor[*id]) != 1 &&
        (m->g->tensor[*id]->rank != 1 || m->g->tensor[*id]->dim[0] != n))
        return FAIL(m->d, ST_UNSUPPORTED, "zero point '%.80s': expected one%s, found %llu",
                    m->g->tensor[*id]->name, n > 1 ? " or one for each row or column" : "",
                    (unsigned long long)ir_elements(m->g->tensor[*id]));
    return ST_OK;
}

enum status ox_matmul_integer(struct ox *m)
{
    uint32_t in[4], out;
    struct ox_shape y;

    TRY(integer_input(m, 0, "first input", &in[0]));
    TRY(integer_input(m, 1, "second input", &in[1]));
    TRY(ox_matrices_shape(m, in[0], in[1], &y));
    TRY(zero_input(m, 2, in[0], y.dim[y.rank - 2], &in[2]));
    TRY(zero_input(m, 3, in[1], y.dim[y.rank - 1], &in[3]));
    out = ox_tensor(m, ox_out(m, 0)->name, IR_I32, y, NULL);
    ox_count_macs(m, ox_op(m, m->opcode, 4, in, out), 1, 1);
    ox_set_tensor(m, 0, out, false);
    return ST_OK;
}

/* Constant weights [OC,C/G,KH,KW]. */
enum status ox_conv_integer(struct ox *m)
{
    struct ox_deferred *p = ox_deferred_new(m, m->opcode, (struct ox_shape){0});
    const struct ir_quant none = {0};
    const struct ox_const *w;
    struct ox_const transposed;
    uint32_t in[4], out;
    struct ir_op *op;

    TRY(integer_input(m, 0, "input", &p->in[0]));
    TRY(ox_want_const(m, 1, "weights", &w));
    TRY(ox_conv_geometry(m, p, w, &none));
    if (w->type == OX_FLOAT)
        return FAIL(m->d, ST_UNSUPPORTED, "weights: expected int8 or uint8, found float32");
    transposed = ox_transposed(m, &p->weight);
    in[0] = ox_to_nhwc(m, p->in[0]);
    in[1] =
        code_tensor(m, ox_in(m, 1)->name, 4, transposed.dim, ox_ir_type(w->type), transposed.data);
    TRY(zero_input(m, 2, p->in[0], 1, &in[2]));
    TRY(zero_input(m, 3, in[1], 1, &in[3]));
    out = ox_tensor(m, ox_inner(m, ox_out(m, 0)->name, "nhwc"), IR_I32, ox_nhwc_shape(p->shape),
                    NULL);
    op = ox_op(m, m->opcode, 4, in, out);
    memcpy(op->attr, p->attr, sizeof op->attr);
    ox_count_macs(m, op, 1, 1);
    ox_set_tensor(m, 0, ox_from_nhwc(m, ox_out(m, 0)->name, out, p->shape.rank), false);
    return ST_OK;
}

static uint32_t extreme(struct ox *m, enum ir_opcode reduce, enum ir_opcode with, const char *name,
                        uint32_t x, uint32_t zero)
{
    const struct ox_shape none = {0};
    const uint32_t out = ox_tensor(m, name, IR_F32, none, NULL);
    const uint32_t both[2] = {out, zero};
    const uint32_t y = ox_tensor(m, ox_inner(m, name, "0"), IR_F32, none, NULL);

    ox_op(m, reduce, 1, &x, out)->attr[IR_AXIS] = (1 << m->g->tensor[x]->rank) - 1;
    ox_op(m, with, 2, both, y);
    return y;
}

/* Integers from 0 to 255 as uint8. */
static void set_quantised(struct ox *m, uint32_t i, uint32_t x)
{
    static const float one = 1;
    static const int32_t zero = 0;
    const struct ir_quant q = {1, 0, &one, &zero};

    if (i >= m->node->n_output || !*m->node->output[i])
        return;
    ox_set_tensor(m, i, ox_quantized(m, ox_out(m, i)->name, x, IR_U8, &q), false);
}

/* scale = (max(x, 0) - min(x, 0)) / 255 (the least normal number where x is 0 all over),
 * zero = rint(0 - min / scale), y = rint(x / scale) + zero, all saturated, in float32. */
/* The same formulas for a constant. */
static enum status quantize_constant(struct ox *m)
{
    float low = 0, high = 0, scale, zero;
    struct ox_const x, y;
    uint8_t *to;

    TRY(ox_const_input(m, 0, &x));
    for (uint64_t i = 0; i < x.n; i++) {
        low = fminf(low, (float)ox_number(&x, i));
        high = fmaxf(high, (float)ox_number(&x, i));
    }
    scale = fmaxf((high - low) / 255, 0x1p-126f);
    zero = rintf(fminf(fmaxf(0 - low / scale, 0), 255));
    to = ox_new_const(m, &y, OX_UINT8, x.rank, x.dim);
    for (uint64_t i = 0; i < x.n; i++)
        to[i] = (uint8_t)fminf(fmaxf(rintf((float)ox_number(&x, i) / scale) + zero, 0), 255);
    ox_set_const(m, 0, &y);
    if (ox_has_output(m, 1)) {
        *(float *)ox_new_const(m, &y, OX_FLOAT, 0, NULL) = scale;
        ox_set_const(m, 1, &y);
    }
    if (m->node->n_output > 2 && *m->node->output[2]) {
        *(uint8_t *)ox_new_const(m, &y, OX_UINT8, 0, NULL) = (uint8_t)zero;
        ox_set_const(m, 2, &y);
    }
    return ST_OK;
}

enum status ox_dynamic_quantize(struct ox *m)
{
    const char *name = ox_out(m, 0)->name;
    uint32_t x, none, low, high, scale, zero, y;

    if (ox_in(m, 0) && ox_in(m, 0)->kind == OX_CONST && ox_in(m, 0)->c.n > 0)
        return quantize_constant(m);
    TRY(ox_float_input(m, 0, "input", &x));
    none = ox_number_tensor(m, name, 0);
    high = extreme(m, IR_OP_REDUCE_MAX, IR_OP_MAXIMUM, ox_inner(m, name, "max"), x, none);
    low = extreme(m, IR_OP_REDUCE_MIN, IR_OP_MINIMUM, ox_inner(m, name, "min"), x, none);
    TRY(ox_f32_sub(m, ox_inner(m, name, "range"), high, low, &scale));
    TRY(ox_f32_div(m, ox_inner(m, name, "step"), scale, ox_number_tensor(m, name, 255), &scale));
    TRY(ox_f32_maximum(m, ox_inner(m, name, "scale"), scale, ox_number_tensor(m, name, 0x1p-126f),
                       &scale));
    TRY(ox_f32_div(m, ox_inner(m, name, "low"), low, scale, &zero));
    TRY(ox_f32_sub(m, ox_inner(m, name, "offset"), none, zero, &zero));
    zero = ox_clipped(m, ox_inner(m, name, "saturated"), zero, 0, 255);
    TRY(ox_f32_round(m, ox_inner(m, name, "zero"), zero, &zero));
    TRY(ox_f32_div(m, ox_inner(m, name, "steps"), x, scale, &y));
    TRY(ox_f32_round(m, ox_inner(m, name, "rounded"), y, &y));
    TRY(ox_f32_add(m, ox_inner(m, name, "moved"), y, zero, &y));
    set_quantised(m, 0, ox_clipped(m, ox_inner(m, name, "codes"), y, 0, 255));
    if (ox_has_output(m, 1))
        ox_set_tensor(m, 1, scale, false);
    set_quantised(m, 2, zero);
    return ST_OK;
}
