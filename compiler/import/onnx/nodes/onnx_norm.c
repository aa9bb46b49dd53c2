/* onnx_norm.c - BatchNormalization with constant parameters: into the convolution or dense layer before it, or a
 * depthwise convolution of one cell. */
#include "compiler/import/onnx/onnx_import.h"

#include <math.h>
#include <string.h>

/* y = a[c] * x + b[c], both rounded to float32 as ONNX Runtime computes them. */
struct affine {
    int32_t n;
    const double *a, *b;
};

static enum status parameter(struct ox *m, uint32_t i, const char *what, int32_t n,
                             struct ox_const *c)
{
    TRY(ox_const_input(m, i, c));
    if (c->n == (uint64_t)n && c->type == OX_FLOAT)
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "%s: expected %d float32 values, found %llu of %s", what, n,
                (unsigned long long)c->n, ox_type_name(c->type));
}

static enum status read_affine(struct ox *m, int32_t n, struct affine *f)
{
    const float epsilon = ox_attr_float(m, "epsilon", 1e-5f);
    double *a = ARENA_ARRAY(m->arena, double, (size_t)n),
           *b = ARENA_ARRAY(m->arena, double, (size_t)n);
    struct ox_const scale, shift, mean, var;

    TRY(parameter(m, 1, "scale", n, &scale));
    TRY(parameter(m, 2, "B", n, &shift));
    TRY(parameter(m, 3, "mean", n, &mean));
    TRY(parameter(m, 4, "var", n, &var));
    for (int32_t c = 0; c < n; c++) {
        const size_t k = (size_t)c;
        const float deviation = 1 / sqrtf(((const float *)var.data)[k] + epsilon);
        const float factor = deviation * ((const float *)scale.data)[k];
        const float middle = ((const float *)mean.data)[k] * factor;

        a[c] = (double)factor;
        b[c] = (double)(((const float *)shift.data)[k] - middle);
        if (!isfinite(a[c]) || !isfinite(b[c]) || fabs(a[c]) > 1e30)
            return FAIL(m->d, ST_MODEL, "channel %d: scale, B, mean and var give no number", c);
    }
    *f = (struct affine){n, a, b};
    return ST_OK;
}

/* Scale of channel c times |a|; a channel that is 0 keeps a scale and loses its quantised
 * values. */
static float channel_scale(float scale, double a)
{
    const float s = (float)((double)scale * fabs(a));

    return s > 0 ? s : scale;
}

static void scale_floats(struct ox *m, struct ox_deferred *p, const struct affine *f)
{
    const size_t each = (size_t)p->weight.n / (size_t)f->n;
    float *w = arena_memdup(m->arena, p->weight.data, (size_t)p->weight.n * sizeof *w);

    for (size_t i = 0; i < (size_t)p->weight.n; i++)
        w[i] = (float)((double)w[i] * f->a[i / each]);
    p->weight.data = w;
}

/* Return true if every channel can be scaled on quantised values: a negative scale needs values
 * that all have a negative. */
static bool keeps_quantised(const struct ox_deferred *p, const struct affine *f)
{
    const size_t each = (size_t)p->weight.n / (size_t)f->n;
    const int8_t *code = p->weight.data;

    for (int32_t c = 0; c < f->n; c++) {
        if (!(f->a[c] < 0))
            continue;
        if (p->weight.type != OX_INT8 ||
            p->weight_quant.zero_point[p->weight_quant.n > 1 ? c : 0] != 0)
            return false;
        for (size_t i = 0; i < each; i++)
            if (code[(size_t)c * each + i] == -128)
                return false;
    }
    return true;
}

/* Weights of `p` with output channel c times a[c]. */
static void scale_weights(struct ox *m, struct ox_deferred *p, const struct affine *f)
{
    if (p->weight.type != OX_FLOAT && !keeps_quantised(p, f))
        *p = ox_float_pending(m, p);
    if (p->weight.type == OX_FLOAT) {
        scale_floats(m, p, f);
        return;
    }
    const size_t each = (size_t)p->weight.n / (size_t)f->n;
    float *scale = ARENA_ARRAY(m->arena, float, (size_t)f->n);
    int32_t *zero = ARENA_ARRAY(m->arena, int32_t, (size_t)f->n);
    int8_t *code = arena_memdup(m->arena, p->weight.data, (size_t)p->weight.n);

    for (int32_t c = 0; c < f->n; c++) {
        const uint32_t k = p->weight_quant.n > 1 ? (uint32_t)c : 0;

        scale[c] = channel_scale(p->weight_quant.scale[k], f->a[c]);
        zero[c] = p->weight_quant.zero_point[k];
        for (size_t i = 0; i < each && !(f->a[c] > 0); i++) {
            int8_t *w = &code[(size_t)c * each + i];

            *w = f->a[c] < 0 ? (int8_t) - *w : (int8_t)zero[c];
        }
    }
    p->weight.data = code;
    p->weight_quant = (struct ir_quant){(uint32_t)f->n, 0, scale, zero};
}

static void scale_bias(struct ox *m, struct ox_deferred *p, const struct affine *f)
{
    double *bias = ARENA_ARRAY(m->arena, double, (size_t)f->n);

    for (int32_t c = 0; c < f->n; c++)
        bias[c] = (p->bias ? p->bias[c] : 0) * f->a[c] + f->b[c];
    p->bias = bias;
    p->bias_quant.n = 0;
}

/* x alone: weight 1 for each channel. On quantised values it is code 64 of scale 1/64: the bias is
 * rounded to 1/64 of a code, so ONNX's own rounding wants float32. */
static enum status identity_conv(struct ox *m, struct ox_deferred **p)
{
    static const float part = 1.0f / 64;
    uint32_t id;

    TRY(ox_operand(m, 0, "input", &id));
    const struct ir_tensor *x = m->g->tensor[id];
    const int32_t dim[4] = {x->dim[1], 1, 1, 1};
    *p = ox_defer_conv2d(m, ox_shape_of(m, id));
    (*p)->n_in = 1;
    (*p)->in[0] = id;
    if (x->type == IR_F32 || m->options->exact) {
        float *w = ox_new_const(m, &(*p)->weight, OX_FLOAT, 4, dim);

        for (int32_t c = 0; c < dim[0]; c++)
            w[c] = 1;
    } else {
        memset(ox_new_const(m, &(*p)->weight, OX_INT8, 4, dim), 64, (size_t)dim[0]);
        (*p)->weight_quant = (struct ir_quant){1, 0, &part, ARENA_ARRAY(m->arena, int32_t, 1)};
    }
    (*p)->group = dim[0];
    (*p)->taps = 0;
    for (uint32_t i = IR_STRIDE_H; i <= IR_DILATION_W; i++)
        (*p)->attr[i] = 1;
    (*p)->attr[IR_KERNEL_H] = (*p)->attr[IR_KERNEL_W] = 1;
    return ST_OK;
}

/* a * x + b in float32: x is not an image (after a dense layer, or volumes). */
static enum status products(struct ox *m)
{
    const char *name = ox_out(m, 0)->name;
    struct ox_shape s = {0};
    struct affine f;
    float *value;
    uint32_t x;

    TRY(ox_float_input(m, 0, "input", &x));
    s.rank = m->g->tensor[x]->rank;
    if (s.rank < 2)
        return FAIL(m->d, ST_MODEL, "input: expected at least 2 dimensions, found %u", s.rank);
    TRY(read_affine(m, m->g->tensor[x]->dim[1], &f));
    s = (struct ox_shape){s.rank - 1, {f.n, 1, 1, 1, 1}};
    value = ARENA_ARRAY(m->arena, float, (size_t)f.n);
    for (int32_t c = 0; c < f.n; c++)
        value[c] = (float)f.a[c];
    TRY(ox_f32_mul(m, ox_inner(m, name, "scaled"), x,
                   ox_f32_const(m, ox_inner(m, name, "scale"), s.rank, s.dim, value), &x));
    for (int32_t c = 0; c < f.n; c++)
        value[c] = (float)f.b[c];
    TRY(ox_f32_add(m, name, x, ox_f32_const(m, ox_inner(m, name, "shift"), s.rank, s.dim, value),
                   &x));
    ox_set_tensor(m, 0, x, false);
    return ST_OK;
}

/* A depthwise convolution of one cell, whose row specifies that it is a BatchNormalization. */
static enum status literal_affine(struct ox *m, struct ox_deferred *p, const struct affine *f)
{
    const int32_t dim[4] = {f->n, 1, 1, 1};
    float *value = ARENA_ARRAY(m->arena, float, 2 * (size_t)f->n);

    for (int32_t c = 0; c < f->n; c++) {
        value[c] = (float)f->a[c];
        value[f->n + c] = (float)f->b[c];
    }
    p->opcode = IR_OP_DEPTHWISE_CONV2D;
    p->attr[IR_MULTIPLIER] = 1;
    TRY(ox_literal_add(m, p, ox_f32_const(m, ox_in(m, 1)->name, 4, dim, value), 1));
    TRY(ox_literal_add(m, p, ox_f32_const(m, ox_in(m, 2)->name, 1, dim, value + f->n), 1));
    ox_set_deferred(m, p);
    return ST_OK;
}

bool ox_norm_after_dense(const struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    const bool waits = x && x->kind == OX_PENDING;
    const uint32_t id = x && x->kind == OX_TENSOR && m->options->literal ? x->tensor : IR_NONE,
                   op = id == IR_NONE ? IR_NONE : m->g->tensor[id]->producer;
    enum ir_opcode maker;

    if (!x || ox_rank(m, x) != 2 || x->n_use != 1 || (!waits && op == IR_NONE) ||
        x->maker >= m->graph->n_node ||
        (strcmp(m->graph->node[x->maker]->op_type, "Gemm") != 0 &&
         strcmp(m->graph->node[x->maker]->op_type, "MatMul") != 0))
        return false;
    maker = waits ? x->deferred->opcode : m->g->op[op]->opcode;
    return ir_op_info(maker)->weights && !ir_op_has(maker, IR_KERNEL_H);
}

enum status ox_batch_norm(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_deferred *p = NULL;
    struct affine f = {0};

    if (ox_attr_int(m, "training_mode", 0) != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "training_mode: expected 0");
    if (ox_attr_int(m, "spatial", 1) != 1) /* before opset 9 */
        return FAIL(m->d, ST_UNSUPPORTED, "spatial: expected 1");
    if (ox_norm_after_dense(m) && m->options->literal) {
        p = ox_defer_fully_connected(m, ox_shape_of(m, x->tensor));
        p->n_in = 1;
        p->in[0] = x->tensor;
        p->weight.dim[0] = p->shape.dim[1];
    } else if (x && ox_may_grow(m, x) && ir_op_has(x->deferred->opcode, IR_DIGITS) &&
               (ox_rank(m, x) > 2 ? ir_op_has(x->deferred->opcode, IR_KERNEL_H)
                                  : ox_norm_after_dense(m)) &&
               x->deferred->low == -INFINITY && x->deferred->high == INFINITY) {
        p = arena_memdup(m->arena, x->deferred, sizeof *p);
    } else if (x && ox_rank(m, x) != 3 && ox_rank(m, x) != 4) {
        return products(m);
    } else {
        TRY(identity_conv(m, &p));
    }
    TRY(read_affine(m, p->weight.dim[0], &f));
    if (m->options->literal)
        return literal_affine(m, p, &f);
    scale_weights(m, p, &f);
    scale_bias(m, p, &f);
    ox_set_deferred(m, p);
    return ST_OK;
}
