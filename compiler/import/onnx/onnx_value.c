/* onnx_value.c - inputs of a node as IR tensors: constants become tensors, deferred results operators. */
#include "onnx_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Return true if the result is quantised values times one constant number: the same values in
 * scale `q`, whatever reads them. *x: their tensor; *negative: the number is. */
static bool is_scaled(struct ox *m, const struct ox_deferred *p, const struct ir_tensor **x,
                      struct ir_quant *q, bool *negative)
{
    const struct ir_tensor *c;
    float *scale = ARENA_ARRAY(m->arena, float, 1);
    int32_t *zero = ARENA_ARRAY(m->arena, int32_t, 1), code;
    uint32_t k;

    if (m->options->exact || p->opcode != IR_OP_MUL || p->attr[IR_QLINEAR] != 0 ||
        p->low != -INFINITY || p->high != INFINITY || ox_is_float(m, p))
        return false;
    k = m->g->tensor[p->in[0]]->role == IR_CONST ? 1 : 0;
    *x = m->g->tensor[p->in[k]];
    c = m->g->tensor[p->in[1 - k]];
    if ((*x)->role == IR_CONST || c->role != IR_CONST || ir_elements(c) != 1 ||
        (*x)->rank != p->shape.rank ||
        memcmp((*x)->dim, p->shape.dim, p->shape.rank * sizeof *p->shape.dim) != 0)
        return false;
    code = (c->type == IR_I16  ? *(const int16_t *)(const void *)c->data
            : c->type == IR_I8 ? (int8_t)*c->data
                               : *c->data) -
           c->quant.zero_point[0];
    *scale = (float)((double)(c->quant.scale[0] * (float)abs(code)) * (double)(*x)->quant.scale[0]);
    *zero = (*x)->quant.zero_point[0];
    if (code < 0 && (*x)->type != IR_I16)
        *zero = ((*x)->type == IR_I8 ? -1 : 255) - *zero;
    *q = (struct ir_quant){1, 0, scale, zero};
    *negative = code < 0;
    return *scale > 0 && isfinite(*scale);
}

/* The values of int16 `x` as they are stored, in scale q. */
static uint32_t recoded(struct ox *m, const struct ox_value *v, const struct ir_tensor *x,
                        const struct ir_quant *q)
{
    const uint32_t out = ox_tensor(m, v->name, x->type, v->deferred->shape, q);

    m->op = v->deferred->op;
    m->row = IR_NONE;
    ox_make_reshape(m, 1, &x->id, out)->attr[IR_RECODE] = 1;
    return out;
}

enum status ox_read_as(struct ox *m, const char *name, uint32_t *id, const struct ir_quant *q)
{
    const struct ir_tensor *t = m->g->tensor[*id];
    const enum status st = ox_set_quant(m, *id, q);
    uint32_t out;

    if (st == ST_OK || q->n != 1 || t->quant.n != 1 || ir_type_bytes(t->type) != 1)
        return st;
    *m->d = (struct diag){0}; /* it has another scale */
    out = ox_tensor(m, ox_inner(m, name, "again"), t->type, ox_shape_of(m, *id), q);
    ox_make_reshape(m, 1, id, out)->attr[IR_RECODE] = 1;
    *id = out;
    return ST_OK;
}

enum status ox_settle(struct ox *m, struct ox_value *v)
{
    const char *op = m->op;
    const uint32_t row = m->row;
    const struct ir_tensor *x;
    struct ir_quant q;
    bool negative;
    uint32_t id;

    if (v->kind != OX_PENDING)
        return ST_OK;
    v->real = is_scaled(m, v->deferred, &x, &q, &negative);
    if (v->real && x->type == IR_I16 && !negative)
        id = recoded(m, v, x, &q);
    else if (v->real)
        TRY(ox_finish(m, v->deferred, v->name, x->type, &q, &id));
    else
        TRY(ox_finish_float(m, v->deferred, v->name, &id));
    m->op = op;
    m->row = row;
    v->kind = OX_TENSOR;
    v->tensor = id;
    return ST_OK;
}

/* Dequantised int16 as these again; for the literal graph with a DEQUANTIZE. */
static uint32_t wide_const(struct ox *m, const struct ox_value *v)
{
    int16_t *code = ARENA_ARRAY(m->arena, int16_t, v->c.n);
    uint32_t id;

    for (uint64_t i = 0; i < v->c.n; i++)
        code[i] = (int16_t)lrint(ox_number(&v->c, i) / (double)v->quant.scale[0]);
    id = ox_ir_const(m, v->name, IR_I16, v->c.rank, v->c.dim, code);
    m->g->tensor[id]->quant = v->quant;
    return m->options->literal ? ox_dequantized(m, ox_inner(m, v->name, "float"), id) : id;
}

static bool is_float(int32_t type)
{
    return type == OX_FLOAT || type == OX_DOUBLE;
}

uint32_t ox_number_const(struct ox *m, const char *name, double v)
{
    const int8_t code = (int8_t)((v > 0) - (v < 0));
    float *scale = ARENA_ARRAY(m->arena, float, 1);
    uint32_t id;

    *scale = code ? (float)fabs(v) : 1;
    id = ox_ir_const(m, name, IR_I8, 0, NULL, &code);
    m->g->tensor[id]->quant = (struct ir_quant){1, 0, scale, ARENA_ARRAY(m->arena, int32_t, 1)};
    return id;
}

enum status ox_operand(struct ox *m, uint32_t i, const char *what, uint32_t *id)
{
    struct ox_value *v = ox_in(m, i);

    if (!v)
        return FAIL(m->d, ST_MODEL, "%s: input %u is absent", what, i);
    TRY(ox_settle(m, v));
    if (v->kind == OX_CONST && !v->real && v->c.type == OX_DOUBLE)
        v->c = ox_const_values(m, &v->c, &v->quant);
    if (v->kind == OX_TENSOR) {
        *id = v->tensor;
        if (!v->real && m->g->tensor[v->tensor]->type != IR_F32)
            return FAIL(m->d, ST_UNSUPPORTED, "%s '%.80s' is not the output of a DequantizeLinear",
                        what, v->name);
        return ST_OK;
    }
    if (v->kind == OX_CONST && v->wide && v->c.n > 0) {
        *id = wide_const(m, v);
        return ST_OK;
    }
    if (m->options->literal && v->kind == OX_CONST && v->c.n > 0 &&
        (v->real || is_float(v->c.type))) {
        *id = ox_literal_const(m, v);
        return ST_OK;
    }
    if (v->kind == OX_CONST && v->real && v->c.n > 0 && v->quant.n == 1 && v->c.type != OX_INT32) {
        *id = ox_code_const(m, v->name, &v->c, &v->quant, ox_ir_type(v->c.type));
        return ST_OK;
    }
    if (v->kind == OX_CONST && v->c.n == 1 && is_float(v->c.type) &&
        isfinite(ox_number(&v->c, 0))) {
        *id = ox_number_const(m, v->name, ox_number(&v->c, 0));
        return ST_OK;
    }
    if (v->kind == OX_CONST && v->c.n > 0 && (v->real || is_float(v->c.type))) {
        const struct ox_const c = ox_const_values(m, &v->c, &v->quant);

        *id = ox_f32_const(m, v->name, c.rank, c.dim, c.data);
        return ST_OK;
    }
    return FAIL(m->d, ST_UNSUPPORTED,
                "%s '%.80s' is %s: expected float32, or quantised values from DequantizeLinear",
                what, v->name, v->c.n == 0 ? "an empty constant" : ox_type_name(v->c.type));
}

static bool is_number(int32_t type)
{
    return type == OX_BOOL || type == OX_INT32 || type == OX_INT64;
}

/* Return true for int16 where the node's operator has none: places of maxima. */
static bool is_too_wide(const struct ox *m, const struct ox_value *v)
{
    return m->g->tensor[v->tensor]->type == IR_I16 && m->opcode < IR_OPCODES &&
           (ir_op_info(m->opcode)->types & TYPE_I16) == 0;
}

enum status ox_moved(struct ox *m, struct ox_value **x)
{
    struct ox_value *v = ox_in(m, 0);

    if (v && v->kind == OX_CONST && v->c.n != 0 && !v->real && is_number(v->c.type)) {
        v = arena_memdup(m->arena, v, sizeof *v); /* others may ask for the constant */
        v->tensor = ox_ir_const(m, v->name, ox_ir_type(v->c.type), v->c.rank, v->c.dim, v->c.data);
        v->kind = OX_TENSOR;
    }
    *x = v;
    if (v && v->kind == OX_TENSOR)
        return ST_OK;
    return ox_values(m, x);
}

enum status ox_values(struct ox *m, struct ox_value **x)
{
    struct ox_value *v = ox_in(m, 0);

    *x = v;
    if (!v)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    TRY(ox_settle(m, v));
    if (v->kind == OX_CONST && v->c.n != 0 && (v->real || is_float(v->c.type))) {
        TRY(ox_operand(m, 0, "input", &v->tensor));
        v->real = m->g->tensor[v->tensor]->type != IR_F32;
        v->kind = OX_TENSOR;
    }
    if (v->kind == OX_TENSOR && v->real && is_too_wide(m, v)) {
        *x = arena_memdup(m->arena, v, sizeof *v);
        (*x)->tensor = ox_as_float(m, v->tensor);
        (*x)->real = false;
        return ST_OK;
    }
    if (v->kind == OX_TENSOR &&
        (ir_is_code(m->g->tensor[v->tensor]->type) || m->g->tensor[v->tensor]->type == IR_F32))
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED, "input '%.80s': expected int8, uint8 or float32, found %s",
                v->name,
                v->kind == OX_CONST ? ox_type_name(v->c.type)
                                    : ir_type_name(m->g->tensor[v->tensor]->type));
}

enum status ox_float_input(struct ox *m, uint32_t i, const char *what, uint32_t *id)
{
    TRY(ox_operand(m, i, what, id));
    *id = ox_as_float(m, *id);
    return ST_OK;
}

enum status ox_number_input(struct ox *m, uint32_t i, const char *what, uint32_t *id)
{
    struct ox_value *v = ox_in(m, i);

    if (v && v->kind == OX_CONST && !v->real && v->c.n != 0 && is_number(v->c.type)) {
        *id = ox_ir_const(m, v->name, ox_ir_type(v->c.type), v->c.rank, v->c.dim, v->c.data);
        return ST_OK;
    }
    if (v && v->kind == OX_CONST && !v->real && v->c.n != 0 && ox_is_wide(v->c.type)) {
        struct ox_const c;
        int32_t *value = ox_new_const(m, &c, OX_INT32, v->c.rank, v->c.dim);

        for (uint64_t k = 0; k < c.n; k++)
            value[k] = (int32_t)ox_int(&v->c, k);
        *id = ox_ir_const(m, v->name, IR_I32, c.rank, c.dim, value);
        return ST_OK;
    }
    if (v && v->kind == OX_TENSOR && !v->real && !ir_is_code(m->g->tensor[v->tensor]->type)) {
        *id = v->tensor;
        return ST_OK;
    }
    return ox_float_input(m, i, what, id);
}

enum status ox_literal_input(struct ox *m, struct ox_deferred *p, uint32_t i, float factor)
{
    uint32_t id;

    if (!m->options->literal || !ox_in(m, i))
        return ST_OK;
    TRY(ox_operand(m, i, "weights or bias", &id));
    return ox_literal_add(m, p, id, factor);
}
