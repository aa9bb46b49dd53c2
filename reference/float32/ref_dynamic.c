/* ref_dynamic.c - ROW_SCALES, QUANTIZE_ROWS, SCALE_SUMS: float32 activations with int8 weights.
 *   range = high - low in float32, low and high of the row and 0; scale = range / 255 in double
 *   zero = round(-128 - low / scale) or round(127 - high / scale), the one of smaller terms
 *   code = round(x * (1 / scale)) + zero, clamped; round: halves away from zero
 *   asymmetric 0: scale = range / 127, code = round(x * (127 / range)), range = max |x| */
#include <math.h>
#include <string.h>

#include "reference/ref_kernels.h"

static float at(const uint8_t *p, size_t i)
{
    float v;

    memcpy(&v, p + 4 * i, sizeof v);
    return v;
}

static void asymmetric(double low, double high, float range, float *y)
{
    const double scale = range / 255.0, down = fabs(low / scale), up = fabs(high / scale);
    double zero = 127 - up;

    if (128 + down < 127 + up)
        zero = down - 128;
    y[0] = (float)scale;
    y[1] = 1 / y[0];
    y[2] = (float)(int32_t)round(fmax(-128, fmin(127, zero)));
}

enum status ref_row_scales(const struct ref_call *c, struct diag *d)
{
    const size_t rows = (size_t)c->out[0]->dim[0], cols = (size_t)ir_elements(c->in[0]) / rows;

    (void)d;
    for (size_t r = 0; r < rows; r++) {
        float low = 0, high = 0, y[3] = {1, 1, 0};

        for (size_t i = 0; i < cols; i++) {
            low = fminf(low, at(c->x[0], r * cols + i));
            high = fmaxf(high, at(c->x[0], r * cols + i));
        }
        if (low < high && c->op->attr[IR_ASYMMETRIC])
            asymmetric((double)low, (double)high, high - low, y);
        else if (low < high) {
            y[0] = fmaxf(-low, high) / 127;
            y[1] = 127 / fmaxf(-low, high);
        }
        memcpy(c->y[0] + r * sizeof y, y, sizeof y);
    }
    return ST_OK;
}

enum status ref_quantize_rows(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->in[0]), part = n / (size_t)c->in[1]->dim[0];

    (void)d;
    for (size_t i = 0; i < n; i++) {
        const size_t row = i / part * 3;
        const float zero = truncf(at(c->x[1], row + 2)),
                    v = roundf(at(c->x[0], i) * at(c->x[1], row + 1)) + zero;

        ref_put(c->out[0], c->y[0], i, (int32_t)fminf(fmaxf(v, -128), 127));
    }
    return ST_OK;
}

enum status ref_scale_sums(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->in[0]), part = n / (size_t)c->in[1]->dim[0],
                 channels = (size_t)ir_dim_back(c->in[0], 0);

    (void)d;
    for (size_t i = 0; i < n; i++) {
        const float row = at(c->x[1], i / part * 3),
                    weight = at(c->x[2], ir_elements(c->in[2]) > 1 ? i % channels : 0);
        int32_t sum;
        float v;

        memcpy(&sum, c->x[0] + 4 * i, sizeof sum);
        if (c->op->attr[IR_CHANNELS_FIRST]) {
            v = (float)sum * weight;
            v *= row;
        } else {
            v = row * weight;
            v *= (float)sum;
        }
        v += c->op->n_in > 3 ? at(c->x[3], i % channels) : 0; /* no -0 */
        v = ref_activated(c->op, v);
        memcpy(c->y[0] + 4 * i, &v, sizeof v);
    }
    return ST_OK;
}
