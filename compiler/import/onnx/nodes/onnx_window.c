/* onnx_window.c - see onnx_window.h. */
#include "onnx_window.h"

#include <string.h>

/* auto_pad: the output has ceil(in / stride) places; the odd cell goes after (UPPER) or before. */
static void same_pad(struct ox_window *w, uint32_t i, bool upper)
{
    const int64_t span = ((int64_t)w->kernel[i] - 1) * w->dilation[i] + 1;
    const int64_t out = ((int64_t)w->in[i] + w->stride[i] - 1) / w->stride[i];
    int64_t total = (out - 1) * w->stride[i] + span - w->in[i];

    if (total < 0)
        total = 0;
    if (total > INT32_MAX / 4)
        total = INT32_MAX / 4;
    w->before[i] = (int32_t)(upper ? total / 2 : total - total / 2);
    w->after[i] = (int32_t)(total - w->before[i]);
}

static enum status output_size(struct ox *m, struct ox_window *w, uint32_t i, bool ceil_mode)
{
    const int64_t span = ((int64_t)w->kernel[i] - 1) * w->dilation[i] + 1;
    const int64_t room = (int64_t)w->in[i] + w->before[i] + w->after[i] - span;
    int64_t out = room / w->stride[i] + 1;

    if (room < 0)
        return FAIL(m->d, ST_MODEL,
                    "the kernel of %d, dilation %d, is larger than the padded input "
                    "of %d",
                    w->kernel[i], w->dilation[i], w->in[i] + w->before[i] + w->after[i]);
    if (ceil_mode && room % w->stride[i] != 0 &&
        out * w->stride[i] < (int64_t)w->in[i] + w->before[i]) { /* begins inside the image */
        w->after[i] += (int32_t)(w->stride[i] - room % w->stride[i]);
        out++;
    }
    w->out[i] = (int32_t)out;
    return ST_OK;
}

enum status ox_window_read(struct ox *m, uint32_t rank, const int32_t *dim, const int32_t *kernel,
                           struct ox_window *w)
{
    const char *auto_pad = ox_attr_text(m, "auto_pad", "NOTSET");
    int32_t pads[4], shape[2];

    if (rank != 3 && rank != 4)
        return FAIL(m->d, ST_UNSUPPORTED, "input: expected 3 or 4 dimensions, found %u", rank);
    *w = (struct ox_window){.n = rank - 2};
    memcpy(w->in, dim + 2, w->n * sizeof *dim);
    TRY(ox_attr_sizes(m, "strides", w->n, 1, w->stride));
    TRY(ox_attr_sizes(m, "dilations", w->n, 1, w->dilation));
    TRY(ox_attr_sizes(m, "pads", 2 * w->n, 0, pads));
    TRY(ox_attr_sizes(m, "kernel_shape", w->n, 0, shape));
    for (uint32_t i = 0; i < w->n; i++) {
        w->kernel[i] = kernel ? kernel[i] : shape[i];
        w->before[i] = pads[i];
        w->after[i] = pads[w->n + i];
        if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1)
            return FAIL(m->d, ST_MODEL,
                        "expected kernel, stride and dilation of at least 1, found %d, %d, %d",
                        w->kernel[i], w->stride[i], w->dilation[i]);
        if (kernel && shape[i] != 0 && shape[i] != kernel[i])
            return FAIL(m->d, ST_MODEL, "kernel_shape: expected %d as the weights have, found %d",
                        kernel[i], shape[i]);
        if (strcmp(auto_pad, "SAME_UPPER") == 0 || strcmp(auto_pad, "SAME_LOWER") == 0)
            same_pad(w, i, auto_pad[5] == 'U');
        else if (strcmp(auto_pad, "VALID") == 0)
            w->before[i] = w->after[i] = 0;
        else if (strcmp(auto_pad, "NOTSET") != 0)
            return FAIL(m->d, ST_MODEL,
                        "auto_pad: expected NOTSET, SAME_UPPER, SAME_LOWER or VALID,"
                        " found '%.40s'",
                        auto_pad);
        TRY(output_size(m, w, i, !kernel && ox_attr_int(m, "ceil_mode", 0) != 0));
    }
    return ST_OK;
}

void ox_window_set(const struct ox_window *w, bool dilated, int32_t *attr)
{
    const uint32_t x = w->n - 1;
    const bool image = w->n == 2;

    attr[IR_KERNEL_H] = image ? w->kernel[0] : 1;
    attr[IR_STRIDE_H] = image ? w->stride[0] : 1;
    attr[IR_PAD_TOP] = image ? w->before[0] : 0;
    attr[IR_PAD_BOTTOM] = image ? w->after[0] : 0;
    attr[IR_KERNEL_W] = w->kernel[x];
    attr[IR_STRIDE_W] = w->stride[x];
    attr[IR_PAD_LEFT] = w->before[x];
    attr[IR_PAD_RIGHT] = w->after[x];
    if (!dilated)
        return;
    attr[IR_DILATION_H] = image ? w->dilation[0] : 1;
    attr[IR_DILATION_W] = w->dilation[x];
}

struct ox_shape ox_window_shape(const struct ox_window *w, int32_t batch, int32_t channels)
{
    struct ox_shape s = {w->n + 2, {batch, channels}};

    memcpy(s.dim + 2, w->out, w->n * sizeof *w->out);
    return s;
}
