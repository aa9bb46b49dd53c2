/* lower_table.c - tables of 256 bytes as WEIGHT commands. They lie in the requantisation lanes round and
 * round, and one stays until others need its place. */
#include "lower.h"

#include <string.h>

enum { CODES = 256 };

/* One table for all lanes: 4 entries a word, again for each lane of a quarter. */
static void fetch(struct lower *l, const struct op_plan *p, uint32_t table)
{
    const uint32_t lanes = l->hw->n, n = CODES / 4 * lanes;
    int8_t *bytes = ARENA_ARRAY(l->arena, int8_t, n);

    for (uint32_t i = 0; i < n; i++)
        bytes[i] = p->look_up->fixed.table[i / lanes * 4 + i % 4];
    lower_fetch(l, p->op->row, HD_SPACE_TABLE_ALL, sched_constant(l->program, bytes, n), 1, n,
                table * (CODES / 4), "table");
}

/* One table of each lane for each column tile: 4 entries of each lane, then the next 4. */
static void fetch_channels(struct lower *l, const struct op_plan *p, uint32_t table,
                           uint32_t tables)
{
    const uint32_t lanes = l->hw->n, n = tables * CODES * lanes;
    const int8_t *from = (const int8_t *)ir_in(l->graph, p->look_up, 1)->data;
    int8_t *bytes = ARENA_ARRAY(l->arena, int8_t, n);

    for (uint32_t column = 0; column < tables * lanes; column++) { /* often: once a trial */
        const int8_t *const entries = from + CODES * geo_channel(&p->geo, column);
        int8_t *const to = bytes + column / lanes * CODES * lanes + column % lanes * 4;

        for (uint32_t entry = 0; entry < CODES; entry += 4)
            memcpy(to + entry * lanes, entries + entry, 4);
    }
    lower_fetch(l, p->op->row, HD_SPACE_TABLE, sched_constant(l->program, bytes, n), 1, n,
                table * CODES, "tables by channel");
}

struct lower_table lower_have_table(struct lower *l, const struct op_plan *p)
{
    const uint32_t most = hd_config_tables(l->hw), n = layout_tables(p, l->hw),
                   channel = p->geo.box[GEO_RESULT].channel;
    struct lower_table *t = &l->table[p->position];

    if (n == 0)
        return (struct lower_table){0};
    if (t->n == 0 || l->tables - t->number > most || t->channel != channel) {
        if (l->tables % most + n > most) /* they lie side by side */
            l->tables += most - l->tables % most;
        *t = (struct lower_table){n, l->tables, l->tables % most, channel, p->look_up->n_in == 2};
        l->tables += n;
        if (t->by_channel)
            fetch_channels(l, p, t->first, n);
        else
            fetch(l, p, t->first);
    }
    return *t;
}

void lower_access_table(struct sched_command *c, const struct lower_table *t)
{
    lower_access(c, SCHED_TABLE, false, t->first, t->n);
}
