/* board_waves.c - see board_waves.h. The model is clocked even while it rests. */
#include "board_waves.h"

bool board_waves_want(const struct board *b)
{
    return b->sim && b->within && b->watch->wanted(b->watch->ctx);
}

/* Show the function that is executed from now on. */
static void show(struct board *b)
{
    const uint32_t at = iss_symbol_at(&b->program, b->cpu->pc);

    if (at == b->shown || at == b->program.n_symbol)
        return;
    b->shown = at;
    b->api->show_host(b->sim, 0, b->program.symbol[at].name);
}

void board_waves_begin(struct board *b)
{
    if (!b->sim)
        return;
    b->watch->submission(b->watch->ctx, b->row);
    if (b->watch->wanted(b->watch->ctx))
        show(b);
}

void board_waves_follow(struct board *b, uint64_t now)
{
    if (!board_waves_want(b))
        return;
    if (!b->busy && now > b->synced)
        b->api->show_host(b->sim, now - b->synced, NULL);
    show(b);
}
