/* reach.c - sizes whose product comes near the end of a limit: depth, bytes and products of an operator with weights
 * or windows, on the smallest image; and what was reached of the limits. */
#include <string.h>

#include "draw.h"

/* The largest case: bytes of one tensor, products of one output whose sum keeps to 32 bits, rows of a kernel
 * where the products count; cycles of the core in the products of one. */
enum { MOST_BYTES = 400000, USUAL_BYTES = 100000, MOST_DEPTH = 60000, MACS_KERNEL = 3 };
enum { MACS_CYCLES = 200000, MOST_MACS = 1600000 };

struct goal {
    enum target_value value;
    uint32_t n;
    enum target_value factor[6];
};

#define H  TARGET_IN_H
#define W  TARGET_IN_W
#define C  TARGET_IN_C
#define OC TARGET_OUT_C
#define KH TARGET_KERNEL_H
#define KW TARGET_KERNEL_W
#define B  TARGET_BATCH
static const struct goal of_conv[REACH_GOALS] = {{TARGET_DEPTH, 3, {KH, KW, C}},
                                                 {TARGET_W_BYTES, 4, {KH, KW, C, OC}},
                                                 {TARGET_IN_BYTES, 3, {H, W, C}},
                                                 {TARGET_OUT_BYTES, 3, {H, W, OC}},
                                                 {TARGET_MACS, 6, {KH, KW, C, OC, H, W}}},
                         of_depthwise[REACH_GOALS] = {{TARGET_DEPTH, 2, {KH, KW}},
                                                      {TARGET_W_BYTES, 3, {KH, KW, C}},
                                                      {TARGET_IN_BYTES, 3, {H, W, C}},
                                                      {TARGET_OUT_BYTES, 3, {H, W, C}},
                                                      {TARGET_MACS, 5, {KH, KW, C, H, W}}},
                         of_dense[REACH_GOALS] = {{TARGET_DEPTH, 1, {C}},
                                                  {TARGET_W_BYTES, 2, {C, OC}},
                                                  {TARGET_IN_BYTES, 2, {B, C}},
                                                  {TARGET_OUT_BYTES, 2, {B, OC}},
                                                  {TARGET_MACS, 3, {B, C, OC}}},
                         of_pool[REACH_GOALS] = {{TARGET_IN_BYTES, 3, {H, W, C}},
                                                 {TARGET_OUT_BYTES, 3, {H, W, C}}};
#undef H
#undef W
#undef C
#undef OC
#undef KH
#undef KW
#undef B

static const struct goal *goals_of(const struct describe_pattern *p, draw_maker *maker)
{
    if (maker == draw_convolution)
        return ir_op_info(p->opcode)->depthwise ? of_depthwise : of_conv;
    return maker == draw_dense ? of_dense : maker == draw_pool ? of_pool : NULL;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The greatest value of a factor. */
static int64_t top(const struct draw *w, const struct goal *g, uint32_t i)
{
    int64_t low, high, unit;

    draw_range(w, g->factor[i], &low, &high, &unit);
    if (g->factor[i] == TARGET_IN_H || g->factor[i] == TARGET_IN_W) { /* kernel and stride are 1 */
        int64_t out_low, out_high;
        draw_range(w, g->factor[i] == TARGET_IN_H ? TARGET_OUT_H : TARGET_OUT_W, &out_low,
                   &out_high, &unit);
        high = lesser(high, out_high);
    }
    if (g->value == TARGET_MACS &&
        (g->factor[i] == TARGET_KERNEL_H || g->factor[i] == TARGET_KERNEL_W))
        high = lesser(high, MACS_KERNEL);
    return high > low ? high : low;
}

/* The product that the case comes near. */
static int64_t goal_of(const struct draw *w, const struct goal *g)
{
    const struct describe *t = describe_of(w->target);
    const int64_t memory = t->core_top && !t->on_host && t->core_bytes / 4 < MOST_BYTES
                               ? t->core_bytes / 4
                               : MOST_BYTES,
                  each = g->value == TARGET_IN_BYTES || g->value == TARGET_OUT_BYTES
                             ? (int64_t)ir_type_bytes(w->p->dtype)
                             : 1,
                  end = draw_end(w, g->value);
    const double rate = t->macs_per_cycle > 1 ? t->macs_per_cycle : 1;

    if (g->value == TARGET_MACS)
        return lesser(end >= 0 ? end : MOST_MACS,
                      rate * MACS_CYCLES < MOST_MACS ? (int64_t)(rate * MACS_CYCLES) : MOST_MACS);
    if (g->value == TARGET_DEPTH)
        return lesser(end >= 0 ? end : MOST_DEPTH, lesser(memory, MOST_DEPTH));
    return lesser(end >= 0 ? end : USUAL_BYTES, memory) / each;
}

bool reach_fix(struct draw *w, draw_maker *maker, uint32_t goal)
{
    const struct goal *g = goals_of(w->p, maker);
    int64_t rest, later = 1;

    memset(w->fixed, 0, sizeof w->fixed);
    if (g == NULL || g[goal].n == 0)
        return false;
    g += goal;
    w->reach = g->value;
    rest = goal_of(w, g);
    if (!w->to_end && rest > 1)
        rest = 1 + check_random(w->c, (uint32_t)rest);
    for (uint32_t i = 0; i < g->n; i++)
        later = later * top(w, g, i) < INT32_MAX ? later * top(w, g, i) : INT32_MAX;
    for (uint32_t k = 0, from = check_random(w->c, g->n); k < g->n; k++) {
        const uint32_t i = (from + k) % g->n;
        int64_t low, high, unit;

        draw_range(w, g->factor[i], &low, &high, &unit);
        if (g->value == TARGET_MACS && unit < 8 && rest >= 8 && top(w, g, i) >= 8)
            low = unit = 8; /* as networks have them */
        high = lesser(top(w, g, i), rest);
        later = later / top(w, g, i) > 1 ? later / top(w, g, i) : 1;
        const int64_t need = (rest + later - 1) / later, from_low = need > low ? need : low;
        int64_t v = k + 1 == g->n || from_low >= high
                        ? high
                        : from_low + check_random(w->c, (uint32_t)(high - from_low) + 1);

        v -= v % unit && v > unit ? v % unit : 0;
        v = v < low ? low : v;
        w->fixed[g->factor[i]] = v > 0 ? v : 1;
        rest = rest / w->fixed[g->factor[i]] > 1 ? rest / w->fixed[g->factor[i]] : 1;
    }
    return true;
}

/* --- what was reached --- */

void check_note_reach(struct check_reach *r, const struct target_values *v)
{
    for (uint32_t i = 0; i < TARGET_VALUE_COUNT; i++) {
        r->low[i] = r->n == 0 || v->v[i] < r->low[i] ? v->v[i] : r->low[i];
        r->high[i] = r->n == 0 || v->v[i] > r->high[i] ? v->v[i] : r->high[i];
    }
    r->n++;
}

const char *check_reach_text(struct arena *a, const struct check_reach *r)
{
    struct text t;

    text_init(&t, a);
    for (uint32_t i = 0; i < TARGET_VALUE_COUNT; i++)
        if (r->low[i] != r->high[i] && i != TARGET_SCALE_M && i != TARGET_SHIFT_BITS)
            text_printf(&t, "%s%s %lld..%lld", t.length ? ", " : "",
                        target_value_name((enum target_value)i), (long long)r->low[i],
                        (long long)r->high[i]);
    return t.data;
}

/* Return true for a size; a product of sizes does not come to each number. */
static bool is_size(enum target_value v)
{
    return v < TARGET_ELEMENTS;
}

const char *check_short_text(struct arena *a, const struct target *target,
                             const struct describe_pattern *p, const struct check_reach *r)
{
    const struct draw w = {.target = target, .p = p};
    struct text t;

    text_init(&t, a);
    for (uint32_t i = 0; i < p->n_limit; i++) {
        const enum target_value v = p->limit[i].value;
        const int64_t end = draw_end(&w, v);

        if (end > 0 && r->high[v] < (is_size(v) ? end : end - end / 16))
            text_printf(&t, "%s%s up to %lld of %lld", t.length ? ", " : "", target_value_name(v),
                        (long long)r->high[v], (long long)end);
    }
    return t.length ? t.data : NULL;
}
