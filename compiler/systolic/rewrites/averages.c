/* averages.c - three rewrites of AVERAGE_POOL2D.
 *
 * average_sums: an average over small windows as a depthwise convolution with weights of 1.
 * in: AVERAGE_POOL2D of int8 with whole windows of an odd number n of values. out: DEPTHWISE_CONV2D
 * with the multiplier ceil(2^31 / n), if that takes less than half the cycles. An odd n has no ties,
 * so one rounding of the high product is the reference's (geo_reciprocal; sums of x - z_in are
 * within 255 n as well). A PAD before it then folds.
 *
 * wide_average: that for int16, which becomes halves (../halves), for any n up to 181. The multiplier is the least
 * above 2^31 / n. So a tie is beyond its half, away from zero, and any other sum s is less than 1 / 2n from s / n:
 * |s| / 2^31 <= n 2^15 / 2^31.
 *
 * average_edges: split an average that rounds ties up into averages with windows of one size.
 * in: AVERAGE_POOL2D with `round_up` (from a uint8 network) whose windows are cut at the edges.
 * out: one average for the whole windows, and one for each row and column of cut windows, each of a
 * part of the image without padding, joined. Each averages a constant number of values, as the
 * accelerator's reciprocal requires (NUMERICS.md). */
#include <string.h>

#include "compiler/legalise/new_ops.h"
#include "hw/gen/config.h"
#include "rewrites.h"

enum { MOST_VALUES = 2047, MOST_WIDE_VALUES = 181 };

static bool is_whole(const struct ir_op *op)
{
    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        if (op->attr[i] != 0)
            return false;
    return true;
}

static void set_reciprocal(struct ir_graph *g, struct ir_op *op, int32_t n)
{
    const int32_t reciprocal = (int32_t)(((INT64_C(1) << 31) + n - 1) / n);

    lgl_set_scales(g, op, 1, &(struct lgl_fixed_scale){reciprocal, 0});
}

void sys_average_sums(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const int32_t n = op->attr[IR_KERNEL_H] * op->attr[IR_KERNEL_W];

    if (ir_in(g, op, 0)->type != IR_I8 || op->fixed.n_real != 0 || !is_whole(op) || n < 3 ||
        n % 2 == 0 || n > MOST_VALUES || op->attr[IR_KERNEL_W] > (int32_t)o->array_rows)
        return;
    lgl_become_sums(g, op);
    set_reciprocal(g, op, n);
}

void sys_wide_average(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const int32_t n = op->attr[IR_KERNEL_H] * op->attr[IR_KERNEL_W];

    if (!o->hw->lstm || ir_in(g, op, 0)->type != IR_I16 || op->fixed.n_real != 0 || !is_whole(op) ||
        n < 2 || n > MOST_WIDE_VALUES)
        return;
    lgl_become_sums(g, op);
    lgl_set_scales(g, op, 1, &(struct lgl_fixed_scale){(int32_t)((INT64_C(1) << 31) / n + 1), 0});
    op->attr[IR_NARROW] = 1;
}

enum { MOST_PARTS = 8 };

/* Outputs [first, first + n) of one direction: each reads `kernel` inputs; the first begins at
 * `from`. */
struct part {
    int32_t first, n, from, kernel;
};

struct direction {
    struct part part[MOST_PARTS];
    uint32_t n;
    int32_t stride;
};

/* Cut one direction into parts; false if there are too many. */
static bool cut(struct direction *d, const struct ir_op *op, uint32_t back, int32_t in, int32_t out)
{
    const int32_t kernel = op->attr[back ? IR_KERNEL_W : IR_KERNEL_H];
    const int32_t pad = op->attr[back ? IR_PAD_LEFT : IR_PAD_TOP];

    *d = (struct direction){.stride = op->attr[back ? IR_STRIDE_W : IR_STRIDE_H]};
    for (int32_t i = 0; i < out; i++) {
        const int32_t begin = i * d->stride - pad, end = begin + kernel;
        const int32_t from = begin < 0 ? 0 : begin, size = (end > in ? in : end) - from;

        if (d->n > 0 && size == kernel && d->part[d->n - 1].kernel == kernel) {
            d->part[d->n - 1].n++;
            continue;
        }
        if (d->n == MOST_PARTS || size < 1)
            return false;
        d->part[d->n++] = (struct part){i, 1, from, size};
    }
    return true;
}

/* Return the inputs that the part's windows span. */
static int32_t reach(const struct part *p, int32_t stride)
{
    return (p->n - 1) * stride + p->kernel;
}

static uint32_t pool_part(struct ir_graph *g, const struct ir_op *op, const struct direction d[2],
                          const struct part *p, const struct part *q)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const int32_t begin[4] = {0, p->from, q->from, 0};
    const int32_t from[4] = {1, reach(p, d[0].stride), reach(q, d[1].stride), x->dim[3]};
    struct ir_tensor *image = lgl_new_image(g, x, x->quant, from);
    struct ir_tensor *part =
        lgl_new_image(g, y, y->quant, (const int32_t[]){1, p->n, q->n, y->dim[3]});
    struct ir_op *pool;

    lgl_new_slice(g, op->row, x, begin, NULL, image);
    pool = lgl_again(g, op, image, part);
    pool->attr[IR_KERNEL_H] = p->kernel;
    pool->attr[IR_KERNEL_W] = q->kernel;
    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        pool->attr[i] = 0;
    return part->id;
}

static void rewrite(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    struct ir_tensor *y = ir_out(g, op, 0);
    uint32_t rows[MOST_PARTS], columns[MOST_PARTS];
    struct direction d[2];

    if (x->dim[0] != 1 || !cut(&d[0], op, 0, x->dim[1], y->dim[1]) ||
        !cut(&d[1], op, 1, x->dim[2], y->dim[2]) || d[0].n * d[1].n == 1)
        return;
    for (uint32_t i = 0; i < d[0].n; i++) {
        struct ir_tensor *row = lgl_new_image(
            g, y, y->quant, (const int32_t[]){1, d[0].part[i].n, y->dim[2], y->dim[3]});

        for (uint32_t k = 0; k < d[1].n; k++)
            columns[k] = pool_part(g, op, d, &d[0].part[i], &d[1].part[k]);
        lgl_new_join(g, op->row, d[1].n, columns, 2, row);
        rows[i] = row->id;
    }
    lgl_new_join(g, op->row, d[0].n, rows, 1, y);
    op->dead = true;
}

void sys_average_edges(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    (void)o;
    if (op->attr[IR_ROUND_UP] && op->fixed.n_real == 0)
        rewrite(g, op);
}
