/* check_cost.c - "cost" of target.json against the cycles that the Verilated core took, and rates that fit them:
 * the least squares of relative errors, larger operators counting more, by descent along one rate at a time. No
 * rate is negative, and no multiplication takes less than the core states. */
#include <math.h>
#include <string.h>

#include "app/engine/core_targets.h"
#include "app/job/shared.h"
#include "base/file.h"
#include "base/json/json_doc.h"
#include "check_round.h"

enum { ROUNDS = 20000 };
#define WARN_OFF 0.2 /* of the measured cycles, on average */

void check_measure(struct check *c, const struct run_measured *m)
{
    const uint32_t *const clock = m->cores->core[0].opened.clock;

    for (uint32_t i = 0; i < c->cases.n; i++)
        c->cases.item[i].measured =
            (double)m->shared->row[i].cycles * clock[0] / clock[1] / c->inferences;
    struct check_case *all =
        ARENA_ARRAY(c->arena, struct check_case, c->n_measured + c->cases.n + 1);
    if (c->n_measured)
        memcpy(all, c->measured, c->n_measured * sizeof *all);
    memcpy(all + c->n_measured, c->cases.item, c->cases.n * sizeof *all);
    c->measured = all;
    c->n_measured += c->cases.n;
}

/* The average of |cycles / measured - 1| over the cases of a pattern, by rates or as estimated. */
static double off(const struct check *c, uint32_t pattern, const double *rate, uint32_t *worst)
{
    double sum = 0, most = -1;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_measured; i++) {
        const struct check_case *k = &c->measured[i];
        if (k->pattern != pattern || k->measured <= 0)
            continue;
        const double cycles = rate ? target_cycles(rate, k->amount) : k->estimate,
                     error = fabs(cycles / k->measured - 1);
        sum += error;
        n++;
        if (error > most) {
            most = error;
            *worst = i;
        }
    }
    return n ? sum / n : -1;
}

/* Outputs and their bytes are the same amount in int8, and all bytes are the sum of three. */
static bool fits(enum target_cost_term t)
{
    return t != COST_BYTE && t != COST_OUT_BYTE;
}

/* The least rate of a term: what the core cannot go below. */
static double floor_of(const struct check *c, enum target_cost_term t)
{
    const double macs = c->desc->detail->macs_per_cycle;

    return t == COST_MAC && macs > 0 ? 1 / macs : 0;
}

static void fit(const struct check *c, uint32_t pattern, double rate[COST_TERMS])
{
    double a[COST_TERMS][COST_TERMS] = {{0}}, b[COST_TERMS] = {0};

    for (uint32_t i = 0; i < c->n_measured; i++) {
        const struct check_case *k = &c->measured[i];
        for (uint32_t s = 0; s < COST_TERMS && k->pattern == pattern && k->measured > 0; s++) {
            b[s] += k->amount[s]; /* squares of relative errors, times the measured cycles */
            for (uint32_t t = 0; t < COST_TERMS; t++)
                a[s][t] += k->amount[s] * k->amount[t] / k->measured;
        }
    }
    memset(rate, 0, COST_TERMS * sizeof *rate);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t s = 0; s < COST_TERMS; s++) {
            double rest = b[s];
            for (uint32_t t = 0; t < COST_TERMS; t++)
                rest -= t == s ? 0 : a[s][t] * rate[t];
            const double least = floor_of(c, (enum target_cost_term)s),
                         best = a[s][s] > 0 ? rest / a[s][s] : 0;
            rate[s] = !fits((enum target_cost_term)s) || a[s][s] <= 0 ? 0
                      : best > least                                  ? best
                                                                      : least;
        }
}

/* {"fixed": 50, "per_mac": 0.25}: four digits, without rates of 0. */
static const char *rates_text(struct arena *a, double rate[COST_TERMS])
{
    struct text t;

    text_init(&t, a);
    for (uint32_t i = 0; i < COST_TERMS; i++)
        if (rate[i] > 0.0001)
            text_printf(&t, "%s\"%s\": %.4g", t.length ? ", " : "{", target_cost_names[i], rate[i]);
    return t.length ? arena_printf(a, "%s}", t.data) : "{\"fixed\": 1}";
}

/* Put `cost` into operator `pattern` of target.json; everything else stays as it was typed. */
static enum status write_cost(const struct check *c, uint32_t pattern, const char *cost,
                              struct diag *d)
{
    const char *const file = arena_printf(c->arena, "%s/target.json", c->desc->origin);
    struct json_doc doc;
    enum status st = json_doc_read(c->arena, file, &doc, d);

    if (st == ST_OK) {
        const char *end, *const at = json_doc_value(
                             &doc, arena_printf(c->arena, "operators[%u].cost", pattern), &end);
        const char *const text =
            arena_printf(c->arena, "%.*s%s%s", (int)(at - doc.text), doc.text, cost, end);
        st = file_write(file, text, strlen(text), d);
    }
    json_doc_free(&doc);
    return st;
}

/* The least and the greatest measured cycles. */
static void range_of(const struct check *c, uint32_t pattern, double *low, double *high)
{
    *low = *high = 0;
    for (uint32_t i = 0; i < c->n_measured; i++) {
        const struct check_case *k = &c->measured[i];
        if (k->pattern != pattern || k->measured <= 0)
            continue;
        *low = *low > 0 && *low < k->measured ? *low : k->measured;
        *high = *high > k->measured ? *high : k->measured;
    }
}

static enum status judge(struct check *c, uint32_t pattern, struct diag *d)
{
    const struct describe_pattern *p = &c->desc->detail->pattern[pattern];
    uint32_t worst = 0, ignored;
    double rate[COST_TERMS];
    const double average = off(c, pattern, NULL, &worst);

    if (average < 0)
        return ST_OK;
    const struct check_case *k = &c->measured[worst];
    fit(c, pattern, rate);
    const char *const text = p->call ? rates_text(c->arena, rate) : NULL;
    const double after = off(c, pattern, rate, &ignored);
    check_say(c, average > WARN_OFF ? "warn" : "ok",
              "cost of %s: %.1f %% off the measured cycles on average, at most: estimate %.0f, "
              "measured %.0f: %s",
              p->name, 100 * average, k->estimate, k->measured, k->words);
    if (!text || (average <= WARN_OFF && !c->o->fit_cost))
        return ST_OK;
    double low, high;
    range_of(c, pattern, &low, &high);
    check_say(c, "", "%s %s, %.1f %% off, fitted to operators of %.0f to %.0f cycles",
              c->o->fit_cost ? "written: \"cost\":" : "--fit-cost writes", text, 100 * after, low,
              high);
    return c->o->fit_cost ? write_cost(c, pattern, text, d) : ST_OK;
}

/* An access of a core takes cycles; custom instructions are part of the host processor. */
static bool is_idle(const struct check *c)
{
    for (uint32_t i = 0; i < c->n_measured; i++)
        if (c->measured[i].measured > 0)
            return false;
    return c->n_measured != 0 && !c->desc->detail->on_host;
}

enum status check_cost(struct check *c, struct diag *d)
{
    if (is_idle(c))
        check_say(
            c, "warn",
            "no call accessed the core: the C computed all cases itself; pass $dev to the call "
            "in target.json, and start the core where $dev is not NULL");
    for (uint32_t i = 0; i < c->desc->detail->n_pattern; i++)
        TRY(judge(c, i, d));
    return ST_OK;
}
