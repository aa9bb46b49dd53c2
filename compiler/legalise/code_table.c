/* code_table.c - rewrite a function of one int8 tensor, made of tables and operators of two
 * operands, as one table: MUL(x, LOGISTIC(x)), ADD(x, 3), MINIMUM(x, 6), one table after another.
 * in: LUT; int8 operators of two operands, each that tensor, a constant number, or made of them by
 * operators without other readers.  out: LUT; operators without readers go. Each entry is computed
 * by the host's kernels, so that it is the byte that they would write.
 *
 * channel_table: with a number for each channel (PReLU written out: MAXIMUM(x, MUL(x, alpha))) it is a
 * table of each channel, where an accelerator has room for them and the passes that it saves take more
 * cycles than the tables do. in: channels last.  out: LUT with tables [C,256]. */
#include <string.h>

#include "kernels/hdk.h"
#include "legalise.h"
#include "new_ops.h"

enum { VALUES = 256 };

/* A pass takes a cycle for N bytes of a pixel, a table of N channels VALUES cycles of WEIGHT, in
 * parallel with which other units work. */
enum { PIXELS_AT_LEAST = 2 * VALUES, OPERATORS_AT_LEAST = 2 };

/* An int8 tensor as a function of the values -128.. of `of`, in its shape; NULL: of none. */
struct function {
    const struct ir_tensor *of;
    const int8_t *value; /* n * VALUES: one of all channels (n 1), or one of each */
    uint32_t n;
    uint32_t operators; /* that it is made by */
};

static const struct function none = {NULL, NULL, 0, 0};

struct tabulation {
    struct ir_graph *g;
    const struct lgl_options *o;
    bool by_channel;
    struct function *known; /* by tensor */
    uint32_t *row;          /* as lgl_fuse_unread takes it */
};

typedef void kernel(void);
typedef void apply(kernel *k, const struct ir_graph *g, const struct ir_op *op, const int8_t *a,
                   const int8_t *b, int8_t *y);

static const struct hdk_walk2 walk = {{1, 1, 1, VALUES}, {0, 0, 0, 1}, {0, 0, 0, 1}};

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
    const struct ir_fixed *f = &op->fixed;
    struct hdk_extremum p = {.walk = walk};

    if (f->n == 3) {
        p.z_a = zero_in(g, op, 0);
        p.z_b = zero_in(g, op, 1);
        p.z_out = zero_out(g, op);
        p.multiplier_a = f->multiplier[0];
        p.multiplier_b = f->multiplier[1];
        p.multiplier_out = f->multiplier[2];
        p.shift_out = f->shift[2];
    }
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

/* Operators whose kernel takes two operands. */
static const struct {
    const char *writer;
    apply *apply;
} writers[] = {{"scaled_walk", apply_scaled_walk},
               {"mul", apply_mul},
               {"extremum", apply_extremum},
               {"onnx_binary", apply_onnx_binary}};

/* Return true if the constant has a number for each channel of the operator's result. */
static bool has_channels(const struct ir_graph *g, const struct ir_op *op,
                         const struct ir_tensor *x)
{
    const int32_t channels = ir_dim_back(ir_out(g, op, 0), 0);

    return ir_elements(x) == (uint64_t)channels && ir_dim_back(x, 0) == channels;
}

/* Find the function of operand i: known, if only the operator reads it; else of itself; of no
 * tensor, if it is a constant number, or one for each channel. False: none of these. */
static bool operand(const struct tabulation *t, const struct ir_op *op, uint32_t i,
                    struct function *f)
{
    const struct ir_graph *g = t->g;
    const struct ir_tensor *x = ir_in(g, op, i);
    const bool is_const = x->role == IR_CONST;
    int8_t *value;

    if (x->type != IR_I8 ||
        (is_const && ir_elements(x) != 1 && !(t->by_channel && has_channels(g, op, x))))
        return false;
    *f = t->known[x->id];
    if (f->value && !x->is_output && ir_uses(g, x->id) == 1)
        return true;
    const uint32_t n = is_const ? (uint32_t)ir_elements(x) : 1;
    value = ARENA_ARRAY(g->arena, int8_t, (size_t)n * VALUES);
    for (uint32_t k = 0; k < n * VALUES; k++)
        value[k] = (int8_t)(is_const ? (int8_t)x->data[k / VALUES] : (int32_t)k - 128);
    *f = (struct function){is_const ? NULL : x, value, n, 0};
    return true;
}

/* Apply an operator of two operands to two functions of one tensor; false: it has no kernel. */
static bool apply_two(const struct ir_graph *g, const struct ir_op *op, const int8_t *a,
                      const int8_t *b, int8_t *y)
{
    enum kernel_form form = op->fixed.n_real == 0 ? FORM_I8
                            : op->attr[IR_QLINEAR] && kernels[op->opcode].of[FORM_QLINEAR].run
                                ? FORM_QLINEAR
                                : FORM_ROUNDED;
    const char *writer = kernels[op->opcode].of[form].writer;

    for (uint32_t i = 0; writer && i < sizeof writers / sizeof writers[0]; i++)
        if (strcmp(writers[i].writer, writer) == 0) {
            writers[i].apply(kernels[op->opcode].of[form].run, g, op, a, b, y);
            return true;
        }
    return false;
}

/* Return the operator's result as a function of one tensor, if its operands' functions are of
 * one tensor. */
static struct function result(const struct ir_graph *g, const struct ir_op *op,
                              const struct function *f)
{
    const struct ir_tensor *of = f[0].of ? f[0].of : f[1].of;
    const uint32_t n = f[0].n > f[1].n ? f[0].n : f[1].n;
    struct function y = {of, NULL, n, f[0].operators + f[1].operators + 1};

    if (!of || (f[1].of && f[1].of != of) || ir_elements(of) != ir_elements(ir_out(g, op, 0)) ||
        (n > 1 && (int32_t)n != ir_dim_back(of, 0)))
        return none;
    int8_t *value = ARENA_ARRAY(g->arena, int8_t, (size_t)n * VALUES);
    for (uint32_t c = 0; c < n; c++) {
        const int8_t *a = f[0].value + (f[0].n > 1 ? c * VALUES : 0),
                     *b = f[1].value ? f[1].value + (f[1].n > 1 ? c * VALUES : 0) : NULL;
        for (uint32_t i = 0; i < VALUES && op->fixed.table; i++)
            value[c * VALUES + i] = op->fixed.table[a[i] + 128];
        if (!op->fixed.table && !apply_two(g, op, a, b, value + (size_t)c * VALUES))
            return none;
    }
    y.value = value;
    return y;
}

/* Return true if tables by channel are possible and profitable. */
static bool gains(const struct tabulation *t, const struct function *y)
{
    const struct lgl_options *o = t->o;
    const uint32_t pixels = o->table_pixels ? o->table_pixels : PIXELS_AT_LEAST;

    return y->n > 1 && y->operators >= OPERATORS_AT_LEAST && o->array_rows > 0 &&
           (y->n + o->array_rows - 1) / o->array_rows <= o->tables &&
           ir_elements(y->of) / y->n >= pixels;
}

static void become_tables(struct ir_graph *g, struct ir_op *op, const struct function *y)
{
    const int32_t dim[2] = {(int32_t)y->n, VALUES};
    const struct ir_tensor *tables =
        lgl_new_constant(g, ir_out(g, op, 0)->name, IR_I8, 2, dim, y->value);

    lgl_become_table(op, lgl_in_shape(g, op->row, y->of, ir_out(g, op, 0)), NULL);
    op->n_in = 2;
    op->in[1] = tables->id;
}

/* The operator as a function of a tensor before it, and as a LUT of that where it reads another one
 * or two operands. */
static struct function tabulated(struct tabulation *t, struct ir_op *op)
{
    const uint32_t n = op->fixed.table ? 1 : 2;
    struct function f[2] = {none, none};

    if (op->n_in != n || ir_out(t->g, op, 0)->type != IR_I8)
        return none;
    for (uint32_t i = 0; i < n; i++)
        if (!operand(t, op, i, &f[i]))
            return none;
    const struct function y = result(t->g, op, f);
    if (!y.value || (t->by_channel && !gains(t, &y)))
        return y;
    for (uint32_t i = 0; i < n; i++)
        t->row[op->in[i]] = op->row;
    if (t->by_channel)
        become_tables(t->g, op, &y);
    else
        lgl_become_table(op, lgl_in_shape(t->g, op->row, y.of, ir_out(t->g, op, 0)), y.value);
    return y;
}

static enum status tabulate(struct ir_graph *g, const struct lgl_options *o, bool by_channel,
                            struct diag *d)
{
    const uint32_t n_tensor = g->n_tensor, n_op = g->n_op;
    struct tabulation t = {g, o, by_channel, ARENA_ARRAY(g->arena, struct function, n_tensor),
                           lgl_rows(g)};

    for (uint32_t i = 0; i < n_op; i++)
        if (!g->op[i]->dead)
            t.known[g->op[i]->out[0]] = tabulated(&t, g->op[i]);
    lgl_fuse_unread(g, t.row);
    return ir_link(g, d);
}

enum status lgl_code_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    TRY(tabulate(g, o, false, d));
    return lgl_float_table(g, o, d); /* of what became tables here */
}

enum status lgl_channel_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    return tabulate(g, o, true, d);
}
