/* tfl_bias.c - check whether a bias has the scale that kernels assume: input scale times weight
 * scale. After LiteRT's GetQuantizedConvolutionMultipler (kernel_util.cc), which refuses a
 * difference above 2 % of the output's scale where weights have one scale. in: an imported file.
 * out: a note of the graph. */
#include "tfl_import.h"

#include <math.h>
#include <string.h>

/* The roles of an operator's inputs. */
static const struct bias_row {
    const char *name;
    uint32_t x, w, bias;
} with_bias[] = {
    {"CONV_2D", 0, 1, 2},
    {"DEPTHWISE_CONV_2D", 0, 1, 2},
    {"FULLY_CONNECTED", 0, 1, 2},
    {"TRANSPOSE_CONV", 2, 1, 3},
};

static const struct tfl_tensor *input(const struct tfl_file *f, const struct tfl_operator *op,
                                      uint32_t i)
{
    return i < op->in.n && op->in.v[i] >= 0 ? &f->tensor[op->in.v[i]] : NULL;
}

/* Return the first of the bias' `n` values (int32 or int64) whose scale differs; n if none does.
 * The value 0 fits any scale. */
static uint32_t first_wrong(const struct tfl_tensor *x, const struct tfl_tensor *w,
                            const struct tfl_tensor *b, const struct tfl_tensor *y,
                            const struct tfl_buffer *values, uint32_t n)
{
    static const uint8_t zeros[8];
    const size_t bytes = n ? values->n_bytes / n : 0;
    uint32_t c = 0;

    for (; c < n && bytes <= sizeof zeros; c++) {
        const double found = (double)b->scale[c < b->n_scale ? c : 0];
        const double scale = (double)w->scale[c < w->n_scale ? c : 0];

        if (memcmp(values->data + c * bytes, zeros, bytes) != 0 &&
            fabs((double)x->scale[0] * scale - found) > 0.02 * (double)y->scale[0])
            break;
    }
    return bytes <= sizeof zeros ? c : n;
}

void tfl_note_biases(struct tfl_importer *m)
{
    const struct tfl_file *f = m->file;

    for (uint32_t i = 0; i < f->n_operator; i++)
        for (uint32_t k = 0; k < sizeof with_bias / sizeof *with_bias; k++) {
            const struct bias_row *r = &with_bias[k];
            const struct tfl_operator *op = &f->op[i];

            if (strcmp(m->g->row[i].op, r->name) != 0)
                continue;
            const struct tfl_tensor *x = input(f, op, r->x), *w = input(f, op, r->w),
                                    *b = input(f, op, r->bias), *y = &f->tensor[op->out.v[0]];
            if (b == NULL || x->n_scale != 1 || w->n_scale == 0 || b->n_scale == 0 ||
                y->n_scale != 1 || b->shape.n != 1)
                continue;
            const uint32_t n = (uint32_t)b->shape.v[0];
            const uint32_t c = first_wrong(x, w, b, y, &f->buffer[b->buffer], n);
            if (c < n)
                ir_note_bias(m->g, m->g->row[i].name, (double)b->scale[c < b->n_scale ? c : 0],
                             (double)x->scale[0] * (double)w->scale[c < w->n_scale ? c : 0]);
        }
}
