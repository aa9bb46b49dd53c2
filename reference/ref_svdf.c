/* ref_svdf.c - SVDF of int8 with an int16 state [batch, filter, step], the newest step last.
 *   state = (state << one step) with clamp16(MBQM(sum (x - z_x) * feature)) at the end
 *   y = clamp8(MBQM(bias + sum over the unit's filters and steps of state * time) + z_y) */
#include "ref_kernels.h"

struct shape {
    size_t inputs, filters, steps, units;
};

/* The new step of filter f. */
static int16_t feature_of(const struct ref_call *c, const struct shape *s, const uint8_t *x,
                          size_t f)
{
    const int32_t z = c->in[0]->quant.zero_point[0];
    uint32_t sum = 0;
    int32_t v;

    for (size_t i = 0; i < s->inputs; i++)
        sum += (uint32_t)((ref_i8(x)[i] - z) * ref_i8(c->x[1])[f * s->inputs + i]);
    v = ref_mbqm((int32_t)sum, c->k->multiplier[0], c->k->shift[0]);
    return (int16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

/* The bias and all products of unit u. */
static int32_t unit_of(const struct ref_call *c, const struct shape *s, const int16_t *state,
                       size_t u)
{
    const size_t n = s->filters / s->units * s->steps;
    uint32_t sum;

    memcpy(&sum, c->x[3] + 4 * u, 4);
    for (size_t i = u * n; i < (u + 1) * n; i++)
        sum += (uint32_t)(state[i] * ref_at(c->in[2], c->x[2], i));
    return (int32_t)sum;
}

enum status ref_svdf(const struct ref_call *c, struct diag *d)
{
    const struct shape s = {(size_t)c->in[0]->dim[1], (size_t)c->in[1]->dim[0],
                            (size_t)c->in[2]->dim[1], (size_t)c->out[0]->dim[1]};
    const size_t batches = (size_t)c->in[0]->dim[0];

    (void)d;
    for (size_t b = 0; b < batches; b++) {
        int16_t *state = (int16_t *)(uintptr_t)c->x[4] + b * s.filters * s.steps;

        for (size_t f = 0; f < s.filters; f++) {
            int16_t *of = state + f * s.steps;

            memmove(of, of + 1, (s.steps - 1) * sizeof *of);
            of[s.steps - 1] = feature_of(c, &s, c->x[0] + b * s.inputs, f);
        }
        for (size_t u = 0; u < s.units; u++)
            ref_put(c->out[0], c->y[0], b * s.units + u,
                    ref_value(c, ref_mbqm(unit_of(c, &s, state, u), c->k->multiplier[1],
                                          c->k->shift[1])));
    }
    return ST_OK;
}
