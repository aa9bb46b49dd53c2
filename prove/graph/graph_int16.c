/* graph_int16.c - int16 elements by element: opaque functions of the reference's constants. */
#include "graph.h"

enum { SIGMOID = 256 }; /* entries of LOGISTIC's and TANH's table */

static bool is_i16(const struct ir_tensor *t)
{
    return t && t->type == IR_I16;
}

static bool binary(const struct prove_op *o, enum prove_opaque_rule rule)
{
    const struct ref_constants *k = o->k;
    const size_t n = (size_t)ir_elements(o->out);
    struct prove_opaque q = {.rule = rule};

    if (!is_i16(o->in[1]) || k->n != (rule == PROVE_MUL_16 ? 1 : 3))
        return false;
    for (uint32_t i = 0; i < k->n; i++) {
        q.parameter[i] = k->multiplier[i];
        q.parameter[k->n + i] = k->shift[i];
    }
    q.parameter[2 * k->n] = k->low;
    q.parameter[2 * k->n + 1] = k->high;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t a = 0; a < 2; a++)
            q.of[a] = prove_i16(o->p, o->x[a] + 2 * ref_broadcast_at(o->in[a], o->out, i));
        prove_opaque16(o->p, &q, k->low, k->high, o->y + 2 * i);
    }
    return true;
}

/* QUANTIZE has one scale for both signs. */
static bool unary(const struct prove_op *o)
{
    const struct ref_constants *k = o->k;
    const size_t n = (size_t)ir_elements(o->out);

    if (k->n == 0 || k->n_wide)
        return false;
    const uint32_t below = k->n > 1;
    struct prove_opaque q = {PROVE_UNARY_16,
                             {o->op->opcode == IR_OP_ABS, k->multiplier[0], k->multiplier[below],
                              k->shift[0], k->shift[below], k->low, k->high},
                             {0}};
    for (size_t i = 0; i < n; i++) {
        q.of[0] = prove_i16(o->p, o->x[0] + 2 * i);
        prove_opaque16(o->p, &q, k->low, k->high, o->y + 2 * i);
    }
    return true;
}

/* LOGISTIC and TANH: the reference's result for each code. */
static bool function(const struct prove_op *o)
{
    const size_t n = (size_t)ir_elements(o->out);
    struct ir_tensor x = *o->in[0], y = *o->out;
    const struct ir_tensor *const in[] = {&x}, *const out[] = {&y};
    int16_t *code = ARENA_ARRAY(o->p->arena, int16_t, 2 * PROVE_CODES_16),
            *table = code + PROVE_CODES_16;
    const uint8_t *const from[] = {(const uint8_t *)code};
    uint8_t *const to[] = {(uint8_t *)table};
    const struct ref_call call = {o->op, in, from, out, to, o->k};
    struct prove_opaque q;
    struct diag d;

    x.rank = y.rank = 1;
    x.dim[0] = y.dim[0] = PROVE_CODES_16;
    for (int32_t i = 0; i < PROVE_CODES_16; i++)
        code[i] = (int16_t)(i - PROVE_CODES_16 / 2);
    if (ref_unary(&call, &d) != ST_OK)
        return false;
    prove_table16(o->p, table, &q);
    for (size_t i = 0; i < n; i++) {
        q.of[0] = prove_i16(o->p, o->x[0] + 2 * i);
        prove_tabled16(o->p, &q, o->y + 2 * i);
    }
    return true;
}

/* QUANTIZE from int16 to int8. */
static bool narrow(const struct prove_op *o)
{
    const struct ref_constants *k = o->k;
    struct prove_narrow16 by;

    if (k->n != 1 || o->out->type != IR_I8)
        return false;
    prove_narrow_by(o->p, k->multiplier[0], k->shift[0],
                    (const int32_t[]){ir_zero_point(o->out), k->low, k->high}, &by);
    for (size_t i = 0; i < (size_t)ir_elements(o->out); i++)
        o->y[i] = prove_narrow(o->p, &by, prove_i16(o->p, o->x[0] + 2 * i));
    return true;
}

static bool extremum(const struct prove_op *o, enum prove_opaque_rule rule)
{
    for (size_t i = 0; i < (size_t)ir_elements(o->out); i++) {
        prove_uwide x[2];

        for (uint32_t a = 0; a < 2; a++)
            x[a] = prove_i16(o->p, o->x[a] + 2 * ref_broadcast_at(o->in[a], o->out, i));
        prove_extremum16(o->p, rule, x, 2, o->y + 2 * i);
    }
    return true;
}

static bool pool(const struct prove_op *o, bool average)
{
    const size_t most = (size_t)o->op->attr[IR_KERNEL_H] * (size_t)o->op->attr[IR_KERNEL_W],
                 n = (size_t)ir_elements(o->in[0]);
    uint32_t *at = ARENA_ARRAY(o->p->arena, uint32_t, n),
             *cell = ARENA_ARRAY(o->p->arena, uint32_t, most);
    prove_uwide *x = ARENA_ARRAY(o->p->arena, prove_uwide, most);

    if (!average && (o->k->low > INT16_MIN || o->k->high < INT16_MAX))
        return false;
    for (size_t i = 0; i < n; i++)
        at[i] = (uint32_t)i;
    for (size_t i = 0; i < (size_t)ir_elements(o->out); i++) {
        const uint32_t cells = prove_window_cells(o, at, i, cell);

        for (uint32_t c = 0; c < cells; c++)
            x[c] = prove_i16(o->p, o->x[0] + 2 * (size_t)cell[c]);
        if (average)
            prove_average16(o->p, x, cells, o->k->low, o->k->high, o->y + 2 * i);
        else
            prove_extremum16(o->p, PROVE_LARGEST_16, x, cells, o->y + 2 * i);
    }
    return true;
}

static bool mean(const struct prove_op *o)
{
    const struct ref_constants *k = o->k;
    const uint32_t mask = (uint32_t)o->op->attr[IR_AXIS];
    const size_t n_out = (size_t)ir_elements(o->out), n = (size_t)ir_elements(o->in[0]) / n_out;

    if (k->n != 1)
        return false;
    const struct prove_sum16 by = {true, k->multiplier[0], k->shift[0], k->low, k->high};
    for (size_t i = 0; i < n_out; i++) {
        const size_t base = ref_pick(o->in[0], ~mask, i);
        struct prove_sum s = {0};

        for (size_t c = 0; c < n; c++)
            prove_add_i16(&s, prove_i16(o->p, o->x[0] + 2 * (base + ref_pick(o->in[0], mask, c))),
                          1);
        prove_sum16(o->p, &by, prove_value(&s), o->y + 2 * i);
    }
    return true;
}

bool prove_graph_i16(const struct prove_op *o)
{
    const bool from = is_i16(o->in[0]), to = is_i16(o->out);

    if (!o->k || (!from && !to))
        return false;
    if (o->op->opcode == IR_OP_QUANTIZE && from && !to)
        return narrow(o);
    if (!from || !to)
        return false;
    if (o->k->n_wide == SIGMOID)
        return function(o);
    switch (o->op->opcode) {
    case IR_OP_ADD: return binary(o, PROVE_ADD_16);
    case IR_OP_SUB: return binary(o, PROVE_SUB_16);
    case IR_OP_MUL: return binary(o, PROVE_MUL_16);
    case IR_OP_MAXIMUM: return extremum(o, PROVE_LARGEST_16);
    case IR_OP_MINIMUM: return extremum(o, PROVE_SMALLEST_16);
    case IR_OP_MAX_POOL2D: return pool(o, false);
    case IR_OP_AVERAGE_POOL2D: return pool(o, true);
    case IR_OP_RELU:
    case IR_OP_RELU6:
    case IR_OP_LEAKY_RELU:
    case IR_OP_ABS:
    case IR_OP_QUANTIZE: return unary(o);
    case IR_OP_MEAN: return mean(o);
    default: return false;
    }
}
