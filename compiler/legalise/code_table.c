/* code_table.c - what is made of one int8 tensor alone, by tables and operators of two operands, is a
 * table: MUL(x, LOGISTIC(x)), ADD(x, 3), MINIMUM(x, 6), one table after another.
 * in: LUT; int8 operators of two operands, each that tensor, a constant number, or made of them by
 * operators that nobody else reads.  out: LUT; operators without readers go. Each entry is computed by
 * the host's kernels, so that it is the byte that they would write. */
#include <string.h>

#include "kernels/hdk.h"
#include "legalise.h"
#include "new_ops.h"

enum { CODES = 256 };

/* An int8 tensor as a function of the codes -128.. of `of`, in its shape; NULL: of none. */
struct function {
    const struct ir_tensor *of;
    const int8_t *value;
};

static const struct function none = {NULL, NULL};

typedef void kernel(void);
typedef void apply(kernel *k, const struct ir_graph *g, const struct ir_op *op, const int8_t *a,
                   const int8_t *b, int8_t *y);

static const struct hdk_walk2 walk = {{1, 1, 1, CODES}, {0, 0, 0, 1}, {0, 0, 0, 1}};

static int32_t zero_in(const struct ir_graph *g, const struct ir_op *op, uint32_t i)
{
    return ir_zero_point(ir_in(g, op, i));
}

static int32_t zero_out(const struct ir_graph *g, const struct ir_op *op)
{
    return ir_zero_point(ir_out(g, op, 0));
}

typedef void add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y);

static void apply_scaled_walk(kernel *k, const struct ir_graph *g, const struct ir_op *op,
                              const int8_t *a, const int8_t *b, int8_t *y)
{
    const struct ir_fixed *f = &op->fixed;
    const struct hdk_add p = {.walk = walk,
                              .z_a = zero_in(g, op, 0),
                              .z_b = zero_in(g, op, 1),
                              .z_out = zero_out(g, op),
                              .act_min = f->act_min,
                              .act_max = f->act_max,
                              .multiplier_a = f->multiplier[0],
                              .multiplier_b = f->multiplier[1],
                              .multiplier_out = f->multiplier[2],
                              .shift_a = f->shift[0],
                              .shift_b = f->shift[1],
                              .shift_out = f->shift[2]};

    ((add *)k)(&p, a, b, y);
}

typedef void mul(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *y);

static void apply_mul(kernel *k, const struct ir_graph *g, const struct ir_op *op, const int8_t *a,
                      const int8_t *b, int8_t *y)
{
    const struct hdk_mul p = {.walk = walk,
                              .z_a = zero_in(g, op, 0),
                              .z_b = zero_in(g, op, 1),
                              .z_out = zero_out(g, op),
                              .act_min = op->fixed.act_min,
                              .act_max = op->fixed.act_max,
                              .multiplier = op->fixed.multiplier[0],
                              .shift = op->fixed.shift[0]};

    ((mul *)k)(&p, a, b, y);
}

typedef void extremum(const struct hdk_extremum *p, const int8_t *a, const int8_t *b, int8_t *y);

static void apply_extremum(kernel *k, const struct ir_graph *g, const struct ir_op *op,
                           const int8_t *a, const int8_t *b, int8_t *y)
{
    const struct hdk_extremum p = {.walk = walk};

    (void)g;
    (void)op;
    ((extremum *)k)(&p, a, b, y);
}

typedef void onnx_binary(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b,
                         int8_t *y);

static void apply_onnx_binary(kernel *k, const struct ir_graph *g, const struct ir_op *op,
                              const int8_t *a, const int8_t *b, int8_t *y)
{
    struct hdk_onnx_binary p = {.walk = walk,
                                .z_a = zero_in(g, op, 0),
                                .z_b = zero_in(g, op, 1),
                                .z_out = zero_out(g, op),
                                .act_min = op->fixed.act_min,
                                .act_max = op->fixed.act_max};

    memcpy(p.real, op->fixed.real, sizeof p.real);
    ((onnx_binary *)k)(&p, a, b, y);
}

static const struct {
    struct {
        kernel *run;
        const char *writer;
    } of[FORM_COUNT];
} kernels[] = {
#define OPERATOR(code, name, columns)            {.of = {columns}},
#define KERNEL(form, name, params, writer, args) [FORM_##form] = {(kernel *)hdk_##name, #writer},
#include "operators/operators.def"
};

/* Of operators whose kernel takes two operands. */
static const struct {
    const char *writer;
    apply *apply;
} writers[] = {{"scaled_walk", apply_scaled_walk},
               {"mul", apply_mul},
               {"extremum", apply_extremum},
               {"onnx_binary", apply_onnx_binary}};

/* The function of operand i: known, if only the operator reads it; else of itself; of no tensor, if it
 * is a constant number. False: neither. */
static bool operand(const struct ir_graph *g, const struct ir_op *op, uint32_t i,
                    const struct function *known, struct function *f)
{
    const struct ir_tensor *x = ir_in(g, op, i);
    const bool is_const = x->role == IR_CONST;
    int8_t *value;

    if (x->type != IR_I8 || (is_const && ir_elements(x) != 1))
        return false;
    *f = known[x->id];
    if (f->value && !x->is_output && ir_uses(g, x->id) == 1)
        return true;
    value = ARENA_ARRAY(g->arena, int8_t, CODES);
    for (int32_t k = 0; k < CODES; k++)
        value[k] = (int8_t)(is_const ? (int8_t)x->data[0] : k - 128);
    *f = (struct function){is_const ? NULL : x, value};
    return true;
}

static const int8_t *table_of(struct arena *a, const int8_t *table, const int8_t *value)
{
    int8_t *y = ARENA_ARRAY(a, int8_t, CODES);

    for (uint32_t i = 0; i < CODES; i++)
        y[i] = table[value[i] + 128];
    return y;
}

/* What a LUT makes of a function, an operator of two operands of two of one tensor; else NULL. */
static const int8_t *applied(const struct ir_graph *g, const struct ir_op *op,
                             const struct function *f)
{
    enum kernel_form form = op->fixed.n_real == 0 ? FORM_I8
                            : op->attr[IR_QLINEAR] && kernels[op->opcode].of[FORM_QLINEAR].run
                                ? FORM_QLINEAR
                                : FORM_ROUNDED;
    const char *writer = kernels[op->opcode].of[form].writer;
    int8_t *y = ARENA_ARRAY(g->arena, int8_t, CODES);

    for (uint32_t i = 0; writer && i < sizeof writers / sizeof writers[0]; i++)
        if (strcmp(writers[i].writer, writer) == 0) {
            writers[i].apply(kernels[op->opcode].of[form].run, g, op, f[0].value, f[1].value, y);
            return y;
        }
    return NULL;
}

/* What the operator makes of its operands' functions, if they are of one tensor. */
static struct function result(const struct ir_graph *g, const struct ir_op *op,
                              const struct function *f)
{
    const struct ir_tensor *of = f[0].of ? f[0].of : f[1].of;

    if (!of || (f[1].of && f[1].of != of) || ir_elements(of) != ir_elements(ir_out(g, op, 0)))
        return none;
    return (struct function){of, op->fixed.table ? table_of(g->arena, op->fixed.table, f[0].value)
                                                 : applied(g, op, f)};
}

/* The operator as a function of a tensor before it, and as a LUT of that where it reads another one
 * or two operands. */
static struct function tabulated(struct ir_graph *g, struct ir_op *op, const struct function *known,
                                 uint32_t *row)
{
    const uint32_t n = op->fixed.table ? 1 : 2;
    struct function f[2] = {none, none};

    if (op->n_in != n || ir_out(g, op, 0)->type != IR_I8)
        return none;
    for (uint32_t i = 0; i < n; i++)
        if (!operand(g, op, i, known, &f[i]))
            return none;
    const struct function y = result(g, op, f);
    if (!y.value)
        return none;
    for (uint32_t i = 0; i < n; i++)
        row[op->in[i]] = op->row;
    lgl_become_table(op, y.of->id, y.value);
    return y;
}

enum status lgl_code_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    struct function *known = ARENA_ARRAY(g->arena, struct function, g->n_tensor);
    uint32_t *row = lgl_rows(g);

    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            known[g->op[i]->out[0]] = tabulated(g, g->op[i], known, row);
    lgl_fuse_unread(g, row);
    return ir_link(g, d);
}
