/* lower_table.c - tables of 256 bytes as WEIGHT commands. They lie in the requantisation lanes round and
 * round, and one stays until others need its place. */
#include "lower.h"

enum { CODES = 256 };

/* One table for all lanes: 4 entries a word, again for each lane of a quarter. */
static void fetch(struct lower *l, const struct op_plan *p, uint32_t table)
{
    const uint32_t lanes = l->hw->n, n = CODES / 4 * lanes;
    int8_t *bytes = ARENA_ARRAY(l->arena, int8_t, n);

    for (uint32_t i = 0; i < n; i++)
        bytes[i] = p->table[i / lanes * 4 + i % 4];
    lower_fetch(l, p->op->row, HD_SPACE_TABLE_ALL, sched_constant(l->program, bytes, n), 1, n,
                table * (CODES / 4), "table");
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
