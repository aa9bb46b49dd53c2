/* ref_pool.c - average pool, max pool, mean (NUMERICS.md). */
#include "ref_kernels.h"

/* The cells of one window that are inside the image. */
struct cells {
    int32_t y0, y1, x0, x1;
};

static int32_t at_least_0(int32_t v)
{
    return v > 0 ? v : 0;
}

static struct cells cells_of(const struct ref_call *c, int32_t oy, int32_t ox)
{
    const int32_t *a = c->op->attr;
    const int32_t y = oy * a[IR_STRIDE_H] - c->k->pad_top;
    const int32_t x = ox * a[IR_STRIDE_W] - c->k->pad_left;
    const int32_t h = c->in[0]->dim[1], w = c->in[0]->dim[2];

    return (struct cells){at_least_0(y), y + a[IR_KERNEL_H] < h ? y + a[IR_KERNEL_H] : h,
                          at_least_0(x), x + a[IR_KERNEL_W] < w ? x + a[IR_KERNEL_W] : w};
}

static int32_t clamp(const struct ref_call *c, int32_t v)
{
    return v < c->k->low ? c->k->low : v > c->k->high ? c->k->high : v;
}

static int32_t floor_div(int32_t a, int32_t n)
{
    return a / n - (a % n < 0);
}

/* Element of the image that begins at `image`. */
static size_t cell_of(const struct ir_tensor *x, size_t image, int32_t iy, int32_t ix,
                      int32_t channel)
{
    return image + (size_t)(iy * x->dim[2] + ix) * (size_t)x->dim[3] + (size_t)channel;
}

/* (acc +- n/2) / n, truncating; n valid cells. round_up, for what was uint8 before legalise (where
 * acc is never negative): (acc + n/2) / n rounded down, which does not change when 128 n is
 * subtracted. Into another scale at once: the sum less n zero points, requantised. */
static int32_t average_cells(const struct ref_call *c, size_t image, struct cells v,
                             int32_t channel)
{
    const struct ir_tensor *x = c->in[0];
    const int32_t n = (v.y1 - v.y0) * (v.x1 - v.x0);
    int32_t acc = 0;

    for (int32_t iy = v.y0; iy < v.y1; iy++)
        for (int32_t ix = v.x0; ix < v.x1; ix++)
            acc += ref_at(x, c->x[0], cell_of(x, image, iy, ix, channel));
    if (c->k->n != 0 && !c->k->rescale)
        return ref_value(
            c, ref_mbqm(acc - n * x->quant.zero_point[0], c->k->multiplier[0], c->k->shift[0]));
    if (n <= 0)
        return clamp(c, 0);
    if (c->op->attr[IR_ROUND_UP] != 0)
        return clamp(c, floor_div(acc + n / 2, n));
    return clamp(c, (acc > 0 ? acc + n / 2 : acc - n / 2) / n);
}

static int32_t max_cells(const struct ref_call *c, size_t image, struct cells v, int32_t channel)
{
    const struct ir_tensor *x = c->in[0];
    int32_t best = INT32_MIN;

    for (int32_t iy = v.y0; iy < v.y1; iy++)
        for (int32_t ix = v.x0; ix < v.x1; ix++) {
            const int32_t code = ref_at(x, c->x[0], cell_of(x, image, iy, ix, channel));

            best = code > best ? code : best;
        }
    return clamp(c, best);
}

static enum status pool(const struct ref_call *c,
                        int32_t one(const struct ref_call *c, size_t image, struct cells v,
                                    int32_t channel))
{
    const struct ir_tensor *x = c->in[0], *y = c->out[0];
    const size_t image = (size_t)x->dim[1] * (size_t)x->dim[2] * (size_t)x->dim[3];
    size_t at = 0;

    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t channel = 0; channel < y->dim[3]; channel++)
                    ref_put(y, c->y[0], at++,
                            one(c, (size_t)n * image, cells_of(c, oy, ox), channel));
    return ST_OK;
}

static int32_t rescaled_average(const struct ref_call *c, size_t image, struct cells v,
                                int32_t channel)
{
    return ref_rescaled(c, average_cells(c, image, v, channel));
}

enum status ref_average_pool(const struct ref_call *c, struct diag *d)
{
    if (c->k->n_real != 0)
        return ref_real_average_pool(c, d);
    return pool(c, c->k->rescale ? rescaled_average : average_cells);
}

enum status ref_max_pool(const struct ref_call *c, struct diag *d)
{
    (void)d;
    return pool(c, max_cells);
}

/* S = sum(x) - n z_in;  out = MBQM(S, m', e - sh) + z_out, where m was divided by n. */
enum status ref_mean(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const uint32_t mask = (uint32_t)c->op->attr[IR_AXIS];
    const size_t n_out = (size_t)ir_elements(c->out[0]), n = (size_t)ir_elements(x) / n_out;

    if (c->k->n_real != 0)
        return ref_real_mean(c, d);
    for (size_t o = 0; o < n_out; o++) {
        const size_t base = ref_pick(x, ~mask, o);
        uint32_t sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += (uint32_t)(ref_at(x, c->x[0], base + ref_pick(x, mask, i)) -
                              x->quant.zero_point[0]);
        ref_put(c->out[0], c->y[0], o,
                ref_value(c, ref_mbqm((int32_t)sum, c->k->multiplier[0], c->k->shift[0])));
    }
    return ST_OK;
}

/* P = x0 - z_in, then P = MBQM64(P * (x - z_in)) for each x after it;  out = MBQM64(P) + z_out. */
enum status ref_prod(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const uint32_t mask = (uint32_t)c->op->attr[IR_AXIS];
    const size_t n_out = (size_t)ir_elements(c->out[0]), n = (size_t)ir_elements(x) / n_out;
    const int32_t m = c->k->multiplier[0], e = c->k->shift[0], zero = x->quant.zero_point[0];

    (void)d;
    for (size_t o = 0; o < n_out; o++) {
        const size_t base = ref_pick(x, ~mask, o);
        int64_t product = 1;

        for (size_t i = 0; i < n; i++) {
            product *= ref_at(x, c->x[0], base + ref_pick(x, mask, i)) - zero;
            product = i == 0 ? product : ref_mbqm64(product, m, e);
        }
        ref_put(c->out[0], c->y[0], o, ref_value(c, ref_mbqm64(product, m, e)));
    }
    return ST_OK;
}

/* The largest or smallest code over the axes. */
enum status ref_reduce(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const uint32_t mask = (uint32_t)c->op->attr[IR_AXIS];
    const size_t n_out = (size_t)ir_elements(c->out[0]), n = (size_t)ir_elements(x) / n_out;
    const bool least = c->op->opcode == IR_OP_REDUCE_MIN;

    (void)d;
    for (size_t o = 0; o < n_out; o++) {
        const size_t base = ref_pick(x, ~mask, o);
        int32_t best = ref_at(x, c->x[0], base);

        for (size_t i = 1; i < n; i++) {
            const int32_t v = ref_at(x, c->x[0], base + ref_pick(x, mask, i));

            best = (least ? v < best : v > best) ? v : best;
        }
        ref_put(c->out[0], c->y[0], o, best);
    }
    return ST_OK;
}
