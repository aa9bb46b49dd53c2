/* lower_softmax.c - SOFTMAX as VECTOR commands of at most as many rows (pixels) as the unit keeps, and its
 * table of exponentials. Fixed point: docs/NUMERICS.md, equal to the reference on random rows. */
#include "lower.h"

enum { ENTRIES = 256 };

/* (x * y + 2^30) / 2^31, rounded down: the nearest, ties up. */
static int32_t high_product(int32_t x, int32_t y)
{
    return (int32_t)(((int64_t)x * y + (INT64_C(1) << 30)) >> 31);
}

/* x / 2^e, halves away from zero. */
static int32_t halves_away(int32_t x, uint32_t e)
{
    const int32_t half = 1 << (e - 1);

    return (x + half - (x < 0)) >> e;
}

/* e^x of -1/4 <= x < 0, Q0.31: Taylor's first four terms around -1/8. */
static int32_t near_zero(int32_t x)
{
    const int32_t exp_eighth = 1895147668, third = 715827883;
    const int32_t t = x + (1 << 28), t2 = high_product(t, t), t3 = high_product(t2, t),
                  t4 = halves_away(high_product(t2, t2), 2);

    return exp_eighth +
           high_product(exp_eighth, t + halves_away(high_product(t4 + t3, third) + t2, 1));
}

/* e^x of -31 <= x < 0, Q5.26, as Q0.31: that of x modulo 1/4 times e^-(2^k) of each bit above. */
static int32_t exponential(int32_t x)
{
    static const int32_t power[] = {1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242};
    const uint32_t below = (uint32_t)-x; /* -x = quarters + a rest of at most 1/4 */
    const uint32_t quarters = (below - 1) >> 24;
    int32_t result = near_zero((int32_t)((quarters << 24) - below) * 32);

    for (uint32_t k = 0; k < sizeof power / sizeof *power; k++)
        if (quarters >> k & 1)
            result = high_product(result, power[k]);
    return result;
}

/* Of the differences -256 .. -1 and 0 to the row's largest value, by their last 8 bits. One that the
 * fixed point cannot hold is 0. */
static void exponentials(const struct ir_fixed *f, int32_t table[ENTRIES])
{
    const uint32_t shift = (uint32_t)f->shift[0];
    const int64_t least = (INT64_C(31) << 26) >> shift;

    table[0] = INT32_MAX;
    for (int32_t d = 1; d < ENTRIES; d++) {
        const int32_t x = d > least ? 0 : high_product(-d * (1 << shift), f->multiplier[0]);
        table[ENTRIES - d] = d > least ? 0 : x == 0 ? INT32_MAX : exponential(x);
    }
}

void lower_softmax_begin(struct lower *l, const struct op_plan *p)
{
    int32_t table[ENTRIES];

    exponentials(&p->op->fixed, table);
    lower_fetch(l, p->op->row, HD_SPACE_EXP, sched_constant(l->program, table, sizeof table),
                ENTRIES, sizeof *table, 0, "exponentials");
}

/* Pixels [x, x + cols) of rows [y, y + rows) of a tile. */
struct part {
    uint32_t y, x, rows, cols;
};

static struct sched_command *add_part(struct lower *l, const struct op_plan *p, int32_t from,
                                      int32_t to, const struct part *k)
{
    const struct geo *g = &p->geo;
    struct sched_command *c =
        lower_add(l, HD_UNIT_VECTOR, HD_OPCODE_VECTOR, HD_CMD_VECTOR_UNITS, p->op->row);
    struct hd_cmd_vector *v = &c->w.vector;

    v->op = HD_VOP_SOFTMAX;
    v->kernel_h = 1;
    v->kernel_w = v->in_h = v->in_w = 1;
    v->rows = k->rows & 0xffffu;
    v->cols = k->cols & 0xffffu;
    v->channels = g->oc;
    v->a_base = from + (int32_t)(k->y * p->in[0].pitch + k->x * p->in[0].pixel);
    v->a_row = p->in[0].pitch;
    v->a_col = p->in[0].pixel;
    v->out_base = (uint32_t)to + k->y * p->out.pitch + k->x * p->out.pixel;
    v->out_row = p->out.pitch;
    v->out_col = p->out.pixel;
    v->z_out = (int8_t)g->z_out;
    v->act_min = INT8_MIN;
    v->act_max = INT8_MAX;
    return c;
}

void lower_softmax_tile(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                        uint32_t rows)
{
    const struct geo *g = &p->geo;
    const uint32_t most = l->hw->softmax_rows, cols = g->ow < most ? g->ow : most;
    const uint32_t each = most / cols;
    int32_t base, to;

    lower_operand(l, p, 0, tile, y, y + rows, &base);
    to = lower_result(l, p, tile, y);
    for (uint32_t first = 0; first < rows; first += each)
        for (uint32_t x = 0; x < g->ow; x += cols) {
            const struct part k = {first, x, rows - first < each ? rows - first : each,
                                   g->ow - x < cols ? g->ow - x : cols};
            struct sched_command *c = add_part(l, p, base + (int32_t)(y * p->in[0].pitch), to, &k);

            c->note = lower_note(l, "rows %u-%u", y + first, y + first + k.rows - 1);
            lower_access_in(l, c, p, 0, base, y + first, y + first + k.rows);
            lower_access_out(l, c, p, tile, y, rows);
            lower_access(c, SCHED_LUT, false, ENTRIES, ENTRIES);
        }
    lower_store(l, p, tile, y, rows);
}
