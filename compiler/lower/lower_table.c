/* lower_table.c - tables of 256 bytes as WEIGHT commands: in memory and in the requantisation lanes each
 * lane has its own. Tables lie in the lanes round and round, and one stays until others need its place.
 */
#include "lower.h"

enum { CODES = 256 };

static void fetch(struct lower *l, const struct op_plan *p, uint32_t table)
{
    const uint32_t lanes = l->hw->n;
    int8_t *bytes = ARENA_ARRAY(l->arena, int8_t, (size_t)CODES * lanes);

    for (uint32_t i = 0; i < CODES * lanes; i++)
        bytes[i] = p->table[i / lanes];
    lower_fetch(l, p->op->row, HD_SPACE_TABLE, sched_constant(l->program, bytes, CODES * lanes), 1,
                CODES * lanes, table * CODES, "table");
}

uint32_t lower_have_table(struct lower *l, const struct op_plan *p)
{
    const uint32_t n = hd_config_tables(l->hw);
    uint32_t *table = &l->table[p->position];

    if (!p->table)
        return IR_NONE;
    if (*table == IR_NONE || l->tables - *table > n) {
        *table = l->tables++;
        fetch(l, p, *table % n);
    }
    return *table % n;
}

void lower_access_table(const struct lower *l, struct sched_command *c, uint32_t table)
{
    lower_access(c, SCHED_TABLE, false, table % hd_config_tables(l->hw), 1);
}
