/* graph_logic.c - bools: 1, or 0. LOGICAL_AND is the smallest of them, LOGICAL_OR the largest; SELECT chooses by one, and so does
 * what is computed of one element that was chosen: f(c ? a : b) is c ? f(a) : f(b). */
#include <string.h>

#include "graph.h"

static uint32_t truth(struct prove *p, uint32_t t, bool of_zero)
{
    int8_t table[256];

    memset(table, !of_zero, sizeof table);
    table[128] = of_zero;
    return prove_table(p, table, t);
}

static void logic(const struct prove_op *o)
{
    const size_t n = (size_t)ir_elements(o->out);
    const bool either = o->op->opcode == IR_OP_LOGICAL_OR;

    for (size_t i = 0; i < n; i++) {
        uint32_t t[2];

        for (uint32_t k = 0; k < o->op->n_in; k++)
            t[k] = truth(o->p, o->x[k][ref_broadcast_at(o->in[k], o->out, i)], o->op->n_in == 1);
        o->y[i] = prove_extremum(o->p, either ? PROVE_GREATEST : PROVE_LEAST, t, o->op->n_in);
    }
}

/* The byte of element i of operand k of a SELECT. */
static uint32_t operand(const struct prove_op *o, uint32_t k, size_t i, size_t width, size_t byte)
{
    return o->x[k][ref_broadcast_at(o->in[k], o->out, i) * width + byte];
}

static void choose(const struct prove_op *o, const struct prove_op *by, const uint32_t *const x[2])
{
    const size_t n = (size_t)ir_elements(o->out), width = ir_type_bytes(o->out->type);

    const uint32_t *a = prove_signed(o, o->out, x[0]), *b = prove_signed(o, o->out, x[1]);

    for (size_t i = 0; i < n * width; i++) {
        o->y[i] = prove_choice(o->p, operand(by, 0, i / width, 1, 0), a[i], b[i]);
        if (o->out->type == IR_U8)
            o->y[i] = prove_flip(o->p, o->y[i]);
    }
}

/* The bytes of operand k of SELECT `o`, in its result's shape. */
static const uint32_t *spread(const struct prove_op *o, uint32_t k)
{
    const size_t n = (size_t)ir_elements(o->out), width = ir_type_bytes(o->out->type);
    uint32_t *x = ARENA_ARRAY(o->p->arena, uint32_t, n * width);

    for (size_t i = 0; i < n * width; i++)
        x[i] = operand(o, k, i / width, width, i % width);
    return x;
}

static bool selects(const struct prove_op *o)
{
    return o->op->opcode == IR_OP_SELECT && o->in[0]->type == IR_BOOL;
}

bool prove_graph_logic(const struct prove_op *o)
{
    if (ir_op_info(o->op->opcode)->types == TYPE_BOOL) {
        logic(o);
        return true;
    }
    if (!selects(o))
        return false;
    choose(o, o, (const uint32_t *const[]){spread(o, 1), spread(o, 2)});
    return true;
}

bool prove_graph_chosen(const struct prove_op *o, const struct prove_op *from)
{
    const size_t n = (size_t)ir_bytes(o->out);
    const uint32_t *y[2];

    if (o->op->n_in != 1 || !selects(from) || ir_elements(o->out) != ir_elements(from->out))
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t *x = spread(from, k + 1);
        struct prove_op of = *o;

        of.x = &x;
        of.y = ARENA_ARRAY(o->p->arena, uint32_t, n);
        if (!prove_graph_float(&of) && !prove_graph_unary(&of))
            return false;
        y[k] = of.y;
    }
    choose(o, from, y);
    return true;
}
