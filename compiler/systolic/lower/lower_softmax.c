/* lower_softmax.c - SOFTMAX as VECTOR commands, each of at most the rows (pixels) that the unit can
 * hold, and its table of exponentials, which equals the host kernel's. */
#include "kernels/hdk.h"
#include "lower.h"

enum { ENTRIES = 256 };

/* Pack exponentials of the differences -255 .. 0 from the row's largest value, indexed by their low
 * 8 bits. A difference that the fixed point cannot hold gives 0. */
static uint32_t pack_exponentials(struct lower *l, const struct ir_fixed *f)
{
    const struct hdk_softmax p = {.input_multiplier = f->multiplier[0],
                                  .input_left_shift = f->shift[0],
                                  .diff_min = -(int32_t)((INT64_C(31) << 26) >> f->shift[0])};
    int32_t table[ENTRIES];

    if (l->program->dry)
        return sched_constant(l->program, NULL, sizeof table);
    for (int32_t d = 0; d < ENTRIES; d++)
        table[(ENTRIES - d) % ENTRIES] = hdk_softmax_exp(&p, -d);
    return sched_constant(l->program, table, sizeof table);
}

void lower_softmax_begin(struct lower *l, const struct op_plan *p)
{
    lower_fetch(l, p->op->row, HD_SPACE_EXP, pack_exponentials(l, &p->op->fixed), ENTRIES,
                sizeof(int32_t), 0, "exponentials");
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
            lower_access(c, SCHED_TABLE, false, SCHED_EXPONENTIALS, 1);
        }
    lower_store(l, p, tile, y, rows);
}
