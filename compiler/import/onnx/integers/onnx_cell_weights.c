/* onnx_cell_weights.c - float32 weights and biases of LSTM, GRU, RNN as whole numbers (onnx_cells.h). */
#include <math.h>

#include "onnx_cells.h"

int32_t ox_cells_zero(const struct ir_tensor *t)
{
    return t->quant.zero_point[0] - (t->type == IR_U8 ? 128 : 0);
}

double ox_cells_error(const struct cells_weights *w)
{
    double most = 0;

    for (int32_t r = 0; r < w->rows; r++) {
        double error = 0;

        for (int32_t i = 0; i < w->columns; i++) {
            const double v = (double)w->from[r * w->columns + i],
                         e = v - rint(v / w->scale) * w->scale;
            error += e * e;
        }
        most = fmax(most, sqrt(error) * w->reach * w->step);
    }
    return most;
}

bool ox_cells_parts(struct cells_weights *w)
{
    double most = 0;

    for (int32_t i = 0; i < w->rows * w->columns; i++) {
        if (!isfinite(w->from[i]))
            return false;
        most = fmax(most, fabs((double)w->from[i]));
    }
    for (w->parts = 1;; w->parts++) {
        w->scale = (double)(float)(most / (INT8_MAX * w->parts));
        w->scale = w->scale > 0 ? w->scale : 1;
        if (w->parts == CELLS_MOST_PARTS || ox_cells_error(w) <= 0x1p-7)
            return INT8_MAX * w->parts * w->reach * w->columns < 0x1p30;
    }
}

double ox_cells_farthest(int32_t zero)
{
    return fmax(zero + 128, 127 - zero);
}

void ox_cells_split_row(const struct cells_weights *w, int32_t row, int32_t zero, int8_t *to,
                        int32_t *bias)
{
    for (int32_t i = 0; i < w->columns; i++) {
        int32_t v = (int32_t)rint((double)w->from[row * w->columns + i] / w->scale);

        *bias -= zero * v;
        for (int32_t k = 0; k < w->parts; k++) {
            const int32_t part = v < -INT8_MAX ? -INT8_MAX : v > INT8_MAX ? INT8_MAX : v;

            to[k * w->columns + i] = (int8_t)part;
            v -= part;
        }
    }
}

bool ox_cells_bias(const struct ir_tensor *b, int32_t row, double unit, int32_t *to)
{
    const double v = rint((double)((const float *)(const void *)b->data)[row] / unit);

    if (fabs(v) < 0x1p30)
        *to = (int32_t)v;
    return fabs(v) < 0x1p30;
}
