/* wide_sums.c - MEAN and MAX_POOL2D of int16 as operators that have a form of halves (../halves); products of int16
 * activations with constant int8 weights that have none. in: before
 * channel_groups, constants made. out: x = 256 * upper + lower + 128 as two tensors of int8, the
 * product of each on the array, which writes its sums as digits (raw_sums.c), and JOIN_WIDE on the
 * host, which adds them and requantises. The lower bytes have the zero point -128, so padding, which
 * is 0, stays 0. An operator that another device takes in int16 is left to it.
 *
 * QUANTIZE between int8 and int16 next to an operator that has a form of halves, as operators of bytes:
 *   int8 to int16: each byte of the result is a function of the operand, so two tables; HALVES joins them
 *   int16 to int8: the result in int16, between -256 and 255; HALVES, and the sum of 256 times the upper bytes, of the
 *     lower ones, of 128 and of the zero point, which has int8's clamp
 * partition_halves.c has no use for a HALVES whose halves the array makes and reads. */
#include <string.h>

#include "compiler/ir/map.h"
#include "compiler/ir/rules.h"
#include "compiler/legalise/new_ops.h"
#include "compiler/systolic/halves/halves.h"
#include "kernels/hdk.h"
#include "raw_sums.h"
#include "rewrites.h"

enum { LOWER_ZERO = -128 }; /* zero point of the lower bytes */
enum product { CONV, DEPTHWISE, DENSE };

/* Return true if the array runs the operator as one of halves. */
static bool is_halves(const struct ir_graph *g, const struct ir_op *op, const struct lgl_options *o)
{
    return !op->dead && halves_kind(g, op) && !halves_refusal(g, op, o->hw);
}

static struct ir_tensor *new_byte(struct ir_graph *g, const struct ir_op *op, enum product kind,
                                  bool high)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    struct ir_tensor *t = ir_tensor_new(g, x->name, IR_I8, x->rank, x->dim);

    t->quant = lgl_new_quant(g, 1, high ? 0 : LOWER_ZERO);
    if (kind == DENSE) {
        t->rank = y->rank;
        memcpy(t->dim, y->dim, sizeof t->dim);
        t->dim[t->rank - 1] = ir_dim_back(ir_in(g, op, 1), 0);
    }
    return t;
}

static void make_byte(struct ir_graph *g, const struct ir_op *op, struct ir_tensor *t, bool high)
{
    struct ir_op *made = lgl_make_byte_of(g, op->row, 1, &op->in[0], t);

    made->attr[IR_HIGH] = high;
}

/* Return the weights as raw_sums.c takes them: [OC,KH,KW,C/G], [K,OC] of a dense layer. */
static const struct ir_tensor *weights_of(struct ir_graph *g, const struct ir_op *op,
                                          enum product kind)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const int32_t inner = ir_dim_back(w, 0), outer = (int32_t)(ir_elements(w) / (uint64_t)inner);
    const int32_t image[4] = {inner, w->dim[1], w->dim[2], 1}, matrix[2] = {inner, outer};
    struct ir_tensor *t;

    if (kind == CONV)
        return w;
    t = lgl_constant_like(g, w, kind == DENSE ? 2 : 4, kind == DENSE ? matrix : image,
                          lgl_turned(g, w->data, (size_t)outer, (size_t)inner));
    t->quant = lgl_new_quant(g, 1, 0);
    return t;
}

/* Return true if the host's part, both bytes of each input and a join for each output, takes fewer
 * cycles than the products on the host (host_cycles.def). */
static bool worth(const struct raw_sums *s, const struct ir_tensor *x)
{
    enum { CALLS = 300, BYTES = 27, JOIN = 168, PRODUCT = 16, OUTPUT = 149 };
    const uint64_t n = ir_elements(s->y), taps = (uint64_t)(s->kh * s->kw * s->k);

    return n * (taps * PRODUCT + OUTPUT) > CALLS + ir_elements(x) * BYTES + n * JOIN;
}

/* The product's own operator is a window without padding by name or activation. */
static void keep_window(struct ir_op *op)
{
    op->attr[IR_PADDING] = op->attr[IR_ACTIVATION] = op->attr[IR_NARROW] = 0;
    op->attr[IR_CLIP_LOW_BITS] = op->attr[IR_CLIP_HIGH_BITS] = op->attr[IR_MULTIPLIER] = 0;
}

static void rewrite(struct ir_graph *g, struct ir_op *op, struct raw_sums s[2])
{
    const uint32_t bias = op->n_in > 2 ? op->in[2] : IR_NONE;
    const int32_t narrow = op->attr[IR_NARROW];
    uint32_t in[3] = {0, 0, bias};
    struct ir_op *join;

    keep_window(op);
    for (uint32_t i = 0; i < 2; i++) {
        make_byte(g, op, (struct ir_tensor *)(uintptr_t)s[i].x, i == 0);
        in[i] = sys_raw_sums_digits(&s[i])->id;
    }
    join = lgl_make_join_wide(g, op->row, bias == IR_NONE ? 2 : 3, in, ir_out(g, op, 0));
    join->fixed = op->fixed;
    join->attr[IR_NARROW] = narrow;
    join->attr[IR_MULTIPLIER] = sys_raw_sums_each(&s[0]);
    op->dead = true;
}

static void wide_sums(struct ir_graph *g, struct ir_op *op, enum product kind,
                      const struct lgl_options *o)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1);
    struct ir_tensor *zero;
    struct raw_sums s[2];

    if (x->type != IR_I16 || w->role != IR_CONST || o->int16_elsewhere[op->opcode] ||
        is_halves(g, op, o))
        return;
    w = weights_of(g, op, kind);
    zero = lgl_new_constant(g, w->name, IR_I8, 0, NULL, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        s[i] = (struct raw_sums){.g = g,
                                 .op = op,
                                 .x = new_byte(g, op, kind, i == 0),
                                 .w = w,
                                 .zero_w = zero,
                                 .y = ir_out(g, op, 0),
                                 .conv = kind != DENSE,
                                 .hw = o->hw};
        if (!sys_raw_sums_fit(&s[i])) {
            g->row[op->row].limit = "sums of its bytes can reach 2^27";
            return;
        }
    }
    if (worth(&s[0], x))
        rewrite(g, op, s);
}

/* MEAN of int16 over rows and columns: a depthwise convolution with weights of 1, which rounds as int8's do, so that
 * the array runs it (halves.h). */
void sys_wide_mean(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    enum { ROWS_AND_COLUMNS = 6, MOST_SIDE = 255 };
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    if (!o->hw->lstm || x->type != IR_I16 || y->type != IR_I16 || x->rank != 4 ||
        op->fixed.n != 1 || op->attr[IR_AXIS] != ROWS_AND_COLUMNS || x->dim[1] > MOST_SIDE ||
        x->dim[2] > MOST_SIDE)
        return;
    if (y->rank != 4)
        lgl_keep_dims(g, op);
    memset(op->attr, 0, sizeof op->attr);
    op->attr[IR_KERNEL_H] = x->dim[1];
    op->attr[IR_KERNEL_W] = x->dim[2];
    op->attr[IR_STRIDE_H] = op->attr[IR_STRIDE_W] = op->attr[IR_NARROW] = 1;
    lgl_become_sums(g, op);
}

static struct ir_tensor *new_wide(struct ir_graph *g, const struct ir_tensor *like,
                                  const int32_t dim[4])
{
    struct ir_tensor *t = lgl_new_image(g, like, like->quant, dim);

    t->type = IR_I16;
    return t;
}

/* Return what a pool's windows have of dimension `axis` as their cell `i`: elements `stride` apart, inside the image. */
static const struct ir_tensor *cell_of(struct ir_graph *g, const struct ir_op *op,
                                       const struct ir_tensor *x, uint32_t axis, int32_t i)
{
    const bool columns = axis == 2;
    const int32_t n = ir_out(g, op, 0)->dim[axis], size = x->dim[axis],
                  stride = op->attr[columns ? IR_STRIDE_W : IR_STRIDE_H],
                  first = i - op->attr[columns ? IR_PAD_LEFT : IR_PAD_TOP];
    int32_t *from = ARENA_ARRAY(g->arena, int32_t, (size_t)n), begin[4] = {0},
            step[4] = {1, 1, 1, 1}, dim[4];
    struct ir_tensor *y;

    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = n;
    for (int32_t k = 0; k < n; k++) {
        const int32_t at = first + k * stride;

        from[k] = at < 0 ? 0 : at >= size ? size - 1 : at;
    }
    if (n == size && ir_map_step(from, n) == 1)
        return x;
    y = new_wide(g, x, dim);
    begin[axis] = from[0];
    step[axis] = stride;
    if (ir_map_step(from, n) == stride && (!columns || n * stride == size))
        lgl_new_slice(g, op->row, x, begin, step, y);
    else
        lgl_new_gather(g, op->row, x, axis, from, y);
    return y;
}

/* MAX_POOL2D of int16: the larger ones of two cells at a time, along columns, then rows; a window of one row has its
 * columns last. */
void sys_wide_pool(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const int32_t kernel[3] = {0, op->attr[IR_KERNEL_H], op->attr[IR_KERNEL_W]};
    const uint32_t last = kernel[1] == 1 ? 2 : 1;

    if (!o->hw->lstm || x->type != IR_I16 || y->type != IR_I16 || op->attr[IR_ACTIVATION] ||
        kernel[last] == 1)
        return;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t axis = k == 1 ? last : 3 - last;
        const struct ir_tensor *whole = x;

        x = cell_of(g, op, whole, axis, 0);
        for (int32_t i = 1; i < kernel[axis]; i++) {
            const uint32_t in[2] = {x->id, cell_of(g, op, whole, axis, i)->id};
            struct ir_tensor *most =
                k == 1 && i + 1 == kernel[axis] ? ir_out(g, op, 0) : new_wide(g, x, x->dim);

            lgl_make_maximum(g, op->row, 2, in, most)->fixed = op->fixed;
            x = most;
        }
    }
    op->dead = true;
}

void sys_wide_conv(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    wide_sums(g, op, CONV, o);
}

void sys_wide_depthwise(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    wide_sums(g, op, DEPTHWISE, o);
}

void sys_wide_dense(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    wide_sums(g, op, DENSE, o);
}

/* --- QUANTIZE between int8 and int16 --- */

static bool is_read_as_halves(const struct ir_graph *g, const struct ir_tensor *t,
                              const struct lgl_options *o)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == t->id && is_halves(g, g->op[i], o))
                return true;
    return false;
}

/* Fill table[0] with the upper byte of the result for each quantised value, table[1] with the lower one. */
static void fill_tables(const struct ir_graph *g, const struct ir_op *op, int8_t *const table[2])
{
    const struct ir_fixed *f = &op->fixed;
    const struct hdk_requantize p = {.n = 256,
                                     .z_in = ir_zero_point(ir_in(g, op, 0)),
                                     .act_min = f->act_min,
                                     .act_max = f->act_max,
                                     .multiplier = f->multiplier[0],
                                     .shift = f->shift[0]};
    int8_t x[256];
    int16_t y[256];

    for (int32_t i = 0; i < 256; i++)
        x[i] = (int8_t)(i - 128);
    hdk_i8_to_int16(&p, x, y);
    for (int32_t i = 0; i < 256; i++) {
        table[0][i] = (int8_t)(y[i] >> 8);
        table[1][i] = (int8_t)((y[i] & UINT8_MAX) + LOWER_ZERO);
    }
}

static void widen(struct ir_graph *g, struct ir_op *op)
{
    struct ir_tensor *y = ir_out(g, op, 0), *all = halves_of(g, y, y->name);
    const int32_t dim[4] = {all->dim[0], all->dim[1], all->dim[2] / 2, all->dim[3]};
    int8_t *const table[2] = {ARENA_ARRAY(g->arena, int8_t, 256),
                              ARENA_ARRAY(g->arena, int8_t, 256)};
    uint32_t part[2];

    fill_tables(g, op, table);
    for (uint32_t i = 0; i < 2; i++) {
        struct ir_tensor *to = lgl_new_image(g, all, all->quant, dim);
        const uint32_t x = lgl_in_shape(g, op->row, ir_in(g, op, 0), to);

        lgl_make_lut(g, op->row, 1, &x, to)->fixed.table = table[i];
        part[i] = to->id;
    }
    lgl_new_join(g, op->row, 2, part, 2, all);
    lgl_make_halves(g, op->row, 1, &all->id, y);
    op->dead = true;
}

/* The result in int16 of QUANTIZE `op`; NULL: it has no form of halves. */
static struct ir_tensor *wide_result(struct ir_graph *g, struct ir_op *op,
                                     const struct lgl_options *o)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    struct ir_tensor *wide = ir_tensor_new(g, y->name, IR_I16, y->rank, y->dim);
    struct ir_op *made;

    wide->quant = lgl_new_quant(g, y->quant.scale[0], 0);
    made = lgl_again(g, op, ir_in(g, op, 0), wide);
    made->fixed.act_min = -256;
    made->fixed.act_max = 255;
    made->dead = !is_halves(g, made, o);
    return made->dead ? NULL : wide;
}

/* A half of `all`: its upper bytes, or its lower ones. */
static struct ir_tensor *half_of(struct ir_graph *g, uint32_t row, const struct ir_tensor *all,
                                 bool upper)
{
    int32_t begin[4] = {0}, dim[4] = {all->dim[0], all->dim[1], all->dim[2] / 2, all->dim[3]};
    struct ir_tensor *y = lgl_new_image(g, all, all->quant, dim);

    begin[2] = upper ? 0 : dim[2];
    lgl_new_slice(g, row, all, begin, NULL, y);
    return y;
}

/* -1 for upper bytes below 0, otherwise 1: half of 256 times these, and the lower bytes' 128. */
static struct ir_tensor *sign_of(struct ir_graph *g, uint32_t row, const struct ir_tensor *x)
{
    struct ir_tensor *y = lgl_new_image(g, x, lgl_new_quant(g, 128, 0), x->dim);
    int8_t *table = ARENA_ARRAY(g->arena, int8_t, 256);

    for (int32_t i = 0; i < 256; i++)
        table[i] = i < 128 ? -1 : 1;
    lgl_make_lut(g, row, 1, &x->id, y)->fixed.table = table;
    return y;
}

static void narrow(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct lgl_fixed_scale scale[3] = {lgl_fixed_scale(0x1p-1), lgl_fixed_scale(0x1p-8),
                                             lgl_fixed_scale(0x1p-12)};
    struct ir_tensor *wide = wide_result(g, op, o), *all, *y = ir_out(g, op, 0), *sum;
    uint32_t part[2];
    struct ir_op *made;

    if (!wide)
        return;
    all = halves_of(g, wide, wide->name);
    lgl_make_halves(g, op->row, 1, &wide->id, all);
    part[0] = sign_of(g, op->row, half_of(g, op->row, all, true))->id;
    part[1] = half_of(g, op->row, all, false)->id;
    sum = lgl_new_image(g, y, y->quant, g->tensor[part[0]]->dim);
    made = lgl_make_add(g, op->row, 2, part, sum);
    lgl_set_scales(g, made, 3, scale);
    made->fixed.act_min = op->fixed.act_min;
    made->fixed.act_max = op->fixed.act_max;
    lgl_new_reshape(g, op->row, sum, y);
    op->dead = true;
}

void sys_wide_quantize(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    if (!o->hw->lstm || !op->fixed.n || op->fixed.n_real || o->int16_elsewhere[op->opcode])
        return;
    if (x->type == IR_I8 && y->type == IR_I16 && is_read_as_halves(g, y, o))
        widen(g, op);
    else if (x->type == IR_I16 && y->type == IR_I8 && x->role == IR_VALUE &&
             is_halves(g, g->op[x->producer], o))
        narrow(g, op, o);
}
