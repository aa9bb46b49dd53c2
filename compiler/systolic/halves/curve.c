/* curve.c - see curve.h. A code times multiplier_a is in parts of the sigmoid's table, 512 or 256 from entry to entry, as
 * in hdk_int16.c. Entries below 0 mirror the others: 1 - sigmoid, -tanh. */
#include "curve.h"

#include <string.h>

#include "compiler/legalise/new_ops.h"
#include "compiler/legalise/table16.h"
#include "kernels/hdk.h"

enum { MOST_RIGHT = 16 };

struct curve {
    bool tanh;
    int64_t multiplier; /* of a code, Q16 */
    int16_t entry[IR_CURVE_ENTRIES][2];
};

bool curve_kind(const struct ir_graph *g, const struct ir_op *op)
{
    return op->n_in == 1 && ir_in(g, op, 0)->type == IR_I16 && op->fixed.n_wide == LGL_SIGMOID;
}

static void set_entry(struct curve *c, int32_t i, int32_t base, int32_t slope)
{
    c->entry[i & (IR_CURVE_ENTRIES - 1)][0] = (int16_t)base;
    c->entry[i & (IR_CURVE_ENTRIES - 1)][1] = (int16_t)slope;
}

/* Beyond the table's end results are its last one, and so they are below 0 where that end begins. Entries of LOGISTIC
 * below 0 are 1/512 less: its halves go down there. */
static void fill(struct curve *c, const int16_t *wide)
{
    const int32_t last = LGL_SIGMOID - 1;

    for (int32_t i = 0; i < last; i++) {
        const int32_t v = (uint16_t)wide[i], next = (uint16_t)wide[i + 1];

        set_entry(c, i, c->tanh ? v - 32768 : v, next - v);
        set_entry(c, -i - 1, c->tanh ? 32768 - next : 65535 - next, next - v);
    }
    set_entry(c, last, c->tanh ? 32767 : 65534, 0);
    set_entry(c, -last - 1, c->tanh ? -32767 : 1, 0);
    if (!c->tanh)
        set_entry(c, -last, 1, 0);
}

static struct curve curve_of(const struct ir_op *op)
{
    const struct ir_fixed *f = &op->fixed;
    struct curve c = {.tanh = op->opcode == IR_OP_TANH};

    if (f->shift[0] <= MOST_RIGHT)
        c.multiplier = (int64_t)f->multiplier[0] << (MOST_RIGHT - f->shift[0]);
    fill(&c, f->wide);
    return c;
}

/* The unit's result for code `x`. */
static int32_t result(const struct curve *c, int32_t x)
{
    const int64_t v = (x * c->multiplier + (1 << 15)) >> 16, part = c->tanh ? 2 * v : v,
                  far = part >> 9,
                  at = far < -256  ? -256
                       : far > 255 ? 255
                                   : far;
    const int16_t *e = c->entry[at & (IR_CURVE_ENTRIES - 1)];
    const int64_t base = c->tanh ? e[0] : (uint16_t)e[0],
                  sum = 512 * base + (!c->tanh && at < 0 ? 511 : 0) + e[1] * (part & 511);

    return (int32_t)(c->tanh ? (sum + 256 - (sum < 0)) >> 9 : (sum + 512) >> 10);
}

const char *curve_refusal(const struct ir_op *op)
{
    const struct curve c = curve_of(op);
    const struct hdk_i16_sigmoid p = {.n = 1,
                                      .multiplier = op->fixed.multiplier[0],
                                      .shift = op->fixed.shift[0],
                                      .table = (const uint16_t *)op->fixed.wide};

    if (c.multiplier < 1 || c.multiplier > INT32_MAX)
        return "a step of its input is too small or too large for the unit's multiplier";
    for (int32_t x = INT16_MIN; x <= INT16_MAX; x++) {
        const int16_t code = (int16_t)x;
        int16_t y;

        if (c.tanh)
            hdk_i16_tanh(&p, &code, &y);
        else
            hdk_i16_logistic(&p, &code, &y);
        if (y != result(&c, x))
            return "its table is not the unit's line from entry to entry";
    }
    return NULL;
}

void curve_turn(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *x)
{
    const struct curve c = curve_of(op);
    const struct lgl_fixed_scale scale[3] = {{(int32_t)c.multiplier, c.tanh ? -8 : -9},
                                             {0, c.tanh ? 0 : -1},
                                             {c.tanh ? 1 << 30 : 1 << 20, c.tanh ? -9 : 0}};

    lgl_set_scales(g, op, 3, scale);
    op->fixed.wide = arena_memdup(g->arena, c.entry, sizeof c.entry);
    op->fixed.n_wide = 2 * IR_CURVE_ENTRIES;
    op->fixed.act_min = INT8_MIN;
    op->fixed.act_max = INT8_MAX;
    op->attr[IR_HALVES] = 1;
    op->in = arena_memdup(g->arena, &x->id, sizeof x->id);
}
