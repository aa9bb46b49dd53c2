/* pattern.c - match an operator against a pattern of a target.json. Every refusal names the value
 * that broke the rule. If the target's arithmetic differs from the reference's, only operators on
 * which the two agree are accepted: an answer never depends on where it was computed. */
#include <string.h>

#include "base/text.h"
#include "describe.h"
#include "refuse.h"

#define HALF (1 << 30) /* the multiplier of all powers of two */

const char *describe_dtype(enum ir_type type)
{
    switch (type) {
    case IR_I8: return "int8";
    case IR_U8: return "uint8";
    case IR_I16: return "int16";
    case IR_F32: return "float32";
    default: return ir_type_name(type);
    }
}

/* Return true if the tensor has the pattern's type. Legalised uint8 values are int8; those that
 * uint8 patterns read are converted back after the partition (partition_uint8.c). */
static bool has_type(const struct describe_pattern *p, enum ir_type type)
{
    return type == p->dtype || (p->dtype == IR_U8 && type == IR_I8);
}

/* Return what must be added to a quantised value of `t` for a uint8 pattern. */
static int64_t shift_of(const struct describe_pattern *p, const struct ir_tensor *t)
{
    return p->dtype == IR_U8 && t && t->type == IR_I8 ? 128 : 0;
}

static const char *check_tensor(const struct describe_pattern *p, const struct target_question *q,
                                const struct ir_tensor *t, const char *what)
{
    if (!has_type(p, t->type))
        REFUSE(q, "%s is %s, expected %s", what, describe_dtype(t->type), describe_dtype(p->dtype));
    if (t->rank > 4)
        REFUSE(q, "%s has %u dimensions: at most 4 are supported", what, t->rank);
    if (t->quant.n > 1)
        REFUSE(q, "%s is quantised per axis, activations have one scale", what);
    return NULL;
}

bool describe_has_weights(enum ir_opcode opcode)
{
    return ir_op_has(opcode, IR_WEIGHTS_KO);
}

static bool all_zero(const struct ir_tensor *t)
{
    for (uint64_t i = 0; t && i < ir_bytes(t); i++)
        if (t->data[i])
            return false;
    return true;
}

static const char *check_weights(const struct describe_pattern *p, const struct target_question *q)
{
    const struct ir_tensor *w = ir_in(q->graph, q->op, 1), *bias = ir_in(q->graph, q->op, 2);
    const bool wide = p->dtype == IR_I16, real = p->dtype == IR_F32;
    const enum ir_type type = wide ? IR_I8 : p->dtype;

    if (!w || w->role != IR_CONST || !(w->type == type || (p->dtype == IR_U8 && w->type == IR_I8)))
        REFUSE(q, "the weights are not constant %s", describe_dtype(type));
    if (bias && (bias->role != IR_CONST || bias->type != (real ? IR_F32 : wide ? IR_I64 : IR_I32)))
        REFUSE(q, "the bias is not constant %s", real ? "float32" : wide ? "int64" : "int32");
    if (wide && !bias && p->opcode == IR_OP_FULLY_CONNECTED)
        REFUSE(q,
               "it has no bias: its sums have 32 bits then and round twice, unlike int16's others");
    if ((wide || real) && p->opcode == IR_OP_CONV2D &&
        ir_dim_back(w, 0) != ir_dim_back(ir_in(q->graph, q->op, 0), 0))
        REFUSE(q, "it is a grouped convolution, which patterns do not support");
    if (p->bias == BIAS_REQUIRED && !bias)
        REFUSE(q, "it has no bias, this pattern requires one");
    if (p->bias == BIAS_NONE && !all_zero(bias))
        REFUSE(q, "it has a bias, which this pattern does not support");
    return NULL;
}

/* Check that all shapes are equal: calls have one shape, and nothing is broadcast. */
static const char *check_shapes(const struct target_question *q)
{
    uint64_t n = ir_elements(ir_out(q->graph, q->op, 0));

    for (uint32_t i = 0; i < 2; i++) {
        uint64_t have = ir_elements(ir_in(q->graph, q->op, i));
        if (have != n)
            REFUSE(q,
                   "operand %u has %llu elements, the output %llu: patterns support no broadcast",
                   i, (unsigned long long)have, (unsigned long long)n);
    }
    return NULL;
}

static const char *check_operands(const struct describe_pattern *p, const struct target_question *q,
                                  bool broadcast)
{
    ASK(check_tensor(p, q, ir_in(q->graph, q->op, 0), "the input"));
    ASK(check_tensor(p, q, ir_out(q->graph, q->op, 0), "the output"));
    if (describe_has_weights(p->opcode))
        return check_weights(p, q);
    if (q->op->n_in > 1 && ir_op_info(p->opcode)->has_int && !broadcast) /* arithmetic */
        ASK(check_shapes(q));
    for (uint32_t i = 1; i < q->op->n_in; i++)
        if (ir_in(q->graph, q->op, i))
            ASK(check_tensor(p, q, ir_in(q->graph, q->op, i), "an operand"));
    return NULL;
}

static const char *check_zero_points(const struct describe_pattern *p,
                                     const struct target_question *q, const int64_t *v)
{
    static const enum target_value activations[] = {TARGET_Z_IN, TARGET_Z_IN2, TARGET_Z_OUT};

    const int64_t middle = p->dtype == IR_U8 ? 128 : 0; /* of symmetric weights */

    if (p->zero_points != ZERO_BOTH && describe_has_weights(p->opcode) && v[TARGET_Z_W] != middle)
        REFUSE(q, "z_w is %lld, this pattern supports only %lld", (long long)v[TARGET_Z_W],
               (long long)middle);
    for (uint32_t i = 0; i < 3 && p->zero_points == ZERO_NONE; i++)
        if (v[activations[i]] != 0)
            REFUSE(q, "%s is %lld, this pattern supports only 0", target_value_name(activations[i]),
                   (long long)v[activations[i]]);
    return NULL;
}

static const char *check_activation(const struct describe_pattern *p,
                                    const struct target_question *q)
{
    static const char *const names[] = {"none", "relu", "relu6", "relu_n1_to_1"};
    int32_t a = q->op->attr[IR_ACTIVATION];

    if (a < 0 || a > 3 || !(p->activations >> a & 1))
        REFUSE(q, "this pattern does not support activation %s", a < 0 || a > 3 ? "?" : names[a]);
    return NULL;
}

/* Check one scale: NULL if the target's arithmetic gives the reference's bits for every
 * accumulator. */
static const char *check_scale(const struct describe_pattern *p, const struct target_question *q,
                               int32_t multiplier, int32_t shift)
{
    if (p->requantise == REQUANTISE_SHIFT_BITS && multiplier != HALF)
        REFUSE(q, "the scale %.9g is not a power of two, which shift_bits needs",
               (double)multiplier / 2147483648.0 *
                   (shift >= 0 ? (double)(1u << shift) : 1.0 / (double)(1u << -shift)));
    if (p->dtype != IR_I16 && p->single_rounding && shift < 0)
        REFUSE(q,
               "shift %d: rounding once (halves up) differs from the reference, which rounds twice "
               "from shift -1 on",
               shift);
    return NULL;
}

/* Return true if all scales are the same. */
static bool one_scale(const struct ir_fixed *f)
{
    for (uint32_t i = 1; i < f->n; i++)
        if (f->multiplier[i] != f->multiplier[0] || f->shift[i] != f->shift[0])
            return false;
    return true;
}

static const char *check_scales(const struct describe_pattern *p, const struct target_question *q)
{
    const struct ir_fixed *f = &q->op->fixed;

    if (f->n_real)
        REFUSE(q, "it rounds in floating point (--onnx-rounding=onnx or --fc-scale=litert)");
    if (p->per_tensor && describe_has_weights(p->opcode) && !one_scale(f))
        REFUSE(q, "the weights are quantised per channel (%u scales), this pattern supports one",
               f->n);
    for (uint32_t i = 0; i < f->n && p->requantise != REQUANTISE_FLOAT; i++)
        ASK(check_scale(p, q, f->multiplier[i], f->shift[i]));
    return NULL;
}

static int64_t bound(const struct describe_bound *b, const struct target_question *q,
                     const int64_t *v)
{
    if (b->value != TARGET_VALUE_COUNT)
        return v[b->value];
    return b->attr ? q->target->setting[b->attr - q->target->desc->attr].number : b->number;
}

static const char *check_one_of(const struct describe_limit *l, const struct target_question *q,
                                int64_t v)
{
    struct text t;

    text_init(&t, q->arena);
    for (uint32_t i = 0; i < l->n_one_of; i++) {
        if (l->one_of[i] == v)
            return NULL;
        text_printf(&t, "%s%lld", i ? ", " : "", (long long)l->one_of[i]);
    }
    REFUSE(q, "%s is %lld, expected one of %s", target_value_name(l->value), (long long)v, t.data);
}

static const char *check_limit(const struct describe_limit *l, const struct target_question *q,
                               const int64_t *all)
{
    const char *name = target_value_name(l->value);
    const int64_t v = all[l->value], low = bound(&l->low, q, all), high = bound(&l->high, q, all),
                  unit = bound(&l->multiple, q, all);

    if (l->low.given && l->high.given && low == high && v != low)
        REFUSE(q, "%s is %lld, expected %lld", name, (long long)v, (long long)low);
    if (l->low.given && v < low)
        REFUSE(q, "%s is %lld, expected at least %lld", name, (long long)v, (long long)low);
    if (l->high.given && v > high)
        REFUSE(q, "%s is %lld, expected at most %lld", name, (long long)v, (long long)high);
    if (l->multiple.given && (unit <= 0 || v % unit != 0))
        REFUSE(q, "%s is %lld, expected a multiple of %lld", name, (long long)v, (long long)unit);
    return l->n_one_of ? check_one_of(l, q, v) : NULL;
}

/* Check an average: those of int8 round halves away from zero, those of uint8 round halves up. */
static const char *check_average(const struct describe_pattern *p, const struct target_question *q)
{
    const int32_t *a = q->op->attr;

    if (p->opcode != IR_OP_AVERAGE_POOL2D)
        return NULL;
    const int32_t n = a[IR_KERNEL_H] * a[IR_KERNEL_W];
    if (p->requantise == REQUANTISE_SHIFT_BITS && (n & (n - 1)))
        REFUSE(q, "a window has %d values: 1/%d is not a power of two, which shift_bits needs", n,
               n);
    if ((p->call && strstr(p->call, "$params")) || n == 1)
        return NULL;
    if (p->dtype == IR_U8 && !a[IR_ROUND_UP])
        REFUSE(q, "its average rounds as int8's does, halves away from zero");
    if (p->dtype == IR_I8 && a[IR_ROUND_UP])
        REFUSE(q, "its average rounds as uint8's does, halves up; only $params specifies it");
    return NULL;
}

void describe_values(const struct describe_pattern *p, const struct ir_graph *g,
                     const struct ir_op *op, struct target_values *values)
{
    int64_t *v = values->v;

    target_values_of(g, op, values);
    v[TARGET_Z_IN] += shift_of(p, ir_in(g, op, 0));
    v[TARGET_Z_OUT] += shift_of(p, ir_out(g, op, 0));
    v[TARGET_ACT_MIN] += shift_of(p, ir_out(g, op, 0));
    v[TARGET_ACT_MAX] += shift_of(p, ir_out(g, op, 0));
    if (describe_has_weights(p->opcode))
        v[TARGET_Z_W] += shift_of(p, ir_in(g, op, 1));
    else if (v[TARGET_IN2_BYTES])
        v[TARGET_Z_IN2] += shift_of(p, ir_in(g, op, 1));
}

/* Check all rules of a pattern except those of its blocks or instructions. */
static const char *check_rules(const struct describe_pattern *p, const struct target_question *q,
                               bool broadcast)
{
    struct target_values values = {{0}};

    ASK(check_operands(p, q, broadcast));
    describe_values(p, q->graph, q->op, &values);
    ASK(check_zero_points(p, q, values.v));
    ASK(check_activation(p, q));
    ASK(check_average(p, q));
    if (p->dtype != IR_F32)
        ASK(check_scales(p, q));
    for (uint32_t i = 0; i < p->n_limit; i++)
        ASK(check_limit(&p->limit[i], q, values.v));
    return NULL;
}

const char *describe_step_refusal(const struct describe_step *s, const struct target_question *q)
{
    return check_rules(&s->pattern, q, s->broadcast);
}

const char *describe_plan(const struct target_question *q, double *cycles)
{
    const struct describe *target = describe_of(q->target);
    struct hdk_blocks blocks;
    struct hdk_layer layer;
    struct described_stay alone = {0};

    if (target->device)
        alone = described_alone(target->device);
    return target->device
               ? described_plan(q->arena, q->graph, q->op, target->device, &alone, &layer, cycles)
               : blocks_plan(q->arena, q->graph, q->op, &target->blocks_unit, &blocks, cycles);
}

const char *describe_refusal(const struct describe_pattern *p, const struct target_question *q)
{
    double cycles;

    ASK(check_rules(p, q, false));
    return p->call || describe_of(q->target)->region_call || describe_of(q->target)->estimator
               ? NULL
               : describe_plan(q, &cycles);
}
