/* masks.c - a choice between int8 values by a condition, as operators of int8: attention that leaves out padding or what
 * comes after.
 * in: SELECT of int8.  out: the condition as int8 of two quantised values. A bool's byte goes through a table;
 * LOGICAL_AND, OR are MINIMUM, MAXIMUM; NOT exchanges the values. The result is the larger of a or -128, where the
 * condition is true or false, and -128 or b. */
#include <string.h>

#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum { VALUES = 256 };

struct mask {
    struct ir_graph *g;
    uint32_t row;
    const struct ir_tensor *like; /* has its quantisation */
    int8_t off, on;
};

static bool moves(const struct ir_op *op)
{
    return ir_op_info(op->opcode)->moves && !ir_is_join(op);
}

static bool is_logic(const struct ir_op *op)
{
    return ir_op_info(op->opcode)->types == TYPE_BOOL || moves(op);
}

static struct ir_tensor *value(const struct mask *m, const struct ir_tensor *shape)
{
    struct ir_tensor *y = ir_tensor_new(m->g, m->like->name, IR_I8, shape->rank, shape->dim);

    y->quant = m->like->quant;
    return y;
}

/* y = the larger, or the smaller, of two tensors. */
static const struct ir_tensor *extremum(const struct mask *m, bool larger,
                                        const struct ir_tensor *a, const struct ir_tensor *b,
                                        struct ir_tensor *y)
{
    const uint32_t in[2] = {a->id, b->id};

    if (larger)
        (void)lgl_make_maximum(m->g, m->row, 2, in, y);
    else
        (void)lgl_make_minimum(m->g, m->row, 2, in, y);
    return y;
}

static const struct ir_tensor *coded(const struct mask *m, const struct ir_tensor *t)
{
    uint8_t *code = ARENA_ARRAY(m->g->arena, uint8_t, ir_elements(t));

    for (uint64_t i = 0; i < ir_elements(t); i++)
        code[i] = (uint8_t)(t->data[i] ? m->on : m->off);
    return lgl_constant_like(m->g, m->like, t->rank, t->dim, code);
}

/* The bytes of a condition that is no result of others, through a table. */
static const struct ir_tensor *looked_up(const struct mask *m, const struct ir_tensor *t)
{
    struct ir_tensor *bytes = ir_tensor_new(m->g, t->name, IR_I8, t->rank, t->dim),
                     *y = value(m, t);
    int8_t *table = ARENA_ARRAY(m->g->arena, int8_t, VALUES);

    bytes->quant = lgl_new_quant(m->g, 1, 0);
    lgl_new_reshape(m->g, m->row, t, bytes)->attr[IR_RECODE] = 1;
    memset(table, m->on, VALUES);
    table[-INT8_MIN] = m->off;
    lgl_become_table(lgl_make_lut(m->g, m->row, 1, &bytes->id, y), bytes->id, table);
    return y;
}

/* Return the condition t as m->on where it is true, m->off where it is false. */
static const struct ir_tensor *quantised(const struct mask *m, const struct ir_tensor *t)
{
    const struct ir_op *op = t->producer == IR_NONE ? NULL : m->g->op[t->producer];
    struct ir_tensor *y;

    if (t->role == IR_CONST)
        return coded(m, t);
    if (!op || !is_logic(op))
        return looked_up(m, t);
    if (moves(op)) {
        y = value(m, t);
        lgl_again(m->g, op, quantised(m, ir_in(m->g, op, 0)), y)->fixed =
            (struct ir_fixed){.act_min = INT8_MIN, .act_max = INT8_MAX};
        return y;
    }
    if (op->n_in == 1) {
        struct mask opposite = *m;

        opposite.off = m->on;
        opposite.on = m->off;
        return quantised(&opposite, ir_in(m->g, op, 0));
    }
    return extremum(m, (op->opcode == IR_OP_LOGICAL_OR) == (m->on > m->off),
                    quantised(m, ir_in(m->g, op, 0)), quantised(m, ir_in(m->g, op, 1)),
                    value(m, t));
}

/* A new value of the shapes of a and b, broadcast. */
static struct ir_tensor *spanned(const struct mask *m, const struct ir_tensor *a,
                                 const struct ir_tensor *b)
{
    struct ir_tensor shape = *(a->rank > b->rank ? a : b);

    for (uint32_t i = 0; i < shape.rank; i++) {
        const int32_t of_a = ir_dim_back(a, i), of_b = ir_dim_back(b, i);

        shape.dim[shape.rank - 1 - i] = of_a > of_b ? of_a : of_b;
    }
    return value(m, &shape);
}

static bool is_number(const struct ir_tensor *x)
{
    return x->role == IR_CONST && ir_elements(x) == 1;
}

/* Return x where the condition is as `truth` says, -128 elsewhere. */
static const struct ir_tensor *kept(const struct mask *m, const struct ir_tensor *x,
                                    const struct ir_tensor *condition, bool truth)
{
    const int8_t most = is_number(x) ? *(const int8_t *)(const void *)x->data : INT8_MAX;
    struct mask codes = *m;

    codes.on = truth ? most : INT8_MIN;
    codes.off = truth ? INT8_MIN : most;
    const struct ir_tensor *mask = quantised(&codes, condition);
    return is_number(x) ? mask : extremum(m, false, x, mask, spanned(m, x, mask));
}

/* Rewrite a SELECT of two numbers as the mask, and one of which the number -128 or 127 is an operand as one operator. */
static bool choose_number(struct mask *m, const struct ir_op *op, struct ir_tensor *y)
{
    if (is_number(ir_in(m->g, op, 1)) && is_number(ir_in(m->g, op, 2))) {
        m->on = *(const int8_t *)(const void *)ir_in(m->g, op, 1)->data;
        m->off = *(const int8_t *)(const void *)ir_in(m->g, op, 2)->data;
        (void)lgl_new_reshape(m->g, m->row, quantised(m, ir_in(m->g, op, 0)), y);
        return true;
    }
    for (uint32_t i = 1; i <= 2; i++) {
        const struct ir_tensor *x = ir_in(m->g, op, i), *other = ir_in(m->g, op, 3 - i);
        const int8_t code = is_number(x) ? *(const int8_t *)(const void *)x->data : 0;

        if (code != INT8_MIN && code != INT8_MAX)
            continue;
        m->on = i == 1 ? code : (int8_t)~code;
        m->off = (int8_t)~m->on;
        (void)extremum(m, code == INT8_MAX, other, quantised(m, ir_in(m->g, op, 0)), y);
        return true;
    }
    return false;
}

static void choose(struct ir_graph *g, struct ir_op *op, uint32_t *row)
{
    struct ir_tensor *y = ir_out(g, op, 0);
    const struct ir_tensor *condition = ir_in(g, op, 0);
    struct mask m = {.g = g, .row = op->row, .like = y};

    if (y->type != IR_I8)
        return;
    op->dead = true;
    for (uint32_t i = 0; i < op->n_in; i++)
        row[op->in[i]] = op->row;
    if (choose_number(&m, op, y))
        return;
    const struct ir_tensor *a = kept(&m, ir_in(g, op, 1), condition, true),
                           *b = kept(&m, ir_in(g, op, 2), condition, false);
    (void)extremum(&m, true, a, b, y);
}

enum status lgl_masks(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    uint32_t *row = lgl_rows(g);
    const uint32_t n_op = g->n_op;

    for (uint32_t i = 0; i < n_op && o->array_rows > 0; i++)
        if (!g->op[i]->dead && lgl_float_operands(g->op[i]) == 3)
            choose(g, g->op[i], row);
    lgl_fuse_unread(g, row);
    return ir_link(g, d);
}
