/* newtarget.c - a matrix product in plain C: put the call of your accelerator or library here. */
#include "newtarget.h"

/* acc * multiplier * 2^(shift - 31), rounded twice as TFLite does. */
static int32_t requantise(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

static int32_t dot(const int8_t *x, const int8_t *w, int32_t n, int32_t z_in, int32_t unroll)
{
    int32_t acc = 0, k = 0;
    for (; k + unroll <= n; k += unroll)
        for (int32_t i = 0; i < unroll; i++)
            acc += (x[k + i] - z_in) * w[k + i];
    for (; k < n; k++)
        acc += (x[k] - z_in) * w[k];
    return acc;
}

int newtarget_dense(const int8_t *x, const int8_t *w, const int32_t *bias, int8_t *y, int32_t batch,
                    int32_t in_c, int32_t out_c, int32_t z_in, int32_t z_out, int32_t multiplier,
                    int32_t shift, int32_t act_min, int32_t act_max, int32_t unroll)
{
    for (int32_t b = 0; b < batch; b++)
        for (int32_t c = 0; c < out_c; c++) {
            int32_t acc = dot(x + b * in_c, w + c * in_c, in_c, z_in, unroll);
            acc = requantise(acc + (bias ? bias[c] : 0), multiplier, shift) + z_out;
            y[b * out_c + c] = (int8_t)(acc < act_min ? act_min : acc > act_max ? act_max : acc);
        }
    return 0;
}
