/* tape.c - the machine, as plain C. */
#include "tape.h"

/* acc * multiplier * 2^(shift - 31), rounded twice as TFLite does. */
static int32_t requantise(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

static int8_t clamp(const struct tape_instruction *i, int32_t v)
{
    return (int8_t)(v < i->low ? i->low : v > i->high ? i->high : v);
}

struct machine {
    const uint8_t *tape;
    const void *const *inputs;
    void *const *outputs;
    int8_t memory[TAPE_MEMORY];
};

static int8_t *value(struct machine *m, int32_t at)
{
    if (at <= TAPE_OUTPUT)
        return m->outputs[TAPE_OUTPUT - at];
    return at < 0 ? (int8_t *)(uintptr_t)m->inputs[-1 - at] : m->memory + at;
}

static const int32_t *numbers(const struct machine *m, int32_t at)
{
    return (const int32_t *)(const void *)(m->tape + at);
}

static void conv(struct machine *m, const struct tape_instruction *i)
{
    const int8_t *x = value(m, i->x), *w = (const int8_t *)m->tape + i->weights;
    int8_t *y = value(m, i->y);
    for (int32_t o = 0; o < i->out_h * i->out_w * i->out_c; o++) {
        int32_t c = o % i->out_c, one = i->n_scale > 1 ? c : 0;
        int32_t acc = i->bias ? numbers(m, i->bias)[c] : 0;
        int32_t top = o / i->out_c / i->out_w * i->stride_h - i->pad_top,
                left = o / i->out_c % i->out_w * i->stride_w - i->pad_left;
        for (int32_t k = 0; k < i->kernel_h * i->kernel_w; k++) {
            int32_t iy = top + k / i->kernel_w * i->dilation_h,
                    ix = left + k % i->kernel_w * i->dilation_w;
            if (iy < 0 || iy >= i->in_h || ix < 0 || ix >= i->in_w)
                continue;
            for (int32_t in = 0; in < i->in_c; in++)
                acc += (x[(iy * i->in_w + ix) * i->in_c + in] - i->z_x) *
                       (w[(k * i->in_c + in) * i->out_c + c] - i->z_w);
        }
        acc = requantise(acc, numbers(m, i->multiplier)[one], numbers(m, i->shift)[one]);
        y[o] = clamp(i, acc + i->z_y);
    }
}

static void add(struct machine *m, const struct tape_instruction *i)
{
    const int8_t *a = value(m, i->x), *b = value(m, i->x2);
    const int32_t *f = numbers(m, i->multiplier), *e = numbers(m, i->shift);
    int8_t *y = value(m, i->y);
    for (int32_t o = 0; o < i->out_h * i->out_w * i->out_c; o++) {
        int32_t sum = requantise((a[o] - i->z_x) * (1 << 20), f[0], e[0]) +
                      requantise((b[o] - i->z_x2) * (1 << 20), f[1], e[1]);
        y[o] = clamp(i, requantise(sum, f[2], e[2]) + i->z_y);
    }
}

static void table(struct machine *m, const struct tape_instruction *i)
{
    const int8_t *x = value(m, i->x), *t = (const int8_t *)m->tape + i->table;
    int8_t *y = value(m, i->y);
    for (int32_t o = 0; o < i->out_h * i->out_w * i->out_c; o++)
        y[o] = t[x[o] + 128];
}

int tape_run(const uint8_t *tape, size_t n_bytes, const void *const *inputs, void *const *outputs)
{
    static struct machine m; /* one network at a time */
    const struct tape_header *head = (const struct tape_header *)(const void *)tape;
    const struct tape_instruction *i = (const struct tape_instruction *)(const void *)(head + 1);

    if (n_bytes < sizeof *head || head->magic != TAPE_MAGIC)
        return -3;
    m.tape = tape;
    m.inputs = inputs;
    m.outputs = outputs;
    for (int32_t k = 0; k < head->n; k++, i++)
        switch (i->code) {
        case TAPE_CONV: conv(&m, i); break;
        case TAPE_ADD: add(&m, i); break;
        case TAPE_TABLE: table(&m, i); break;
        default: return -3;
        }
    return 0;
}
