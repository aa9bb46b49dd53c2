/* attrs.c - see attrs.h. */
#include "attrs.h"

#include <string.h>

#include "compiler/target/describe.h"

enum { TRIES = 200 };

static bool measurable(const struct pipeline *p, uint32_t target)
{
    const struct target_desc *desc = p->targets.target[target]->desc;
    bool used = false;

    for (uint32_t i = 0; i < p->graph->n_op; i++)
        used = used || (!p->graph->op[i]->dead && p->graph->op[i]->target == target);
    return used && desc->outside && desc->n_knob > 0 && desc->detail->core_top;
}

static uint32_t find(const struct target_desc *desc, const char *name)
{
    uint32_t i = 0;

    while (strcmp(desc->attr[i].name, name) != 0) /* describe.c has checked that it exists */
        i++;
    return i;
}

static void bounds(const struct target_attr *attr, struct tune_attr *to)
{
    to->low = attr->type == TARGET_INT ? attr->low : 0;
    to->high = attr->type == TARGET_INT ? attr->high : 1;
    if (attr->type == TARGET_CHOICE)
        for (to->high = 0; attr->choice[to->high + 1];)
            to->high++;
}

struct tune_attrs tune_attrs_of(const struct pipeline *p)
{
    struct tune_attrs attrs = {0};
    uint32_t cap = 0;

    for (uint32_t t = 0; t < p->targets.n; t++)
        cap += p->targets.target[t]->desc->n_knob;
    attrs.at = ARENA_ARRAY(p->arena, struct tune_attr, cap + 1);
    for (uint32_t t = 0; t < p->targets.n; t++) {
        const struct target *target = p->targets.target[t];
        for (uint32_t k = 0; k < target->desc->n_knob && measurable(p, t); k++) {
            struct tune_attr *to = &attrs.at[attrs.n++];
            to->target = t;
            to->owner = target->name;
            to->name = target->desc->knob[k];
            to->attr = find(target->desc, to->name);
            bounds(&target->desc->attr[to->attr], to);
        }
    }
    return attrs;
}

int64_t *tune_attrs_values(const struct pipeline *p, const struct tune_attrs *attrs)
{
    int64_t *value = ARENA_ARRAY(p->arena, int64_t, attrs->n + 1);

    for (uint32_t i = 0; i < attrs->n; i++)
        value[i] = p->targets.target[attrs->at[i].target]->setting[attrs->at[i].attr].number;
    return value;
}

static const char *text_of(struct arena *a, const struct target_attr *attr, int64_t value)
{
    switch (attr->type) {
    case TARGET_BOOL: return value ? "true" : "false";
    case TARGET_CHOICE: return attr->choice[value];
    default: return arena_printf(a, "%lld", (long long)value);
    }
}

void tune_attrs_set(struct pipeline *p, const struct tune_attrs *attrs, const int64_t *value)
{
    for (uint32_t i = 0; i < attrs->n; i++) {
        const struct tune_attr *at = &attrs->at[i];
        struct target *t =
            arena_memdup(p->arena, p->targets.target[at->target], sizeof(struct target));
        struct target_setting *s =
            arena_memdup(p->arena, t->setting, t->desc->n_attr * sizeof *t->setting);
        s[at->attr] = (struct target_setting){text_of(p->arena, &t->desc->attr[at->attr], value[i]),
                                              value[i]};
        t->setting = s;
        p->targets.target[at->target] = t;
    }
}

static uint64_t random_next(uint64_t *z) /* xorshift64*, Vigna 2016 */
{
    *z ^= *z >> 12;
    *z ^= *z << 25;
    *z ^= *z >> 27;
    return (*z * 0x2545f4914f6cdd1du) >> 32;
}

bool tune_attrs_new(const struct tune_attrs *attrs, const int64_t *const *known, uint32_t n,
                    const int64_t *value)
{
    for (uint32_t i = 0; i < n; i++)
        if (memcmp(known[i], value, attrs->n * sizeof *value) == 0)
            return false;
    return true;
}

/* Return a random step of a knob: half of them go to a neighbour, half anywhere. */
static int64_t step(const struct tune_attr *at, int64_t value, uint64_t *random)
{
    uint64_t r = random_next(random);

    if (r % 2)
        value += r / 2 % 2 ? 1 : -1;
    else
        value = at->low + (int64_t)(random_next(random) % (uint64_t)(at->high - at->low + 1));
    return value < at->low ? at->low : value > at->high ? at->high : value;
}

bool tune_attrs_propose(const struct tune_attrs *attrs, const int64_t *const *known, uint32_t n,
                        uint64_t *random, int64_t *value)
{
    for (uint32_t i = 0; i < TRIES && attrs->n; i++) {
        uint32_t k = (uint32_t)(random_next(random) % attrs->n);
        value[k] = step(&attrs->at[k], value[k], random);
        if (tune_attrs_new(attrs, known, n, value))
            return true;
    }
    return false;
}

/* --- proposals of targets --- */

/* The knobs of one target, [first, first + n) of all. */
struct span {
    const struct tune_attrs *attrs;
    uint32_t first, n;
};

static void describe_span(struct arena *a, struct span s, const int64_t *const *known,
                          uint32_t n_known, struct heddle_tuning *about)
{
    const char **knob = ARENA_ARRAY(a, const char *, s.n);
    int64_t *low = ARENA_ARRAY(a, int64_t, s.n), *high = ARENA_ARRAY(a, int64_t, s.n);
    int64_t *value = ARENA_ARRAY(a, int64_t, (size_t)s.n * n_known + 1);

    for (uint32_t i = 0; i < s.n; i++) {
        const struct tune_attr *at = &s.attrs->at[s.first + i];
        knob[i] = at->name;
        low[i] = at->low;
        high[i] = at->high;
        for (uint32_t k = 0; k < n_known; k++)
            value[k * s.n + i] = known[k][s.first + i];
    }
    about->n_knobs = s.n;
    about->knob = knob;
    about->low = low;
    about->high = high;
    about->value = value;
}

static enum status check_span(struct span s, const int64_t *value, struct diag *d)
{
    for (uint32_t i = 0; i < s.n; i++) {
        const struct tune_attr *at = &s.attrs->at[s.first + i];
        if (value[i] < at->low || value[i] > at->high)
            return FAIL(d, ST_USAGE, "target %s, tune: %s: found %lld, expected %lld to %lld",
                        at->owner, at->name, (long long)value[i], (long long)at->low,
                        (long long)at->high);
    }
    return ST_OK;
}

enum status tune_attrs_ask(const struct pipeline *p, const struct tune_attrs *attrs,
                           uint32_t number, const int64_t *const *known, const uint64_t *cycles,
                           uint32_t n, int64_t *value, bool *any, struct diag *d)
{
    struct span s = {attrs, 0, 0};

    *any = false;
    for (; s.first < attrs->n; s.first += s.n) {
        uint32_t target = attrs->at[s.first].target;
        for (s.n = 0; s.first + s.n < attrs->n && attrs->at[s.first + s.n].target == target;)
            s.n++;
        struct heddle_tuning about = {.number = number, .n_trials = n, .cycles = cycles};
        int64_t *own = ARENA_ARRAY(p->arena, int64_t, s.n);
        const struct target_question q = {.arena = p->arena,
                                          .graph = p->graph,
                                          .target = p->targets.target[target],
                                          .hw = &p->hw};
        describe_span(p->arena, s, known, n, &about);
        if (!native_tune(&q, target, &about, own))
            continue;
        TRY(check_span(s, own, d));
        memcpy(value + s.first, own, s.n * sizeof *own);
        *any = true;
    }
    return ST_OK;
}
