/* onnx_squares.c - sums and means of the squares of quantised values as sums of integers (docs/ONNX.md,
 * rule 15).
 * in: SUM or MEAN, in float32, of MUL of a DEQUANTIZE with itself.  out: MATMUL_INTEGER of rows with
 * themselves as columns, CAST, MUL by the squared scale. */
#include <string.h>

#include "compiler/import/onnx/onnx_import.h"
#include "compiler/ir/formula.h"

enum { MOST_SQUARE = 255 * 255 };

struct squares {
    struct ir_graph *g;
    struct ir_op *op; /* SUM or MEAN */
    const struct ir_tensor *x;
    int32_t n; /* values of a sum */
    bool mean;
};

static bool matches(struct ir_graph *g, struct ir_op *op, struct squares *k)
{
    struct ir_match m = {.g = g};
    const struct ir_tensor *y = ir_out(g, op, 0);

    *k = (struct squares){.g = g, .op = op, .n = 1};
    if (y->type != IR_F32 || !ir_op_has(op->opcode, IR_KEEP_DIMS))
        return false;
    k->mean = ir_match(&m, y->id, "mean(mul(x = dequantize(q), x))");
    if (!k->mean && !ir_match(&m, y->id, "sum(mul(x = dequantize(q), x))"))
        return false;
    k->x = g->tensor[ir_matched(&m, 'q')];
    for (uint32_t i = 0; i < k->x->rank; i++)
        if ((op->attr[IR_AXIS] >> i & 1) != 0 && k->n <= INT32_MAX / MOST_SQUARE / k->x->dim[i])
            k->n *= k->x->dim[i];
        else if ((op->attr[IR_AXIS] >> i & 1) != 0)
            return false;
    return k->x->role != IR_CONST && k->x->type != IR_I16 && k->x->quant.n == 1 &&
           m.op[1]->attr[IR_ACTIVATION] == 0;
}

static struct ir_tensor *made(struct ir_op *op, uint32_t n_in, const uint32_t *in,
                              struct ir_tensor *y)
{
    memcpy(op->in, in, n_in * sizeof *in);
    op->out[0] = y->id;
    return y;
}

static struct ir_tensor *named(const struct squares *k, const char *what, enum ir_type type,
                               uint32_t rank, const int32_t *dim)
{
    const char *name = ir_out(k->g, k->op, 0)->name;
    struct ir_tensor *t =
        ir_tensor_new(k->g, arena_printf(k->g->arena, "%s/%s", name, what), type, rank, dim);

    if (type == k->x->type)
        t->quant = k->x->quant;
    return t;
}

static struct ir_tensor *constant(const struct squares *k, enum ir_type type, uint32_t rank,
                                  const int32_t *dim, const void *data)
{
    struct ir_tensor *t = named(k, "number", type, rank, dim);

    t->role = IR_CONST;
    t->data = arena_memdup(k->g->arena, data, (size_t)ir_bytes(t));
    return t;
}

/* The summed dimensions last. */
static const struct ir_tensor *turned(const struct squares *k)
{
    const int32_t rank = (int32_t)k->x->rank;
    int32_t perm[IR_MAX_RANK], dim[IR_MAX_RANK], n = 0;
    bool same = true;

    for (int32_t last = 0; last < 2; last++)
        for (int32_t i = 0; i < rank; i++)
            if ((k->op->attr[IR_AXIS] >> i & 1) == last) {
                same = same && i == n;
                dim[n] = k->x->dim[i];
                perm[n++] = i;
            }
    if (same)
        return k->x;
    const uint32_t in[2] = {k->x->id, constant(k, IR_I32, 1, &rank, perm)->id};
    return made(ir_make_transpose(k->g, k->op->row, 2, 1), 2, in,
                named(k, "turned", k->x->type, k->x->rank, dim));
}

static const struct ir_tensor *reshaped(const struct squares *k, const struct ir_tensor *x,
                                        struct ir_tensor *y)
{
    return made(ir_make_reshape(k->g, k->op->row, 1, 1), 1, &x->id, y);
}

static void rewrite(struct squares *k)
{
    const int32_t zero = k->x->quant.zero_point[0],
                  rows = (int32_t)(ir_elements(k->x) / (uint64_t)k->n);
    const int32_t row[3] = {rows, 1, k->n}, column[3] = {rows, k->n, 1}, one[3] = {rows, 1, 1};
    const double s = (double)k->x->quant.scale[0];
    const float unit = (float)(k->mean ? s * s / k->n : s * s);
    const int8_t code = (int8_t)zero;
    const struct ir_tensor *x = turned(k), *z = constant(k, k->x->type, 0, NULL, &code);
    const uint32_t row_of = k->op->row;
    const uint32_t in[4] = {reshaped(k, x, named(k, "rows", x->type, 3, row))->id,
                            reshaped(k, x, named(k, "columns", x->type, 3, column))->id, z->id,
                            z->id};
    const struct ir_tensor *sum = made(ir_make_matmul_integer(k->g, row_of, 4, 1), 4, in,
                                       named(k, "integers", IR_I32, 3, one));
    const uint32_t scaled[2] = {
        made(ir_make_cast(k->g, row_of, 1, 1), 1, &sum->id, named(k, "units", IR_F32, 3, one))->id,
        constant(k, IR_F32, 0, NULL, &unit)->id};

    (void)reshaped(
        k, made(ir_make_mul(k->g, row_of, 2, 1), 2, scaled, named(k, "scaled", IR_F32, 3, one)),
        ir_out(k->g, k->op, 0));
    k->op->dead = true;
}

enum status ox_squares(struct ox *m)
{
    struct ir_graph *g = m->g;
    const uint32_t n_op = g->n_op;
    const struct ir_op **done = ARENA_ARRAY(m->arena, const struct ir_op *, n_op);
    uint32_t n = 0;
    struct squares k;

    for (uint32_t i = 0; i < n_op; i++)
        if (!g->op[i]->dead && matches(g, g->op[i], &k)) {
            rewrite(&k);
            done[n++] = g->op[i];
        }
    if (n == 0)
        return ST_OK;
    uint32_t *row = ARENA_ARRAY(m->arena, uint32_t, g->n_tensor);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        row[i] = IR_NONE;
    for (uint32_t i = 0; i < n; i++)
        row[done[i]->in[0]] = done[i]->row;
    ox_drop_unread(g, row);
    return ir_link(g, m->d);
}
