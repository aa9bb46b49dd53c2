/* explore_text.c - see explore.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/pages/page.h"
#include "explore.h"
#include "goal.h"
#include "hw/gen/accel.h"

static const struct explore_point **front_of(const struct explore_space *s, uint32_t *n)
{
    const struct explore_point **front =
        ARENA_ARRAY(s->arena, const struct explore_point *, s->n + 1u);

    *n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->point[i].front)
            front[(*n)++] = &s->point[i];
    qsort(front, *n, sizeof *front, explore_by_time);
    return front;
}

/* A number that may be unknown. */
static const char *number(struct arena *a, double v, int digits)
{
    return v < 0 ? "-" : arena_printf(a, "%.*f", digits, v);
}

void explore_table(struct text *t, const struct explore_space *s)
{
    uint32_t n;
    const struct explore_point **front = front_of(s, &n);
    int wide = (int)sizeof "configuration" - 1;

    if (n == 0) {
        text_add(t, "no point with an estimate meets the goal\n");
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        wide = (int)strlen(front[i]->name) > wide ? (int)strlen(front[i]->name) : wide;
    text_printf(
        t,
        "front: %u points that none beats in time, multipliers, memory and bus; ms: estimate, "
        "geometric mean of %u network%s\n",
        n, s->n_network, s->n_network == 1 ? "" : "s");
    text_printf(t, "%-*s %10s %11s %10s %9s %16s\n", wide, "configuration", "ms", "multipliers",
                "memory KiB", "bus bytes", "LUT4 by");
    for (uint32_t i = 0; i < n; i++) {
        const double *c = front[i]->cost;
        text_printf(t, "%-*s %10s %11s %10s %9s %8s %-7s%s\n", wide, front[i]->name,
                    number(s->arena, c[EXPLORE_MS], 4), number(s->arena, c[EXPLORE_MULTIPLIERS], 0),
                    number(s->arena, c[EXPLORE_MEMORY], 1), number(s->arena, c[EXPLORE_BUS], 0),
                    number(s->arena, c[EXPLORE_LUT4], 0), front[i]->lut4_by,
                    front[i]->chosen ? "  chosen" : "");
    }
}

static const char *state_of(const struct explore_point *p)
{
    if (!p->tried)
        return "not estimated";
    if (p->wrong)
        return "refused";
    return p->chosen ? "chosen" : p->front ? "front" : p->meets ? "beaten" : "outside the goal";
}

void explore_csv(struct text *t, const struct explore_space *s)
{
    text_add(t,
             "configuration,ms,multipliers,memory_kib,bus_bytes,lut4,lut4_by,mhz,mhz_by,state,why");
    for (uint32_t i = 0; i < s->n_network; i++) {
        text_add(t, ",");
        text_add_csv(t, arena_printf(s->arena, "%s cycles", s->network[i]));
    }
    text_add(t, "\n");
    for (uint32_t i = 0; i < s->n; i++) {
        const struct explore_point *p = &s->point[i];
        const bool known = p->tried && !p->wrong;
        text_add_csv(t, p->name);
        for (int k = 0; k < EXPLORE_COSTS; k++)
            text_printf(t, ",%s", p->cost[k] > 0 ? arena_printf(s->arena, "%.6g", p->cost[k]) : "");
        text_printf(t, ",%s,%u,%s,%s,", p->lut4_by, p->config.clock_mhz,
                    p->wrong ? "" : accel_clock_origins[p->config.clock_origin], state_of(p));
        text_add_csv(t, p->wrong
                            ? arena_printf(s->arena, "%.*s", (int)strcspn(p->wrong, "\n"), p->wrong)
                            : "");
        for (uint32_t k = 0; k < s->n_network; k++)
            text_printf(t, ",%s", known ? arena_printf(s->arena, "%.0f", p->cycles[k]) : "");
        text_add(t, "\n");
    }
}

/* --- the page --------------------------------------------------------------------------------- */

static void add_point(struct text *t, const struct explore_space *s, const struct explore_point *p)
{
    text_add(t, "{\"name\":");
    text_add_json(t, p->name);
    text_add(t, ",\"hw\":");
    text_add_json(t, p->hw);
    text_printf(t, ",\"state\":\"%s\",\"lut4_by\":\"%s\",\"cost\":[", state_of(p), p->lut4_by);
    for (int k = 0; k < EXPLORE_COSTS; k++)
        text_printf(t, "%s%.6g", k ? "," : "", p->cost[k]);
    text_add(t, "],\"cycles\":[");
    for (uint32_t k = 0; k < s->n_network; k++)
        text_printf(t, "%s%.0f", k ? "," : "", p->cycles[k]);
    text_add(t, "]}");
}

void explore_page(struct text *t, const struct explore_space *s, const char *goal)
{
    struct text data;
    bool any = false;

    text_init(&data, s->arena);
    text_add(&data, "{\"suite\":");
    text_add_json(&data, s->suite->name);
    text_add(&data, ",\"goal\":");
    text_add_json(&data, goal);
    text_printf(&data, ",\"all\":%u,\"networks\":[", s->n);
    for (uint32_t i = 0; i < s->n_network; i++) {
        text_add(&data, i ? "," : "");
        text_add_json(&data, s->network[i]);
    }
    text_add(&data, "],\"points\":[");
    for (uint32_t i = 0; i < s->n; i++)
        if (s->point[i].tried && !s->point[i].wrong) {
            text_add(&data, any ? ",\n" : "\n");
            add_point(&data, s, &s->point[i]);
            any = true;
        }
    text_add(&data, "]}");
    const struct page_part parts[] = {{"data", data.data, true}, {NULL, NULL, false}};
    page_fill(t, "explore.html", parts);
}
