/* read_channel.c - see read_channel.h. */
#include "read_channel.h"

#include "hd_timing.h"

/* Minimum cycles between a command's start and its first result; VECTOR is the fastest. */
enum { RESULT_AHEAD = COST_VECTOR };

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void read_channel_init(struct read_channel *c, struct arena *a, const struct hd_config *hw,
                       uint32_t latency, uint32_t bytes_per_cycle)
{
    uint32_t rate = bytes_per_cycle ? bytes_per_cycle : hw->axi_bytes;

    *c = (struct read_channel){.bytes = hw->axi_bytes,
                               .n = hw->n,
                               .rate = rate < hw->axi_bytes ? rate : hw->axi_bytes,
                               .latency = latency ? latency : 1,
                               .bursts = hw->read_bursts,
                               .results.hw = hw};
    c->burst = ARENA_ARRAY(a, struct read_burst, c->bursts);
}

/* Return the cycles for which `beats` beats occupy the data channel. */
static uint64_t data_cycles(const struct read_channel *c, uint64_t beats)
{
    return c->rate == c->bytes ? beats : (beats * c->bytes + c->rate - 1) / c->rate;
}

/* Return the bytes up to the end of the burst that begins at `at`: bursts end at multiples of their
 * maximum size. */
static uint64_t burst_end(const struct read_channel *c, const struct read_walk *w)
{
    uint64_t line = (uint64_t)HD_TIMING_BURST_BEATS * c->bytes, border = (w->at | (line - 1)) + 1;

    return border < w->end ? border : w->end;
}

static bool last_burst(const struct read_channel *c, const struct read_walk *w)
{
    return w->runs == 0 && burst_end(c, w) == w->end;
}

uint64_t read_channel_ready(const struct read_channel *c, enum read_source s)
{
    const struct read_walk *w = &c->walk[s][0];

    if (c->n_walk[s] == 0)
        return 0;
    if (c->n_walk[s] == 1 && last_burst(c, w)) /* it is in the register already */
        return later(w->ready, c->granted[s]);
    return READ_UNKNOWN;
}

void read_channel_add(struct read_channel *c, enum read_source s, const struct read_walk *w)
{
    c->walk[s][c->n_walk[s]++] = *w;
}

static struct read_burst *burst(const struct read_channel *c, uint32_t i)
{
    return &c->burst[i % c->bursts];
}

/* --- grants ----------------------------------------------------------------------------------- */

static uint64_t request(const struct read_channel *c, uint32_t s)
{
    const struct read_walk *w = &c->walk[s][0];

    if (c->n_walk[s] == 0 || w->ready == READ_UNKNOWN)
        return READ_UNKNOWN;
    return later(w->ready, c->granted[s] + 1);
}

/* Return the cycle of the next grant; READ_UNKNOWN without requests or while too many are
 * outstanding. */
static uint64_t next_grant(const struct read_channel *c)
{
    uint64_t first = READ_UNKNOWN;

    for (uint32_t s = 0; s < READ_SOURCES; s++) {
        uint64_t at = request(c, s);
        first = at < first ? at : first;
    }
    if (first == READ_UNKNOWN)
        return first;
    if (c->n_granted >= c->bursts) {
        uint32_t before = c->n_granted - c->bursts;
        if (before + c->held >= c->n_begun)
            return READ_UNKNOWN;
        first = later(first, burst(c, before)->last + 1);
    }
    return later(first, c->last_grant + 1);
}

static enum read_source choose(const struct read_channel *c, uint64_t now)
{
    bool load = request(c, READ_LOAD) <= now, weight = request(c, READ_WEIGHT) <= now;

    if (request(c, READ_FETCH) <= now && (c->fetch_first <= now || !(load || weight)))
        return READ_FETCH;
    return weight && (c->weight_next || !load) ? READ_WEIGHT : READ_LOAD;
}

/* Return the bytes in memory of a byte in a row: those of a float32 that LOAD quantises. */
static uint32_t value_bytes(const struct hd_cmd_dma_read *m)
{
    return m->quantise ? 4 : 1;
}

/* Return the number of words completed by the first `bytes` of a transfer. */
static uint32_t words(const struct read_channel *c, const struct hd_cmd_dma_read *m, uint64_t bytes)
{
    uint32_t n = (uint32_t)bytes / value_bytes(m), rows = n / m->row_bytes;

    return rows * ((m->row_bytes + c->n - 1) / c->n) + n % m->row_bytes / c->n;
}

static enum read_event grant(struct read_channel *c, uint64_t now, struct read_burst *seen)
{
    enum read_source s = choose(c, now);
    struct read_walk *w = &c->walk[s][0];
    struct read_burst *b = burst(c, c->n_granted++);
    uint64_t end = burst_end(c, w);

    *b = (struct read_burst){.source = s, .granted = now, .m = w->m, .at = w->at, .from = w->from};
    b->beats = (uint32_t)((end + c->bytes - 1) / c->bytes - w->at / c->bytes);
    if (w->m)
        b->words = words(c, w->m, w->from + end - w->at) - words(c, w->m, w->from);
    c->granted[s] = c->last_grant = now;
    if (s != READ_FETCH)
        c->weight_next = s == READ_LOAD;
    b->ends = last_burst(c, w);
    w->from += end - w->at;
    w->at = end;
    if (end == w->end && w->runs > 0) {
        w->runs--;
        w->end += w->pitch;
        w->at = w->end - w->run_bytes;
    }
    if (b->ends) {
        c->walk[s][0] = c->walk[s][1];
        c->n_walk[s]--;
    }
    *seen = *b;
    return s == READ_FETCH || read_channel_ready(c, s) != READ_UNKNOWN ? READ_GRANTED
                                                                       : READ_NOTHING;
}

/* --- data ------------------------------------------------------------------------------------- */

/* Return true if the first data cycle of the next burst is known. */
static bool has_data(const struct read_channel *c)
{
    return !c->held && c->n_begun < c->n_granted &&
           c->load.n_arrived - c->load.n_written < READ_LOADS;
}

/* Return the words that may wait after the last beat of a burst. */
static uint64_t slack(const struct read_burst *b)
{
    return HD_TIMING_READ_SLACK * (uint64_t)(b->words > b->beats ? b->words : b->beats) / b->beats;
}

/* Start the data of the next burst; wait if the end of LOAD depends on earlier words. */
static enum read_event begin_data(struct read_channel *c, struct read_burst *seen)
{
    struct read_burst *b = burst(c, c->n_begun++);
    uint64_t first = later(b->granted + HD_TIMING_READ_GRANT + c->latency, c->bus_free);

    b->first = first;
    b->last = first + data_cycles(c, b->beats) - 1;
    if (b->source == READ_LOAD) {
        c->load.burst[c->load.n_arrived++ % READ_LOADS] = *b;
        c->load.arrived += b->words;
        c->held = true;
        return READ_NOTHING;
    }
    uint64_t from = later(first - 1, c->consumed[b->source]);
    b->consumed = later(b->last, from + b->words);
    if (b->consumed > b->last + slack(b))
        b->last = b->consumed - slack(b);
    c->bus_free = b->last + 1;
    c->consumed[b->source] = b->consumed;
    if (b->source == READ_WEIGHT)
        arrivals_add(&c->arrivals, from, b->consumed, b->words, b->ends);
    *seen = *b;
    if (b->source == READ_WEIGHT && b->ends)
        return READ_ENDED;
    return b->source == READ_FETCH || c->watched ? READ_BEGUN : READ_NOTHING;
}

/* --- LOAD's words ----------------------------------------------------------------------------- */

/* Release the last of the held burst's beats once few enough words wait. */
static void release(struct read_channel *c)
{
    struct read_burst *b = c->held ? burst(c, c->n_begun - 1) : NULL;

    if (!b || c->load.arrived > c->load.through + slack(b))
        return;
    uint64_t since = c->load.through + slack(b) - c->load.arrived, at = c->consumed[READ_LOAD];
    b->last = later(b->last, at > since ? at - since : 0);
    c->load.burst[(c->load.n_arrived - 1) % READ_LOADS].last = b->last;
    c->bus_free = b->last + 1;
    c->held = false;
}

/* Return the cycle of the beat that completes the word in that column of the next word's row. */
static uint64_t arrival(const struct read_channel *c, const struct read_burst *b, uint32_t column)
{
    uint32_t log2 = (uint32_t)__builtin_ctz(c->bytes), row_bytes = b->m->row_bytes;
    uint64_t in_row = (uint64_t)(column + 1) * c->n;
    uint64_t before = (uint64_t)c->load.row * row_bytes + (in_row < row_bytes ? in_row : row_bytes);
    uint64_t end = b->at - b->from + before * value_bytes(b->m);

    return b->first + data_cycles(c, ((end - 1) >> log2) - (b->at >> log2));
}

static void wrote(struct read_channel *c, uint32_t n, uint32_t per_row)
{
    struct read_load *l = &c->load;

    l->through += n;
    l->left -= n;
    l->column += n;
    if (l->column == per_row) {
        l->column = 0;
        l->row++;
    }
}

/* Write words of burst n_written while no words are written before cycle `known` except those of
 * write_back.h. Return true if all are written. */
static bool write_burst(struct read_channel *c, uint64_t known)
{
    struct read_load *l = &c->load;
    const struct read_burst *b = &l->burst[l->n_written % READ_LOADS];
    uint32_t per_row = (b->m->row_bytes + c->n - 1) / c->n;

    while (l->left) {
        uint64_t next = later(l->next, arrival(c, b, l->column) + HD_TIMING_READ_WORD);
        uint32_t n = per_row - l->column;
        if (next >= l->quiet)
            l->quiet = write_back_next(&c->results, next, known);
        if (next < l->quiet) { /* up to the row's end at once; the last word may have to wait for
                                * its beat */
            n = n < l->left ? n : l->left;
            n = n < l->quiet - next ? n : (uint32_t)(l->quiet - next);
            next = later(next + n - 1, arrival(c, b, l->column + n - 1) + HD_TIMING_READ_WORD);
        } else {
            uint32_t bank = b->m->dest + l->row * b->m->dest_pitch + l->column;
            n = 1;
            while (next < known && write_back_take(&c->results, next, bank))
                next++;
        }
        l->next = next;
        if (next >= known)
            return false;
        l->next = next + 1;
        c->consumed[READ_LOAD] = next - HD_TIMING_READ_WORD;
        wrote(c, n, per_row);
    }
    return true;
}

/* Write LOAD's words from the arrived beats; return true for the last word of a walk, in *seen. */
static bool write_words(struct read_channel *c, uint64_t limit, struct read_burst *seen)
{
    struct read_load *l = &c->load;

    l->quiet = 0;
    while (l->n_written < l->n_arrived) {
        struct read_burst *b = &l->burst[l->n_written % READ_LOADS];
        if (l->left == 0)
            l->left = b->words;
        if (b->from == 0 && l->left == b->words)
            l->row = l->column = 0;
        bool all = write_burst(c, limit + RESULT_AHEAD);
        release(c);
        if (!all)
            return false;
        l->n_written++;
        b->consumed = later(b->last, c->consumed[READ_LOAD]);
        *seen = *b;
        if (b->ends)
            return true;
    }
    return false;
}

enum read_event read_channel_run(struct read_channel *c, uint64_t limit, struct read_burst *b)
{
    enum read_event seen = READ_NOTHING;

    limit = limit < READ_UNKNOWN / 2 ? limit : READ_UNKNOWN / 2;
    while (seen == READ_NOTHING) {
        if (write_words(c, limit, b))
            return READ_ENDED;
        if (has_data(c)) {
            seen = begin_data(c, b);
            continue;
        }
        uint64_t now = next_grant(c);
        if (now > limit)
            return READ_NOTHING;
        seen = grant(c, now, b);
    }
    return seen;
}
