/* layer_shuffle.c - another order that the waits of a stream allow: each unit executes its commands
 * in order, units advance at random, and sometimes one runs as far ahead as possible. If two
 * commands of different units touch the same bytes and neither waits for the other, the answer
 * changes. Commands are handed out in order to queues longer than the hardware's: counts compare
 * modulo 2^16, which is only right while no unit can be 2^15 commands ahead of another. */
#include "layer_run.h"

enum { QUEUE = 100 };

struct state {
    const struct sched_stream *s;
    uint32_t *queue[HD_UNIT_COUNT]; /* commands of each unit */
    uint32_t n[HD_UNIT_COUNT], given[HD_UNIT_COUNT], done[HD_UNIT_COUNT];
    uint32_t handed; /* commands given to units so far */
};

static void hand_out(struct state *t)
{
    for (; t->handed < t->s->n; t->handed++) {
        uint32_t unit = t->s->cmd[t->handed].unit;
        if (t->given[unit] - t->done[unit] == QUEUE)
            return;
        t->given[unit]++;
    }
}

static bool may_go(const struct state *t, uint32_t unit)
{
    if (t->done[unit] == t->given[unit])
        return false;
    const union sched_words *w = &t->s->cmd[t->queue[unit][t->done[unit]]].w;
    const struct hd_common *c = &w->common;
    bool follows = c->opcode == HD_OPCODE_ARRAY && w->array.follow;
    const uint32_t need[5] = {c->wait_load, c->wait_weight, c->wait_array, c->wait_vector,
                              c->wait_store};
    for (uint32_t u = 0; u < 5; u++)
        if (c->wait_enable >> u & 1u && (int16_t)(uint16_t)(t->done[u] - need[u]) < 0)
            return false;
    return !follows || (int16_t)(uint16_t)(t->done[HD_UNIT_WEIGHT] - c->wait_weight) > 0;
}

void layer_shuffle(struct arena *a, uint64_t seed, const struct sched_stream *s, uint32_t *order)
{
    struct state t = {.s = s};
    struct layers_rng r = {seed ^ 0x5f0f0f};
    uint32_t n = 0, unit = 0, stay = (uint32_t)layers_range(&r, 0, 95);

    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
        t.queue[u] = ARENA_ARRAY(a, uint32_t, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        t.queue[s->cmd[i].unit][t.n[s->cmd[i].unit]++] = i;
    while (n + 1 < s->n) {
        bool any = false;
        hand_out(&t);
        for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
            any = any || may_go(&t, u);
        if (!any)
            break; /* a wait that never holds: the device reports it */
        if (!may_go(&t, unit) || !layers_chance(&r, stay))
            do
                unit = (uint32_t)layers_range(&r, 0, HD_UNIT_FETCH - 1);
            while (!may_go(&t, unit));
        order[n++] = t.queue[unit][t.done[unit]++];
    }
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
        while (t.done[u] < t.n[u])
            order[n++] = t.queue[u][t.done[u]++];
}
