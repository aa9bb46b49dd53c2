/* dot4.c - convolutions by custom instructions of the host processor; in plain C where there is no unit. The unit is
 * fed four bytes at a time; sums begin with bias - z_in * sum of weights, and padding is z_in. */
#include "dot4.h"

#include "hd_instruction.h"

HD_INSTRUCTION(swap0, 0, 0)
HD_INSTRUCTION(swap1, 0, 1)
HD_INSTRUCTION(swap2, 0, 2)
HD_INSTRUCTION(swap3, 0, 3)
HD_INSTRUCTION(dot0, 1, 0)
HD_INSTRUCTION(dot1, 1, 1)
HD_INSTRUCTION(dot2, 1, 2)
HD_INSTRUCTION(dot3, 1, 3)
HD_INSTRUCTION(lanes, 2, 0)
HD_INSTRUCTION(high0, 3, 0)
HD_INSTRUCTION(high1, 3, 1)
HD_INSTRUCTION(high2, 3, 2)
HD_INSTRUCTION(high3, 3, 3)
HD_INSTRUCTION(shift, 4, 0)
HD_INSTRUCTION(set_range, 5, 0)

/* The value with which sums of an output channel begin, and its scale: 2^left * multiplier * 2^-31, then 2^-right. */
struct channel {
    int32_t begin;
    uint32_t multiplier, left, right;
};

static uint32_t word_at(const int8_t *from)
{
    return *(const uint32_t *)(const void *)from; /* from is a multiple of 4 */
}

/* The pixel of x under tap (i, j) of output (oy, ox); NULL: padding. */
static const int8_t *pixel(const int8_t *x, const struct dot4_sizes *s, int32_t oy, int32_t ox,
                           int32_t i, int32_t j)
{
    const int32_t h = oy * s->stride_h - s->pad_top + i, v = ox * s->stride_w - s->pad_left + j;

    if (h < 0 || h >= s->in_h || v < 0 || v >= s->in_w)
        return NULL;
    return x + (size_t)(h * s->in_w + v) * (size_t)s->in_c;
}

static int8_t clamped(int32_t v, const struct dot4_sizes *s)
{
    return (int8_t)(v < s->act_min ? s->act_min : v > s->act_max ? s->act_max : v);
}

/* --- without the unit --- */

/* acc * multiplier * 2^(shift - 31), rounded twice as TFLite does. */
static int32_t scaled(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t most = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (most >> right) + ((most & mask) > (mask >> 1) + (most < 0));
}

/* One output; weights are `step` apart; `from` is the first of `depth` channels. */
static int8_t plain(const int8_t *x, const int8_t *w, const struct dot4_scales *r,
                    const struct dot4_sizes *s, const int32_t at[3], int32_t from, int32_t depth,
                    int32_t step)
{
    const int32_t c = at[2], k = s->scales > 1 ? c : 0;
    int32_t acc = r->bias ? r->bias[c] : 0;

    for (int32_t i = 0; i < s->kernel_h; i++)
        for (int32_t j = 0; j < s->kernel_w; j++, w += depth * step) {
            const int8_t *const v = pixel(x, s, at[0], at[1], i, j);
            for (int32_t d = 0; v && d < depth; d++)
                acc += (v[from + d] - s->z_in) * w[d * step];
        }
    return clamped(scaled(acc, r->multiplier[k], r->shift[k]) + s->z_out, s);
}

/* --- with it --- */

static void set_channel(struct channel *to, const struct dot4_scales *r, const struct dot4_sizes *s,
                        int32_t c, int32_t sum)
{
    const int32_t k = s->scales > 1 ? c : 0, shift = r->shift[k];

    *to = (struct channel){(r->bias ? r->bias[c] : 0) - s->z_in * sum, (uint32_t)r->multiplier[k],
                           shift > 0 ? (uint32_t)shift : 0, shift < 0 ? (uint32_t)-shift : 0};
}

static inline void begin(const struct hd_port *dev, const struct channel *c)
{
    swap0(dev, (uint32_t)c[0].begin, 0);
    swap1(dev, (uint32_t)c[1].begin, 0);
    swap2(dev, (uint32_t)c[2].begin, 0);
    swap3(dev, (uint32_t)c[3].begin, 0);
}

static void set_outputs(const struct hd_port *dev, const struct dot4_sizes *s)
{
    set_range(dev, (uint32_t)s->z_out,
              (uint32_t)(s->act_max & 0xff) << 8 | (uint32_t)(s->act_min & 0xff));
}

/* Write up to four outputs, of channels c. */
static inline void end(const struct hd_port *dev, const struct channel *c, int8_t *y, int32_t n)
{
    y[0] = (int8_t)shift(dev, high0(dev, c[0].multiplier, c[0].left), c[0].right);
    if (n > 1)
        y[1] = (int8_t)shift(dev, high1(dev, c[1].multiplier, c[1].left), c[1].right);
    if (n > 2)
        y[2] = (int8_t)shift(dev, high2(dev, c[2].multiplier, c[2].left), c[2].right);
    if (n > 3)
        y[3] = (int8_t)shift(dev, high3(dev, c[3].multiplier, c[3].left), c[3].right);
}

/* The bytes under the window, n of them: those of x if they are contiguous words, else copied to `to`. */
static const int8_t *window(const int8_t *x, const struct dot4_sizes *s, int32_t oy, int32_t ox,
                            int32_t n, int8_t *to)
{
    const int8_t *from = pixel(x, s, oy, ox, 0, 0);
    int8_t *next = to;

    if (s->kernel_h * s->kernel_w == 1 && from && s->in_c == n && (uintptr_t)from % 4 == 0)
        return from;
    for (int32_t i = 0; i < s->kernel_h; i++)
        for (int32_t j = 0; j < s->kernel_w; j++) {
            from = pixel(x, s, oy, ox, i, j);
            for (int32_t c = 0; c < s->in_c; c++)
                *next++ = from ? from[c] : (int8_t)s->z_in;
        }
    return to;
}

/* Loads come first: a result that is used at once has the processor wait. */
#define LOADED(a, b, c, d, e) __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e))

/* Add the products of a word of x with a word of each of four channels. */
static inline void dot_word(const struct hd_port *dev, const int8_t *a, const int8_t *w)
{
    uint32_t v = word_at(a), b0 = word_at(w), b1 = word_at(w + 4), b2 = word_at(w + 8),
             b3 = word_at(w + 12);

    LOADED(v, b0, b1, b2, b3);
    dot0(dev, v, b0);
    dot1(dev, v, b1);
    dot2(dev, v, b2);
    dot3(dev, v, b3);
}

/* Weights in words, of four channels in turns; n bytes a channel, those beyond out_c and beyond the taps 0. */
static void pack(const int8_t *w, const struct dot4_scales *r, const struct dot4_sizes *s,
                 int32_t n, struct channel *channel, int8_t *to)
{
    const int32_t taps = s->kernel_h * s->kernel_w * s->in_c;

    for (int32_t c = 0; c < (s->out_c + 3) / 4 * 4; c++) {
        int8_t *const own = to + c / 4 * 4 * n + c % 4 * 4;
        int32_t sum = 0;
        for (int32_t i = 0; i < n; i++) {
            const int8_t v = c < s->out_c && i < taps ? w[c * taps + i] : 0;
            own[i / 4 * 16 + i % 4] = v;
            sum += v;
        }
        if (c < s->out_c)
            set_channel(&channel[c], r, s, c, sum);
    }
}

static void conv2d(const struct hd_port *dev, const int8_t *x, const int8_t *w,
                   const struct dot4_scales *r, int8_t *y, const struct dot4_sizes *s,
                   void *scratch)
{
    const int32_t taps = s->kernel_h * s->kernel_w * s->in_c, n = (taps + 7) / 8 * 8,
                  rows = (s->out_c + 3) / 4 * 4;
    struct channel *const channel = scratch;
    int8_t *const packed = (int8_t *)(channel + rows), *const patch =
                                                           packed + (size_t)rows * (size_t)n;

    set_outputs(dev, s);
    pack(w, r, s, n, channel, packed);
    for (int32_t i = taps; i < n; i++)
        patch[i] = 0;
    for (int32_t oy = 0; oy < s->out_h; oy++)
        for (int32_t ox = 0; ox < s->out_w; ox++, y += s->out_c) {
            const int8_t *const a = window(x, s, oy, ox, n, patch), *b = packed;
            for (int32_t c = 0; c < s->out_c; c += 4) {
                begin(dev, channel + c);
                for (int32_t i = 0; i < n; i += 8, b += 32) {
                    dot_word(dev, a + i, b);
                    dot_word(dev, a + i + 4, b + 16);
                }
                end(dev, channel + c, y + c, s->out_c - c);
            }
        }
}

static void depthwise(const struct hd_port *dev, const int8_t *x, const int8_t *w,
                      const struct dot4_scales *r, int8_t *y, const struct dot4_sizes *s,
                      void *scratch)
{
    const int32_t taps = s->kernel_h * s->kernel_w, n = s->out_c;
    const int8_t **const tap = scratch;
    struct channel *const channel = (struct channel *)(void *)(tap + taps);
    int8_t *const own_w = (int8_t *)(channel + n), *const padding =
                                                       own_w + (size_t)taps * (size_t)n;

    set_outputs(dev, s);
    for (int32_t c = 0; c < n; c++) {
        int32_t sum = 0;
        for (int32_t i = 0; i < taps; i++)
            sum += own_w[i * n + c] = w[i * n + c];
        set_channel(&channel[c], r, s, c, sum);
        padding[c] = (int8_t)s->z_in;
    }
    for (int32_t oy = 0; oy < s->out_h; oy++)
        for (int32_t ox = 0; ox < s->out_w; ox++, y += n) {
            for (int32_t i = 0; i < s->kernel_h; i++)
                for (int32_t j = 0; j < s->kernel_w; j++) {
                    const int8_t *const from = pixel(x, s, oy, ox, i, j);
                    tap[i * s->kernel_w + j] = from ? from : padding;
                }
            for (int32_t c = 0; c < n; c += 4) {
                const int8_t *b = own_w + c;
                begin(dev, channel + c);
                for (int32_t i = 0; i < taps; i++, b += n)
                    lanes(dev, word_at(tap[i] + c), word_at(b));
                end(dev, channel + c, y + c, 4);
            }
        }
}

/* --- the calls --- */

int dot4_conv2d(const struct hd_port *dev, const int8_t *x, const int8_t *w, struct dot4_scales r,
                int8_t *y, struct dot4_sizes s, void *scratch)
{
    const int32_t taps = s.kernel_h * s.kernel_w * s.in_c, n = s.out_h * s.out_w * s.out_c;

    if (dev)
        conv2d(dev, x, w, &r, y, &s, scratch);
    for (int32_t i = 0; !dev && i < n; i++) {
        const int32_t c = i % s.out_c, at[3] = {i / s.out_c / s.out_w, i / s.out_c % s.out_w, c};
        y[i] = plain(x, w + c * taps, &r, &s, at, 0, s.in_c, 1);
    }
    return 0;
}

int dot4_depthwise(const struct hd_port *dev, const int8_t *x, const int8_t *w,
                   struct dot4_scales r, int8_t *y, struct dot4_sizes s, void *scratch)
{
    const int32_t n = s.out_h * s.out_w * s.out_c;

    if (dev)
        depthwise(dev, x, w, &r, y, &s, scratch);
    for (int32_t i = 0; !dev && i < n; i++) {
        const int32_t c = i % s.out_c, at[3] = {i / s.out_c / s.out_w, i / s.out_c % s.out_w, c};
        y[i] = plain(x, w + c, &r, &s, at, c, 1, s.out_c);
    }
    return 0;
}
