/* ref_islands_squares.c - the sum or mean of the squares of quantised values: a product of integers for each
 * sum, whose result the squared scale multiplies (docs/ONNX.md, rule 15). */
#include <string.h>

#include "compiler/ir/formula.h"
#include "ref_islands_own.h"

/* A sum of more squares may exceed int32. */
enum { MOST_VALUES = INT32_MAX / (255 * 255) };

static bool takes(const struct ir_match *m, const struct ir_op *op)
{
    (void)m;
    return !ir_op_info(op->opcode)->fuses_clamp || op->attr[IR_ACTIVATION] == IR_ACT_NONE;
}

/* Return true if the file's tensor is a constant, perhaps moved: its sums are of float32. */
static bool is_constant(const struct isl *s, uint32_t id)
{
    uint32_t by = s->from->tensor[id]->producer;

    while (!isl_is_const(s, id) && by != IR_NONE && ir_op_info(s->from->op[by]->opcode)->moves) {
        id = s->from->op[by]->in[0];
        by = s->from->tensor[id]->producer;
    }
    return isl_is_const(s, id);
}

/* Return the quantised tensor whose squares `op` adds, IR_NONE if there is none. */
static uint32_t squared(struct isl *s, const struct ir_op *op, bool *mean)
{
    struct ir_match m = {.g = s->plain, .ctx = s, .takes = takes};
    const struct isl_value *x;

    if (s->exact || !ir_op_has(op->opcode, IR_KEEP_DIMS) || ir_out(s->from, op, 0)->type != IR_F32)
        return IR_NONE;
    *mean = ir_match(&m, op->out[0], "mean(mul(x, x))");
    if (!*mean && !ir_match(&m, op->out[0], "sum(mul(x, x))"))
        return IR_NONE;
    if (is_constant(s, ir_matched(&m, 'x')))
        return IR_NONE;
    x = isl_value(s, ir_matched(&m, 'x'));
    return x->kind == ISL_QUANTISED && s->to->tensor[x->id]->type != IR_I16 &&
                   s->to->tensor[x->id]->role != IR_CONST && s->to->tensor[x->id]->quant.n == 1
               ? x->id
               : IR_NONE;
}

/* Put dimensions of `axes` last; *n is the product of these. */
static uint32_t rows_of(struct isl *s, const char *name, uint32_t id, uint32_t axes, uint64_t *n)
{
    const struct ir_tensor *x = s->to->tensor[id];
    int32_t perm[IR_MAX_RANK];
    uint32_t at = 0, kept;

    for (uint32_t i = 0; i < x->rank; i++)
        if ((axes >> i & 1) == 0)
            perm[at++] = (int32_t)i;
    kept = at;
    *n = 1;
    for (uint32_t i = 0; i < x->rank; i++)
        if ((axes >> i & 1) != 0) {
            perm[at++] = (int32_t)i;
            *n *= (uint64_t)x->dim[i];
        }
    for (uint32_t i = 0; i < kept; i++)
        if (perm[i] != (int32_t)i)
            return isl_transpose(s, name, id, perm);
    return id;
}

enum status isl_squares(struct isl *s, const struct ir_op *op, bool *done)
{
    const struct ir_tensor *y = ir_out(s->from, op, 0);
    bool mean;
    uint32_t x = squared(s, op, &mean);
    uint64_t n;

    *done = false;
    if (x == IR_NONE)
        return ST_OK;
    const struct ir_tensor *t = s->to->tensor[x];
    const double step = (double)t->quant.scale[0];
    for (uint32_t i = 0, values = 1; i < t->rank; i++)
        if (((uint32_t)op->attr[IR_AXIS] >> i & 1) != 0 &&
            (values *= (uint32_t)t->dim[i]) > MOST_VALUES)
            return ST_OK;
    x = rows_of(s, isl_inner(s, y->name, "rows"), x, (uint32_t)op->attr[IR_AXIS], &n);
    const int32_t rows = (int32_t)(ir_elements(t) / n), wide[3] = {rows, 1, (int32_t)n},
                  high[3] = {rows, (int32_t)n, 1};
    const int8_t zero = (int8_t)t->quant.zero_point[0];
    const float unit = (float)(mean ? step * step / (double)n : step * step);
    uint32_t in[4] = {isl_reshape(s, isl_inner(s, y->name, "wide"), x, 3, wide),
                      isl_reshape(s, isl_inner(s, y->name, "high"), x, 3, high)};
    in[2] = in[3] = isl_const(s, isl_inner(s, y->name, "zero"), t->type, 0, NULL,
                              arena_memdup(s->arena, &zero, 1), &t->quant);
    const uint32_t sum = isl_tensor(s, isl_inner(s, y->name, "sum"), IR_I32, y->rank, y->dim, NULL);
    uint32_t dots = isl_tensor(s, isl_inner(s, y->name, "dots"), IR_I32, 3,
                               (const int32_t[]){rows, 1, 1}, NULL);
    isl_op_matmul_integer(s, 4, in, dots);
    isl_op_reshape(s, 1, &dots, sum);
    uint32_t scaled[2] = {
        isl_tensor(s, isl_inner(s, y->name, "real"), IR_F32, y->rank, y->dim, NULL),
        isl_const(s, isl_inner(s, y->name, "unit"), IR_F32, 0, NULL,
                  arena_memdup(s->arena, &unit, sizeof unit), NULL)};
    isl_op_cast(s, 1, &sum, scaled[0]);
    const uint32_t out = isl_tensor(s, y->name, IR_F32, y->rank, y->dim, NULL);
    isl_op_mul(s, 2, scaled, out);
    isl_set_tensor(s, op->out[0], out);
    *done = true;
    return ST_OK;
}
