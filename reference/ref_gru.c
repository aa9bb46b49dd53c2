/* ref_gru.c - GRU and RNN of int8 (NUMERICS.md, "Sums of products"). A number is a pair of bytes: a coarse
 * one, and a fine one in 1/64 of its unit. */
#include <math.h>

#include "ref_kernels.h"

enum { FINE = 64, STATE = 126, GATE = 64, CODES = 256 };

struct pair {
    int32_t coarse, fine;
};

/* A function of a pair: at each coarse value its result, and its slope for the fine value. */
struct function {
    struct pair at[CODES];
    int32_t slope[CODES], weight; /* of the slope's product in the result's fine unit */
};

struct gru {
    const struct ref_call *c;
    size_t cells, in, gates;
    int32_t x_shift, h_shift; /* of sums of sigmoid's gates; tanh's are 1 less */
    struct function sigmoid, tanh;
    struct pair *x, *h,
        *state;      /* sums [gates * cells] of the input, the state; the state [cells] */
    int32_t *h_byte; /* what the recurrent weights multiply */
    int32_t out_multiplier, byte_multiplier, share_multiplier;
    int8_t out_shift, byte_shift, share_shift;
};

static int32_t byte(int32_t v)
{
    return v < -128 ? -128 : v > 127 ? 127 : v;
}

/* v / 2^shift. The bits above the fine part drop out as the shift left wraps. */
static struct pair halves(int32_t v, int32_t shift)
{
    return (struct pair){byte(ref_mbqm(v, 1 << (31 - shift), 0)), ref_mbqm(v, 32, 32 - shift)};
}

static int32_t in_fine(struct pair p)
{
    return FINE * p.coarse + p.fine;
}

/* v / 64 in a byte. */
static int32_t part(int32_t v)
{
    return byte(ref_mbqm(v, 1 << 15, 10));
}

static struct pair both(struct pair a, struct pair b)
{
    return (struct pair){byte(a.coarse + b.coarse), byte(a.fine + b.fine)};
}

/* a * b, a in 1/64: the coarse parts' product is whole, the others' are in fine units. */
static int32_t product(struct pair a, struct pair b)
{
    const int32_t p = a.coarse * b.coarse;

    return FINE * part(p) + ref_mbqm(p, 32, 26) + part(a.coarse * b.fine) + part(a.fine * b.coarse);
}

static void make_function(struct function *f, bool is_tanh, double step)
{
    const int32_t unit = is_tanh ? STATE : GATE;

    f->weight = is_tanh ? 4 : 1;
    for (int32_t i = 0; i < CODES; i++) {
        const double x = (i - 128) * step, y = is_tanh ? tanh(x) : 1 / (1 + exp(-x)),
                     slope = is_tanh ? 1 - y * y : y * (1 - y);
        const int32_t v = (int32_t)round(y * unit * FINE), coarse = byte((v + FINE / 2) >> 6);

        f->at[i] = (struct pair){coarse, byte(v - FINE * coarse)};
        f->slope[i] = byte((int32_t)round(slope * step * unit * FINE / f->weight));
    }
}

static int32_t value(const struct function *f, struct pair p)
{
    const int32_t i = p.coarse + 128;

    return in_fine(f->at[i]) + f->weight * part(f->slope[i] * p.fine);
}

/* The shift, at least 1, that makes `unit` a step or more of 8 / 127. */
static int32_t shift_of(double unit)
{
    int32_t shift = 1;

    while (ldexp(unit, shift) < 8.0 / 127)
        shift++;
    return shift;
}

static void begin(struct gru *u, const struct ref_call *c)
{
    const double unit = (double)c->in[2]->quant.scale[0] / STATE;

    u->c = c;
    u->cells = (size_t)ir_dim_back(c->out[0], 0);
    u->in = (size_t)ir_dim_back(c->in[0], 0);
    u->gates = (size_t)c->in[2]->dim[0] / u->cells;
    u->x = (struct pair *)(void *)c->k->work;
    u->h = u->x + u->gates * u->cells;
    u->state = u->h + u->gates * u->cells;
    u->h_byte = (int32_t *)(void *)(u->state + u->cells);
    memset(u->state, 0, u->cells * sizeof *u->state);
    u->h_shift = shift_of(unit);
    const double step = ldexp(unit, u->h_shift);
    u->x_shift = (int32_t)round(
        log2(step / ((double)c->in[0]->quant.scale[0] * (double)c->in[1]->quant.scale[0])));
    make_function(&u->sigmoid, false, step);
    make_function(&u->tanh, true, step / 2);
    ref_fixed_point(1.0 / STATE / FINE / (double)c->out[0]->quant.scale[0], &u->out_multiplier,
                    &u->out_shift);
    ref_fixed_point(255.0 / (GATE * FINE), &u->byte_multiplier, &u->byte_shift);
    ref_fixed_point(1.0 / 255, &u->share_multiplier, &u->share_shift);
}

/* The input value, or the state's, that column `i` of the weights multiplies. */
static int32_t factor(const struct gru *u, uint32_t input, size_t at, size_t i)
{
    return input == 1 ? (int8_t)u->c->x[0][at * u->in + i % u->in] : u->h_byte[i % u->cells];
}

/* Sums of rows [from, to) of the weights `input`; at: the step. */
static void sums(const struct gru *u, uint32_t input, size_t at, size_t from, size_t to)
{
    const size_t columns = (size_t)u->c->in[input]->dim[1], rows = u->gates * u->cells;
    const int32_t shift = input == 1 ? u->x_shift : u->h_shift;
    const int8_t *w = ref_i8(u->c->x[input]);
    const int32_t *bias = (const int32_t *)(const void *)u->c->x[3] + (input == 1 ? 0 : rows);

    for (size_t r = from; r < to; r++) {
        int32_t s = bias[r];

        for (size_t i = 0; i < columns; i++)
            s += factor(u, input, at, i) * w[r * columns + i];
        (input == 1 ? u->x : u->h)[r] =
            halves(s, r < (u->gates - 1) * u->cells ? shift : shift - 1);
    }
}

static void put(const struct gru *u, size_t at, int32_t state)
{
    const int32_t y = ref_mbqm(state, u->out_multiplier, u->out_shift);

    u->c->y[0][at] = (uint8_t)byte(y + u->c->out[0]->quant.zero_point[0]);
}

static struct pair gate(const struct gru *u, size_t row)
{
    return halves(value(&u->sigmoid, both(u->x[row], u->h[row])), 6);
}

/* The state that the reset gate leaves, a byte: the gate in 1/255. */
static void reset_state(struct gru *u)
{
    for (size_t j = 0; j < u->cells; j++) {
        const size_t row = u->cells + j;
        const int32_t v = value(&u->sigmoid, both(u->x[row], u->h[row]));
        const int32_t r = byte(ref_mbqm(v, u->byte_multiplier, u->byte_shift) - 128) + 128;

        u->h_byte[j] = byte(ref_mbqm(r * u->state[j].coarse, u->share_multiplier, u->share_shift));
    }
}

static void step(struct gru *u, size_t at)
{
    const size_t last = (u->gates - 1) * u->cells, all = u->gates * u->cells;
    const bool before = u->c->op->attr[IR_LINEAR_BEFORE_RESET] != 0,
               reset = u->gates > 1 && !before;

    for (size_t j = 0; j < u->cells; j++)
        u->h_byte[j] = u->state[j].coarse;
    sums(u, 1, at, 0, all);
    sums(u, 2, at, 0, reset ? last : all);
    if (reset) {
        reset_state(u);
        sums(u, 2, at, last, all);
    }
    for (size_t j = 0; j < u->cells; j++) {
        const struct pair x = u->x[last + j], s = u->h[last + j];
        struct pair in = both(x, s), n;
        int32_t v;

        if (u->gates > 1 && before)
            in = halves(in_fine(x) + product(gate(u, u->cells + j), s), 6);
        v = value(&u->tanh, in);
        if (u->gates > 1) {
            n = halves(v, 6);
            v = in_fine(n) + product(gate(u, j), u->state[j]) - product(gate(u, j), n);
        }
        put(u, at * u->cells + j, v);
        u->state[j] = halves(v, 6);
    }
}

enum status ref_gru(const struct ref_call *c, struct diag *d)
{
    const size_t steps = (size_t)c->in[0]->dim[0];
    struct gru u;

    (void)d;
    begin(&u, c);
    for (size_t t = 0; t < steps; t++)
        step(&u, c->op->attr[IR_REVERSE] != 0 ? steps - 1 - t : t);
    return ST_OK;
}
