/* read_channel.c - see read_channel.h. */
#include "read_channel.h"

enum {
    BURST_BEATS = 16,
    SLACK_BEATS = 17, /* beats a data path that takes less than one a cycle lets pile up */
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void read_channel_init(struct read_channel *c, struct arena *a, const struct hd_config *hw,
                       uint32_t latency, uint32_t bytes_per_cycle)
{
    uint32_t rate = bytes_per_cycle ? bytes_per_cycle : hw->axi_bytes;
    *c = (struct read_channel){.bytes = hw->axi_bytes,
                               .rate = rate < hw->axi_bytes ? rate : hw->axi_bytes,
                               .latency = latency ? latency : 1,
                               .bursts = hw->read_bursts};
    c->end = ARENA_ARRAY(a, uint64_t, c->bursts);
}

/* Cycles that `beats` beats hold the data channel. */
static uint64_t data_cycles(const struct read_channel *c, uint32_t beats)
{
    return ((uint64_t)beats * c->bytes + c->rate - 1) / c->rate;
}

/* Bytes up to the end of the burst that begins at `at`: bursts end at multiples of 16 beats. */
static uint64_t burst_end(const struct read_channel *c, const struct read_walk *w)
{
    uint64_t line = (uint64_t)BURST_BEATS * c->bytes, border = (w->at / line + 1) * line;
    return border < w->end ? border : w->end;
}

uint64_t read_channel_ready(const struct read_channel *c, enum read_source s)
{
    const struct read_walk *w = &c->walk[s][0];
    if (c->n_walk[s] == 0)
        return 0;
    if (c->n_walk[s] == 1 && burst_end(c, w) == w->end) /* its last burst stands in the register */
        return later(w->ready, c->granted[s]);
    return READ_UNKNOWN;
}

void read_channel_add(struct read_channel *c, enum read_source s, const struct read_walk *w)
{
    c->walk[s][c->n_walk[s]++] = *w;
}

static uint64_t request(const struct read_channel *c, uint32_t s)
{
    const struct read_walk *w = &c->walk[s][0];
    if (c->n_walk[s] == 0 || w->ready == READ_UNKNOWN)
        return READ_UNKNOWN;
    return later(w->ready, c->granted[s] + 1);
}

uint64_t read_channel_next(const struct read_channel *c)
{
    uint64_t first = READ_UNKNOWN;
    for (uint32_t s = 0; s < READ_SOURCES; s++) {
        uint64_t at = request(c, s);
        first = at < first ? at : first;
    }
    if (first == READ_UNKNOWN)
        return first;
    if (c->n_grant >= c->bursts)
        first = later(first, c->end[c->n_grant % c->bursts] + 1);
    return later(first, c->last_grant + 1);
}

static enum read_source choose(const struct read_channel *c, uint64_t now)
{
    bool load = request(c, READ_LOAD) <= now, weight = request(c, READ_WEIGHT) <= now;
    if (request(c, READ_FETCH) <= now)
        return READ_FETCH;
    return weight && (c->weight_next || !load) ? READ_WEIGHT : READ_LOAD;
}

/* Cycles that the words of LOAD lose to other writes. */
static uint32_t lost(struct read_channel *c, const struct read_burst *b, uint64_t words)
{
    if (b->source != READ_LOAD || b->first >= c->slow_until)
        return 0;
    c->slow_rest += (uint32_t)words * c->slow;
    uint32_t whole = c->slow_rest / 256;
    c->slow_rest %= 256;
    return whole;
}

struct read_burst read_channel_grant(struct read_channel *c)
{
    uint64_t now = read_channel_next(c);
    enum read_source s = choose(c, now);
    struct read_walk *w = &c->walk[s][0];
    struct read_burst b = {.source = s, .at = w->at};
    uint64_t end = burst_end(c, w);
    b.beats = (uint32_t)((end + c->bytes - 1) / c->bytes - w->at / c->bytes);
    b.first = later(now + 1 + c->latency, c->bus_free);
    b.last = b.first + data_cycles(c, b.beats) - 1;
    uint64_t words = w->beats ? ((uint64_t)w->words * b.beats + w->beats - 1) / w->beats : 0;
    b.words = (uint32_t)words;
    words += lost(c, &b, words);
    b.consumed = later(b.last, later(b.first - 1, c->consumed[s]) + words);
    uint64_t slack = SLACK_BEATS * (words > b.beats ? words : b.beats) / b.beats;
    if (b.consumed > b.last + slack)
        b.last = b.consumed - slack;
    c->bus_free = b.last + 1;
    c->consumed[s] = b.consumed;
    c->granted[s] = c->last_grant = now;
    c->end[c->n_grant++ % c->bursts] = b.last;
    if (s != READ_FETCH)
        c->weight_next = s == READ_LOAD;
    w->at = end;
    b.ends = w->at == w->end;
    if (b.ends) {
        c->walk[s][0] = c->walk[s][1];
        c->n_walk[s]--;
    }
    return b;
}
