/* ref_number.c - operators on numbers of any type: CAST, arithmetic of int32 and int64,
 * comparisons, logic, SELECT. */
#include <string.h>

#include "ref_kernels.h"

/* A number of any type; quantised values as they are. */
struct number {
    int64_t i;
    float f; /* of float32 */
};

static struct number load(const struct ir_tensor *t, const uint8_t *p, size_t k)
{
    struct number v = {0};
    int32_t i;

    switch (t->type) {
    case IR_I64: memcpy(&v.i, p + k * 8, 8); break;
    case IR_BOOL: v.i = p[k] != 0; break;
    case IR_F32: memcpy(&v.f, p + k * 4, 4); break;
    case IR_I32:
        memcpy(&i, p + k * 4, 4);
        v.i = i;
        break;
    default: v.i = ref_at(t, p, k); break;
    }
    return v;
}

/* Towards zero, saturated; NaN is 0. */
static int64_t truncated(float v)
{
    if (v != v)
        return 0;
    return v >= 0x1p63f ? INT64_MAX : v < -0x1p63f ? INT64_MIN : (int64_t)v;
}

/* The low bits of values that fit int32; 0 for others. */
static int64_t low_bits(float v)
{
    return v > -2147483648.0f && v < 2147483648.0f ? (int64_t)v : 0;
}

enum status ref_cast(const struct ref_call *c, struct diag *d)
{
    const enum ir_type from = c->in[0]->type, to = c->out[0]->type;
    const size_t n = (size_t)ir_elements(c->out[0]), size = ir_type_bytes(to);

    (void)d;
    for (size_t k = 0; k < n; k++) {
        struct number v = load(c->in[0], c->x[0], k);

        v.i += c->op->attr[IR_FROM_U8] ? 128 : 0;
        if (to == IR_BOOL)
            v.i = from == IR_F32 ? v.f != 0 : v.i != 0;
        else if (to == IR_F32 && from != IR_F32)
            v.f = (float)v.i;
        else if (to != IR_F32 && from == IR_F32)
            v.i = size < 4 ? low_bits(v.f) : truncated(v.f);
        if (to == IR_I32 && from == IR_F32)
            v.i = v.i > INT32_MAX ? INT32_MAX : v.i < INT32_MIN ? INT32_MIN : v.i;
        if (to == IR_F32)
            memcpy(c->y[0] + k * 4, &v.f, 4);
        else {
            v.i -= c->op->attr[IR_TO_U8] ? 128 : 0;
            memcpy(c->y[0] + k * size, &v.i, size);
        }
    }
    return ST_OK;
}

/* Values of 8 bits: the real value, (code - zero point) << 8 scaled by the tensor's scale. */
static struct number operand(const struct ref_call *c, uint32_t i, size_t k)
{
    struct number v = load(c->in[i], c->x[i], ref_broadcast_at(c->in[i], c->out[0], k));

    if (c->in[i]->type == IR_I8 || c->in[i]->type == IR_U8)
        v.i = ref_mbqm(((int32_t)v.i - ir_zero_point(c->in[i])) * 256, c->k->multiplier[i],
                       c->k->shift[i]);
    return v;
}

/* Exactly one of the three relations holds, none where one operand is NaN. */
struct relations {
    bool less, equal, greater;
    bool a, b; /* is not 0 */
};

static bool is_equal(struct relations r)
{
    return r.equal;
}

static bool is_not_equal(struct relations r)
{
    return !r.equal;
}

static bool is_less(struct relations r)
{
    return r.less;
}

static bool is_less_equal(struct relations r)
{
    return r.less || r.equal;
}

static bool is_greater(struct relations r)
{
    return r.greater;
}

static bool is_greater_equal(struct relations r)
{
    return r.greater || r.equal;
}

static bool is_logical_and(struct relations r)
{
    return r.a && r.b;
}

static bool is_logical_or(struct relations r)
{
    return r.a || r.b;
}

static const struct {
    bool (*holds)(struct relations r);
} relation[] = {
#define OPERATOR(code, name, columns) {columns},
#define RELATION(fn)                  is_##fn
#include "operators/operators.def"
};

static struct relations relations_of(const struct ref_call *c, struct number a, struct number b)
{
    if (c->in[0]->type == IR_F32)
        return (struct relations){.less = a.f<b.f, .equal = a.f == b.f, .greater = a.f> b.f};
    return (struct relations){a.i<b.i, a.i == b.i, a.i> b.i, a.i != 0, b.i != 0};
}

enum status ref_compare(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t k = 0; k < n; k++)
        c->y[0][k] =
            relation[c->op->opcode].holds(relations_of(c, operand(c, 0, k), operand(c, 1, k)));
    return ST_OK;
}

enum status ref_logical_not(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t k = 0; k < n; k++)
        c->y[0][k] = c->x[0][k] == 0;
    return ST_OK;
}

enum status ref_select(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->out[0]), size = ir_type_bytes(c->out[0]->type);

    (void)d;
    for (size_t k = 0; k < n; k++) {
        const bool holds = c->x[0][ref_broadcast_at(c->in[0], c->out[0], k)] != 0;
        const uint32_t from = holds ? 1 : 2;

        memcpy(c->y[0] + k * size, c->x[from] + ref_broadcast_at(c->in[from], c->out[0], k) * size,
               size);
    }
    return ST_OK;
}

/* Rounded down; 0 where b is 0. */
static int64_t int_floor_div(int64_t a, int64_t b)
{
    if (b == 0 || b == -1)
        return b == 0 ? 0 : (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Integers, wrapping. */
static int64_t int_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t int_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t int_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t int_div(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? int_floor_div(a, b) : a / b;
}

static int64_t int_bitwise_and(int64_t a, int64_t b)
{
    return a & b;
}

static int64_t int_bitwise_or(int64_t a, int64_t b)
{
    return a | b;
}

static int64_t int_bitwise_xor(int64_t a, int64_t b)
{
    return (a | b) & ~(a & b);
}

/* Halved b times, rounded down. */
static int64_t int_right_shift(int64_t a, int64_t b)
{
    for (; b > 0 && a != 0 && a != -1; b--)
        a = a / 2 - (a % 2 < 0);
    return a;
}

static int64_t int_floor_mod(int64_t a, int64_t b)
{
    return b == 0 ? 0 : (int64_t)((uint64_t)a - (uint64_t)b * (uint64_t)int_floor_div(a, b));
}

static int64_t int_maximum(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t int_minimum(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t int_squared_difference(int64_t a, int64_t b)
{
    return int_mul(int_sub(a, b), int_sub(a, b));
}

static const struct {
    int64_t (*of)(int64_t a, int64_t b);
} integers[] = {
#define OPERATOR(code, name, columns) {columns},
#define INTEGERS(fn)                  int_##fn
#include "operators/operators.def"
};

static int64_t activated(enum ir_activation activation, int64_t v)
{
    const int64_t low = activation == IR_ACT_RELU_N1_TO_1 ? -1 : 0;
    const int64_t high = activation == IR_ACT_RELU ? INT64_MAX : activation == IR_ACT_RELU6 ? 6 : 1;

    if (activation == IR_ACT_NONE)
        return v;
    return v < low ? low : v > high ? high : v;
}

/* Element `to` of y becomes itself combined with v; at `first` v alone. */
static void combine(const struct ref_call *c, size_t to, bool first, int64_t v)
{
    const struct ir_tensor *y = c->out[0];
    const size_t size = ir_type_bytes(y->type);

    if (!first)
        v = integers[c->op->opcode].of(load(y, c->y[0], to).i, v);
    memcpy(c->y[0] + to * size, &v, size);
}

/* Reductions: over the dimensions of attribute `axis`, a bit each. */
static void fold_integers(const struct ref_call *c)
{
    const struct ir_tensor *x = c->in[0];

    for (size_t k = 0; k < (size_t)ir_elements(x); k++) {
        size_t to = 0, stride = 1, rest = k;
        bool first = true;

        for (uint32_t i = x->rank; i-- > 0; rest /= (size_t)x->dim[i]) {
            const size_t at = rest % (size_t)x->dim[i];
            const bool gone = ((uint32_t)c->op->attr[IR_AXIS] >> i & 1) != 0;

            first = first && !(gone && at > 0);
            to += gone ? 0 : at * stride;
            stride *= gone ? 1 : (size_t)x->dim[i];
        }
        combine(c, to, first, load(x, c->x[0], k).i);
    }
}

/* CUMSUM: each element is the one before it, in its direction, and one of x. */
static void scan_integers(const struct ref_call *c)
{
    const struct ir_tensor *x = c->in[0];
    const uint32_t axis = (uint32_t)c->op->attr[IR_AXIS];
    const bool back = c->op->attr[IR_REVERSE] != 0, exclusive = c->op->attr[IR_EXCLUSIVE] != 0;
    const size_t n = (size_t)x->dim[axis], size = ir_type_bytes(x->type);
    size_t inner = 1;

    for (uint32_t i = axis + 1; i < x->rank; i++)
        inner *= (size_t)x->dim[i];
    for (size_t k = 0; k < (size_t)ir_elements(x); k++) {
        const size_t step = k / inner % n;
        const size_t at = k - step * inner + (back ? n - 1 - step : step) * inner;
        const size_t before = back ? at + inner : at - inner;
        int64_t v = exclusive ? 0 : load(x, c->x[0], at).i;

        if (step > 0)
            v = (int64_t)((uint64_t)load(c->out[0], c->y[0], before).i +
                          (uint64_t)load(x, c->x[0], exclusive ? before : at).i);
        memcpy(c->y[0] + at * size, &v, size);
    }
}

enum status ref_arithmetic(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    const size_t n = (size_t)ir_elements(y), size = ir_type_bytes(y->type);

    (void)d;
    if (c->op->n_in == 1) {
        if (ir_op_has(c->op->opcode, IR_EXCLUSIVE))
            scan_integers(c);
        else
            fold_integers(c);
        return ST_OK;
    }
    for (size_t k = 0; k < n; k++) {
        int64_t v = integers[c->op->opcode].of(operand(c, 0, k).i, operand(c, 1, k).i);

        if (y->type == IR_I32)
            v = (int32_t)(uint32_t)(uint64_t)v;
        v = activated((enum ir_activation)c->op->attr[IR_ACTIVATION], v);
        memcpy(c->y[0] + k * size, &v, size);
    }
    return ST_OK;
}
