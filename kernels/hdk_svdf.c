/* hdk_svdf.c - SVDF of int8 with an int16 state, the newest step of each filter last. */
#include "hdk.h"
#include "hdk_math.h"

/* The products of x, less its zero point, and a filter's feature weights, as a step of the state.
 */
static int16_t newest(const struct hdk_svdf *p, const int8_t *x, const int8_t *feature)
{
    uint32_t sum = 0;
    int32_t v;

    for (uint32_t i = 0; i < p->in_c; i++)
        sum += (uint32_t)((x[i] - p->z_in) * feature[i]);
    v = hdk_rescale((int32_t)sum, p->scale.multiplier[0], p->scale.shift[0]);
    return (int16_t)(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
}

static void move_on(const struct hdk_svdf *p, const int8_t *x, int16_t *state)
{
    for (uint32_t f = 0; f < p->filters; f++, state += p->memory) {
        for (uint32_t i = 0; i + 1 < p->memory; i++)
            state[i] = state[i + 1];
        state[p->memory - 1] = newest(p, x, p->feature + (uint64_t)f * p->in_c);
    }
}

void hdk_svdf(const struct hdk_svdf *p, const int8_t *x, int16_t *state, int8_t *y)
{
    const uint32_t n = p->filters / p->units * p->memory;

    for (uint32_t b = 0; b < p->batch; b++, x += p->in_c) {
        const int16_t *time = p->time;

        move_on(p, x, state);
        for (uint32_t u = 0; u < p->units; u++, state += n, time += n) {
            uint32_t sum = (uint32_t)p->bias[u];

            for (uint32_t i = 0; i < n; i++)
                sum += (uint32_t)(state[i] * time[i]);
            *y++ = hdk_clamp(hdk_rescale((int32_t)sum, p->scale.multiplier[1], p->scale.shift[1]),
                             p->z_out, -128, 127);
        }
    }
}
