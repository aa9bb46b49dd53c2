/* float_table.c - rewrite float32 functions of the values of one int8 tensor as a table, of two as
 * int8 operators.
 * in: DEQUANTIZE, operators of one value, of two, comparisons and SELECT, of which each operand is a
 * constant number or comes from these tensors too, QUANTIZE. A tensor that a table makes comes from
 * the table's.
 * out: LUT of the tensor that DEQUANTIZE reads. For two tensors, where an accelerator is selected,
 * quotient.c's operators, if the function is linear in one of them. Operators without other readers
 * go. Each entry is computed by the host's kernels, so that it is the byte that they would write (the
 * reference has its own text of each function). */
#include <math.h>
#include <string.h>

#include "compiler/ir/float_numbers.h"
#include "kernels/hdk.h"
#include "legalise.h"
#include "new_ops.h"

enum { VALUES = 256, PAIRS = VALUES * VALUES };

typedef void kernel(void);
typedef void unary(const struct hdk_f32_unary *p, const float *x, float *y);
typedef void binary(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);

static const struct {
    kernel *of[FORM_COUNT];
} kernels[] = {
#define OPERATOR(code, name, columns)            {.of = {columns}},
#define KERNEL(form, name, params, writer, args) [FORM_##form] = (kernel *)hdk_##name,
#include "operators/operators.def"
};

static const struct {
    uint32_t n; /* 0: no function of values */
} values[] = {
#define OPERATOR(code, name, columns) {columns},
#define F32_UNARY(fn)                 1
#define F32_BINARY(fn)                2
#include "operators/operators.def"
};

/* Truth is 1 or 0. */
#define RELATION_OF(fn, expression)                                                                \
    static float is_##fn(float a, float b)                                                         \
    {                                                                                              \
        return expression;                                                                         \
    }
RELATION_OF(equal, a <= b && a >= b)
RELATION_OF(not_equal, a<b || a> b || isnan(a) || isnan(b))
RELATION_OF(less, a < b)
RELATION_OF(less_equal, a <= b)
RELATION_OF(greater, a > b)
RELATION_OF(greater_equal, a >= b)
RELATION_OF(logical_and, a > 0 && b > 0)
RELATION_OF(logical_or, a > 0 || b > 0)

static const struct {
    float (*fn)(float a, float b);
} relations[] = {
#define OPERATOR(code, name, columns) {columns},
#define RELATION(name)                is_##name
#include "operators/operators.def"
};

/* A float32 or bool tensor as a function of the values -128.. of up to two tensors; NULL: of fewer.
 * [a + 128], or [a + 128][b + 128]. Each had the shape of `as` where its float32 values were made. */
struct function {
    const struct ir_tensor *of[2], *as[2];
    float *value;
};

static const struct function none = {{NULL, NULL}, {NULL, NULL}, NULL};

static const struct ir_tensor *unshaped(const struct ir_graph *g, const struct ir_tensor *x)
{
    while (x->producer != IR_NONE && ir_is_reshape(g->op[x->producer]))
        x = ir_in(g, g->op[x->producer], 0);
    return x;
}

/* Set the values of x for each of the tensor that tables make it from, or of itself; return that. */
static const struct ir_tensor *codes_of(const struct ir_graph *g, const struct ir_tensor *x,
                                        int8_t code[VALUES])
{
    const struct ir_tensor *of = unshaped(g, x);
    const struct ir_op *lut;
    int8_t after[VALUES];

    for (uint32_t i = 0; i < VALUES; i++)
        code[i] = (int8_t)((int32_t)i - 128);
    while (of->producer != IR_NONE && (lut = g->op[of->producer])->fixed.table != NULL &&
           lut->n_in == 1 && ir_in(g, lut, 0)->type == IR_I8) {
        memcpy(after, code, sizeof after);
        for (uint32_t i = 0; i < VALUES; i++)
            code[i] = after[lut->fixed.table[i] + 128];
        of = unshaped(g, ir_in(g, lut, 0));
    }
    return of;
}

static struct function dequantized(const struct ir_graph *g, const struct ir_tensor *x,
                                   const struct ir_tensor *y)
{
    struct function f = {{NULL, NULL}, {y, NULL}, ARENA_ARRAY(g->arena, float, VALUES)};
    int8_t code[VALUES];

    f.of[0] = codes_of(g, x, code);
    for (uint32_t i = 0; i < VALUES; i++)
        f.value[i] = x->quant.scale[0] * (float)(code[i] - x->quant.zero_point[0]);
    return f;
}

bool lgl_is_number(const struct ir_tensor *x)
{
    for (uint64_t i = 1; i < ir_elements(x); i++)
        if (memcmp(x->data, x->data + i * sizeof(float), sizeof(float)) != 0)
            return false;
    return true;
}

/* Find the function of operand i: a constant number is one of any tensor, of NULL. False if none
 * is known. */
static bool operand(const struct ir_graph *g, const struct ir_op *op, uint32_t i,
                    const struct function *known, struct function *f)
{
    const struct ir_tensor *x = ir_in(g, op, i);

    *f = known[x->id];
    if (f->value || x->role != IR_CONST || x->type != IR_F32 || !lgl_is_number(x))
        return f->value != NULL;
    f->value = ARENA_ARRAY(g->arena, float, VALUES);
    for (uint32_t k = 0; k < VALUES; k++)
        memcpy(&f->value[k], x->data, sizeof(float));
    return true;
}

/* Add the arguments of f to those of y; false: they are more than two, or one has two shapes. */
static bool add_arguments(const struct function *f, struct function *y)
{
    for (uint32_t i = 0; i < 2 && f->of[i]; i++) {
        const uint32_t k = y->of[0] && y->of[0] != f->of[i] ? 1 : 0;

        if (y->of[k] && (y->of[k] != f->of[i] || !ir_same_shape(y->as[k], f->as[i])))
            return false;
        y->of[k] = f->of[i];
        y->as[k] = f->as[i];
    }
    return true;
}

static uint32_t values_of(const struct function *f)
{
    return f->of[1] ? PAIRS : VALUES;
}

/* The values of f for the arguments of y, which it is a function of. */
static const float *values_for(const struct ir_graph *g, const struct function *f,
                               const struct function *y)
{
    const bool second = f->of[0] == y->of[1];
    float *value;

    if (!y->of[1] || (f->of[1] && !second))
        return f->value;
    value = ARENA_ARRAY(g->arena, float, PAIRS);
    for (uint32_t i = 0; i < PAIRS; i++) {
        const uint32_t a = i / VALUES, b = i % VALUES;

        value[i] = f->value[f->of[1] ? b * VALUES + a : second ? b : a];
    }
    return value;
}

static void select_values(uint32_t n, const float *condition, const float *a, const float *b,
                          float *y)
{
    for (uint32_t i = 0; i < n; i++)
        y[i] = condition[i] > 0 ? a[i] : b[i];
}

/* Compute `count` values of the operator of `n` operands. */
static void compute(const struct ir_op *op, uint32_t n, uint32_t count, const float *const x[3],
                    float *y)
{
    kernel *k = kernels[op->opcode].of[FORM_F32];

    if (n == 3) {
        select_values(count, x[0], x[1], x[2], y);
    } else if (relations[op->opcode].fn) {
        for (uint32_t i = 0; i < count; i++)
            y[i] = relations[op->opcode].fn(x[0][i], x[1][i]);
    } else if (n == 1) {
        const struct ir_two_floats numbers = ir_unary_numbers(op);
        const struct hdk_f32_unary p = {.n = count, .a = numbers.a, .b = numbers.b};
        ((unary *)k)(&p, x[0], y);
    } else {
        const struct ir_two_floats bounds = ir_fused_bounds(op);
        const struct hdk_f32_binary p = {
            .walk = {.shape = {1, 1, 1, count}, .a_stride = {0, 0, 0, 1}, .b_stride = {0, 0, 0, 1}},
            .low = bounds.a,
            .high = bounds.b};
        ((binary *)k)(&p, x[0], x[1], y);
    }
}

uint32_t lgl_float_operands(const struct ir_op *op)
{
    return op->opcode == IR_OP_SELECT ? 3 : relations[op->opcode].fn ? 2 : values[op->opcode].n;
}

/* Return the operator's result as a function of one tensor or two; none unless its operands are
 * functions of these. */
static struct function applied(const struct ir_graph *g, const struct ir_op *op,
                               const struct function *known)
{
    struct function f[3] = {none, none, none}, y = none;
    const float *value[3] = {NULL, NULL, NULL};

    for (uint32_t i = 0; i < lgl_float_operands(op); i++)
        if (!operand(g, op, i, known, &f[i]) || !add_arguments(&f[i], &y))
            return none;
    if (!y.of[0])
        return none;
    for (uint32_t i = 0; i < lgl_float_operands(op); i++)
        value[i] = values_for(g, &f[i], &y);
    y.value = ARENA_ARRAY(g->arena, float, values_of(&y));
    compute(op, lgl_float_operands(op), values_of(&y), value, y.value);
    return y;
}

/* The number that operand i is; see lgl_float_at. */
static float operand_at(const struct ir_graph *g, const struct ir_op *op, uint32_t i,
                        const struct ir_tensor *of, float v)
{
    const struct ir_tensor *x = ir_in(g, op, i);

    return x->role == IR_CONST ? *(const float *)(const void *)x->data : lgl_float_at(g, x, of, v);
}

float lgl_float_applied(const struct ir_op *op, const float x[2])
{
    float result;

    compute(op, lgl_float_operands(op), 1, (const float *const[3]){&x[0], &x[1], NULL}, &result);
    return result;
}

float lgl_float_at(const struct ir_graph *g, const struct ir_tensor *y, const struct ir_tensor *of,
                   float v)
{
    float x[2] = {v, v};

    if (y == of)
        return v;
    const struct ir_op *op = g->op[y->producer];
    if (ir_is_reshape(op))
        return lgl_float_at(g, ir_in(g, op, 0), of, v);
    for (uint32_t i = 0; i < lgl_float_operands(op); i++)
        x[i] = operand_at(g, op, i, of, v);
    return lgl_float_applied(op, x);
}

/* Return true if the operator computes by one of n kernels. */
static bool is_by(const struct ir_op *op, uint32_t n, kernel *const *by)
{
    for (uint32_t i = 0; i < n; i++)
        if (kernels[op->opcode].of[FORM_F32] == by[i])
            return true;
    return false;
}

/* The slope of an operator of a number c and of a tensor whose least and greatest values are given. */
static int32_t slope_with(const struct ir_op *op, bool first, float c, const float end[2])
{
    static kernel *const any[] = {(kernel *)hdk_f32_add, (kernel *)hdk_f32_maximum,
                                  (kernel *)hdk_f32_minimum};
    static kernel *const minus[] = {(kernel *)hdk_f32_sub},
                         *const times[] = {(kernel *)hdk_f32_mul},
                         *const by[] = {(kernel *)hdk_f32_div};
    const int32_t sign = c > 0 ? 1 : c < 0 ? -1 : 0;

    if (is_by(op, 3, any))
        return 1;
    if (is_by(op, 1, minus))
        return first ? -1 : 1;
    if (is_by(op, 1, times) || (is_by(op, 1, by) && !first))
        return sign;
    return is_by(op, 1, by) && end[0] >= 0 && end[1] >= 0 ? -sign : 0;
}

int32_t lgl_float_slope(const struct ir_graph *g, const struct ir_tensor *y,
                        const struct ir_tensor *of, float low, float high)
{
    static kernel *const rising[] = {(kernel *)hdk_f32_square_root, (kernel *)hdk_f32_clip},
                         *const falling[] = {(kernel *)hdk_f32_inverse_root};
    const struct ir_op *op = y == of || y->producer == IR_NONE ? NULL : g->op[y->producer];

    if (!op || y->type != IR_F32)
        return y == of;
    if (ir_is_reshape(op))
        return lgl_float_slope(g, ir_in(g, op, 0), of, low, high);
    const uint32_t n = lgl_float_operands(op),
                   at = n == 2 && ir_in(g, op, 0)->role == IR_CONST ? 1 : 0;
    const struct ir_tensor *x = ir_in(g, op, at), *c = n == 2 ? ir_in(g, op, 1 - at) : NULL;
    if (n == 0 || n > 2 || (c && (c->role != IR_CONST || c->type != IR_F32 || !lgl_is_number(c))))
        return 0;
    const int32_t slope = lgl_float_slope(g, x, of, low, high);
    if (slope == 0 || isnan(lgl_float_at(g, y, of, low)) || isnan(lgl_float_at(g, y, of, high)))
        return 0;
    if (!c)
        return is_by(op, 2, rising) ? slope : is_by(op, 1, falling) ? -slope : 0;
    const float end[2] = {lgl_float_at(g, x, of, low), lgl_float_at(g, x, of, high)};
    return slope * slope_with(op, at == 1, *(const float *)(const void *)c->data, end);
}

int8_t lgl_quantized(const struct ir_op *quantize, const struct ir_tensor *y, float v)
{
    const float quotient = v / y->quant.scale[0];
    const float rounded =
        quantize->fixed.n_real != 0 ? hdk_f32_nearest(quotient) : roundf(quotient);
    const int32_t near = isnan(rounded) ? 0 : (int32_t)hdk_f32_clamp(rounded, -1000, 1000);
    const int32_t code = near + y->quant.zero_point[0];
    const struct ir_fixed *f = &quantize->fixed;

    return (int8_t)(code < f->act_min ? f->act_min : code > f->act_max ? f->act_max : code);
}

/* Make the table. False: a value is NaN, whose quantised value ONNX's rounding does not define. */
static bool make_table(const struct ir_op *quantize, const struct ir_tensor *y,
                       const struct function *f, int8_t *table)
{
    for (uint32_t i = 0; i < values_of(f); i++) {
        if (isnan(f->value[i]) && quantize->fixed.n_real != 0)
            return false;
        table[i] = lgl_quantized(quantize, y, f->value[i]);
    }
    return true;
}

/* Return true if y's shape is that of both arguments together. */
static bool spans(const struct ir_tensor *y, const struct function *f)
{
    for (uint32_t i = 0; i < y->rank; i++) {
        const int32_t a = ir_dim_back(f->as[0], i), b = ir_dim_back(f->as[1], i);

        if (ir_dim_back(y, i) != (a > b ? a : b))
            return false;
    }
    return true;
}

/* Rewrite QUANTIZE of a function of two tensors. */
static bool divided(struct ir_graph *g, const struct lgl_options *o, struct ir_op *quantize,
                    const struct function *f)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0);
    int8_t *table;

    if (o->array_rows == 0 || !spans(y, f))
        return false;
    table = ARENA_ARRAY(g->arena, int8_t, PAIRS);
    if (!make_table(quantize, y, f, table))
        return false;
    return lgl_quotient(g, quantize, f->of, f->as, table);
}

/* Rewrite DIV of two int8 tensors. */
static void divide_bytes(struct ir_graph *g, const struct lgl_options *o, struct ir_op *op)
{
    const struct ir_tensor *of[2], *y = ir_out(g, op, 0);
    int8_t code[VALUES], *table;

    if (o->array_rows == 0 || y->type != IR_I8 || op->fixed.n != 1 ||
        kernels[op->opcode].of[FORM_I8] != (kernel *)hdk_div)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        of[i] = ir_in(g, op, i);
        if (of[i]->type != IR_I8 || of[i]->role == IR_CONST)
            return;
    }
    for (uint32_t i = 0; i < VALUES; i++)
        code[i] = (int8_t)((int32_t)i - 128);
    const struct hdk_mul p = {.walk = {{1, 1, VALUES, VALUES}, {0, 0, 1, 0}, {0, 0, 0, 1}},
                              .z_a = of[0]->quant.zero_point[0],
                              .z_b = of[1]->quant.zero_point[0],
                              .z_out = y->quant.zero_point[0],
                              .act_min = op->fixed.act_min,
                              .act_max = op->fixed.act_max,
                              .multiplier = op->fixed.multiplier[0],
                              .shift = op->fixed.shift[0]};
    table = ARENA_ARRAY(g->arena, int8_t, PAIRS);
    hdk_div(&p, code, code, table);
    (void)lgl_quotient(g, op, of, of, table);
}

/* Rewrite QUANTIZE of a function as a table; false if it is none. */
static bool tabulated(struct ir_graph *g, const struct lgl_options *o, struct ir_op *quantize,
                      const struct function *f)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0);

    if (!f->value || y->type != IR_I8)
        return false;
    if (f->of[1])
        return divided(g, o, quantize, f);
    if (ir_elements(f->of[0]) != ir_elements(y))
        return false;
    int8_t *table = ARENA_ARRAY(g->arena, int8_t, VALUES);
    if (!make_table(quantize, y, f, table))
        return false;
    lgl_become_table(quantize, lgl_in_shape(g, quantize->row, f->of[0], y), table);
    return true;
}

/* Rewrite a choice between int8 values, by a condition that is a function of the tensor that both come from,
 * as a table. */
static void tabulate_choice(struct ir_graph *g, struct ir_op *op, const struct function *known,
                            uint32_t *row)
{
    const struct function *condition = &known[op->in[0]];
    const struct ir_tensor *y = ir_out(g, op, 0);
    int8_t code[2][VALUES], *table;

    if (!condition->value || condition->of[1] || ir_elements(condition->of[0]) != ir_elements(y))
        return;
    for (uint32_t i = 0; i < 2; i++) {
        const struct ir_tensor *x = ir_in(g, op, i + 1);

        if (x->role == IR_CONST && ir_elements(x) == 1)
            memset(code[i], *(const int8_t *)(const void *)x->data, VALUES);
        else if (x->role == IR_CONST || codes_of(g, x, code[i]) != condition->of[0])
            return;
    }
    table = ARENA_ARRAY(g->arena, int8_t, VALUES);
    for (uint32_t i = 0; i < VALUES; i++)
        table[i] = code[condition->value[i] > 0 ? 0 : 1][i];
    for (uint32_t i = 0; i < op->n_in; i++)
        row[op->in[i]] = op->row;
    lgl_become_table(op, lgl_in_shape(g, op->row, condition->of[0], y), table);
}

/* Rewrite the bytes of a bool that is a function of a tensor as a table. */
static void tabulate_truth(struct ir_graph *g, struct ir_op *op, const struct function *f,
                           uint32_t *row)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    int8_t *table = ARENA_ARRAY(g->arena, int8_t, VALUES);

    if (!f->value || f->of[1] || ir_elements(f->of[0]) != ir_elements(y))
        return;
    for (uint32_t i = 0; i < VALUES; i++)
        table[i] = f->value[i] > 0;
    row[op->in[0]] = op->row;
    lgl_become_table(op, lgl_in_shape(g, op->row, f->of[0], y), table);
}

enum status lgl_float_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    struct function *known = ARENA_ARRAY(g->arena, struct function, g->n_tensor);
    uint32_t *row = lgl_rows(g);
    const uint32_t n_op = g->n_op;

    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_op *op = g->op[i];
        if (op->dead || op->n_in == 0)
            continue;
        const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
        if (op->opcode == IR_OP_QUANTIZE && tabulated(g, o, op, &known[x->id]))
            row[x->id] = op->row;
        else if (ir_dequantises_i8(g, op) && x->role != IR_CONST)
            known[y->id] = dequantized(g, x, y);
        else if (ir_is_reshape(op) && x->type == IR_BOOL && y->type == IR_I8)
            tabulate_truth(g, op, &known[x->id], row);
        else if (lgl_float_operands(op) == 3 && y->type == IR_I8)
            tabulate_choice(g, op, known, row);
        else if (lgl_float_operands(op) != 0 && (y->type == IR_F32 || y->type == IR_BOOL))
            known[y->id] = applied(g, op, known);
        else if (lgl_float_operands(op) == 2)
            divide_bytes(g, o, op);
    }
    lgl_fuse_unread(g, row);
    return ir_link(g, d);
}
