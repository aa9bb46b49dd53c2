/* ref_islands_defer.c - float operators whose reader decides: those of nodes that docs/ONNX.md
 * lists. A constant bias, a BatchNormalization or a clamp after one becomes part of it if the
 * tensor between has no other reader. */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

static const char *node_of(const struct isl *s, const struct ir_op *op)
{
    return s->from->row[op->row].op;
}

static bool is_one_of(const char *node, const char *const *list)
{
    while (*list != NULL && strcmp(*list, node) != 0)
        list++;
    return *list != NULL;
}

bool isl_defers(const struct isl *s, const struct ir_op *op)
{
    static const char *const one[] = {"Max", "Min", "Sum", NULL};
    static const char *const any[] = {"Conv",
                                      "ConvTranspose",
                                      "BatchNormalization",
                                      "Gemm",
                                      "MatMul",
                                      "QLinearConv",
                                      "QLinearMatMul",
                                      "QGemm",
                                      "Add",
                                      "Sub",
                                      "Mul",
                                      "Div",
                                      "PRelu",
                                      "QLinearAdd",
                                      "QLinearMul",
                                      "Relu",
                                      "Clip",
                                      "Sigmoid",
                                      "Tanh",
                                      "LeakyRelu",
                                      "HardSwish",
                                      "QLinearSigmoid",
                                      "QLinearLeakyRelu",
                                      "Softmax",
                                      "LogSoftmax",
                                      "QLinearSoftmax",
                                      "AveragePool",
                                      "GlobalAveragePool",
                                      "QLinearAveragePool",
                                      "QLinearGlobalAveragePool",
                                      "ReduceMean",
                                      "ReduceSum",
                                      "Concat",
                                      "QLinearConcat",
                                      NULL};
    const char *node = node_of(s, op);

    if (ir_out(s->from, op, 0)->type != IR_F32)
        return false;
    if (strcmp(node, "BatchNormalization") == 0)
        return ir_is_depthwise(op);
    return is_one_of(node, any) || (is_one_of(node, one) && s->row_ops[op->row] == 1);
}

static void bounds_of(const struct ir_op *op, float *low, float *high)
{
    *low = 0;
    *high = ir_op_info(op->opcode)->activation == IR_ACT_RELU6 ? 6 : INFINITY;
    if (ir_op_info(op->opcode)->activation != IR_ACT_CLIP)
        return;
    memcpy(low, &op->attr[IR_CLIP_LOW_BITS], sizeof *low);
    memcpy(high, &op->attr[IR_CLIP_HIGH_BITS], sizeof *high);
}

/* Clip is Min(Max(x, low), high), also if low is above high: each half moves both ends of the range
 * that is there. */
static void clamp_range(struct isl_deferred *p, float low, float high)
{
    if (p->low < low)
        p->low = low;
    if (p->high < low)
        p->high = low;
    if (p->high > high)
        p->high = high;
    if (p->low > high)
        p->low = high;
}

/* Return true for Relu and Clip. */
static bool clamps(struct isl *s, const struct ir_op *op)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);
    struct isl_deferred *p;
    float low, high;

    if (info->activation == IR_ACT_NONE || !info->onnx_quantised)
        return false;
    p = isl_grown(s, op, op->in[0]);
    if (p == NULL)
        return false;
    bounds_of(op, &low, &high);
    clamp_range(p, low, high);
    isl_set_deferred(s, op, p);
    return true;
}

/* Return true if elements of the file's tensor are along the channels of `p`. */
static bool fits_channels(const struct isl *s, const struct isl_deferred *p, uint32_t file_id)
{
    const struct ir_tensor *b = s->from->tensor[file_id];
    const bool dense = p->opcode == IR_OP_FULLY_CONNECTED;
    const uint32_t from_end = dense ? 1 : p->y->rank - 1; /* the channels' place from the end */

    if (ir_elements(b) == 1)
        return true;
    return ir_elements(b) == (uint64_t)p->w.dim[0] && b->rank >= from_end && b->rank > 0 &&
           b->dim[b->rank - from_end] == p->w.dim[0];
}

/* Add of constant `file_b` to the product that `file_a` is. */
static enum status adds_bias(struct isl *s, const struct ir_op *op, uint32_t file_a,
                             uint32_t file_b, bool *done)
{
    struct isl_deferred *p = isl_grown(s, op, file_a);
    const double *b;
    double *sum;

    if (p == NULL || (p->opcode != IR_OP_CONV2D && p->opcode != IR_OP_FULLY_CONNECTED) ||
        p->sums != NULL || isl_is_clamped(p) || !isl_is_const(s, file_b) ||
        !fits_channels(s, p, file_b))
        return ST_OK;
    TRY(isl_read_numbers(s, file_b, p->w.dim[0], &b));
    if (b == NULL)
        return ST_OK;
    sum = ARENA_ARRAY(s->arena, double, (size_t)p->w.dim[0]);
    for (int32_t c = 0; c < p->w.dim[0]; c++)
        sum[c] = b[c] + (p->bias != NULL ? p->bias[c] : 0);
    p->bias = sum;
    isl_set_deferred(s, op, p);
    *done = true;
    return ST_OK;
}

/* --- the operator itself --- */

static enum status reads_bias(struct isl *s, const struct ir_op *op, struct isl_deferred *p)
{
    const struct ir_tensor *b = op->n_in > 2 ? s->from->tensor[op->in[2]] : NULL;
    double *v;

    if (b == NULL)
        return ST_OK;
    if (b->type == IR_I32 && b->quant.n == 0) {
        p->sums = (const int32_t *)(const void *)b->data;
        return ST_OK;
    }
    TRY(isl_read_numbers(s, op->in[2], p->w.dim[0], &p->bias));
    if (p->bias == NULL)
        return FAIL(s->d, ST_UNSUPPORTED, "bias '%.80s': expected a constant", b->name);
    if (op->opcode != IR_OP_FULLY_CONNECTED)
        return ST_OK;
    v = arena_memdup(s->arena, p->bias, (size_t)p->w.dim[0] * sizeof *v);
    for (int32_t c = 0; c < p->w.dim[0]; c++)
        v[c] += 0.0; /* no -0: it is added to a sum */
    p->bias = v;
    return ST_OK;
}

/* Cells that an average counts are a PAD in its own row. */
static uint32_t pool_input(const struct isl *s, const struct ir_op *op, struct isl_deferred *p)
{
    static const enum ir_attr to[] = {IR_PAD_TOP, IR_PAD_BOTTOM, IR_PAD_LEFT, IR_PAD_RIGHT};
    const uint32_t maker = s->from->tensor[op->in[0]]->producer;
    const struct ir_op *pad = maker == IR_NONE ? NULL : s->from->op[maker];
    const struct ir_tensor *amount;

    p->whole_image = strstr(node_of(s, op), "Global") != NULL;
    if (pad == NULL || pad->opcode != IR_OP_PAD || pad->row != op->row)
        return op->in[0];
    amount = ir_in(s->from, pad, 1);
    p->counts_pads = true;
    for (uint32_t i = 0; i < 2; i++) { /* [rank][before, after] */
        if (amount->dim[0] == 4)
            memcpy(&p->attr[to[i]], amount->data + 4 * (4 + i), 4);
        memcpy(&p->attr[to[2 + i]], amount->data + 4 * (2 * (size_t)(amount->dim[0] - 1) + i), 4);
    }
    return pad->in[0];
}

/* x / c for quantised x and a constant number c: x times 1 / c, taken in double and rounded to
 * float32; with ONNX's rounding the float32 quotient. */
static enum status divides(struct isl *s, const struct ir_op *op, struct isl_deferred *p)
{
    const struct ir_tensor *c = s->from->tensor[op->in[1]];
    const double *v;
    int8_t *sign;
    struct ir_quant q;

    if (s->exact || isl_value(s, op->in[0])->kind != ISL_QUANTISED || !isl_is_const(s, op->in[1]) ||
        isl_is_const(s, op->in[0]) || ir_elements(c) != 1)
        return isl_operand(s, op->in[1], &p->in[1]);
    TRY(isl_read_numbers(s, op->in[1], 1, &v));
    if (v == NULL || *v == 0)
        return FAIL(s->d, ST_MODEL, "'%.80s': expected a divisor that is not 0", c->name);
    sign = arena_alloc(s->arena, 1);
    *sign = *v > 0 ? 1 : -1;
    q = isl_one_scale(s, (float)fabs(1 / *v), 0);
    p->in[1] = isl_const(s, c->name, IR_I8, c->rank, c->dim, sign, &q);
    p->opcode = IR_OP_MUL;
    return ST_OK;
}

/* The file's tensor as a product that may wait. */
static const struct isl_deferred *product_of(struct isl *s, uint32_t file_id)
{
    const struct isl_value *v = isl_value(s, file_id);
    const struct isl_deferred *p = v->kind == ISL_DEFERRED ? v->deferred : NULL;

    if (s->exact || p == NULL || s->uses[file_id] != 1 || !ir_op_info(p->opcode)->has_macs ||
        isl_is_float(s, p))
        return NULL;
    return p;
}

/* Constant zeros take the scale of the sum's other term: any scale is theirs. */
static uint32_t zeros(struct isl *s, uint32_t id, uint32_t other)
{
    const struct ir_tensor *t = s->to->tensor[id];
    const struct ir_quant *to = &s->to->tensor[other]->quant;
    struct ir_quant q = t->quant;

    if (t->role != IR_CONST || (t->type != IR_I8 && t->type != IR_U8) || q.n != 1 || to->n != 1)
        return id;
    for (size_t i = 0; i < ir_elements(t); i++)
        if (t->data[i] != (uint8_t)q.zero_point[0])
            return id;
    q.scale = to->scale;
    return isl_const(s, t->name, t->type, t->rank, t->dim, t->data, &q);
}

/* Set the operands of sum `p`; a product waits for the sum's scale. */
static enum status sum_operands(struct isl *s, const struct ir_op *op, struct isl_deferred *p)
{
    const struct isl_deferred *of[2] = {product_of(s, op->in[0]), product_of(s, op->in[1])};
    const uint32_t at = of[0] != NULL ? 0 : 1;
    uint32_t other;

    if ((of[0] != NULL) != (of[1] != NULL)) {
        TRY(isl_operand(s, op->in[1 - at], &other));
        if (s->to->tensor[other]->type != IR_F32) {
            p->in[0] = p->in[1] = other;
            p->product = of[at];
            p->product_at = at;
            return ST_OK;
        }
    }
    for (uint32_t i = 0; i < 2; i++)
        TRY(isl_operand(s, op->in[i], &p->in[i]));
    p->in[1] = zeros(s, p->in[1], p->in[0]);
    p->in[0] = zeros(s, p->in[0], p->in[1]);
    return ST_OK;
}

static enum status defer(struct isl *s, const struct ir_op *op)
{
    const bool weights = ir_op_info(op->opcode)->weights;
    struct isl_deferred *p = isl_new_deferred(s, op, weights ? 1 : op->n_in);
    uint32_t file_x = op->in[0];
    float low, high;

    p->has_weights = weights;
    if (ir_op_info(op->opcode)->activation == IR_ACT_CLIP) {
        bounds_of(op, &low, &high);
        clamp_range(p, low, high);
    }
    if (op->opcode == IR_OP_AVERAGE_POOL2D)
        file_x = pool_input(s, op, p);
    if (ir_op_info(op->opcode)->sum != 0) {
        TRY(sum_operands(s, op, p));
        isl_set_deferred(s, op, p);
        return ST_OK;
    }
    TRY(isl_operand(s, file_x, &p->in[0]));
    if (weights) {
        TRY(isl_read_weights(s, op, &p->w));
        TRY(reads_bias(s, op, p));
        p->attr[IR_WEIGHTS_KO] = 0;
    } else if (op->opcode == IR_OP_DIV) {
        TRY(divides(s, op, p));
    } else {
        for (uint32_t i = 1; i < op->n_in; i++)
            TRY(isl_operand(s, op->in[i], &p->in[i]));
    }
    isl_set_deferred(s, op, p);
    return ST_OK;
}

enum status isl_defer(struct isl *s, const struct ir_op *op)
{
    bool done = false;

    if (ir_is_depthwise(op))
        return isl_normalise(s, op);
    if (clamps(s, op))
        return ST_OK;
    if (op->opcode == IR_OP_ADD) {
        TRY(adds_bias(s, op, op->in[0], op->in[1], &done));
        if (!done)
            TRY(adds_bias(s, op, op->in[1], op->in[0], &done));
    }
    return done ? ST_OK : defer(s, op);
}
