/* ref_islands_layer.c - QUANTIZE of a layer normalisation of quantised values is LAYER_NORM, under the
 * conditions of docs/ONNX.md. The file has it as float operators: ONNX's own node is the same ones. */
#include <math.h>
#include <string.h>

#include "compiler/ir/formula.h"
#include "ref_islands_own.h"

enum { MOST = 8192 };

struct found {
    uint32_t x, gamma, beta, epsilon; /* of the file; beta may be IR_NONE */
    bool uncentred;
};

static bool is_constant(const struct ir_match *m, uint32_t file_id)
{
    return isl_is_const(m->ctx, file_id);
}

/* A mean is one of rows. */
static bool takes(const struct ir_match *m, const struct ir_op *op)
{
    return !ir_op_has(op->opcode, IR_KEEP_DIMS) ||
           (op->attr[IR_KEEP_DIMS] != 0 &&
            op->attr[IR_AXIS] == 1 << (ir_in(m->g, op, 0)->rank - 1));
}

static bool has_values(const struct isl *s, uint32_t file_id, uint64_t n)
{
    const struct ir_tensor *t = s->from->tensor[file_id];

    return ir_elements(t) == n && (n == 1 || (uint64_t)ir_dim_back(t, 0) == n);
}

/* (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * gamma, and beta perhaps; or x in place of x
 * - mean(x), divided by the root or times one over it. */
static bool is_layer_norm(const struct isl *s, const struct ir_op *quantise, struct found *f)
{
    static const char *const formula[] = {
        "add(mul(div(c = sub(x, mean(x)), sqrt(add(mean(mul(c, c)), #e))), #g), #b)",
        "mul(div(c = sub(x, mean(x)), sqrt(add(mean(mul(c, c)), #e))), #g)",
        "mul(#g, div(x, sqrt(add(#e, mean(mul(x, x))))))",
        "mul(#g, mul(x, div(#n, sqrt(add(#e, mean(mul(x, x)))))))", NULL};
    const uint64_t n = (uint64_t)ir_dim_back(ir_out(s->from, quantise, 0), 0);
    struct ir_match m = {.g = s->from, .ctx = s, .takes = takes, .is_constant = is_constant};
    const struct ir_tensor *numerator;
    uint32_t i = 0;

    while (formula[i] != NULL && !ir_match(&m, quantise->in[0], formula[i]))
        i++;
    if (formula[i] == NULL)
        return false;
    *f = (struct found){ir_matched(&m, 'x'), ir_matched(&m, 'g'), ir_matched(&m, 'b'),
                        ir_matched(&m, 'e'), i >= 2};
    if (ir_matched(&m, 'n') != IR_NONE) {
        numerator = s->from->tensor[ir_matched(&m, 'n')];
        if (numerator->type != IR_F32 || ir_elements(numerator) != 1 ||
            memcmp(numerator->data, (const float[]){1}, 4) != 0)
            return false;
    }
    return has_values(s, f->epsilon, 1) && has_values(s, f->gamma, n) &&
           (f->beta == IR_NONE || has_values(s, f->beta, n));
}

/* The file's constant as float32 [n]; NULL: a value is not finite. IR_NONE: zeros. */
static enum status read_row(struct isl *s, uint32_t file_id, int32_t n, const float **row)
{
    float *to = ARENA_ARRAY(s->arena, float, (size_t)n);
    const double *v = NULL;

    *row = to;
    if (file_id == IR_NONE)
        return ST_OK;
    TRY(isl_read_numbers(s, file_id, n, &v));
    for (int32_t i = 0; v != NULL && i < n; i++)
        to[i] = (float)v[i];
    for (int32_t i = 0; i < n; i++)
        if (v == NULL || !isfinite(to[i]))
            *row = NULL;
    return ST_OK;
}

/* Return true if half a unit of its sum, for the greatest gamma, is below half a step of y, and
 * 8 bits hold its parts. */
static bool is_precise(const struct ir_tensor *x, const struct ir_tensor *y, const float *gamma,
                       float epsilon)
{
    const double s = (double)x->quant.scale[0], e = (double)epsilon / (s * s);
    const double least = e > 1 ? sqrt(e) / 2 : 0.5, inverse = 1 / sqrt(least * least + e);
    double most = 0;

    for (int32_t i = 0; i < ir_dim_back(y, 0); i++)
        most = fmax(most, fabs((double)gamma[i]));
    return inverse >= 0.25 && most * inverse < 127 * (double)y->quant.scale[0];
}

enum status isl_layer_norm(struct isl *s, const struct ir_op *quantise, bool *done)
{
    const struct ir_tensor *y = ir_out(s->from, quantise, 0), *x;
    const int32_t n = ir_dim_back(y, 0);
    const float *gamma, *beta, *epsilon;
    struct found f;

    if (s->exact || n > MOST || !is_layer_norm(s, quantise, &f) ||
        isl_value(s, f.x)->kind != ISL_QUANTISED)
        return ST_OK;
    x = s->to->tensor[isl_value(s, f.x)->id];
    TRY(read_row(s, f.gamma, n, &gamma));
    TRY(read_row(s, f.beta, n, &beta));
    TRY(read_row(s, f.epsilon, 1, &epsilon));
    if (gamma == NULL || beta == NULL || epsilon == NULL || !(*epsilon >= 0) ||
        x->type != y->type || x->role == IR_CONST || !is_precise(x, y, gamma, *epsilon))
        return ST_OK;
    const uint32_t in[3] = {x->id, isl_const(s, "gamma", IR_F32, 1, &n, gamma, NULL),
                            isl_const(s, "beta", IR_F32, 1, &n, beta, NULL)};
    const uint32_t id = isl_tensor(s, y->name, y->type, y->rank, y->dim, &y->quant);
    struct ir_op *op = isl_op_layer_norm(s, 3, in, id);
    memcpy(&op->attr[IR_EPSILON_BITS], epsilon, sizeof *epsilon);
    op->attr[IR_UNCENTRED] = f.uncentred;
    s->value[quantise->out[0]] = (struct isl_value){.kind = ISL_TENSOR, .id = id};
    *done = true;
    return ST_OK;
}
