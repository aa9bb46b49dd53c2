/* ref_padding.c - the pads of an operator with a window. */
#include "reference/ref_constants.h"

/* SAME: all windows together reach `total` cells beyond the image. Where the stride divides its
 * size the last window begins a stride before the end, else size % stride before it. */
static void same(int64_t size, int64_t reach, int64_t stride, int32_t *before, int32_t *after)
{
    const int64_t last = size % stride == 0 ? stride : size % stride;
    const int64_t total = reach > last ? reach - last : 0;

    *after = (int32_t)((total + 1) / 2);
    *before = (int32_t)(total - *after);
}

static int32_t at_least_1(int32_t dilation)
{
    return dilation > 0 ? dilation : 1;
}

void ref_pads(const struct ref_maker *m, int32_t pad[4])
{
    const int32_t *a = m->op->attr;
    const struct ir_tensor *image = m->op->opcode == IR_OP_TRANSPOSE_CONV ? m->y : m->x;
    const int64_t down = (a[IR_KERNEL_H] - INT64_C(1)) * at_least_1(a[IR_DILATION_H]) + 1;
    const int64_t across = (a[IR_KERNEL_W] - INT64_C(1)) * at_least_1(a[IR_DILATION_W]) + 1;

    pad[0] = a[IR_PAD_TOP];
    pad[1] = a[IR_PAD_LEFT];
    pad[2] = a[IR_PAD_BOTTOM];
    pad[3] = a[IR_PAD_RIGHT];
    if (a[IR_PADDING] != IR_PADDING_SAME)
        return;
    same(image->dim[1], down, a[IR_STRIDE_H], &pad[0], &pad[2]);
    same(image->dim[2], across, a[IR_STRIDE_W], &pad[1], &pad[3]);
}
