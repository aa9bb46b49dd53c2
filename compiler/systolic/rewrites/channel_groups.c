/* channel_groups.c - split a grouped convolution into convolutions of as many groups as fill the
 * array. in: CONV2D of int8, [OC,KH,KW,C/G], before weights_ko, which makes each a convolution over
 * all its channels. out: one convolution per set of groups, on slices of the channels, joined. It
 * is left unchanged if that saves less than half of the products. */
#include "compiler/legalise/fixed_math.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

enum { MOST_PARTS = 128, LEAST_GAIN = 2 };

/* Return elements [from, from + n) of a constant along its outermost dimension, with their
 * scales. */
static uint32_t part_of(struct ir_graph *g, const struct ir_tensor *t, int32_t from, int32_t n)
{
    const size_t each = (size_t)ir_bytes(t) / (size_t)t->dim[0];
    struct ir_tensor *part;
    int32_t dim[IR_MAX_RANK];

    for (uint32_t i = 0; i < t->rank; i++)
        dim[i] = i == 0 ? n : t->dim[i];
    part = lgl_constant_like(g, t, t->rank, dim, t->data + (size_t)from * each);
    if (t->quant.n > 1) {
        part->quant.n = (uint32_t)n;
        part->quant.scale += from;
        part->quant.zero_point += from;
    }
    return part->id;
}

static struct ir_tensor *channels_of(struct ir_graph *g, const struct ir_tensor *t, int32_t n)
{
    return lgl_new_image(g, t, t->quant, (const int32_t[]){t->dim[0], t->dim[1], t->dim[2], n});
}

/* Make the convolution from input channels [in, in + n_in) to outputs [out, out + n_out). */
static uint32_t make_part(struct ir_graph *g, const struct ir_op *op, int32_t in, int32_t n_in,
                          int32_t out, int32_t n_out)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    struct ir_tensor *from = channels_of(g, x, n_in), *to = channels_of(g, y, n_out);
    struct ir_op *part = lgl_again(g, op, from, to);

    lgl_new_slice(g, op->row, x, (const int32_t[]){0, 0, 0, in}, NULL, from);
    part->in[1] = part_of(g, ir_in(g, op, 1), out, n_out);
    if (ir_in(g, op, 2))
        part->in[2] = part_of(g, ir_in(g, op, 2), out, n_out);
    if (op->fixed.n > 1) {
        part->fixed.n = (uint32_t)n_out;
        part->fixed.multiplier += out;
        part->fixed.shift += out;
    }
    return to->id;
}

static void split(struct ir_graph *g, struct ir_op *op, int32_t columns)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1);
    struct ir_tensor *y = ir_out(g, op, 0);
    const int32_t c_in = w->dim[3], groups = x->dim[3] / c_in, c_out = w->dim[0] / groups;
    const int32_t each = (columns + c_out - 1) / c_out, n = (groups + each - 1) / each;
    uint32_t part[MOST_PARTS];

    if (n < LEAST_GAIN || n > MOST_PARTS)
        return;
    for (int32_t i = 0; i < n; i++) {
        const int32_t first = i * each, these = lgl_min(each, groups - first);

        part[i] = make_part(g, op, first * c_in, these * c_in, first * c_out, these * c_out);
    }
    lgl_new_join(g, op->row, (uint32_t)n, part, 3, y);
    op->dead = true;
}

static bool in_groups(const struct ir_graph *g, const struct ir_op *op)
{
    return !op->dead && op->opcode == IR_OP_CONV2D && op->attr[IR_WEIGHTS_KO] == 0 &&
           ir_in(g, op, 0)->type == IR_I8 && ir_in(g, op, 1)->role == IR_CONST &&
           op->fixed.n_real == 0 && ir_in(g, op, 1)->dim[3] != ir_in(g, op, 0)->dim[3];
}

void sys_channel_groups(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    if (in_groups(g, op))
        split(g, op, (int32_t)o->array_rows);
}
