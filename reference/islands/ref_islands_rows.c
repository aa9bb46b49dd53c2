/* ref_islands_rows.c - whose row in reports an operator of the reference's graph is. */
#include <string.h>

#include "base/text.h"
#include "ref_islands.h"

/* Slot of the row whose last tensor is `name`, or an empty one; a slot is a row + 1. */
static uint32_t *find_row(const struct ir_graph *g, const char *name, uint32_t *slot,
                          uint32_t n_slot)
{
    uint32_t i = text_hash(TEXT_HASH, name, strlen(name)) & (n_slot - 1);

    while (slot[i] != 0 && strcmp(g->row[slot[i] - 1].tensor, name) != 0)
        i = (i + 1) & (n_slot - 1);
    return &slot[i];
}

/* Operators up to the one that makes a row's last tensor are that row's: both graphs make the
 * operators of a row one after another. */
void ref_islands_rows(struct ir_graph *g, const struct ir_graph *like)
{
    uint32_t n_slot = 64, row = like->n_row - 1, *slot;

    while (n_slot < 2 * like->n_row)
        n_slot *= 2;
    slot = ARENA_ARRAY(g->arena, uint32_t, n_slot);
    for (uint32_t i = 0; i < like->n_row; i++)
        *find_row(like, like->row[i].tensor, slot, n_slot) = i + 1;
    g->row = like->row;
    g->n_row = like->n_row;
    for (uint32_t i = g->n_op; i-- > 0;) {
        const uint32_t found = *find_row(like, ir_out(g, g->op[i], 0)->name, slot, n_slot);

        row = found != 0 ? found - 1 : row;
        g->op[i]->row = row;
    }
}
