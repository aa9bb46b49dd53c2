/* halves.c - see halves.h. */
#include "halves.h"

#include <string.h>

#include "compiler/ir/rules.h"
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"
#include "compiler/systolic/layout/geometry.h"
#include "compiler/systolic/schedule/sched.h"
#include "curve.h"

/* Shifts right that 16 bits of the multiplier below its 15 leave room for. */
enum { MOST_RIGHT = 16 };

/* Return true for ADD, SUB, MUL, MAXIMUM and MINIMUM of two int16 tensors. */
static bool is_pair(const struct ir_graph *g, const struct ir_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (ir_in(g, op, i)->type != IR_I16)
            return false;
    return op->n_in == 2 && ir_op_has(op->opcode, IR_HALVES) && ir_out(g, op, 0)->type == IR_I16;
}

static bool is_extremum(const struct ir_graph *g, const struct ir_op *op)
{
    return is_pair(g, op) && ir_op_info(op->opcode)->onnx_one_scale;
}

/* Return true for an operator that scales one int16 tensor by one number: QUANTIZE, RELU. */
static bool is_scaled(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);
    const struct ir_fixed *f = &op->fixed;

    return op->n_in == 1 && (info->keeps_values || info->activation) && f->n &&
           ir_in(g, op, 0)->type == IR_I16 && ir_out(g, op, 0)->type == IR_I16 &&
           (f->n == 1 || (f->multiplier[0] == f->multiplier[1] && f->shift[0] == f->shift[1]));
}

/* Return true for one that VECTOR computes. */
static bool is_vectors(const struct ir_graph *g, const struct ir_op *op)
{
    return is_pair(g, op) || is_scaled(g, op);
}

/* Return true for one that moves int16: CONCATENATION, SLICE, GATHER at constant places. */
static bool is_mover(const struct ir_graph *g, const struct ir_op *op)
{
    return ir_op_info(op->opcode)->of_halves && ir_in(g, op, 0)->type == IR_I16 &&
           (ir_is_join(op) || ir_in(g, op, 1)->role == IR_CONST);
}

uint32_t halves_operands(const struct ir_graph *g, const struct ir_op *op)
{
    return is_pair(g, op) ? 2 : is_mover(g, op) && ir_is_join(op) ? op->n_in : 1;
}

/* Return true for one with constant int8 weights. */
static bool is_product(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = op->n_in > 1 ? ir_in(g, op, 0) : NULL,
                           *w = x ? ir_in(g, op, 1) : NULL;

    return w && (ir_op_has(op->opcode, IR_DIGITS) || ir_op_has(op->opcode, IR_HALVES)) &&
           x->type == IR_I16 && w->type == IR_I8 && w->role == IR_CONST &&
           ir_out(g, op, 0)->type == IR_I16;
}

bool halves_kind(const struct ir_graph *g, const struct ir_op *op)
{
    return is_vectors(g, op) || is_mover(g, op) || curve_kind(g, op) || is_product(g, op);
}

static int64_t bias_at(const struct ir_tensor *b, uint64_t channel)
{
    int64_t v = 0;

    if (b)
        memcpy(&v, b->data + 8 * channel, sizeof v);
    return v;
}

static int64_t bound_of(const struct ir_op *op)
{
    return op && ir_op_info(op->opcode)->fuses_clamp && op->fixed.n ? op->fixed.act_min : INT16_MIN;
}

/* Return true if `t` has no value below 0: by the bound of what makes it, or because that moves, scales or compares such
 * tensors. seen: by tensor, those that are asked for already. */
static bool is_positive(const struct ir_graph *g, const struct ir_tensor *t, bool *seen)
{
    const struct ir_op *op = t->role == IR_VALUE ? g->op[t->producer] : NULL;
    const struct ir_op_info *info = op ? ir_op_info(op->opcode) : NULL;
    bool positive = op && (info->moves || info->keeps_values || is_extremum(g, op));

    if (seen[t->id] || bound_of(op) >= 0)
        return true;
    seen[t->id] = true;
    for (uint32_t i = 0; positive && i < ir_n_data(op); i++)
        positive = ir_in(g, op, i)->type == IR_I16 && is_positive(g, ir_in(g, op, i), seen);
    return positive;
}

/* Return the least value of `t`: the bound of what makes it, or 0. */
static int64_t least_value(const struct ir_graph *g, const struct ir_tensor *t)
{
    const int64_t bound = bound_of(t->role == IR_VALUE ? g->op[t->producer] : NULL);
    struct arena *own = arena_beside(g->arena);
    const bool positive = is_positive(g, t, ARENA_ARRAY(own, bool, g->n_tensor));

    arena_free(own);
    return bound < 0 && positive ? 0 : bound;
}

/* Return true if a sum of values from `low` on and its bias, shifted left by `left`, can leave 32 bits. Weights are
 * [OC,..,K], of a depthwise convolution [1,KH,KW,OC]. */
static bool overflows(const struct ir_graph *g, const struct ir_op *op, uint64_t channel,
                      int64_t low, int32_t left)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const uint64_t channels = (uint64_t)ir_dim_back(ir_out(g, op, 0), 0),
                   n = ir_elements(w) / channels;
    const int64_t b = bias_at(ir_in(g, op, 2), channel), most = INT32_MAX >> left;
    int64_t up = 0, down = 0;

    for (uint64_t i = 0; i < n; i++) {
        const int64_t v =
            (int8_t)w->data[ir_is_depthwise(op) ? i * channels + channel : channel * n + i];

        up += v * (v > 0 ? INT16_MAX : low);
        down += v * (v > 0 ? low : INT16_MAX);
    }
    return b > most || b < -most || up > most - (b > 0 ? b : 0) || down < -most - (b < 0 ? b : 0);
}

static uint64_t rows_of(const struct ir_tensor *t)
{
    return ir_elements(t) / (uint64_t)ir_dim_back(t, 0);
}

/* Return true if an operand has the rows of the result, or one for all; images are seen in full later. */
static bool spreads(const struct ir_tensor *t, const struct ir_tensor *y)
{
    return rows_of(t) == rows_of(y) || rows_of(t) == 1 || (t->rank == 4 && y->rank == 4);
}

static const char *pair_refusal(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_fixed *f = &op->fixed;

    if (f->n_real)
        return "it rounds in float32";
    if (f->n && f->shift[is_scaled(g, op) ? 0 : f->n - 1] > 0)
        return "its result has a finer scale than its operands' product or sum";
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!spreads(ir_in(g, op, i), ir_out(g, op, 0)))
            return "an operand is broadcast along rows";
    return NULL;
}

/* Return the halves' dimension for dimension `axis` of `t`, which has `unit` of the halves' for each of its own. */
static uint32_t half_axis(const struct ir_tensor *t, uint32_t axis, int32_t *unit)
{
    *unit = 1;
    if (t->rank == 4)
        return axis;
    for (uint32_t i = axis + 1; i + 1 < t->rank; i++)
        *unit *= t->dim[i];
    return axis + 1 < t->rank ? 1 : 3;
}

/* Return true if a part along dimension `axis` is one of the halves: all before it is 1, or it has channels. */
static bool parts_alike(const struct ir_tensor *t, uint32_t axis)
{
    bool outermost = true;

    for (uint32_t i = 0; i < axis; i++)
        outermost &= t->dim[i] == 1;
    return axis + 1 == t->rank || (t->rank == 4 ? axis < 2 : outermost);
}

static const char *mover_refusal(const struct ir_graph *g, const struct ir_op *op)
{
    static const char *const why = "the bytes of int16 move alike along rows and channels alone";
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    if (ir_is_join(op))
        return parts_alike(y, (uint32_t)op->attr[IR_AXIS]) ? NULL : why;
    if (ir_op_has(op->opcode, IR_AXIS))
        return x->rank == 4 && y->rank == 4 && op->attr[IR_AXIS] > 0 ? NULL : why;
    for (uint32_t i = 0; i < x->rank; i++) {
        const int32_t step = op->n_in > 2 ? ir_const_i32(ir_in(g, op, 2), i) : 1;
        const bool each = step * y->dim[i] == x->dim[i]; /* of both halves alike */

        if ((step != 1 && x->rank != 4) || (!each && !parts_alike(x, i)))
            return why;
    }
    return NULL;
}

static const char *scale_refusal(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *b = ir_in(g, op, 2);
    const int64_t low = least_value(g, ir_in(g, op, 0));
    const uint64_t channels = (uint64_t)ir_dim_back(ir_out(g, op, 0), 0);

    if (b && (b->role != IR_CONST || b->type != IR_I64))
        return "its bias is not a constant of int64";
    for (uint64_t c = 0; c < channels; c++) {
        const int32_t shift = op->fixed.shift[op->fixed.n > 1 ? c : 0];

        if (op->attr[IR_NARROW] == 0 && shift < -MOST_RIGHT)
            return "its scale is below 2^-17";
        if (overflows(g, op, c, low, shift > 0 ? shift : 0))
            return "its sums of int16 can leave 32 bits";
    }
    return NULL;
}

const char *halves_refusal(const struct ir_graph *g, const struct ir_op *op,
                           const struct hd_config *hw)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const bool window = ir_op_has(op->opcode, IR_KERNEL_H);
    uint32_t oh, ow, oc;

    if (!hw->lstm)
        return "int16 needs the option lstm";
    if (is_mover(g, op))
        return mover_refusal(g, op);
    if (curve_kind(g, op))
        return hw->softmax_rows == 0 ? "its table needs softmax_rows" : curve_refusal(op);
    if ((op->fixed.n == 0 && !is_extremum(g, op)) || (w && ir_zero_point(w) != 0))
        return "it has no fixed-point constants";
    if ((op->fixed.act_min & UINT8_MAX) != 0 || (op->fixed.act_max & UINT8_MAX) != UINT8_MAX)
        return "a bound of its activation is inside a step of 256";
    if (is_vectors(g, op))
        return pair_refusal(g, op);
    geo_image(y, &oh, &ow, &oc);
    if (ow > hw->acc_depth)
        return "a row of int16 has more pixels than the array accumulators";
    if (window && !ir_is_depthwise(op) && w->dim[3] != x->dim[3])
        return "convolutions of int16 in groups of channels are the host's";
    return scale_refusal(g, op);
}

struct ir_tensor *halves_of(struct ir_graph *g, const struct ir_tensor *t, const char *name)
{
    int32_t dim[4];
    struct ir_tensor *y;

    ir_halves_shape(t, dim);
    y = ir_tensor_new(g, name, IR_I8, 4, dim);
    y->quant = lgl_new_quant(g, t->quant.scale[0], 0);
    return y;
}

/* [OC,..,K] as [KH,KW,K,OC]; [1,KH,KW,OC] stays, and so do a transposed convolution's. */
static uint32_t new_weights(struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const bool dense = w->rank == 2;
    const int32_t oc = w->dim[0],
                  dim[4] = {dense ? 1 : w->dim[1], dense ? 1 : w->dim[2], w->dim[w->rank - 1], oc};
    struct ir_tensor *t;

    if (ir_is_depthwise(op) || !ir_op_has(op->opcode, IR_WEIGHTS_KO))
        return w->id;
    t = lgl_constant_like(g, w, 4, dim,
                          lgl_turned(g, w->data, (size_t)oc, (size_t)ir_elements(w) / (size_t)oc));
    t->quant = lgl_new_quant(g, 1, 0);
    return t->id;
}

static uint32_t new_bias(struct ir_graph *g, const struct ir_op *op, int32_t channels)
{
    int32_t *v = ARENA_ARRAY(g->arena, int32_t, (size_t)channels);

    for (int32_t c = 0; c < channels; c++)
        v[c] = (int32_t)bias_at(ir_in(g, op, 2), (uint64_t)c);
    return lgl_new_numbers(g, (uint32_t)channels, v);
}

/* MBQM64 rounds once, as MBQM does without a shift to the right: its 15 bits of the multiplier are moved instead. */
static void set_scales(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_fixed f = op->fixed;
    struct lgl_fixed_scale *scale = ARENA_ARRAY(g->arena, struct lgl_fixed_scale, f.n);

    for (uint32_t i = 0; i < f.n; i++) {
        const int32_t m = f.multiplier[i], shift = f.shift[i], left = shift > 0 ? shift : 0,
                      bits = m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff;

        scale[i] = op->attr[IR_NARROW]
                       ? (struct lgl_fixed_scale){m, (int8_t)shift}
                       : (struct lgl_fixed_scale){bits << (16 + shift - left), (int8_t)left};
    }
    lgl_set_scales(g, op, f.n, scale);
    op->fixed.act_min = f.act_min >> 8;
    op->fixed.act_max = f.act_max >> 8;
}

/* A constant as halves. */
static const struct ir_tensor *constant_of(struct ir_graph *g, const struct ir_tensor *t)
{
    struct ir_tensor *y = halves_of(g, t, t->name);
    const uint64_t n = ir_elements(t), row = (uint64_t)(y->dim[2] / 2 * y->dim[3]);
    uint8_t *data = ARENA_ARRAY(g->arena, uint8_t, 2 * n);

    for (uint64_t i = 0; i < n; i++) {
        uint8_t *upper = data + i / row * 2 * row + i % row;

        upper[0] = t->data[2 * i + 1];
        upper[row] = t->data[2 * i] ^ 0x80;
    }
    y->role = IR_CONST;
    y->data = data;
    return y;
}

/* The number 1 as halves. */
static const struct ir_tensor *one(struct ir_graph *g)
{
    const int8_t halves[2] = {0, 1 - 128};
    struct ir_tensor *t =
        lgl_new_constant(g, "one", IR_I8, 4, (const int32_t[]){1, 1, 2, 1}, halves);

    t->quant = lgl_new_quant(g, 1, 0);
    return t;
}

/* One that scales is a product by 1. */
static void turn_pair(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *const x[2])
{
    const bool scaled = op->n_in == 1;
    uint32_t in[2];

    for (uint32_t i = 0; i < 2; i++)
        in[i] = x[i] ? x[i]->id : scaled ? one(g)->id : constant_of(g, ir_in(g, op, i))->id;
    if (scaled) {
        memset(op->attr, 0, sizeof op->attr);
        lgl_become_product(op);
    }
    op->n_in = 2;
    op->in = arena_memdup(g->arena, in, sizeof in);
    op->fixed.act_min >>= 8;
    op->fixed.act_max >>= 8;
    op->attr[IR_HALVES] = 1;
}

/* SLICE's beginnings or steps for the halves' dimensions. */
static uint32_t turn_numbers(struct ir_graph *g, const struct ir_op *op, uint32_t i)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *p = ir_in(g, op, i);
    int32_t v[4] = {0}, unit;

    for (uint32_t k = 0; k < x->rank; k++) {
        const uint32_t axis = half_axis(x, k, &unit);

        v[axis] += unit * ir_const_i32(p, k);
    }
    for (uint32_t k = 0; k < 4 && i > 1; k++)
        v[k] = x->rank == 4 ? v[k] : 1;
    return lgl_new_numbers(g, 4, v);
}

/* The columns of GATHER: its own of the upper halves, then of the lower ones. */
static uint32_t turn_columns(struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *p = ir_in(g, op, 1);
    const uint32_t n = (uint32_t)ir_elements(p);
    int32_t *v = ARENA_ARRAY(g->arena, int32_t, 2 * (size_t)n);

    for (uint32_t k = 0; k < n; k++) {
        v[k] = geo_number(p, k);
        v[n + k] = v[k] + x->dim[2];
    }
    return lgl_new_numbers(g, 2 * n, v);
}

/* Let the operator move the halves instead of int16. */
static void turn_mover(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *const *x)
{
    uint32_t *in = arena_memdup(g->arena, op->in, op->n_in * sizeof *in);
    int32_t unit;

    if (ir_is_join(op))
        op->attr[IR_AXIS] =
            (int32_t)half_axis(ir_out(g, op, 0), (uint32_t)op->attr[IR_AXIS], &unit);
    else if (!ir_op_has(op->opcode, IR_AXIS))
        for (uint32_t i = 1; i < op->n_in; i++)
            in[i] = turn_numbers(g, op, i);
    else if (op->attr[IR_AXIS] == 2)
        in[1] = turn_columns(g, op);
    for (uint32_t i = 0; i < halves_operands(g, op); i++)
        in[i] = x[i] ? x[i]->id : constant_of(g, ir_in(g, op, i))->id;
    op->in = in;
}

/* A product becomes a convolution of halves. */
static void turn_product(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *x,
                         int32_t channels)
{
    const bool dense = !ir_op_has(op->opcode, IR_KERNEL_H);
    const uint32_t in[3] = {x->id, new_weights(g, op), new_bias(g, op, channels)};

    set_scales(g, op);
    op->in = arena_memdup(g->arena, in, sizeof in);
    op->n_in = 3;
    if (dense) {
        memset(op->attr, 0, sizeof op->attr);
        lgl_become_conv(op);
        op->attr[IR_KERNEL_H] = op->attr[IR_KERNEL_W] = 1;
        for (uint32_t i = IR_STRIDE_H; i <= IR_DILATION_W; i++)
            op->attr[i] = 1;
    }
    op->attr[IR_NARROW] = 0;
    op->attr[IR_WEIGHTS_KO] = ir_op_has(op->opcode, IR_WEIGHTS_KO);
    op->attr[IR_HALVES] = 1;
}

void halves_turn(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *const *x,
                 const struct ir_tensor *y)
{
    if (is_mover(g, op))
        turn_mover(g, op, x);
    else if (curve_kind(g, op))
        curve_turn(g, op, x[0]);
    else if (is_vectors(g, op))
        turn_pair(g, op, x);
    else
        turn_product(g, op, x[0], y->dim[3]);
    op->out[0] = y->id;
}
bool halves_has_rows(const struct ir_graph *g, const struct ir_op *op)
{
    uint32_t h, w, c, oh, ow, oc;

    if (!is_product(g, op))
        return true;
    geo_image(ir_in(g, op, 0), &h, &w, &c);
    geo_image(ir_out(g, op, 0), &oh, &ow, &oc);
    return ir_op_has(op->opcode, IR_KERNEL_H) ||
           (c == (uint32_t)ir_in(g, op, 1)->dim[1] && h == oh && w == ow);
}

void halves_rows(const struct ir_tensor *t, int32_t n, int32_t dim[2])
{
    dim[0] = (int32_t)(ir_elements(t) / (uint64_t)n);
    dim[1] = n;
}

/* The tensors of a dense layer alone, as rows. */
static void shape_rows(struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    struct ir_tensor *t[2] = {ir_in(g, op, 0), ir_out(g, op, 0)};

    for (uint32_t i = 0; i < 2; i++) {
        int32_t dim[2];

        halves_rows(t[i], w->dim[1 - i], dim);
        t[i]->rank = 2;
        memcpy(t[i]->dim, dim, sizeof dim);
    }
}

struct ir_graph *halves_alone(struct arena *a, const struct ir_graph *g, const struct ir_op *op)
{
    struct ir_graph *one = sched_alone_graph(a, g, op);
    struct ir_op *copy = one->op[0];

    if (!halves_kind(one, copy))
        return one;
    if (!halves_has_rows(one, copy))
        shape_rows(one, copy);
    struct ir_tensor *y = halves_of(one, ir_out(one, copy, 0), "");
    const struct ir_tensor **x =
        ARENA_ARRAY(a, const struct ir_tensor *, halves_operands(one, copy));

    one->n_in = 0;
    for (uint32_t i = 0; i < halves_operands(one, copy); i++) {
        const struct ir_tensor *t = ir_in(one, copy, i);

        if (t->role == IR_CONST)
            continue;
        struct ir_tensor *half = halves_of(one, t, "");

        half->role = IR_INPUT;
        one->in[one->n_in++] = half->id;
        x[i] = half;
    }
    y->producer = copy->id;
    y->is_output = true;
    one->out[0] = y->id;
    halves_turn(one, copy, x, y);
    return one;
}
