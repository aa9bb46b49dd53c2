/* tosa_match.c - find operators of a TOSA file that are one quantised operator of the IR, with the
 * multipliers and shifts that the file states: sums with the RESCALE to int8 (and a CLAMP) after
 * them, and functions of one int8 value. DOUBLE_ROUND is the IR's own rounding (MBQM of
 * docs/NUMERICS.md); sums of two operands and averages are fused only if the results are the same
 * for all inputs, which is tried here. Other operators are computed one by one, on the host. */
#include <math.h>
#include <string.h>

#include "tosa_group.h"

/* A RESCALE with one multiplier, without unsigned values. */
struct rescale {
    int64_t multiplier, in_zero, out_zero, low, high;
    int32_t shift;
    bool twice;
};

static const struct tosa_operator *made_by(const struct tosa *m, uint32_t tensor)
{
    return m->maker[tensor] == TOSA_NONE ? NULL : &m->file->op[m->maker[tensor]];
}

static uint32_t file_type(const struct tosa *m, uint32_t tensor)
{
    return m->file->tensor[tensor].type;
}

static bool complete(const struct tosa_operator *op, uint32_t n)
{
    if (op->n_in != n || op->n_out != 1 || op->out[0] == TOSA_NONE)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (op->in[i] == TOSA_NONE)
            return false;
    return true;
}

/* Return true for a RESCALE by 32-bit multipliers, without unsigned values. */
static bool is_rescale(const struct tosa_operator *op)
{
    return op->code == TOSA_RESCALE && complete(op, 5) && op->a.scale32 && !op->a.in_unsigned &&
           !op->a.out_unsigned && !op->a.unknown;
}

/* Read constant integers `i` of op; NULL if they are none. */
static const int64_t *known(struct tosa *m, const struct tosa_operator *op, uint32_t i, uint32_t *n)
{
    const uint32_t id = m->id[op->in[i]];

    if (id == IR_NONE || m->g->tensor[id]->role != IR_CONST || m->g->tensor[id]->type == IR_F32)
        return NULL;
    return tosa_values(m, op, i, n);
}

/* Return true for a RESCALE whose multipliers, shifts and zero points are those of MBQM. */
static bool is_mbqm(struct tosa *m, const struct tosa_operator *op)
{
    uint32_t n, n_shift, n_zero;
    const int64_t *v, *shift, *zero;

    if (!is_rescale(op))
        return false;
    v = known(m, op, 1, &n);
    shift = known(m, op, 2, &n_shift);
    if (v == NULL || shift == NULL || n != n_shift)
        return false;
    for (uint32_t i = 3; i < 5; i++) {
        zero = known(m, op, i, &n_zero);
        if (zero == NULL || n_zero != 1)
            return false;
    }
    for (uint32_t i = 0; i < n; i++)
        if (v[i] < 0 || shift[i] < 2 || shift[i] > 62 ||
            (shift[i] > 31 && op->a.rounding != TOSA_DOUBLE_ROUND))
            return false;
    return true;
}

/* Read a RESCALE with one multiplier, of any rounding, between int8 and int32. */
static bool read_rescale(struct tosa *m, const struct tosa_operator *op, struct rescale *r)
{
    const int64_t *v[5];
    uint32_t n[5];

    if (!is_rescale(op))
        return false;
    for (uint32_t i = 1; i < 5; i++) {
        v[i] = known(m, op, i, &n[i]);
        if (v[i] == NULL || n[i] != 1)
            return false;
    }
    if (v[1][0] < 0 || v[2][0] < 2 || v[2][0] > 62)
        return false;
    *r = (struct rescale){.multiplier = v[1][0],
                          .shift = (int32_t)v[2][0],
                          .in_zero = v[3][0],
                          .out_zero = v[4][0],
                          .low = file_type(m, op->out[0]) == TOSA_INT8 ? INT8_MIN : INT32_MIN,
                          .high = file_type(m, op->out[0]) == TOSA_INT8 ? INT8_MAX : INT32_MAX,
                          .twice = op->a.rounding == TOSA_DOUBLE_ROUND};
    return file_type(m, op->out[0]) == TOSA_INT8 || file_type(m, op->out[0]) == TOSA_INT32;
}

static int64_t clamped(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static int64_t rescaled(const struct rescale *r, int64_t x)
{
    return clamped(tosa_apply_scale(x - r->in_zero, r->multiplier, r->shift, r->twice) +
                       r->out_zero,
                   r->low, r->high);
}

/* The int32 values of int8, as an operand's RESCALEs give them. */
struct mapping {
    int64_t value[256]; /* of -128 .. 127 */
    double scale;       /* about value / (x - zero) */
    int64_t multiplier;
};

/* Fill `o` and `map` for file tensor `t`; false if it is something else. */
static bool operand_of(struct tosa *m, uint32_t t, struct operand *o, struct mapping *map)
{
    struct rescale r[CHAIN];

    o->n = 0;
    map->scale = 1;
    map->multiplier = INT64_C(1) << 30;
    for (; file_type(m, t) != TOSA_INT8; o->n++) {
        const struct tosa_operator *op = made_by(m, t);

        if (op == NULL || o->n == CHAIN || m->uses[t] != 1 || m->group[m->maker[t]] != TOSA_NONE ||
            !read_rescale(m, op, &r[o->n]))
            return false;
        o->op[o->n] = m->maker[t];
        map->scale *= ldexp((double)r[o->n].multiplier, -r[o->n].shift);
        if (r[o->n].multiplier != INT64_C(1) << 30)
            map->multiplier = r[o->n].multiplier;
        t = op->in[0];
    }
    if (o->n == 0)
        return false;
    o->source = t;
    o->zero = (int32_t)r[o->n - 1].in_zero;
    for (int32_t x = -128; x < 128; x++) {
        map->value[x + 128] = x;
        for (uint32_t k = o->n; k-- > 0;)
            map->value[x + 128] = rescaled(&r[k], map->value[x + 128]);
    }
    return o->zero >= INT8_MIN && o->zero <= INT8_MAX;
}

/* Add a CLAMP that alone reads the result of operator `at`. */
static void add_clamp(struct tosa *m, uint32_t at, struct group *g)
{
    const uint32_t out = m->file->op[at].out[0], reader = m->reader[out];
    const struct tosa_operator *clamp = reader == TOSA_NONE ? NULL : &m->file->op[reader];

    g->low = INT8_MIN;
    g->high = INT8_MAX;
    g->clamp = TOSA_NONE;
    g->last = at;
    if (clamp == NULL || m->uses[out] != 1 || clamp->code != TOSA_CLAMP || !complete(clamp, 1) ||
        clamp->a.n_low != 1 || clamp->a.n_high != 1 || file_type(m, out) != TOSA_INT8)
        return;
    if ((int8_t)clamp->a.low[0] > (int8_t)clamp->a.high[0] || clamp->a.unknown)
        return;
    g->low = (int8_t)clamp->a.low[0];
    g->high = (int8_t)clamp->a.high[0];
    g->clamp = g->last = reader;
}

static int64_t mbqm(int64_t x, int32_t multiplier, int32_t shift)
{
    return tosa_apply_scale(x, multiplier, 31 - shift, true);
}

enum { HEADROOM = 20 }; /* bits by which ADD and SUB shift operands up */

/* Set the constants of ADD and SUB: the operands' scales, at most 1/2 and below 2^-20 of them, with
 * their multipliers; the sum's takes up the rest. */
static bool set_sum_scales(struct group *g, const struct mapping *map, const struct rescale *r)
{
    int32_t most = INT32_MIN;

    for (uint32_t i = 0; i < 2; i++) {
        const double e = log2(map[i].scale / (double)map[i].multiplier) + 31 - HEADROOM;

        if (!(e > -100 && e < 100))
            return false;
        g->multiplier[i] = (int32_t)map[i].multiplier;
        g->shift[i] = (int8_t)lround(e);
        most = g->shift[i] > most ? g->shift[i] : most;
    }
    g->shift[0] = (int8_t)(g->shift[0] - most);
    g->shift[1] = (int8_t)(g->shift[1] - most);
    if (31 - r->shift + most < -31 || 31 - r->shift + most > 0)
        return false;
    g->multiplier[2] = (int32_t)r->multiplier;
    g->shift[2] = (int8_t)(31 - r->shift + most);
    g->n = 3;
    return g->shift[0] >= -31 && g->shift[1] >= -31;
}

/* Return true if the IR's formula gives TOSA's result for all pairs of values. */
static bool same_pairs(const struct group *g, const struct mapping *map, enum tosa_opcode code,
                       const struct rescale *r)
{
    const int64_t *a = map[0].value, *b = map[1].value;
    int64_t up[2][256];

    for (int32_t i = 0; i < 256 && code != TOSA_MUL; i++)
        for (uint32_t k = 0; k < 2; k++)
            up[k][i] = mbqm((int64_t)(i - 128 - g->operand[k].zero) * (1 << HEADROOM),
                            g->multiplier[k], g->shift[k]);
    for (int32_t i = 0; i < 256; i++)
        for (int32_t k = 0; k < 256; k++) {
            const int64_t x = i - 128 - g->operand[0].zero, y = k - 128 - g->operand[1].zero;
            const int64_t theirs = code == TOSA_MUL   ? a[i] * b[k]
                                   : code == TOSA_ADD ? a[i] + b[k]
                                                      : a[i] - b[k];
            const int64_t ours = code == TOSA_MUL ? mbqm(x * y, g->multiplier[0], g->shift[0])
                                                  : mbqm(code == TOSA_ADD ? up[0][i] + up[1][k]
                                                                          : up[0][i] - up[1][k],
                                                         g->multiplier[2], g->shift[2]);

            if (theirs < INT32_MIN || theirs > INT32_MAX ||
                clamped(ours + g->zero, g->low, g->high) !=
                    clamped(rescaled(r, theirs), g->low, g->high))
                return false;
        }
    return true;
}

/* Change the sum's multiplier by up to 2^-15 of it until no pair of values is rounded otherwise than TOSA's. */
static bool near_pairs(struct group *g, const struct mapping *map, enum tosa_opcode code,
                       const struct rescale *r)
{
    for (int64_t by = 1; by <= 1 << 15; by *= 2)
        for (int64_t sign = -1; sign <= 1; sign += 2) {
            const int64_t m = r->multiplier + sign * by;

            g->multiplier[2] = (int32_t)clamped(m, 0, INT32_MAX);
            if (same_pairs(g, map, code, r))
                return true;
        }
    return false;
}

/* ADD, SUB, MUL of two int8 tensors and the RESCALE after it. */
static bool match_pair(struct tosa *m, struct group *g)
{
    const struct tosa_operator *op = &m->file->op[g->sum];
    const bool product = op->code == TOSA_MUL;
    uint32_t n;
    const int64_t *shift;
    struct mapping map[2];
    struct rescale r;

    if (!complete(op, product ? 3 : 2) || !read_rescale(m, &m->file->op[g->rescale], &r) ||
        !operand_of(m, op->in[0], &g->operand[0], &map[0]) ||
        !operand_of(m, op->in[1], &g->operand[1], &map[1]))
        return false;
    if (product) {
        shift = known(m, op, 2, &n);
        if (shift == NULL || shift[0] != 0)
            return false;
        g->n = 1;
        g->multiplier[0] = (int32_t)r.multiplier;
        g->shift[0] = (int8_t)(31 - r.shift);
    } else if (!set_sum_scales(g, map, &r))
        return false;
    return same_pairs(g, map, op->code, &r) || (!product && near_pairs(g, map, op->code, &r));
}

/* Sums over axes of an int8 tensor less its zero point, perhaps RESHAPEd. */
static bool match_mean(struct tosa *m, struct group *g)
{
    uint32_t t = m->file->op[g->rescale].in[0], sums = 0;
    struct operand *const o = &g->operand[0];
    const struct tosa_operator *op;
    struct mapping map;

    for (; (op = made_by(m, t)) != NULL; t = op->in[0], sums += op->code == TOSA_REDUCE_SUM) {
        if (m->uses[t] != 1 || m->group[m->maker[t]] != TOSA_NONE ||
            !(op->code == TOSA_REDUCE_SUM
                  ? complete(op, 1)
                  : sums == 0 && op->code == TOSA_RESHAPE && complete(op, 2)))
            break;
        g->sum = m->maker[t];
    }
    if (sums == 0 || !operand_of(m, t, o, &map))
        return false;
    for (int32_t x = -128; x < 128; x++)
        if (map.value[x + 128] != x - o->zero)
            return false;
    return true;
}

static bool is_zero(struct tosa *m, const struct tosa_operator *op, uint32_t i)
{
    uint32_t n;
    const int64_t *v = known(m, op, i, &n);

    return v != NULL && n == 1 && v[0] == 0;
}

/* Fill `g` for the RESCALE at `at` and what it reads; false if it is to be computed by itself. */
static bool match_rescale(struct tosa *m, uint32_t at, struct group *g)
{
    const struct tosa_operator *rescale = &m->file->op[at], *op;
    uint32_t n;

    memset(g, 0, sizeof *g);
    if (!is_mbqm(m, rescale) || file_type(m, rescale->out[0]) != TOSA_INT8 ||
        file_type(m, rescale->in[0]) != TOSA_INT32 || m->uses[rescale->in[0]] != 1 ||
        !is_zero(m, rescale, 3))
        return false;
    op = made_by(m, rescale->in[0]);
    if (op == NULL || m->group[m->maker[rescale->in[0]]] != TOSA_NONE)
        return false;
    g->rescale = at;
    g->sum = m->maker[rescale->in[0]];
    g->zero = (int32_t)*known(m, rescale, 4, &n);
    if (g->zero < INT8_MIN || g->zero > INT8_MAX)
        return false;
    add_clamp(m, at, g);
    (void)known(m, rescale, 1, &n);
    if (op->code == TOSA_CONV2D || op->code == TOSA_DEPTHWISE_CONV2D)
        return complete(op, 5) && file_type(m, op->in[0]) == TOSA_INT8 && is_zero(m, op, 4) &&
               m->id[op->in[1]] != IR_NONE;
    if (n != 1)
        return false;
    if (op->code == TOSA_ADD || op->code == TOSA_SUB || op->code == TOSA_MUL)
        return match_pair(m, g);
    if (op->code == TOSA_MATMUL)
        return complete(op, 4) && file_type(m, op->in[0]) == TOSA_INT8;
    return match_mean(m, g);
}

static void keep(struct tosa *m, const struct group *g)
{
    m->found[g->last] = arena_memdup(m->arena, g, sizeof *g);
    m->group[g->last] = g->last;
}

/* Set m->group of all that `g` is made of. */
static void mark(struct tosa *m, const struct group *g)
{
    for (uint32_t t = m->file->op[g->rescale].in[0]; m->maker[t] != g->sum;
         t = made_by(m, t)->in[0])
        m->group[m->maker[t]] = g->last;
    m->group[g->sum] = m->group[g->rescale] = g->last;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < g->operand[i].n; k++)
            m->group[g->operand[i].op[k]] = g->last;
    keep(m, g);
}

/* Set value[x + 128] to what the operator computes of int8 x; false if it is no such function. */
static bool byte_function(struct tosa *m, const struct tosa_operator *op, int8_t value[256])
{
    const struct ir_tensor *table;
    struct rescale r;

    if (op->n_in == 0 || op->in[0] == TOSA_NONE || op->n_out != 1 || op->out[0] == TOSA_NONE ||
        file_type(m, op->in[0]) != TOSA_INT8 || file_type(m, op->out[0]) != TOSA_INT8)
        return false;
    if (op->code == TOSA_TABLE && complete(op, 2) && m->id[op->in[1]] != IR_NONE) {
        table = m->g->tensor[m->id[op->in[1]]];
        if (table->role != IR_CONST || table->type != IR_I8 || ir_elements(table) != 256)
            return false;
        memcpy(value, table->data, 256);
        return true;
    }
    if (op->code == TOSA_CLAMP && op->a.n_low == 1 && op->a.n_high == 1 && !op->a.unknown &&
        (int8_t)op->a.low[0] <= (int8_t)op->a.high[0]) {
        for (int32_t x = -128; x < 128; x++)
            value[x + 128] = (int8_t)clamped(x, (int8_t)op->a.low[0], (int8_t)op->a.high[0]);
        return true;
    }
    if (!read_rescale(m, op, &r))
        return false;
    for (int32_t x = -128; x < 128; x++)
        value[x + 128] = (int8_t)rescaled(&r, x);
    return true;
}

/* Return true if the IR's average of n values is TOSA's for all sums; *up: with halves up. */
static bool same_average(int32_t n, int64_t zero, bool up)
{
    int64_t multiplier, shift;

    tosa_reciprocal(n, &multiplier, &shift);
    for (int64_t sum = INT8_MIN * (int64_t)n; sum <= INT8_MAX * (int64_t)n; sum++) {
        const int64_t theirs =
            clamped(tosa_apply_scale(sum - n * zero, multiplier, (int32_t)shift, false) + zero,
                    INT8_MIN, INT8_MAX);
        const int64_t offset = up ? INT64_C(256) * n : 0; /* a quotient rounded down */
        const int64_t half = sum + offset > 0 ? n / 2 : -(n / 2);

        /* A value is at least the zero point -128, so its sum is at least n times that. */
        if (theirs != (sum + offset + half) / n - (up ? 256 : 0))
            return false;
    }
    return true;
}

enum { MOST_CELLS = 4096 };

/* Return true for an AVG_POOL2D of int8 for which the IR's gives the same results; *up: its attribute
 * round_up. */
static bool match_average(struct tosa *m, const struct tosa_operator *op, bool *up)
{
    uint32_t n[2];
    const int64_t *zero[2];
    int64_t cells;

    if (op->code != TOSA_AVG_POOL2D || !complete(op, 3) || file_type(m, op->in[0]) != TOSA_INT8 ||
        op->a.kernel.n != 2 || op->a.unknown)
        return false;
    cells = (int64_t)op->a.kernel.v[0] * op->a.kernel.v[1];
    for (uint32_t i = 0; i < 2; i++) {
        zero[i] = known(m, op, 1 + i, &n[i]);
        if (zero[i] == NULL || n[i] != 1)
            return false;
    }
    if (op->a.kernel.v[0] < 1 || op->a.kernel.v[1] < 1 || cells > MOST_CELLS ||
        zero[0][0] != zero[1][0] || zero[0][0] < INT8_MIN || zero[0][0] > INT8_MAX)
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        int32_t i = 1;

        while (i <= cells && same_average(i, zero[0][0], k == 1))
            i++;
        *up = k == 1;
        if (i > cells)
            return true;
    }
    return false;
}

void tosa_find_groups(struct tosa *m)
{
    int8_t value[256];
    struct group g;

    for (uint32_t i = 0; i < m->file->n_operator; i++)
        if (match_rescale(m, i, &g))
            mark(m, &g);
    for (uint32_t i = 0; i < m->file->n_operator; i++) {
        g = (struct group){.sum = TOSA_NONE, .last = i};
        if (m->group[i] != TOSA_NONE)
            continue;
        if (byte_function(m, &m->file->op[i], value))
            g.table = arena_memdup(m->arena, value, sizeof value);
        else if (!match_average(m, &m->file->op[i], &g.up))
            continue;
        keep(m, &g);
    }
}
