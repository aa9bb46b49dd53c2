/* board_time.c - see board_parts.h. One time: what the processor takes, the accelerator is advanced by. */
#include "app/job/shared.h"
#include "app/job/times.h"
#include "board_parts.h"

/* --- one time --- */

uint64_t board_device_cycle(const struct board *b, uint64_t cycle)
{
    const uint32_t *const ratio = b->job->options->host_clock;

    return cycle * ratio[1] / ratio[0];
}

void board_wait_until(struct board *b, uint64_t device_cycle)
{
    const uint32_t *const ratio = b->job->options->host_clock;
    const uint64_t cycle = (device_cycle * ratio[0] + ratio[1] - 1) / ratio[1];

    if (cycle > b->cpu->cycles)
        b->cpu->cycles = cycle;
}

uint32_t board_bus_wait(const struct board *b)
{
    const struct options *const o = b->job->options;
    const uint64_t device = o->host_bus ? o->host_bus : o->mem_latency,
                   cycles = (device * o->host_clock[0] + o->host_clock[1] - 1) / o->host_clock[1];

    return cycles > o->host_memory ? (uint32_t)(cycles - o->host_memory) : 0;
}

/* The processor's track, of the first inference: up to now it did this. */
static void trace(struct board *b, enum trace_doing doing)
{
    struct trace_host_time *const t = b->job->host_times;
    const uint64_t zero = board_device_cycle(b, b->begun),
                   begin = board_device_cycle(b, b->traced) - zero,
                   end = board_device_cycle(b, b->cpu->cycles) - zero;

    b->traced = b->cpu->cycles;
    if (!t || !b->within || b->shared->inference != 0 || begin == end ||
        b->row >= b->job->p->graph->n_row)
        return;
    if (t->n && t->slice[t->n - 1].row == b->row && t->slice[t->n - 1].doing == doing)
        t->slice[t->n - 1].end = end;
    else if (t->n < t->most)
        t->slice[t->n++] = (struct trace_host_slice){
            begin, end, doing == TRACE_WAITS && b->busy ? b->rang - zero : 0, b->row, doing};
}

/* Add cycles to their owner, by the processor's activity in them. */
static void add_cycles(struct board *b, bool driver, uint64_t cycles)
{
    const bool rests = !b->busy && !b->sleeping;
    struct run_shared *const s = b->shared;

    b->parts[(rests ? 0 : 2) + driver] += cycles;
    if (!b->within || (driver && !rests))
        return;
    if (driver)
        s->host.split[b->phase] += cycles;
    if (b->row < b->job->p->graph->n_row) {
        s->row[b->row].host_cycles += cycles;
        s->row[b->row].driver_cycles += driver ? cycles : 0;
    }
}

/* Cycles since the last call. */
void board_account(struct board *b)
{
    iss_spend(b->cpu);
    for (uint32_t i = 0; i <= OF_RUN; i++) {
        if (b->cpu->spent[i]) {
            add_cycles(b, i == OF_DRIVER, b->cpu->spent[i]);
            trace(b, i != OF_DRIVER           ? TRACE_WORKS
                     : b->busy || b->sleeping ? TRACE_WAITS
                                              : TRACE_DRIVES);
        }
        b->cpu->spent[i] = 0;
    }
}

uint64_t board_cycles(const struct hd_sim_api *api, struct hd_sim *sim)
{
    struct hd_sim_totals t = {0};

    api->totals(sim, &t);
    return t.cycles;
}

/* Collect the times of the submission that ended. */
void board_collect(struct board *b)
{
    const struct hd_sim_row *from;
    const bool first = b->shared->inferences == 0 && b->process == 0;

    if (!b->pending)
        return;
    b->pending = false;
    const uint32_t n = b->api->rows(b->sim, &from);
    run_add_rows(b->job, b->shared, from, n);
    waves_submission_end(&b->waves);
    if (first && b->job->times)
        run_add_times(b->job, &b->n_time, b->api, b->sim);
    for (uint32_t i = 0; first && i < HD_SIM_UNITS * HD_SIM_KINDS; i++)
        b->shared->counter[i] += b->api->read32(b->sim, HD_REG_COUNTER(i));
}

static void rest(struct board *b)
{
    board_account(b);
    b->busy = false;
    b->pending = true;
    b->phase = BOARD_IS_TOLD;
}

void board_line(struct board *b)
{
    iss_irq(b->cpu, ISS_IRQ_EXTERNAL, b->line || board_cores_line(b));
}

/* Advance the model by at most `cycles` while a submission runs; true: it has ended. */
static bool advance(struct board *b, uint64_t cycles)
{
    const enum hd_sim_stop stop = b->api->run(b->sim, cycles);

    b->line = stop == HD_SIM_IRQ;
    board_line(b);
    if (stop == HD_SIM_STUCK || stop == HD_SIM_FAILED)
        b->stuck = b->api->stuck_text(b->sim);
    return b->line;
}

/* Bring the model to the processor's cycle. */
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

/* Sleep while only a core works. */
static bool sleep_for_core(struct board *b)
{
    bool ended;

    board_account(b);
    b->sleeping = true;
    ended = board_run_cores(b, b->job->options->max_cycles);
    board_account(b);
    b->sleeping = false;
    return ended;
}

static bool sleep_for_accelerator(struct board *b)
{
    const uint64_t before = board_cycles(b->api, b->sim);
    const bool ended = advance(b, b->job->options->max_cycles);

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
                    (unsigned long long)b->job->options->max_cycles);
    return ST_OK;
}

/* --- the accelerator's registers --- */

/* An access begins; when the accelerator has ended, the driver knows now. */
static uint64_t access_begins(struct board *b)
{
    board_follow(b);
    board_account(b);
    if (b->phase == BOARD_IS_TOLD)
        b->phase = BOARD_FINISHES;
    return board_cycles(b->api, b->sim);
}

/* The access has taken the model's cycles since `before`. */
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
    b->shared->host.accesses += b->within;
}

bool board_read_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t *value)
{
    struct board *const b = ctx;
    const uint64_t before = access_begins(b);

    *value = b->api->read32(b->sim, offset);
    accessed(b, before);
    if (offset == HD_REG_CYCLES_LO || offset == HD_REG_CYCLES_HI) /* the driver: once each */
        b->shared->cycles += (uint64_t)*value << (offset == HD_REG_CYCLES_HI ? 32 : 0);
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
        b->shared->submissions++;
    }
    accessed(b, before);
    return true;
}
