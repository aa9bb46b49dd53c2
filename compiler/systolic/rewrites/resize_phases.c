/* resize_phases.c - rewrite RESIZE_BILINEAR by integer factors as depthwise convolutions, if the
 * weights are integers. in: RESIZE_BILINEAR of one int8 image to Fy times the rows, Fx times the
 * columns. out: the image with repeated edges (GATHER) and Fy * Fx convolutions of stride 1, one
 * per phase, joined: row y * Fy + p, column x * Fx + q of the result is y, x of phase p, q. With
 * aligned corners and Fy (H - 1) + 1 rows, the last Fy - 1 rows are dropped; likewise columns. The
 * reference rounds T / 2^20, halves away from zero; T is a sum of quantised values times weights of
 * 2 * 10 bits (NUMERICS.md). If all weights of a phase are multiples of 2^(20-k), the phase uses T
 * / 2^(20-k); twice that times 2^(30-k) is rounded once, to the high half, as in the reference.
 * Zero points do not enter: intermediate tensors have zero point 0 (RESHAPE with `recode`). Weights
 * above 127 have zero point -128. Tensors from a uint8 network round halves up, which is away from
 * zero because 128 is added. Each output's position is checked against the reference's formula. A
 * single row or column is constant whatever the weights: it is repeated (GATHER). */
#include <stdlib.h>
#include <string.h>

#include "compiler/legalise/fixed_math.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

enum { MOST_FACTOR = 16, ONE = 1024, TAPS = 3, MOST_COPIES = 8 };

/* One direction: weight[p][1 + t] is the phase's weight of the pixel t to the right of its own,
 * first in 1024ths, later in 2^-bits of the phase. */
struct axis {
    int32_t factor, size;
    int32_t weight[MOST_FACTOR][TAPS];
    int32_t bits[MOST_FACTOR];
    int32_t before, after; /* pixels that phases read left and right of their own */
};

static int32_t clamped(int32_t i, int32_t size)
{
    return i < 0 ? 0 : i < size ? i : size - 1;
}

/* Return the two pixels of the reference and the weight of the second. */
static void places(const struct axis *a, bool half, int32_t i, int32_t at[2], int32_t *weight)
{
    const int32_t scale = (ONE * a->size + a->size * a->factor / 2) / (a->size * a->factor);
    const int32_t place = i * scale + (half ? scale / 2 - ONE / 2 : 0);

    at[0] = place / ONE > 0 ? place / ONE : 0;
    at[1] = clamped((place + ONE - 1) / ONE, a->size);
    *weight = place - at[0] * ONE;
}

/* Return true if the reference's weights of output i are the phase's weights, for every pixel. */
static bool same_place(const struct axis *a, bool half, int32_t i)
{
    const int32_t own = i / a->factor, phase = i % a->factor;
    int32_t at[2], weight;

    places(a, half, i, at, &weight);
    for (int32_t x = own - 2; x <= own + 2; x++) {
        int32_t sum = (at[0] == x ? ONE - weight : 0) + (at[1] == x ? weight : 0);

        for (int32_t t = -1; t <= 1; t++)
            sum -= clamped(own + t, a->size) == x ? a->weight[phase][1 + t] : 0;
        if (sum != 0)
            return false;
    }
    return abs(at[0] - own) <= 2 && abs(at[1] - own) <= 2;
}

/* Find the phases of one direction; false if they are not such sums. */
static bool find_axis(struct axis *a, int32_t in, int32_t out, bool half)
{
    *a = (struct axis){.factor = out / in, .size = in};
    if (out % in != 0 || a->factor < 1 || a->factor > MOST_FACTOR || ONE % a->factor != 0)
        return false;
    for (int32_t p = 0; p < a->factor; p++) {
        const int32_t scale = ONE / a->factor, place = p * scale + (half ? scale / 2 - ONE / 2 : 0);
        const int32_t first = place < 0 ? 0 : 1, second = (place + ONE) % ONE;

        a->weight[p][first] += ONE - second;
        a->weight[p][first + 1] += second;
        for (int32_t t = 0; t < TAPS; t++) {
            while (a->weight[p][t] % (ONE >> a->bits[p]) != 0)
                a->bits[p]++;
            a->before |= t == 0 && a->weight[p][t] != 0;
            a->after |= t == 2 && a->weight[p][t] != 0;
        }
    }
    for (int32_t i = 0; i < out; i++)
        if (!same_place(a, half, i))
            return false;
    for (int32_t p = 0; p < a->factor; p++)
        for (int32_t t = 0; t < TAPS; t++)
            a->weight[p][t] /= ONE >> a->bits[p];
    return true;
}

static int32_t largest(const struct axis *a, int32_t phase)
{
    return lgl_max(lgl_max(a->weight[phase][0], a->weight[phase][1]), a->weight[phase][2]);
}

/* Return the number of row copies that phase p, q reads so that its weights fit 8 bits. */
static int32_t copies_of(const struct axis *y, int32_t p, const struct axis *x, int32_t q)
{
    return (2 * largest(y, p) * largest(x, q) + UINT8_MAX - 1) / UINT8_MAX;
}

static int32_t most_copies(const struct axis *y, const struct axis *x)
{
    int32_t copies = 1;

    for (int32_t p = 0; p < y->factor; p++)
        for (int32_t q = 0; q < x->factor; q++)
            copies = lgl_max(copies, copies_of(y, p, x, q));
    return copies;
}

/* Return x with its first and last element along `axis` repeated if phases read them. */
static const struct ir_tensor *repeat_edges(struct ir_graph *g, uint32_t row,
                                            const struct ir_tensor *x, uint32_t axis,
                                            const struct axis *a)
{
    const int32_t n = a->size + a->before + a->after;
    int32_t *from = ARENA_ARRAY(g->arena, int32_t, (size_t)n), dim[4];

    if (n == a->size)
        return x;
    for (int32_t i = 0; i < n; i++)
        from[i] = clamped(i - a->before, a->size);
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = n;
    struct ir_tensor *y = lgl_new_image(g, x, x->quant, dim);
    lgl_new_gather(g, row, x, axis, from, y);
    return y;
}

/* The data that the phases of a resize share. */
struct resize {
    struct ir_graph *g;
    const struct ir_op *op;
    struct axis y, x;
    const struct ir_tensor *image;                     /* edges repeated */
    const struct ir_tensor *repeated[MOST_COPIES + 1]; /* its rows */
    struct ir_quant quant;                             /* of the phases */
};

/* Return the image with each row repeated `copies` times. */
static const struct ir_tensor *repeat_rows(struct resize *r, int32_t copies)
{
    const int32_t h = r->image->dim[1] * copies;
    const int32_t dim[4] = {1, h, r->image->dim[2], r->image->dim[3]};

    if (copies == 1)
        return r->image;
    if (r->repeated[copies])
        return r->repeated[copies];
    int32_t *from = ARENA_ARRAY(r->g->arena, int32_t, (size_t)h);
    for (int32_t i = 0; i < h; i++)
        from[i] = i / copies;
    struct ir_tensor *y = lgl_new_image(r->g, r->image, r->image->quant, dim);
    lgl_new_gather(r->g, r->op->row, r->image, 1, from, y);
    return r->repeated[copies] = y;
}

/* Split twice a weight into a sum of the weights of `copies` rows. */
static uint32_t weights_of(const struct resize *r, int32_t p, int32_t q, int32_t copies)
{
    const int32_t kh = 1 + r->y.before + r->y.after, kw = 1 + r->x.before + r->x.after;
    const int32_t c = r->image->dim[3], most_of_all = 2 * largest(&r->y, p) * largest(&r->x, q);
    const int32_t zero = most_of_all > INT8_MAX ? INT8_MIN : 0;
    const int32_t dim[2][4] = {{1, kh * copies, kw, c}, {kh * copies, kw, 1, 1}};
    struct ir_tensor *w = lgl_new_constant(r->g, "", IR_I8, 4, dim[c == 1], NULL);
    uint8_t *data = (uint8_t *)(uintptr_t)w->data;

    w->quant = lgl_new_quant(r->g, 1, zero);
    for (int32_t y = 0; y < kh * copies; y++)
        for (int32_t x = 0; x < kw; x++, data += c) {
            const int32_t weight = 2 * r->y.weight[p][1 - r->y.before + y / copies] *
                                   r->x.weight[q][1 - r->x.before + x];
            memset(data, (weight + y % copies) / copies + zero, (size_t)c);
        }
    return w->id;
}

static uint32_t bias_of(const struct resize *r, int32_t bits)
{
    const int32_t c = r->image->dim[3];
    int32_t *bias = ARENA_ARRAY(r->g->arena, int32_t, (size_t)c);

    for (int32_t i = 0; i < c; i++)
        bias[i] = r->op->attr[IR_FROM_U8] ? 256 << bits : 0;
    return lgl_new_numbers(r->g, (uint32_t)c, bias);
}

/* Phase p, q. */
static uint32_t make_phase(struct resize *r, int32_t p, int32_t q)
{
    const int32_t kh = 1 + r->y.before + r->y.after, kw = 1 + r->x.before + r->x.after;
    const int32_t c = r->image->dim[3], dim[4] = {1, r->y.size, r->x.size, c};
    const int32_t bits = r->y.bits[p] + r->x.bits[q], copies = copies_of(&r->y, p, &r->x, q);
    const uint32_t in[3] = {repeat_rows(r, copies)->id, weights_of(r, p, q, copies),
                            bias_of(r, bits)};
    struct ir_tensor *y = lgl_new_image(r->g, r->image, r->quant, dim);
    struct ir_op *op =
        lgl_new_op(r->g, c == 1 ? IR_OP_CONV2D : IR_OP_DEPTHWISE_CONV2D, r->op->row, 3, in, y);

    for (uint32_t i = IR_STRIDE_H; i <= IR_DILATION_W; i++)
        op->attr[i] = 1;
    op->attr[IR_STRIDE_H] = copies;
    op->attr[IR_KERNEL_H] = kh * copies;
    op->attr[IR_KERNEL_W] = kw;
    op->attr[IR_MULTIPLIER] = c == 1 ? 0 : 1;
    op->attr[IR_WEIGHTS_KO] = 1;
    lgl_set_scales(r->g, op, 1, &(struct lgl_fixed_scale){1 << 30, (int8_t)-bits});
    return y->id;
}

static struct ir_tensor *join(const struct resize *r, int32_t count, const uint32_t *part,
                              uint32_t axis)
{
    int32_t dim[4];

    if (count == 1)
        return r->g->tensor[part[0]];
    memcpy(dim, r->g->tensor[part[0]]->dim, sizeof dim);
    dim[axis] *= count;
    struct ir_tensor *y = lgl_new_image(r->g, r->image, r->quant, dim);
    lgl_new_join(r->g, r->op->row, (uint32_t)count, part, axis, y);
    return y;
}

/* Write the phases of x to y. */
static void make_phases(struct resize *r, const struct ir_tensor *x, struct ir_tensor *y)
{
    const bool was_u8 = r->op->attr[IR_FROM_U8] != 0;
    struct ir_tensor *image =
        lgl_new_image(r->g, x, lgl_new_quant(r->g, x->quant.scale[0], 0), x->dim);
    uint32_t rows[MOST_FACTOR], columns[MOST_FACTOR];

    r->quant = lgl_new_quant(r->g, x->quant.scale[0], was_u8 ? -128 : 0);
    lgl_new_reshape(r->g, r->op->row, x, image)->attr[IR_RECODE] = 1;
    r->image = repeat_edges(r->g, r->op->row, image, 1, &r->y);
    r->image = repeat_edges(r->g, r->op->row, r->image, 2, &r->x);
    for (int32_t p = 0; p < r->y.factor; p++) {
        for (int32_t q = 0; q < r->x.factor; q++)
            columns[q] = make_phase(r, p, q);
        rows[p] = join(r, r->x.factor, columns, 3)->id;
    }
    const struct ir_tensor *all = join(r, r->y.factor, rows, 2);
    lgl_new_reshape(r->g, r->op->row, all, y)->attr[IR_RECODE] = 1;
}

/* Find the phases of the direction from `in` to `out` elements; with one element, or equal numbers,
 * it is unchanged. */
static bool find_direction(const struct ir_op *op, struct axis *a, int32_t in, int32_t out)
{
    if (in == 1 || in == out)
        return find_axis(a, in, in, false);
    if (op->attr[IR_ALIGN_CORNERS])
        return (out - 1) % (in - 1) == 0 && find_axis(a, in, (out - 1) / (in - 1) * in, false);
    return find_axis(a, in, out, op->attr[IR_HALF_PIXEL] != 0);
}

static void rewrite(struct ir_graph *g, struct ir_op *op)
{
    struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0), *phases = y, *wide = y;
    struct resize r = {.g = g, .op = op};

    if (x->dim[0] != 1 || !find_direction(op, &r.y, x->dim[1], y->dim[1]) ||
        !find_direction(op, &r.x, x->dim[2], y->dim[2]) || most_copies(&r.y, &r.x) > MOST_COPIES)
        return;
    const int32_t h = x->dim[1] * r.y.factor, w = x->dim[2] * r.x.factor, c = x->dim[3];
    const bool rows = h < y->dim[1], columns = w < y->dim[2];
    const bool in_phases = r.y.factor * r.x.factor > 1;
    const int32_t inside[4] = {1, rows ? h : y->dim[1], columns ? w : y->dim[2], c};
    const bool cropped = h > inside[1] || w > inside[2];
    const int32_t *first = ARENA_ARRAY(g->arena, int32_t, (size_t)lgl_max(y->dim[1], y->dim[2]));

    if (in_phases && (rows || columns) && op->attr[IR_FROM_U8])
        return; /* the float weights of the repeated element decide ties */
    if (rows && columns)
        wide = lgl_new_image(g, y, y->quant, (const int32_t[]){1, h, y->dim[2], c});
    if (rows || columns)
        phases = lgl_new_image(g, y, y->quant, inside);
    if (cropped) {
        struct ir_tensor *all = lgl_new_image(g, y, y->quant, (const int32_t[]){1, h, w, c});
        make_phases(&r, x, all);
        lgl_new_slice(g, op->row, all, (const int32_t[4]){0}, NULL, phases);
    } else if (in_phases)
        make_phases(&r, x, phases);
    else if (rows || columns)
        phases = x;
    else
        (void)lgl_new_reshape(g, op->row, x, y);
    if (columns)
        lgl_new_gather(g, op->row, phases, 2, first, wide);
    if (rows)
        lgl_new_gather(g, op->row, columns ? wide : phases, 1, first, y);
    op->dead = true;
}

void sys_resize_phases(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    (void)o;
    if (ir_in(g, op, 0)->type == IR_I8)
        rewrite(g, op);
}
