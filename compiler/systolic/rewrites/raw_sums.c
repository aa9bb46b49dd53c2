/* raw_sums.c - products whose results are sums of int32 (MatMulInteger, ConvInteger). in: before
 * channel_groups. out: the product on the array, which writes each sum as `digits` values of int8
 * to the base of 128 (lstm_input.c), and JOIN_DIGITS, which adds them. The array subtracts the zero
 * point of the input's tensor; JOIN_DIGITS the one that is known at run time, times the sums of the
 * weights inside the image (`taps`): one for each row and column at a border, one for all others. */
#include <string.h>

#include "compiler/ir/rules.h"
#include "compiler/legalise/new_ops.h"
#include "raw_sums.h"
#include "rewrites.h"

enum { MOST_DIGITS = 4 };

static int32_t weight(const struct raw_sums *s, int32_t oc, int32_t i)
{
    const int32_t n = s->kh * s->kw * s->k, at = s->conv ? oc * n + i : i * s->oc + oc;

    return (int8_t)s->w->data[at] - (int8_t)s->zero_w->data[0];
}

/* Return the number of digits that hold every sum; 0 if the format has too few. */
static int32_t digits_of(const struct raw_sums *s)
{
    const int64_t low = -128 - ir_zero_point(s->x), high = 127 - ir_zero_point(s->x);
    int64_t most = 0;

    for (int32_t oc = 0; oc < s->oc; oc++) {
        int64_t up = 0, down = 0;

        for (int32_t i = 0; i < s->kh * s->kw * s->k; i++) {
            const int64_t v = weight(s, oc, i);
            up += v > 0 ? v * high : v * low;
            down += v > 0 ? v * low : v * high;
        }
        most = up > most ? up : most;
        most = -down > most ? -down : most;
    }
    for (int32_t n = 1; n <= MOST_DIGITS; n++)
        if (most < (int64_t)1 << (7 * n - 1))
            return n;
    return 0;
}

bool sys_raw_sums_fit(struct raw_sums *s)
{
    s->oc = s->w->dim[s->conv ? 0 : 1];
    s->kh = s->conv ? s->w->dim[1] : 1;
    s->kw = s->conv ? s->w->dim[2] : 1;
    s->k = s->w->dim[s->conv ? 3 : 0];
    s->digits = digits_of(s);
    return s->digits > 0;
}

static bool one_value(const struct ir_tensor *t)
{
    for (uint64_t i = 1; i < ir_elements(t); i++)
        if (t->data[i] != t->data[0])
            return false;
    return true;
}

/* Fill in `s`; return NULL, or the reason why the array cannot make the sums. */
static const char *sums_of(struct ir_graph *g, struct ir_op *op, bool conv,
                           const struct lgl_options *o, struct raw_sums *s)
{
    const struct ir_tensor *w = ir_in(g, op, 1);

    *s = (struct raw_sums){.g = g,
                           .op = op,
                           .x = ir_in(g, op, 0),
                           .w = w,
                           .zero = ir_in(g, op, 2),
                           .zero_w = ir_in(g, op, 3),
                           .y = ir_out(g, op, 0),
                           .conv = conv,
                           .hw = o->hw};
    if (w->role != IR_CONST || s->zero_w->role != IR_CONST)
        return "its second operand is computed";
    if (w->rank != (conv ? 4 : 2) || s->x->rank > 4)
        return "matrices of a batch have a second operand each";
    if (!one_value(s->zero_w))
        return "its weights have several zero points";
    if ((ir_elements(s->zero) != 1 && !conv &&
         ir_elements(s->zero) * (uint64_t)w->dim[1] != ir_elements(s->y)) ||
        ir_zero_point(s->zero) != ir_zero_point(s->x))
        return "its matrices share several zero points";
    return sys_raw_sums_fit(s) ? NULL : "its sums can reach 2^27";
}

/* Return the output rows (columns) whose window begins before the image in *before, of the others
 * those whose window ends after it in *after. */
static void borders(int32_t n, int32_t size, int32_t step, int32_t pad, int32_t reach,
                    int32_t *before, int32_t *after)
{
    *before = *after = 0;
    for (int32_t i = 0; i < n; i++)
        if (i * step < pad)
            ++*before;
        else if (i * step - pad + reach >= size)
            ++*after;
}

/* Return the first of the output's rows (columns) that row `i` of the taps is for. */
static int32_t row_of(int32_t i, int32_t before, int32_t after, int32_t n)
{
    return i <= before ? i : n - after + i - before - 1;
}

/* Sum the weights of output channel `oc` inside the image for output row y, column x. */
static int32_t taps_at(const struct raw_sums *s, int32_t oc, int32_t y, int32_t x)
{
    const int32_t *a = s->op->attr;
    uint32_t sum = 0;

    for (int32_t i = 0; i < s->kh * s->kw * s->k; i++) {
        const int32_t iy = y * a[IR_STRIDE_H] - a[IR_PAD_TOP] + i / s->k / s->kw * a[IR_DILATION_H];
        const int32_t ix =
            x * a[IR_STRIDE_W] - a[IR_PAD_LEFT] + i / s->k % s->kw * a[IR_DILATION_W];

        if (!s->conv || (iy >= 0 && ix >= 0 && iy < s->x->dim[1] && ix < s->x->dim[2]))
            sum += (uint32_t)weight(s, oc, i);
    }
    return (int32_t)sum;
}

/* Return the id of the taps, [rows,columns,OC]. */
static uint32_t new_taps(struct raw_sums *s)
{
    const int32_t *a = s->op->attr, *size = s->x->dim, *out = s->y->dim;
    struct ir_tensor *taps;
    int32_t *to, *b = s->border;

    if (s->conv) {
        borders(out[1], size[1], a[IR_STRIDE_H], a[IR_PAD_TOP], (s->kh - 1) * a[IR_DILATION_H],
                &b[0], &b[2]);
        borders(out[2], size[2], a[IR_STRIDE_W], a[IR_PAD_LEFT], (s->kw - 1) * a[IR_DILATION_W],
                &b[1], &b[3]);
    }
    const int32_t dim[3] = {b[0] + 1 + b[2], b[1] + 1 + b[3], s->oc};
    taps = lgl_new_constant(s->g, s->w->name, IR_I32, 3, dim, NULL);
    to = (int32_t *)(uintptr_t)taps->data;
    for (int32_t i = 0; i < dim[0] * dim[1] * dim[2]; i++)
        to[i] = taps_at(s, i % s->oc, row_of(i / s->oc / dim[1], b[0], b[2], out[1]),
                        row_of(i / s->oc % dim[1], b[1], b[3], out[2]));
    return taps->id;
}

static bool is_depthwise(const struct raw_sums *s)
{
    return s->conv && s->k == 1 && s->x->dim[3] > 1;
}

/* Return the id of the weights for n digits of each block: the block's weights n times; [OC,K],
 * [OC,KH,KW,C/G] or [1,KH,KW,OC]. */
static uint32_t new_weights(const struct raw_sums *s, int32_t each, int32_t n)
{
    const int32_t taps = s->kh * s->kw * s->k, columns = n * ir_in_blocks(each, s->oc);
    const bool innermost = is_depthwise(s);
    const int32_t image[4] = {innermost ? 1 : columns, s->kh, s->kw, innermost ? columns : s->k};
    struct ir_tensor *w =
        lgl_new_constant(s->g, s->w->name, IR_I8, s->conv ? 4 : 2,
                         s->conv ? image : (const int32_t[]){columns, s->k}, NULL);
    uint8_t *to = (uint8_t *)(uintptr_t)w->data;

    w->quant = lgl_new_quant(s->g, 1, (int8_t)s->zero_w->data[0]);
    for (int32_t c = 0; c < columns; c++)
        for (int32_t i = 0; i < taps; i++) {
            const int32_t oc = c / (n * each) * each + c % each, zero = (int8_t)s->zero_w->data[0];
            to[innermost ? i * columns + c : c * taps + i] =
                (uint8_t)(oc < s->oc ? weight(s, oc, i) + zero : zero);
        }
    return w->id;
}

/* Digit p of a sum is its requantisation by 2^-7p (lstm_input.c). */
static void set_digits(const struct raw_sums *s, struct ir_op *op, int32_t each, int32_t first,
                       int32_t n)
{
    const int32_t columns = n * ir_in_blocks(each, s->oc);
    struct lgl_fixed_scale *scale =
        ARENA_ARRAY(s->g->arena, struct lgl_fixed_scale, (size_t)columns);

    for (int32_t c = 0; c < columns; c++)
        scale[c] = (struct lgl_fixed_scale){64, (int8_t)(25 - 7 * (first + c % (n * each) / each))};
    lgl_set_scales(s->g, op, (uint32_t)columns, scale);
    op->attr[IR_DIGITS] = s->digits;
}

/* Add the product that makes n digits from number `first` on; return its result. */
static struct ir_tensor *add_product(const struct raw_sums *s, int32_t each, int32_t first,
                                     int32_t n)
{
    const uint32_t in[2] = {s->x->id, new_weights(s, each, n)}, row = s->op->row;
    struct ir_tensor *y = ir_tensor_new(s->g, s->y->name, IR_I8, s->y->rank, s->y->dim);
    struct ir_op *op;

    y->dim[y->rank - 1] = n * ir_in_blocks(each, s->oc);
    y->quant = lgl_new_quant(s->g, 1, 0);
    op = is_depthwise(s) ? lgl_make_depthwise_conv2d(s->g, row, 2, in, y)
         : s->conv       ? lgl_make_conv2d(s->g, row, 2, in, y)
                         : lgl_make_fully_connected(s->g, row, 2, in, y);
    if (s->conv)
        memcpy(op->attr, s->op->attr, sizeof op->attr);
    if (is_depthwise(s))
        op->attr[IR_MULTIPLIER] = s->oc * n / s->x->dim[3];
    set_digits(s, op, each, first, n);
    return y;
}

/* A tile of the array's columns takes a K tile for each of its rows of weights. Held sums have one
 * more for each digit. Sums that are made again have n times the columns. */
int32_t sys_digits_each(int32_t sums, int32_t k, int32_t n, const struct hd_config *hw)
{
    const int32_t columns = (int32_t)hw->columns, rows = (int32_t)hw->rows,
                  deep = (k + rows - 1) / rows, tiles = (sums + columns - 1) / columns,
                  again = (n * sums + columns - 1) / columns;

    return (int64_t)tiles * (deep + n) < (int64_t)again * deep ? columns : sums;
}

int32_t sys_raw_sums_each(const struct raw_sums *s)
{
    const int32_t groups = s->conv && !is_depthwise(s) ? s->x->dim[3] / s->k : 1,
                  sums = s->oc / groups;

    if (is_depthwise(s) || (groups > 1 && sums % (int32_t)s->hw->columns != 0))
        return sums;
    return sys_digits_each(sums, s->kh * s->kw * s->k, s->digits, s->hw);
}

/* A depthwise convolution is one for each digit, so that it stays one. */
struct ir_tensor *sys_raw_sums_digits(const struct raw_sums *s)
{
    const int32_t each = sys_raw_sums_each(s);
    uint32_t part[MOST_DIGITS];
    struct ir_tensor *y;

    if (!is_depthwise(s))
        return add_product(s, each, 0, s->digits);
    for (int32_t p = 0; p < s->digits; p++)
        part[p] = add_product(s, each, p, 1)->id;
    y = lgl_new_image(s->g, s->y, lgl_new_quant(s->g, 1, 0), s->y->dim);
    y->dim[3] *= s->digits;
    lgl_new_join(s->g, s->op->row, (uint32_t)s->digits, part, 3, y);
    return y;
}

static void rewrite(struct raw_sums *s)
{
    const uint32_t in[3] = {sys_raw_sums_digits(s)->id, s->zero->id, new_taps(s)};
    struct ir_op *op = lgl_make_join_digits(s->g, s->op->row, 3, in, ir_out(s->g, s->op, 0));

    op->attr[IR_DIGITS] = s->digits;
    op->attr[IR_MULTIPLIER] = sys_raw_sums_each(s);
    op->attr[IR_PAD_TOP] = s->border[0];
    op->attr[IR_PAD_LEFT] = s->border[1];
    op->attr[IR_PAD_BOTTOM] = s->border[2];
    op->attr[IR_PAD_RIGHT] = s->border[3];
    s->op->dead = true;
}

static void raw_sums(struct ir_graph *g, struct ir_op *op, bool conv, const struct lgl_options *o)
{
    struct raw_sums s;
    const char *why = sums_of(g, op, conv, o, &s);

    if (why)
        g->row[op->row].limit = why;
    else
        rewrite(&s);
}

void sys_matmul_sums(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    raw_sums(g, op, false, o);
}

void sys_conv_sums(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    raw_sums(g, op, true, o);
}
