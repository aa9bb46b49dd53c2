/* board_time.c - see board_time.h. The accelerator is advanced by the cycles of the processor. */
#include "board_time.h"

#include "board_clock.h"
#include "board_cores.h"
#include "board_waves.h"
#include "hd_accel.h"

/* Extend the processor's track up to now. */
static void trace(struct board *b, enum board_doing doing)
{
    const uint64_t zero = board_device_cycle(b, b->begun),
                   begin = board_device_cycle(b, b->traced) - zero,
                   end = board_device_cycle(b, b->cpu->cycles) - zero;

    b->traced = b->cpu->cycles;
    if (b->within && begin != end && b->row < b->setup->n_row)
        b->watch->did(b->watch->ctx, b->row, doing, begin, end,
                      doing == BOARD_WAITS && b->busy ? b->rang - zero : 0);
}

/* Add cycles to their owner, by the processor's activity. */
static void add_cycles(struct board *b, bool driver, uint64_t cycles)
{
    const bool rests = !b->busy && !b->sleeping;

    b->parts[(rests ? 0 : 2) + driver] += cycles;
    if (!b->within || (driver && !rests))
        return;
    if (driver)
        b->result->host.split[b->phase] += cycles;
    if (b->row < b->setup->n_row)
        b->watch->worked(b->watch->ctx, b->row, cycles, driver);
}

/* Account for the cycles since the last call. */
void board_account(struct board *b)
{
    iss_spend(b->cpu);
    for (uint32_t i = 0; i <= OF_RUN; i++) {
        if (b->cpu->spent[i]) {
            add_cycles(b, i == OF_DRIVER, b->cpu->spent[i]);
            trace(b, i != OF_DRIVER           ? BOARD_WORKS
                     : b->busy || b->sleeping ? BOARD_WAITS
                                              : BOARD_DRIVES);
        }
        b->cpu->spent[i] = 0;
    }
}

/* Collect the times of the submission that ended. */
void board_collect(struct board *b)
{
    if (b->pending)
        b->watch->submission_ended(b->watch->ctx);
    b->pending = false;
}

static void rest(struct board *b)
{
    board_account(b);
    b->busy = false;
    b->pending = true;
    b->phase = BOARD_IS_TOLD;
}

/* Advance the model by at most `cycles` while a submission runs; return true if it has ended. */
static bool advance(struct board *b, uint64_t cycles)
{
    const enum hd_sim_stop stop = b->api->run(b->sim, cycles);

    b->line = stop == HD_SIM_IRQ;
    board_line(b);
    if (stop == HD_SIM_STUCK || stop == HD_SIM_FAILED)
        b->stuck = b->api->stuck_text(b->sim);
    return b->line;
}

/* Advance the model to the processor's cycle. */
void board_follow(struct board *b)
{
    const uint64_t now = board_device_cycle(b, b->cpu->cycles);

    const uint64_t before = b->busy ? board_cycles(b->api, b->sim) : 0;

    if (b->busy && now > b->synced && advance(b, now - b->synced)) {
        b->synced += board_cycles(b->api, b->sim) - before;
        rest(b);
    } else if (b->busy) {
        b->synced = now;
    }
    board_waves_follow(b, now);
    b->synced = now;
    board_follow_cores(b);
}

/* Sleep while only cores work. */
static bool sleep_for_core(struct board *b)
{
    bool ended;

    board_account(b);
    b->sleeping = true;
    ended = board_run_cores(b, b->setup->max_cycles);
    board_account(b);
    b->sleeping = false;
    return ended;
}

static bool sleep_for_accelerator(struct board *b)
{
    const uint64_t before = board_cycles(b->api, b->sim);
    const bool ended = advance(b, b->setup->max_cycles);

    b->synced += board_cycles(b->api, b->sim) - before;
    board_wait_until(b, b->synced);
    if (ended)
        rest(b);
    return ended;
}

enum status board_sleep(struct board *b)
{
    bool ended;

    if (!b->busy && !board_cores_run(b))
        return FAIL(b->d, ST_DEVICE, "the program waits for an interrupt, and nothing runs");
    ended = b->busy ? sleep_for_accelerator(b) : sleep_for_core(b);
    if (!ended && !b->stuck)
        return FAIL(b->d, ST_DEVICE, "no interrupt in %llu cycles (--max-cycles)",
                    (unsigned long long)b->setup->max_cycles);
    return ST_OK;
}

/* --- the accelerator's registers --- */

/* Begin an access; if the accelerator has ended, the driver knows it from now on. */
static uint64_t access_begins(struct board *b)
{
    board_follow(b);
    board_account(b);
    if (b->phase == BOARD_IS_TOLD)
        b->phase = BOARD_FINISHES;
    return board_cycles(b->api, b->sim);
}

/* End an access that has taken the model's cycles since `before`. */
static void accessed(struct board *b, uint64_t before)
{
    const enum board_phase phase = b->phase;

    b->synced += board_cycles(b->api, b->sim) - before;
    board_wait_until(b, b->synced);
    b->line = b->api->run(b->sim, 0) == HD_SIM_IRQ;
    board_line(b);
    b->cpu->yield = true;
    b->phase = BOARD_ACCESSES;
    board_account(b);
    b->phase = phase;
    b->result->host.accesses += b->within;
}

bool board_read_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t *value)
{
    struct board *const b = ctx;
    const uint64_t before = access_begins(b);

    *value = b->api->read32(b->sim, offset);
    accessed(b, before);
    if (offset == HD_REG_CYCLES_LO || offset == HD_REG_CYCLES_HI) /* the driver reads each once */
        b->result->cycles += (uint64_t)*value << (offset == HD_REG_CYCLES_HI ? 32 : 0);
    if (b->busy && offset == HD_REG_STATUS && (*value & HD_STATUS_DONE_MASK))
        rest(b);
    return n_bytes == 4;
}

bool board_write_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t value)
{
    struct board *const b = ctx;
    uint64_t before;

    if (n_bytes != 4)
        return false;
    before = access_begins(b);
    if (offset == HD_REG_CONTROL) {
        board_collect(b);
        if (value & HD_CONTROL_START_MASK)
            board_waves_begin(b);
    }
    b->api->write32(b->sim, offset, value);
    if (offset == HD_REG_CONTROL && (value & HD_CONTROL_START_MASK)) {
        b->busy = true;
        b->rang = b->synced + board_cycles(b->api, b->sim) - before;
        b->result->submissions++;
    }
    accessed(b, before);
    return true;
}
