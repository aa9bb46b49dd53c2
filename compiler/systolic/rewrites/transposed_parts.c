/* transposed_parts.c - split operators of a batch into one per image, and a wide TRANSPOSE_CONV
 * into strips. in: TRANSPOSE_CONV, RESIZE_BILINEAR of int8 (FACTS .one_image) of N images; ADD, MUL
 * and others of N images with a broadcast operand that differs between images; TRANSPOSE_CONV whose
 * phases have more columns than `accumulators`. out: one operator per image, on slices of the rows
 * of all, joined; or one operator per strip of columns, on the input columns that contribute to it,
 * joined. A strip begins with the remaining padding: output o reads kernel column o + pad_left - i
 * * stride of input i. */
#include <string.h>

#include "compiler/legalise/fixed_math.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

enum { MOST_PARTS = 64, OPERANDS = 2 };

static bool has_images(const struct ir_tensor *t)
{
    return t->rank == 4 && t->dim[0] > 1 && t->role != IR_CONST;
}

/* Return the images' rows as one image, stacked vertically. */
static struct ir_tensor *stacked(struct ir_graph *g, const struct ir_tensor *t)
{
    return lgl_new_image(g, t, t->quant,
                         (const int32_t[]){1, t->dim[0] * t->dim[1], t->dim[2], t->dim[3]});
}

/* Return image i of operand k, whose images are `all`; the operand itself if it is one image or a
 * number. */
static uint32_t image_of(struct ir_graph *g, const struct ir_op *op, uint32_t k,
                         const struct ir_tensor *all, int32_t i)
{
    const struct ir_tensor *x = ir_in(g, op, k);

    if (!all)
        return op->in[k];
    struct ir_tensor *image =
        lgl_new_image(g, x, x->quant, (const int32_t[]){1, x->dim[1], x->dim[2], x->dim[3]});
    lgl_new_slice(g, op->row, all, (const int32_t[]){0, i * x->dim[1], 0, 0}, NULL, image);
    return image->id;
}

static void take_images(struct ir_graph *g, struct ir_op *op)
{
    struct ir_tensor *y = ir_out(g, op, 0), *out = stacked(g, y), *all[OPERANDS] = {NULL, NULL};
    uint32_t part[MOST_PARTS];

    for (uint32_t k = 0; k < op->n_in && k < OPERANDS; k++)
        if (has_images(ir_in(g, op, k))) {
            all[k] = stacked(g, ir_in(g, op, k));
            (void)lgl_new_reshape(g, op->row, ir_in(g, op, k), all[k]);
        }
    for (int32_t i = 0; i < y->dim[0]; i++) {
        struct ir_tensor *result =
            lgl_new_image(g, y, y->quant, (const int32_t[]){1, y->dim[1], y->dim[2], y->dim[3]});
        struct ir_op *one = lgl_again(g, op, ir_in(g, op, 0), result);

        for (uint32_t k = 0; k < op->n_in && k < OPERANDS; k++)
            one->in[k] = image_of(g, op, k, all[k], i);
        part[i] = result->id;
    }
    lgl_new_join(g, op->row, (uint32_t)y->dim[0], part, 1, out);
    (void)lgl_new_reshape(g, op->row, out, y);
    op->dead = true;
}

/* Make the strip of output columns [from, from + n). */
static uint32_t make_strip(struct ir_graph *g, const struct ir_op *op, int32_t from, int32_t n)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const int32_t stride = op->attr[IR_STRIDE_W], first = from + op->attr[IR_PAD_LEFT];
    const int32_t begin =
        first < op->attr[IR_KERNEL_W]
            ? 0
            : lgl_min((first - op->attr[IR_KERNEL_W]) / stride + 1, first / stride);
    const int32_t low = lgl_min(begin, x->dim[2] - 1);
    const int32_t high = lgl_min((first + n - 1) / stride + 1, x->dim[2]);
    struct ir_tensor *in = lgl_new_image(
        g, x, x->quant, (const int32_t[]){1, x->dim[1], high > low ? high - low : 1, x->dim[3]});
    struct ir_tensor *out =
        lgl_new_image(g, y, y->quant, (const int32_t[]){1, y->dim[1], n, y->dim[3]});

    lgl_new_slice(g, op->row, x, (const int32_t[]){0, 0, low, 0}, NULL, in);
    lgl_again(g, op, in, out)->attr[IR_PAD_LEFT] = first - low * stride;
    return out->id;
}

static void take_strips(struct ir_graph *g, struct ir_op *op, int32_t accumulators)
{
    struct ir_tensor *y = ir_out(g, op, 0);
    const int32_t width = y->dim[2], most = accumulators * op->attr[IR_STRIDE_W];
    const int32_t n = (width + most - 1) / most, each = (width + n - 1) / n;
    uint32_t part[MOST_PARTS];

    if (n < 2 || n > MOST_PARTS)
        return;
    for (int32_t i = 0; i < n; i++)
        part[i] = make_strip(g, op, i * each, lgl_min(each, width - i * each));
    lgl_new_join(g, op->row, (uint32_t)n, part, 2, y);
    op->dead = true;
}

/* Return true for a constant of any shape. */
static bool is_constant(const struct ir_graph *g, const struct ir_tensor *t)
{
    while (t->role != IR_CONST && t->producer != IR_NONE && ir_is_reshape(g->op[t->producer]))
        t = ir_in(g, g->op[t->producer], 0);
    return t->role == IR_CONST;
}

/* Return true if an operand is broadcast inside the images and all operands that differ between
 * images are computed: a constant of several images is not split. */
static bool images_differ(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    bool differ = false;

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *x = ir_in(g, op, i);

        if (x->rank == 4 && x->dim[0] > 1 && is_constant(g, x))
            return false;
        differ = differ ||
                 (ir_elements(x) != ir_elements(y) && ir_dim_back(x, 2) * ir_dim_back(x, 3) > 1);
    }
    return differ;
}

static bool one_by_one(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    return y->rank == 4 && y->dim[0] > 1 && y->dim[0] <= MOST_PARTS &&
           (ir_op_info(op->opcode)->in.least < OPERANDS ||
            ir_op_info(op->opcode)->in.most > OPERANDS || images_differ(g, op));
}

void sys_transposed_parts(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    if (!ir_op_info(op->opcode)->one_image || ir_in(g, op, 0)->type != IR_I8 ||
        op->fixed.n_real != 0)
        return;
    if (one_by_one(g, op))
        take_images(g, op);
    else if (ir_in(g, op, 0)->dim[0] == 1 && ir_op_has(op->opcode, IR_STRIDE_W))
        take_strips(g, op, (int32_t)o->accumulators);
}
