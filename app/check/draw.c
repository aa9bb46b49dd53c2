/* draw.c - random values within a pattern's limits, edges preferred; tensors; elementwise operators of two
 * operands. draw_products.c and others.c make the other operators. A case may reach for one value
 * (draw->reach): it is drawn up to the ends of its limit, and the others stay small. */
#include <string.h>

#include "base/random.h"
#include "draw.h"

static uint64_t next(struct check_cases *c)
{
    return random_next(&c->rng);
}

uint32_t check_random(struct check_cases *c, uint32_t n)
{
    return (uint32_t)(next(c) >> 33) % n;
}

float check_random_real(struct check_cases *c)
{
    return (float)((double)(next(c) >> 40) / (1 << 23) - 1);
}

static int64_t bound(const struct draw *w, const struct describe_bound *b, int64_t fallback)
{
    if (!b->given ||
        b->value != TARGET_VALUE_COUNT) /* fixed by another value: refused if it does not fit */
        return fallback;
    return b->attr ? w->target->setting[b->attr - w->target->desc->attr].number : b->number;
}

static int64_t pick(struct draw *w, int64_t low, int64_t high)
{
    switch (check_random(w->c, 6)) {
    case 0: return low;
    case 1: return low < high ? low + 1 : low;
    case 2: return high;
    case 3: return high > low ? high - 1 : high;
    default: return low + check_random(w->c, (uint32_t)(high - low) + 1);
    }
}

/* Return the size that a given operand requires: IN_* for windows, rows and reductions, OUT_* for
 * elementwise operators. */
static int64_t given_size(const struct draw *w, enum target_value value)
{
    const struct ir_tensor *t = w->given[0] ? w->given[0] : w->given[1];
    const bool window = describe_has_weights(w->p->opcode) ||
                        ir_op_has(w->p->opcode, IR_KERNEL_H) ||
                        ir_op_has(w->p->opcode, IR_KEEP_DIMS);
    static const enum target_value of[2][4] = {
        {TARGET_OUT_C, TARGET_OUT_W, TARGET_OUT_H, TARGET_BATCH},
        {TARGET_IN_C, TARGET_IN_W, TARGET_IN_H, TARGET_BATCH}};

    for (uint32_t i = 0; i < 4 && t; i++)
        if (of[window][i] == value)
            return ir_dim_back(t, i);
    return -1;
}

bool draw_reaches(const struct draw *w, enum target_value value)
{
    return w->reach == value || (w->both && w->second == value) || w->fixed[value] > 0;
}

static bool fixes(const struct draw *w)
{
    for (uint32_t i = 0; i < TARGET_VALUE_COUNT; i++)
        if (w->fixed[i] > 0)
            return true;
    return false;
}

int64_t draw_few(const struct draw *w, int64_t usual)
{
    if (fixes(w))
        return 1;
    return w->reach == TARGET_VALUE_COUNT || usual < 4 ? usual : 4;
}

/* A number of as many digits as any other between low and high. */
static int64_t spread(struct draw *w, int64_t low, int64_t high)
{
    uint32_t bits = 1;

    while (high - low >= (int64_t)1 << bits && bits < 31)
        bits++;
    const int64_t top = (int64_t)1 << (1 + check_random(w->c, bits));
    return low + check_random(w->c, (uint32_t)(top < high - low ? top : high - low) + 1);
}

static int64_t pick_in(struct draw *w, enum target_value value, int64_t low, int64_t high)
{
    if (!draw_reaches(w, value))
        return pick(w, low, high);
    if (value == w->reach && high - low < DRAW_SMALL)
        return high - w->nth % (high - low + 1);
    return w->to_end && (value == w->reach || w->corner) ? high : spread(w, low, high);
}

/* Where a limit has no end: how far a case reaches. */
static int64_t far(const struct draw *w, enum target_value value, int64_t usual)
{
    switch (value) {
    case TARGET_KERNEL_H:
    case TARGET_KERNEL_W: return describe_has_weights(w->p->opcode) ? 16 : 64;
    case TARGET_STRIDE_H:
    case TARGET_STRIDE_W: return 8;
    case TARGET_DILATION_H:
    case TARGET_DILATION_W: return 4;
    case TARGET_MULTIPLIER: return 4;
    case TARGET_BATCH: return w->p->call ? 6 : usual;
    case TARGET_IN_H:
    case TARGET_IN_W:
    case TARGET_OUT_H:
    case TARGET_OUT_W:
    case TARGET_IN_C:
    case TARGET_OUT_C: return 3000;
    default: return usual;
    }
}

static const struct describe_limit *limit_of(const struct draw *w, enum target_value value)
{
    for (uint32_t i = 0; i < w->p->n_limit; i++)
        if (w->p->limit[i].value == value)
            return &w->p->limit[i];
    return NULL;
}

int64_t draw_end(const struct draw *w, enum target_value value)
{
    const struct describe_limit *l = limit_of(w, value);
    int64_t most = l && l->n_one_of ? l->one_of[0] : -1;

    for (uint32_t i = 1; l && i < l->n_one_of; i++)
        most = l->one_of[i] > most ? l->one_of[i] : most;
    return l && !l->n_one_of && l->high.given ? bound(w, &l->high, -1) : most;
}

void draw_range(const struct draw *w, enum target_value value, int64_t *low, int64_t *high,
                int64_t *unit)
{
    const struct describe_limit *l = limit_of(w, value);
    const int64_t end = draw_end(w, value);

    *high = end >= 0 ? end : far(w, value, 1);
    *low = l && l->n_one_of ? *high : l ? bound(w, &l->low, 1) : 1;
    *unit = l ? bound(w, &l->multiple, 1) : 1;
    *unit = *unit > 0 ? *unit : 1;
}

int64_t draw_value(struct draw *w, enum target_value value, int64_t low, int64_t high)
{
    const int64_t given = given_size(w, value);
    const struct describe_limit *l = limit_of(w, value);

    if (given >= 0)
        return w->v[value] = given;
    if (w->fixed[value] > 0)
        return w->v[value] = w->fixed[value];
    if (draw_reaches(w, value))
        high = l && l->high.given ? bound(w, &l->high, high) : far(w, value, high);
    if (!l)
        return w->v[value] = pick_in(w, value, low, high < low ? low : high);
    if (l->n_one_of)
        return w->v[value] = l->one_of[check_random(w->c, l->n_one_of)];
    int64_t least = bound(w, &l->low, low), most = bound(w, &l->high, high);
    int64_t unit = bound(w, &l->multiple, 1);
    low = least > low || !l->low.given ? least : low < least ? least : low;
    high = most < high ? most : high < low ? low : high;
    unit = unit > 0 ? unit : 1;
    if (high < unit && unit > 1)
        high = most < unit ? high : unit * 2;
    high = high < low ? low : high;
    const int64_t v = pick_in(w, value, low, high), up = (v + unit - 1) / unit * unit;
    return w->v[value] = up > most && up - unit >= low ? up - unit : up;
}

void draw_fill(struct draw *w, enum target_value bytes, int64_t each, int64_t *a, int64_t *b)
{
    const struct describe_limit *l = limit_of(w, bytes);
    const struct describe *t = describe_of(w->target);
    const uint32_t core = t->core_top && !t->on_host ? t->core_bytes : 0;
    int64_t most = core && core / 4 < 100000 ? core / 4 : 100000;

    if (w->reach != bytes || fixes(w) || w->given[0] || w->given[1])
        return;
    if (l && l->high.given)
        most = bound(w, &l->high, most);
    most = most < 400000 ? most : 400000;
    most = w->to_end ? most : 1 + check_random(w->c, (uint32_t)most);
    const int64_t n = most / (each * ir_type_bytes(w->p->dtype));
    *a = spread(w, 1, n > 1 ? n : 1);
    if (w->to_end && check_random(w->c, 2)) /* a square: its sides are seldom long */
        for (*a = 1; *a * *a < n;)
            ++*a;
    *b = n / *a > 1 ? n / *a : 1;
    w->v[bytes] = most;
}

/* --- one operator --- */

struct ir_tensor *draw_tensor(struct ir_graph *g, enum ir_type type, uint32_t rank,
                              const int32_t *dim, uint32_t n_scale, const float *scale,
                              const int32_t *zero)
{
    struct ir_tensor *t = ir_tensor_new(g, "t", type, rank, dim);

    t->quant = (struct ir_quant){.n = n_scale, .scale = scale, .zero_point = zero};
    return t;
}

/* Return the zero point for `value`; for weights with one scale and no zero point, the middle. */
int32_t draw_zero_point(struct draw *w, enum target_value value, bool may, bool of_weights)
{
    static const int32_t edges[] = {-128, 127, 0, -1};
    const int32_t more = w->p->dtype == IR_U8 ? 128 : 0;

    if (!may || w->p->dtype == IR_I16)
        return (int32_t)(w->v[value] = of_weights ? more : 0);
    int64_t z = check_random(w->c, 2) ? edges[check_random(w->c, 4)]
                                      : (int64_t)check_random(w->c, 256) - 128;
    if (w->reach != TARGET_VALUE_COUNT && value == TARGET_Z_OUT)
        z /= 3; /* sums of both signs show */
    if (w->kind == DRAW_SUMS && value == TARGET_Z_IN)
        z = -128;
    return (int32_t)(w->v[value] = z + more);
}

float draw_scale(const struct ir_tensor *t, float fallback)
{
    return t->quant.n ? t->quant.scale[0] : fallback;
}

struct ir_tensor *draw_activation(struct draw *w, struct ir_graph *g, const int32_t dim[4],
                                  float scale, enum target_value zero, bool input)
{
    struct ir_tensor *given = input && w->operand < 2 ? w->given[w->operand] : NULL;

    w->operand += input;
    if (given) {
        w->misfit = w->misfit || memcmp(given->dim, dim, 4 * sizeof *dim) != 0;
        return given;
    }
    float *s = ARENA_NEW(g->arena, float);
    int32_t *z = ARENA_NEW(g->arena, int32_t);

    *s = scale;
    *z = draw_zero_point(w, zero, w->p->zero_points != ZERO_NONE, false);
    struct ir_tensor *t = w->p->dtype == IR_F32 ? draw_tensor(g, IR_F32, 4, dim, 0, NULL, NULL)
                                                : draw_tensor(g, w->p->dtype, 4, dim, 1, s, z);
    if (input)
        t->role = IR_INPUT;
    return t;
}

uint8_t *draw_data(struct draw *w, const struct ir_tensor *t)
{
    uint64_t n = ir_bytes(t);
    uint8_t *data = arena_alloc(w->c->arena, (size_t)n);

    for (uint64_t i = 0; i < n && t->type != IR_F32; i++)
        data[i] = (uint8_t)check_random(w->c, 256);
    for (uint64_t i = 0; i < n && t->type == IR_F32; i += sizeof(float)) {
        float v = check_random_real(w->c);
        memcpy(data + i, &v, sizeof v);
    }
    return data;
}

int32_t draw_activation_of(struct draw *w)
{
    uint32_t a;

    if (w->reach != TARGET_VALUE_COUNT && (w->p->activations & 1u << IR_ACT_NONE))
        return IR_ACT_NONE;
    do
        a = check_random(w->c, 4);
    while (!(w->p->activations >> a & 1));
    return (int32_t)a;
}

struct ir_op *draw_finish(struct draw *w, struct ir_graph *g, struct ir_tensor *const *in,
                          uint32_t n_in, struct ir_tensor *y)
{
    struct ir_op *op = ir_op_new(g, w->p->opcode, g->n_row, n_in, 1);

    for (uint32_t i = 0; i < n_in; i++)
        op->in[i] = in[i] ? in[i]->id : IR_NONE;
    op->out[0] = y->id;
    y->producer = op->id;
    y->is_output = true;
    return op;
}

/* Draw a second shape that is broadcast to the first operand's, or to which that is broadcast. */
static void other_shape(struct draw *w, const int32_t a[4], int32_t b[4])
{
    const uint32_t kind = w->broadcast ? check_random(w->c, 3) : 0; /* equal, one per channel, or a
                                                                     * single number */

    for (uint32_t i = 0; i < 4; i++)
        b[i] = kind == 0 ? a[i] : 1;
    if (kind == 1)
        b[3] = a[3] > 1 ? a[3] : w->channels ? w->channels : 1 + (int32_t)check_random(w->c, 19);
}

void draw_image(struct draw *w, int32_t x[4])
{
    int64_t h = draw_value(w, TARGET_OUT_H, 1, draw_few(w, 9)),
            v = draw_value(w, TARGET_OUT_W, 1, draw_few(w, 9));

    x[0] = 1;
    x[3] = (int32_t)draw_value(w, TARGET_OUT_C, 1, draw_few(w, 19));
    draw_fill(w, TARGET_IN_BYTES, x[3], &h, &v);
    draw_fill(w, TARGET_OUT_BYTES, x[3], &h, &v);
    x[1] = (int32_t)(w->v[TARGET_OUT_H] = h);
    x[2] = (int32_t)(w->v[TARGET_OUT_W] = v);
}

void draw_two_shapes(struct draw *w, int32_t a[4], int32_t b[4], int32_t y[4])
{
    const struct ir_tensor *const *t = (const struct ir_tensor *const *)w->given;
    int32_t *known = !t[0] && t[1] ? b : a, *other = known == a ? b : a;

    draw_image(w, known);
    known[0] = (int32_t)draw_value(w, TARGET_BATCH, 1, 2);
    if (t[0] && t[1])
        memcpy(other, t[1]->dim, 4 * sizeof *other);
    else
        other_shape(w, known, other);
    for (uint32_t i = 0; i < 4; i++)
        y[i] = a[i] > b[i] ? a[i] : b[i];
}

bool draw_elementwise(struct draw *w, struct ir_graph *g)
{
    int32_t a[4] = {0}, b[4] = {0}, y[4];

    draw_two_shapes(w, a, b, y);
    float s[3] = {0.25f, 0.25f * (1 + (float)check_random(w->c, 100) / 50), 0.5f};

    struct ir_tensor *in[2];
    in[0] = draw_activation(w, g, a, s[0], TARGET_Z_IN, true);
    in[1] = draw_activation(w, g, b, s[1], TARGET_Z_IN2, true);
    if (w->given[0] || w->given[1])
        s[2] = draw_scale(in[0], s[0]) + draw_scale(in[1], s[1]);
    if (w->p->opcode == IR_OP_MUL)
        s[2] = draw_scale(in[0], s[0]) * draw_scale(in[1], s[1]) * 100;
    struct ir_tensor *out = draw_activation(w, g, y, s[2], TARGET_Z_OUT, false);
    draw_finish(w, g, in, 2, out)->attr[IR_ACTIVATION] = draw_activation_of(w);
    return true;
}
