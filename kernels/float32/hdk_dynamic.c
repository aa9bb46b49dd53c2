/* hdk_dynamic.c - float32 activations quantised row by row for int8 weights, and their sums scaled, as
 * LiteRT's reference does both. See hdk_f32.h. */
#include "hdk.h"
#include "hdk_f32_math.h"
#include "hdk_nearest.h"

/* The nearest integer of v, |v| < 2^31, halves away from zero. */
static int32_t nearest(double v)
{
    const int32_t i = (int32_t)v;
    const double rest = v - i;

    return i + (rest >= 0.5) - (rest <= -0.5);
}

/* From the end whose terms are smaller. */
static float zero_point(double low, double high, double scale)
{
    const double from_low = low / scale, from_high = high / scale;
    const double zero = 128 - from_low < 127 + from_high ? -128 - from_low : 127 - from_high;

    return (float)nearest(zero < -128 ? -128 : zero > 127 ? 127 : zero);
}

static void scale_row(float low, float high, uint32_t asymmetric, float *y)
{
    const float range = !asymmetric ? (high > -low ? high : -low) : high - low;

    y[0] = y[1] = 1;
    y[2] = 0;
    if (range == 0)
        return;
    if (!asymmetric) {
        y[0] = range / 127;
        y[1] = 127 / range;
        return;
    }
    y[0] = (float)((double)range / 255);
    y[1] = 1 / y[0];
    y[2] = zero_point((double)low, (double)high, (double)range / 255);
}

/* Floats of one sign are ordered as their bits are. */
void hdk_row_scales(const struct hdk_rows *p, const float *x, float *scales)
{
    for (uint32_t r = 0; r < p->rows; r++, x += p->cols, scales += 3) {
        int32_t high = 0;
        uint32_t low = 0x80000000u;

        for (uint32_t i = 0; i < p->cols; i++) {
            const uint32_t bits = hdk_f32_bits(x[i]);

            high = (int32_t)bits > high ? (int32_t)bits : high;
            low = bits > low ? bits : low;
        }
        scale_row(hdk_f32_of_bits(low), hdk_f32_of_bits((uint32_t)high), p->asymmetric, scales);
    }
}

/* x * inverse, rounded to float32, to the nearest integer; beyond +-1000 all values clamp alike. */
static __attribute__((noinline)) int32_t times(float x, float inverse)
{
    return hdk_half_away(x * inverse, 1000);
}

/* hdk_nearest divides by 2^54 / the mantissa that it has: with the inverse's, of 24 bits, it multiplies. */
static struct hdk_reciprocal factor(float inverse)
{
    const uint32_t bits = hdk_f32_bits(inverse), exponent = bits >> 23;
    const struct hdk_reciprocal none = {0, 1 << 20},
                                r = {((bits & 0x7fffff) | 0x800000) << 7, 253 - (int32_t)exponent};

    return exponent < 15 || exponent > 250 ? none : r;
}

void hdk_quantize_rows(const struct hdk_rows *p, const float *x, const float *scales, int8_t *y)
{
    for (uint32_t r = 0; r < p->rows; r++, x += p->cols, y += p->cols, scales += 3) {
        const struct hdk_reciprocal by = factor(scales[1]);
        const int32_t zero = (int32_t)scales[2];

        for (uint32_t i = 0; i < p->cols; i++) {
            int32_t v;

            if (!hdk_nearest(&by, HDK_NEAR_8, x[i], &v))
                v = times(x[i], scales[1]);
            v += zero;
            y[i] = (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
        }
    }
}

/* The sums of one channel: the product of its scales is made once. */
static void scale_channel(const struct hdk_scale_sums *p, float scale, uint32_t c, const int32_t *x,
                          float *y)
{
    const float weight = p->weight[p->per_channel ? c : 0], bias = p->bias ? p->bias[c] : 0;
    const float by = p->channels_first ? weight : scale * weight;

    for (uint32_t i = c; i < p->cols * p->channels; i += p->channels) {
        float v = (float)x[i] * by;

        if (p->channels_first)
            v = v * scale;
        v = v + bias;
        y[i] = v < p->low ? p->low : v > p->high ? p->high : v;
    }
}

void hdk_scale_sums(const struct hdk_scale_sums *p, const int32_t *x, const float *scales, float *y)
{
    for (uint32_t r = 0; r < p->rows; r++, scales += 3) {
        for (uint32_t c = 0; c < p->channels; c++)
            scale_channel(p, *scales, c, x, y);
        x += p->cols * p->channels;
        y += p->cols * p->channels;
    }
}
