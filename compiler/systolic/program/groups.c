/* groups.c - find the rows of the model whose commands the program interleaves: by rows (cascade.c)
 * or by channels (cascade.c). Only all layers of such a group together have cycles of their
 * own. Neighbours that merely overlap at their border are not a group. in: program->woven, by
 * operator; operators belong to rows. out: a group for each row. A row of several operators may
 * connect two runs: groups are the connected components. */
#include "sched_program.h"

static uint32_t root(const uint32_t *parent, uint32_t row)
{
    while (parent[row] != row)
        row = parent[row];
    return row;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root(parent, a);
    b = root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

uint32_t sched_groups(const struct sched_program *p, uint32_t *group)
{
    const struct ir_graph *g = p->graph;
    uint32_t *parent = ARENA_ARRAY(p->arena, uint32_t, g->n_row + 1), n = 0;
    uint32_t *members = ARENA_ARRAY(p->arena, uint32_t, g->n_row + 1);

    for (uint32_t r = 0; r < g->n_row; r++)
        parent[r] = r;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (p->woven && p->woven[i])
            join(parent, g->op[i]->row, g->op[p->woven[i]]->row);
    for (uint32_t r = 0; r < g->n_row; r++)
        members[root(parent, r)]++;
    for (uint32_t r = 0; r < g->n_row; r++) {
        uint32_t first = root(parent, r);
        group[r] = members[first] < 2 ? IR_NONE : first == r ? n++ : group[first];
    }
    return n;
}
