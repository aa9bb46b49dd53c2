/* onnx_dense.c - Gemm, MatMul, QLinearMatMul with constant weights: FULLY_CONNECTED. */
#include "compiler/import/onnx/onnx_sum.h"

#include <math.h>
#include <string.h>

/* Weights [K,OC] as [OC,K]; `transposed` false: they are [OC,K] already. */
static enum status set_weights(struct ox *m, struct ox_deferred *p, const struct ox_const *c,
                               const struct ir_quant *q, bool transposed)
{
    const int32_t dim[2] = {c->dim[transposed ? 1 : 0], c->dim[transposed ? 0 : 1]};
    const size_t size = ox_type_bytes(c->type);
    const uint8_t *from = c->data;
    uint8_t *to;

    if (q->n > 1 && q->axis != (transposed ? 1 : 0)) { /* within one sum: float32 only */
        const struct ox_const values = ox_const_values(m, c, q);
        const struct ir_quant none = {0};

        return set_weights(m, p, &values, &none, transposed);
    }
    if (c->rank != 2 || c->n == 0)
        return FAIL(m->d, ST_UNSUPPORTED, "weights: expected 2 dimensions, found shape %s",
                    ir_shape_text(m->arena, c->rank, c->dim));
    if (c->type != OX_INT8 && c->type != OX_UINT8 && c->type != OX_FLOAT)
        return FAIL(m->d, ST_UNSUPPORTED, "weights: expected float32, int8 or uint8, found %s",
                    ox_type_name(c->type));
    p->attr[IR_WEIGHTS_KO] = m->options->literal && transposed;
    to = ox_new_const(m, &p->weight, c->type, 2, dim);
    for (size_t o = 0; o < (size_t)dim[0]; o++)
        for (size_t k = 0; k < (size_t)dim[1]; k++)
            memcpy(to + (o * (size_t)dim[1] + k) * size,
                   from + (transposed ? k * (size_t)dim[0] + o : o * (size_t)dim[1] + k) * size,
                   size);
    p->weight_quant = *q;
    p->weight_quant.axis = 0;
    return ST_OK;
}

/* x [..., K] times [K,OC]. */
static enum status set_shape(struct ox *m, struct ox_deferred *p)
{
    const struct ir_tensor *x = m->g->tensor[p->in[0]];

    if (x->rank == 0 || x->dim[x->rank - 1] != p->weight.dim[1])
        return FAIL(m->d, ST_MODEL, "input %s does not fit weights of %d rows",
                    ir_shape_text(m->arena, x->rank, x->dim), p->weight.dim[1]);
    p->shape = ox_shape_of(m, p->in[0]);
    p->shape.dim[x->rank - 1] = p->weight.dim[0];
    return ST_OK;
}

static bool is_weights(const struct ox_value *v)
{
    return v && v->kind == OX_CONST && (v->real || v->c.type == OX_FLOAT);
}

static enum status want_weights(struct ox *m, const struct ox_value *second,
                                const struct ox_value **w)
{
    *w = second;
    if (is_weights(second))
        return ST_OK;
    return FAIL(
        m->d, ST_UNSUPPORTED,
        "weights '%.80s': expected constant float32, or quantised values from DequantizeLinear",
        *w ? (*w)->name : "");
}

enum status ox_matrices_shape(struct ox *m, uint32_t ia, uint32_t ib, struct ox_shape *y)
{
    const struct ox_shape a = ox_shape_of(m, ia), b = ox_shape_of(m, ib);
    struct ox_shape ya = a, yb = b;

    if (a.rank < 2 || b.rank < 2)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at least 2 dimensions, found %u and %u", a.rank,
                    b.rank);
    for (uint32_t i = 1; i <= 2; i++)
        ya.dim[a.rank - i] = yb.dim[b.rank - i] = 1;
    if (a.dim[a.rank - 1] != b.dim[b.rank - 2] || !ox_broadcast(&ya, &yb, y))
        return FAIL(m->d, ST_MODEL, "shapes %s and %s do not fit",
                    ir_shape_text(m->arena, a.rank, a.dim), ir_shape_text(m->arena, b.rank, b.dim));
    y->dim[y->rank - 2] = a.dim[a.rank - 2];
    y->dim[y->rank - 1] = b.dim[b.rank - 1];
    return ST_OK;
}

/* Both operands computed, or more than two dimensions. */
static enum status matrices(struct ox *m)
{
    struct ox_deferred *p;
    struct ox_shape y;
    uint32_t in[2];

    TRY(ox_operand(m, 0, "first input", &in[0]));
    TRY(ox_operand(m, 1, "second input", &in[1]));
    TRY(ox_matrices_shape(m, in[0], in[1], &y));
    p = ox_deferred_new(m, m->opcode, y);
    p->n_in = 2;
    memcpy(p->in, in, sizeof in);
    ox_set_deferred(m, p);
    return ST_OK;
}

/* Return the second operand. Weights lose their leading dimensions of 1 unless the first operand has fewer dimensions
 * and the result takes them from here. */
static const struct ox_value *second_operand(struct ox *m, uint32_t rank)
{
    const struct ox_value *v = ox_in(m, 1);
    struct ox_value *w;

    if (!is_weights(v) || v->c.rank <= 2 || v->c.rank > rank || v->c.n == 0 ||
        v->c.n != (uint64_t)v->c.dim[v->c.rank - 2] * (uint64_t)v->c.dim[v->c.rank - 1])
        return v;
    w = arena_memdup(m->arena, v, sizeof *v);
    w->c.rank = 2;
    memcpy(w->c.dim, v->c.dim + v->c.rank - 2, 2 * sizeof *w->c.dim);
    w->quant.axis -= w->quant.n > 1 ? v->c.rank - 2 : 0;
    return w;
}

enum status ox_matmul(struct ox *m)
{
    struct ox_deferred *p = ox_defer_fully_connected(m, (struct ox_shape){0});
    const struct ox_value *second, *w;

    TRY(ox_operand(m, 0, "first input", &p->in[0]));
    second = second_operand(m, m->g->tensor[p->in[0]]->rank);
    if (!second || second->kind != OX_CONST || second->c.rank != 2)
        return matrices(m);
    p->n_in = 1;
    TRY(want_weights(m, second, &w));
    TRY(set_weights(m, p, &w->c, &w->quant, true));
    TRY(set_shape(m, p));
    if (m->options->literal)
        TRY(ox_literal_add(m, p, ox_literal_const(m, w), 1));
    ox_set_deferred(m, p);
    return ST_OK;
}

enum status ox_add_bias(struct ox *m, const struct ox_deferred *to, const struct ox_value *b,
                        double factor)
{
    struct ox_deferred *p = arena_memdup(m->arena, to, sizeof *to);
    const int32_t channels = p->weight.dim[0];
    double *bias = ARENA_ARRAY(m->arena, double, (size_t)channels);

    for (int32_t c = 0; c < channels; c++) {
        const uint64_t k = b->c.n == 1 ? 0 : (uint64_t)c;
        const uint32_t s = b->quant.n > 1 ? (uint32_t)k : 0;

        bias[c] = b->real ? (double)b->quant.scale[s] *
                                ((double)ox_int(&b->c, k) - b->quant.zero_point[s])
                          : ox_number(&b->c, k);
        bias[c] = bias[c] * factor + (to->bias ? to->bias[c] : 0);
        if (!isfinite(bias[c]))
            return FAIL(m->d, ST_MODEL, "bias '%.80s': value %d is not a number", b->name, c);
    }
    p->bias_quant = b->real && factor == 1 && !to->bias ? b->quant : (struct ir_quant){0};
    p->bias = bias;
    ox_set_deferred(m, p);
    return ST_OK;
}

bool ox_is_bias(const struct ox_deferred *p, const struct ox_value *b)
{
    const int32_t channels = p->weight.dim[0];

    if (b->kind != OX_CONST || p->bias_integers || p->low != -INFINITY || p->high != INFINITY)
        return false;
    if (p->opcode == IR_OP_FULLY_CONNECTED)
        return b->c.n == 1 || (b->c.n == (uint64_t)channels && b->c.rank > 0 &&
                               b->c.dim[b->c.rank - 1] == channels);
    if (p->opcode != IR_OP_CONV2D)
        return false;
    return b->c.n == 1 || (b->c.n == (uint64_t)channels && b->c.rank + 1 >= p->shape.rank &&
                           b->c.dim[b->c.rank + 1 - p->shape.rank] == channels);
}

/* Quantised values of C times beta: the same values in another scale. */
static enum status scaled_matrix(struct ox *m, const char *name, float beta, uint32_t *id)
{
    struct ox_deferred *p = ox_defer_mul(m, ox_shape_of(m, *id));
    struct ox_value v = {.name = name, .kind = OX_PENDING, .deferred = p};

    if (beta == 1)
        return ST_OK;
    p->n_in = 2;
    p->in[0] = *id;
    p->in[1] = ox_number_const(m, ox_inner(m, name, "beta"), (double)beta);
    TRY(ox_settle(m, &v));
    *id = v.tensor;
    return ST_OK;
}

/* p + beta * C: on quantised values where both are, or in float32. */
static enum status add_matrix(struct ox *m, const struct ox_deferred *p, float beta)
{
    const char *name = ox_out(m, 0)->name;
    const struct ox_value late = {
        .name = ox_inner(m, name, "product"), .kind = OX_PENDING, .n_use = 1, .deferred = p};
    const struct ox_value *const v[2] = {&late, ox_in(m, 2)};
    const enum ir_opcode add = IR_OP_ADD;
    uint32_t product, c;

    TRY(ox_operand(m, 2, "C", &c));
    if (ox_waiting_operand(m, add, v) == 0 && m->g->tensor[c]->type != IR_F32) {
        TRY(scaled_matrix(m, ox_inner(m, name, "C"), beta, &c));
        if (m->g->tensor[c]->type != IR_F32)
            return ox_waiting_sum(m, add, &late, 0, c);
    }
    c = ox_as_float(m, c);
    TRY(ox_finish_float(m, p, ox_inner(m, name, "product"), &product));
    if (beta != 1)
        TRY(ox_f32_mul(m, ox_inner(m, name, "C"), c, ox_number_tensor(m, name, beta), &c));
    TRY(ox_f32_add(m, name, product, c, &product));
    ox_set_tensor(m, 0, product, false);
    return ST_OK;
}

/* Operand `i` of a Gemm with computed weights, transposed if `attr` specifies this. */
static enum status gemm_operand(struct ox *m, uint32_t i, const char *attr, uint32_t *id)
{
    TRY(ox_operand(m, i, i == 0 ? "first input" : "second input", id));
    if (m->g->tensor[*id]->rank != 2)
        return FAIL(m->d, ST_MODEL, "input %u: expected 2 dimensions, found %u", i,
                    m->g->tensor[*id]->rank);
    if (ox_attr_int(m, attr, 0) != 0)
        *id = ox_transpose(m, ox_inner(m, m->g->tensor[*id]->name, "turned"), *id,
                           (const int32_t[]){1, 0});
    return ST_OK;
}

/* alpha * A * B + beta * C with computed B: a product of matrices, the rest in float32. */
static enum status computed_gemm(struct ox *m, float alpha, float beta)
{
    const char *name = ox_out(m, 0)->name;
    struct ox_deferred *p = ox_defer_batch_matmul(m, (struct ox_shape){0});
    uint32_t product;

    p->n_in = 2;
    TRY(gemm_operand(m, 0, "transA", &p->in[0]));
    TRY(gemm_operand(m, 1, "transB", &p->in[1]));
    TRY(ox_matrices_shape(m, p->in[0], p->in[1], &p->shape));
    ox_set_deferred(m, p);
    if (alpha != 1) {
        TRY(ox_finish_float(m, p, ox_inner(m, name, "unscaled"), &product));
        p = ox_defer_mul(m, p->shape);
        p->n_in = 2;
        p->in[0] = product;
        p->in[1] = ox_number_tensor(m, name, alpha);
        ox_set_deferred(m, p);
    }
    return ox_in(m, 2) ? add_matrix(m, p, beta) : ST_OK;
}

enum status ox_gemm(struct ox *m)
{
    struct ox_deferred *p = ox_deferred_new(m, m->opcode, (struct ox_shape){0});
    const float alpha = ox_attr_float(m, "alpha", 1), beta = ox_attr_float(m, "beta", 1);
    const struct ox_value *w, *b = ox_in(m, 2);
    struct ir_quant q;
    float *scale;

    if (!(alpha > 0) || !isfinite(alpha) || !isfinite(beta))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "alpha and beta: expected a positive and a finite number, "
                    "found %.9g and %.9g",
                    (double)alpha, (double)beta);
    if (ox_in(m, 1) && ox_in(m, 1)->kind != OX_CONST)
        return computed_gemm(m, alpha, beta);
    p->n_in = 1;
    TRY(ox_operand(m, 0, "input", &p->in[0]));
    TRY(want_weights(m, ox_in(m, 1), &w));
    if (m->g->tensor[p->in[0]]->rank != 2)
        return FAIL(m->d, ST_MODEL, "input: expected 2 dimensions, found %u",
                    m->g->tensor[p->in[0]]->rank);
    if (ox_attr_int(m, "transA", 0) != 0)
        p->in[0] = ox_transpose(m, ox_inner(m, m->g->tensor[p->in[0]]->name, "turned"), p->in[0],
                                (const int32_t[]){1, 0});
    q = w->quant;
    scale = ARENA_ARRAY(m->arena, float, q.n + 1);
    for (uint32_t i = 0; i < q.n; i++)
        scale[i] = q.scale[i] * alpha;
    q.scale = scale;
    TRY(set_weights(m, p, &w->c, &q, ox_attr_int(m, "transB", 0) == 0));
    for (uint64_t i = 0; w->c.type == OX_FLOAT && i < p->weight.n; i++)
        ((float *)(uintptr_t)p->weight.data)[i] *= alpha;
    TRY(set_shape(m, p));
    TRY(ox_literal_input(m, p, 1, alpha));
    if (b && !ox_is_bias(p, b))
        return add_matrix(m, p, beta);
    TRY(ox_literal_input(m, p, 2, beta));
    if (b && !m->options->literal)
        return ox_add_bias(m, p, b, (double)beta);
    ox_set_deferred(m, p);
    return ST_OK;
}

/* QLinearMatMul with a computed second operand, or one of more than two dimensions. */
static enum status qlinear_matrices(struct ox *m, const struct ox_value *b)
{
    const struct ox_value *a = ox_in(m, 0);
    struct ox_deferred *p;
    struct ir_quant qa, qb;
    struct ox_shape y;
    uint32_t in[2];
    int32_t type;

    TRY(ox_scale(m, 1, 2, 0, NULL, 0, &qa, &type));
    TRY(ox_scale(m, 4, 5, 0, NULL, 0, &qb, &type));
    if (!a || a->kind != OX_TENSOR)
        return FAIL(m->d, ST_UNSUPPORTED, "input: expected a computed tensor");
    if (b->kind == OX_CONST && (b->c.n == 0 || (b->c.type != OX_INT8 && b->c.type != OX_UINT8)))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "second input: expected quantised values of int8 or uint8");
    in[0] = a->tensor;
    in[1] = b->kind == OX_CONST ? ox_code_const(m, b->name, &b->c, &qb, ox_ir_type(b->c.type))
                                : b->tensor;
    TRY(ox_set_quant(m, in[0], &qa));
    TRY(ox_set_quant(m, in[1], &qb));
    for (uint32_t i = 0; i < 2; i++)
        in[i] = ox_qlinear_quantised(m, in[i]);
    TRY(ox_matrices_shape(m, in[0], in[1], &y));
    p = ox_deferred_new(m, m->opcode, y);
    p->n_in = 2;
    memcpy(p->in, in, sizeof in);
    return ox_qlinear_result(m, p, 6);
}

/* a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero */
enum status ox_qlinear_matmul(struct ox *m)
{
    struct ox_deferred *p = ox_defer_fully_connected(m, (struct ox_shape){0});
    const struct ox_value *second = ox_in(m, 3);
    const struct ox_const *w;
    struct ir_quant q;

    if (second && (second->kind == OX_TENSOR || second->c.rank != 2))
        return qlinear_matrices(m, second);
    TRY(ox_qlinear_operands(m, p, 1, &w, &q));
    TRY(set_weights(m, p, w, &q, true));
    TRY(set_shape(m, p));
    return ox_qlinear_result(m, p, 6);
}

/* QGemm's weights with their scales times alpha; scales and zero points follow them. */
static enum status qgemm_weights(struct ox *m, struct ox_deferred *p)
{
    const float alpha = ox_attr_float(m, "alpha", 1);
    const bool transposed = ox_attr_int(m, "transB", 0) == 0;
    const struct ox_const *w;
    struct ir_quant q;
    float *scale;

    if (!(alpha > 0) || !isfinite(alpha))
        return FAIL(m->d, ST_UNSUPPORTED, "alpha: expected a positive number, found %.9g",
                    (double)alpha);
    TRY(ox_qlinear_operands(m, p, transposed ? 1 : 0, &w, &q));
    scale = ARENA_ARRAY(m->arena, float, q.n);
    for (uint32_t i = 0; i < q.n; i++)
        scale[i] = q.scale[i] * alpha;
    q.scale = scale;
    if (p->n_literal != 0) { /* alpha apart */
        p->n_literal = 0;
        TRY(ox_literal_add(m, p, p->literal[0], alpha));
    }
    return set_weights(m, p, w, &q, transposed);
}

/* a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero; without y_scale the result is float32
 */
enum status ox_qgemm(struct ox *m)
{
    struct ox_deferred *p = ox_deferred_new(m, m->opcode, (struct ox_shape){0});

    if (ox_attr_int(m, "transA", 0) != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "transA: expected 0");
    TRY(qgemm_weights(m, p));
    TRY(set_shape(m, p));
    TRY(ox_bias_integers(m, p, 6));
    if (ox_in(m, 7))
        return ox_qlinear_result(m, p, 7);
    ox_set_deferred(m, p);
    return ST_OK;
}
