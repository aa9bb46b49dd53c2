/* timeline_fetch.c - FETCH: bursts of the stream, and commands from their beats to the queues. */
#include "timeline_parts.h"

/* Return the cycle from which `places` of FETCH's slots are neither occupied nor reserved for a
 * burst. */
static uint64_t places_free(const struct fetch *f, uint32_t places)
{
    uint32_t k = f->n_asked + places; /* counting reuse of the slots */

    k = k > HD_TIMING_FETCH_BEATS ? k - HD_TIMING_FETCH_BEATS : 0;
    if (k > f->n_used)
        return READ_UNKNOWN;
    return later(HD_TIMING_FETCH_START, k ? f->used[k - 1] + 1 : 0);
}

void fetch_give_credit(struct timeline *t)
{
    struct fetch *f = &t->fetch;
    struct read_channel *c = &t->channel;

    if (c->n_walk[READ_FETCH] == 0)
        return;
    if (f->waits) {
        c->walk[READ_FETCH][0].ready = places_free(f, HD_TIMING_BURST_BEATS);
        f->waits = c->walk[READ_FETCH][0].ready == READ_UNKNOWN;
    }
    c->fetch_first = places_free(f, HD_TIMING_FETCH_BEATS * 3 / 4);
}

void fetch_asked(struct timeline *t, const struct read_burst *b)
{
    t->fetch.n_asked += b->beats;
    t->fetch.waits = true;
    if (t->channel.n_walk[READ_FETCH])
        t->channel.walk[READ_FETCH][0].ready = READ_UNKNOWN;
}

void fetch_arrived(struct timeline *t, const struct read_burst *b)
{
    struct fetch *f = &t->fetch;
    const struct read_channel *c = &t->channel;

    for (uint32_t i = 0; i < b->beats; i++)
        f->arrival[f->n_arrived++] = b->first + (uint64_t)i * c->bytes / c->rate;
}

/* Take the chunks of `n` bytes, of 16 bytes or a beat if that is narrower; false if one of their
 * beats has not arrived. */
static bool collect(struct timeline *t, uint32_t n)
{
    struct fetch *f = &t->fetch;
    uint32_t width = t->channel.bytes, chunk = width < 16 ? width : 16;

    if ((f->at + n - 1) / width >= f->n_arrived)
        return false;
    uint64_t now = f->free;
    for (uint32_t end = f->at + n; f->at < end; now++) {
        uint32_t beat = f->at / width;
        now = later(now, f->arrival[beat] + HD_TIMING_FETCH_BEAT);
        f->at += chunk;
        if (f->at % width == 0) {
            f->used[beat] = now;
            f->n_used = beat + 1;
        }
    }
    f->collected = now;
    return true;
}

uint64_t fetch_push_time(struct timeline *t)
{
    struct fetch *f = &t->fetch;
    const struct sched_command *c = &t->s->cmd[f->next];

    if (!f->has_header) {
        if (!collect(t, HD_HEADER_BYTES))
            return READ_UNKNOWN;
        f->has_header = true;
        f->free = f->collected + HD_TIMING_FETCH_CHECK;
        f->collected = READ_UNKNOWN;
    }
    if (f->next == t->s->n)
        return READ_UNKNOWN;
    if (f->collected == READ_UNKNOWN && !collect(t, c->w.common.length * 16u))
        return READ_UNKNOWN;
    if (c->unit == HD_UNIT_FETCH)
        return f->collected;
    const struct queue *q = &t->queue[c->unit];
    if (q->n_pushed - q->n_taken == q->depth)
        return READ_UNKNOWN;
    uint64_t room = q->n_pushed >= q->depth ? q->taken[q->n_pushed - q->depth] + 1 : 0;
    return later(f->collected, room);
}

void fetch_push(struct timeline *t, uint64_t now)
{
    struct fetch *f = &t->fetch;
    struct sched_command *c = &t->s->cmd[f->next];

    if (c->unit != HD_UNIT_FETCH) {
        struct queue *q = &t->queue[c->unit];
        q->index[q->n_pushed] = f->next;
        q->pushed[q->n_pushed++] = now;
    } else {
        c->est_start = now;
    }
    f->next++;
    f->free = now + 1;
    f->collected = READ_UNKNOWN;
}
