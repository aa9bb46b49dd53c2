/* board_waves.c - see board_parts.h. */
#include "board_parts.h"
#include "host_core.h"

bool board_waves_want(const struct board *b)
{
    return b->waves.v && b->waves.written && !b->waves.stopped && b->within;
}

enum status board_waves_open(struct board *b)
{
    b->device = (struct device){.engine = ENGINE_RTL, .sim = {.api = b->api, .sim = b->sim}};
    b->shown = ~0u;
    if (b->process != 0 || b->job->program || b->job->package)
        return ST_OK;
    TRY(waves_open(&b->waves, b->job, &b->device, 1, b->d));
    if (b->waves.core)
        return FAIL(b->d, ST_USAGE, "--host=%s: --waves: only of the accelerator",
                    run_iss_name(b->job->options));
    return ST_OK;
}

/* The function that is executed from now on. */
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
    if (!b->waves.v)
        return;
    waves_submission(&b->waves, b->row);
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
