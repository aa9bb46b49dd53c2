/* float_table.c - rewrite float32 functions of the values of one int8 tensor as a table.
 * in: DEQUANTIZE, operators of one value, of two, comparisons and SELECT, of which each operand is a
 * constant number or comes from that tensor too, QUANTIZE. A tensor that a table makes comes from the table's.
 * out: LUT of the tensor that DEQUANTIZE reads; operators without other readers go. Each entry is computed by the host's kernels, so that it is the byte that
 * they would write (the reference has its own text of each function). */
#include <math.h>
#include <string.h>

#include "compiler/ir/float_numbers.h"
#include "kernels/hdk.h"
#include "legalise.h"
#include "new_ops.h"

enum { VALUES = 256 };

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

/* A float32 or bool tensor as a function of the values -128.. of `of`; NULL: of none. */
struct function {
    const struct ir_tensor *of;
    float *value;
};

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

static struct function dequantized(const struct ir_graph *g, const struct ir_tensor *x)
{
    struct function f = {NULL, ARENA_ARRAY(g->arena, float, VALUES)};
    int8_t code[VALUES];

    f.of = codes_of(g, x, code);
    for (uint32_t i = 0; i < VALUES; i++)
        f.value[i] = x->quant.scale[0] * (float)(code[i] - x->quant.zero_point[0]);
    return f;
}

/* Return true if all elements of the tensor are one number. */
static bool is_number(const struct ir_tensor *x)
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
    if (f->value || x->role != IR_CONST || x->type != IR_F32 || !is_number(x))
        return f->value != NULL;
    f->value = ARENA_ARRAY(g->arena, float, VALUES);
    for (uint32_t k = 0; k < VALUES; k++)
        memcpy(&f->value[k], x->data, sizeof(float));
    return true;
}

static void select_values(const float *condition, const float *a, const float *b, float *y)
{
    for (uint32_t i = 0; i < VALUES; i++)
        y[i] = condition[i] > 0 ? a[i] : b[i];
}

/* Compute the operator of `n` operands. */
static void compute(const struct ir_op *op, uint32_t n, const struct function *x, float *y)
{
    kernel *k = kernels[op->opcode].of[FORM_F32];

    if (n == 3) {
        select_values(x[0].value, x[1].value, x[2].value, y);
    } else if (relations[op->opcode].fn) {
        for (uint32_t i = 0; i < VALUES; i++)
            y[i] = relations[op->opcode].fn(x[0].value[i], x[1].value[i]);
    } else if (n == 1) {
        const struct ir_two_floats numbers = ir_unary_numbers(op);
        const struct hdk_f32_unary p = {.n = VALUES, .a = numbers.a, .b = numbers.b};
        ((unary *)k)(&p, x[0].value, y);
    } else {
        const struct ir_two_floats bounds = ir_fused_bounds(op);
        const struct hdk_f32_binary p = {.walk = {.shape = {1, 1, 1, VALUES},
                                                  .a_stride = {0, 0, 0, 1},
                                                  .b_stride = {0, 0, 0, 1}},
                                         .low = bounds.a,
                                         .high = bounds.b};
        ((binary *)k)(&p, x[0].value, x[1].value, y);
    }
}

/* Operands that are numbers of a function; 0: it is none. */
static uint32_t operands(const struct ir_op *op)
{
    return op->opcode == IR_OP_SELECT ? 3 : relations[op->opcode].fn ? 2 : values[op->opcode].n;
}

/* Return the operator's result as a function of one tensor; none unless its operands are
 * functions of one. */
static struct function applied(const struct ir_graph *g, const struct ir_op *op,
                               const struct function *known)
{
    struct function f[3] = {{NULL, NULL}, {NULL, NULL}, {NULL, NULL}}, y = {NULL, NULL};

    for (uint32_t i = 0; i < operands(op); i++) {
        if (!operand(g, op, i, known, &f[i]) || (y.of && f[i].of && f[i].of != y.of))
            return (struct function){NULL, NULL};
        y.of = f[i].of ? f[i].of : y.of;
    }
    if (!y.of)
        return y;
    y.value = ARENA_ARRAY(g->arena, float, VALUES);
    compute(op, operands(op), f, y.value);
    return y;
}

/* QUANTIZE: halves away from zero, under ONNX's rounding to even; NaN is 0. */
static int8_t entry_of(const struct ir_op *quantize, const struct ir_tensor *y, float v)
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
static bool make_table(const struct ir_op *quantize, const struct ir_tensor *y, const float *value,
                       int8_t *table)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        if (isnan(value[i]) && quantize->fixed.n_real != 0)
            return false;
        table[i] = entry_of(quantize, y, value[i]);
    }
    return true;
}

/* Rewrite QUANTIZE of a function as a table; false if it is none. */
static bool tabulated(struct ir_graph *g, struct ir_op *quantize, const struct function *f)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0);

    if (!f->value || y->type != IR_I8 || ir_elements(f->of) != ir_elements(y))
        return false;
    int8_t *table = ARENA_ARRAY(g->arena, int8_t, VALUES);
    if (!make_table(quantize, y, f->value, table))
        return false;
    lgl_become_table(quantize, lgl_in_shape(g, quantize->row, f->of, y), table);
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

    if (!condition->value || ir_elements(condition->of) != ir_elements(y))
        return;
    for (uint32_t i = 0; i < 2; i++) {
        const struct ir_tensor *x = ir_in(g, op, i + 1);

        if (x->role == IR_CONST && ir_elements(x) == 1)
            memset(code[i], *(const int8_t *)(const void *)x->data, VALUES);
        else if (x->role == IR_CONST || codes_of(g, x, code[i]) != condition->of)
            return;
    }
    table = ARENA_ARRAY(g->arena, int8_t, VALUES);
    for (uint32_t i = 0; i < VALUES; i++)
        table[i] = code[condition->value[i] > 0 ? 0 : 1][i];
    for (uint32_t i = 0; i < op->n_in; i++)
        row[op->in[i]] = op->row;
    lgl_become_table(op, lgl_in_shape(g, op->row, condition->of, y), table);
}

enum status lgl_float_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    struct function *known = ARENA_ARRAY(g->arena, struct function, g->n_tensor);
    uint32_t *row = lgl_rows(g);

    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        if (op->dead || op->n_in == 0)
            continue;
        const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
        if (op->opcode == IR_OP_QUANTIZE && tabulated(g, op, &known[x->id]))
            row[x->id] = op->row;
        else if (op->opcode == IR_OP_DEQUANTIZE && x->type == IR_I8 && x->role != IR_CONST)
            known[y->id] = dequantized(g, x);
        else if (operands(op) == 3 && y->type == IR_I8)
            tabulate_choice(g, op, known, row);
        else if (operands(op) != 0 && (y->type == IR_F32 || y->type == IR_BOOL))
            known[y->id] = applied(g, op, known);
    }
    lgl_fuse_unread(g, row);
    return ir_link(g, d);
}
