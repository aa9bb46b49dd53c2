/* goal.c - see goal.h. */
#include "goal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const cost_names[EXPLORE_COSTS] = {"ms", "multipliers", "memory", "bus", "lut4"};

static const char *skip(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

static enum status wrong(const char *text, const char *at, const char *expected, struct diag *d)
{
    return FAIL(d, ST_USAGE,
                "--goal: expected %s at '%s' of '%s'; for example ms<5 && memory<=200 (there are "
                "ms, multipliers, memory, bus, lut4)",
                expected, at, text);
}

enum status explore_goal_read(const char *text, struct explore_goal *goal, struct diag *d)
{
    const char *s = text ? skip(text) : "";
    char *end;

    *goal = (struct explore_goal){.n = 0};
    while (*s) {
        const size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz4");
        uint32_t cost = 0;
        while (cost < EXPLORE_COSTS &&
               (strlen(cost_names[cost]) != n || strncmp(cost_names[cost], s, n) != 0))
            cost++;
        if (cost == EXPLORE_COSTS)
            return wrong(text, s, "the name of a cost", d);
        if (goal->n == EXPLORE_CONDITIONS)
            return wrong(text, s, "at most 16 conditions", d);
        s = skip(s + n);
        if (*s != '<' && *s != '>')
            return wrong(text, s, "<, <=, > or >=", d);
        goal->condition[goal->n].cost = (enum explore_cost)cost;
        goal->condition[goal->n].less = *s++ == '<';
        goal->condition[goal->n].equal = *s == '=';
        s = skip(s + goal->condition[goal->n].equal);
        const double value = strtod(s, &end);
        if (end == s || !isfinite(value))
            return wrong(text, s, "a number", d);
        goal->condition[goal->n++].value = value;
        s = skip(end);
        if (*s && strncmp(s, "&&", 2) != 0)
            return wrong(text, s, "&&", d);
        if (*s && !*(s = skip(s + 2)))
            return wrong(text, s, "a condition", d);
    }
    return ST_OK;
}

bool explore_meets(const struct explore_goal *goal, const struct explore_point *p)
{
    for (uint32_t i = 0; i < goal->n; i++) {
        const double x = p->cost[goal->condition[i].cost], limit = goal->condition[i].value;
        const bool strictly = goal->condition[i].less ? x < limit : x > limit;
        if (x < 0 || !(strictly || (goal->condition[i].equal && !(x < limit) && !(x > limit))))
            return false;
    }
    return true;
}
