/* ref_islands_layer.c - QUANTIZE of a layer normalisation of quantised values is LAYER_NORM, under the
 * conditions of docs/ONNX.md. The file has it as float operators: ONNX's own node is the same ones. */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

enum { LEAST = 64, MOST = 1016 };

struct found {
    uint32_t x, gamma, beta, epsilon; /* of the file; beta may be IR_NONE */
};

static const struct ir_op *made_by(const struct isl *s, uint32_t file_id, enum ir_opcode opcode)
{
    const struct ir_tensor *t = s->from->tensor[file_id];

    if (isl_is_const(s, file_id) || t->producer == IR_NONE)
        return NULL;
    return s->from->op[t->producer]->opcode == opcode ? s->from->op[t->producer] : NULL;
}

/* Return true for a binary operator with a constant of n elements: *other is its other operand. */
static bool takes_constant(const struct isl *s, const struct ir_op *op, uint64_t n, uint32_t *other,
                           uint32_t *constant)
{
    for (uint32_t i = 0; op != NULL && i < 2; i++) {
        const struct ir_tensor *t = s->from->tensor[op->in[i]];

        if (isl_is_const(s, op->in[i]) && ir_elements(t) == n &&
            (n == 1 || (uint64_t)ir_dim_back(t, 0) == n)) {
            *constant = op->in[i];
            *other = op->in[1 - i];
            return true;
        }
    }
    return false;
}

static bool is_mean_of_rows(const struct isl *s, const struct ir_op *op)
{
    return op != NULL && op->attr[IR_KEEP_DIMS] != 0 &&
           op->attr[IR_AXIS] == 1 << (s->from->tensor[op->in[0]]->rank - 1);
}

/* Return true for (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon). */
static bool is_normal(const struct isl *s, uint32_t file_id, struct found *f)
{
    const struct ir_op *quotient = made_by(s, file_id, IR_OP_DIV), *root, *centred, *mean, *square;
    uint32_t variance;

    if (quotient == NULL)
        return false;
    centred = made_by(s, quotient->in[0], IR_OP_SUB);
    root = made_by(s, quotient->in[1], IR_OP_SQRT);
    if (centred == NULL || root == NULL ||
        !takes_constant(s, made_by(s, root->in[0], IR_OP_ADD), 1, &variance, &f->epsilon))
        return false;
    mean = made_by(s, variance, IR_OP_MEAN);
    if (!is_mean_of_rows(s, mean))
        return false;
    square = made_by(s, mean->in[0], IR_OP_MUL);
    mean = made_by(s, centred->in[1], IR_OP_MEAN);
    f->x = centred->in[0];
    return square != NULL && square->in[0] == quotient->in[0] && square->in[1] == quotient->in[0] &&
           is_mean_of_rows(s, mean) && mean->in[0] == f->x;
}

static bool is_layer_norm(const struct isl *s, const struct ir_op *quantise, struct found *f)
{
    const uint64_t n = (uint64_t)ir_dim_back(ir_out(s->from, quantise, 0), 0);
    const struct ir_op *shift = made_by(s, quantise->in[0], IR_OP_ADD);
    uint32_t scaled = quantise->in[0], normal;

    f->beta = IR_NONE;
    if (shift != NULL && !takes_constant(s, shift, n, &scaled, &f->beta))
        return false;
    return takes_constant(s, made_by(s, scaled, IR_OP_MUL), n, &normal, &f->gamma) &&
           is_normal(s, normal, f);
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

    if (s->exact || n < LEAST || n > MOST || !is_layer_norm(s, quantise, &f) ||
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
    memcpy(&isl_op(s, IR_OP_LAYER_NORM, 3, in, id)->attr[IR_EPSILON_BITS], epsilon,
           sizeof *epsilon);
    s->value[quantise->out[0]] = (struct isl_value){.kind = ISL_TENSOR, .id = id};
    *done = true;
    return ST_OK;
}
