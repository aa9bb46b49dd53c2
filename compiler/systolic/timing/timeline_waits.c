/* timeline_waits.c - compute when a unit may take the next command of its queue. */
#include "timeline_parts.h"

/* Maximum of DMA commands taken whose data have not all arrived. */
enum { DMA_TAKEN = HD_TIMING_DMA_AHEAD + 1 };

/* Return the earliest cycle in which the waits hold. */
static uint64_t waits(const struct timeline *t, const struct hd_common *c)
{
    const uint32_t need[HD_UNIT_FETCH] = {c->wait_load, c->wait_weight, c->wait_array,
                                          c->wait_vector, c->wait_store};
    uint64_t at = 0;

    for (uint32_t u = 0; u < HD_UNIT_FETCH; u++) {
        const struct queue *q = &t->queue[u];
        if (!(c->wait_enable >> u & 1u))
            continue;
        uint32_t ahead = (q->n_done - need[u]) & 0xffffu; /* compared as in the RTL */
        if (ahead >= 0x8000u)
            return READ_UNKNOWN;
        uint32_t k = q->n_done - ahead;
        if (k > 0 && k <= q->n_done)
            at = later(at, q->done[k - 1] + HD_TIMING_ISSUE_COUNT);
    }
    return at;
}

bool timeline_from_spad(const struct sched_command *c)
{
    return c->unit == HD_UNIT_WEIGHT && c->w.dma_read.spad;
}

struct sched_command *timeline_head(const struct timeline *t, uint32_t unit)
{
    const struct queue *q = &t->queue[unit];

    return &t->s->cmd[q->index[q->n_taken]];
}

uint64_t timeline_take_time(const struct timeline *t, uint32_t unit)
{
    const struct queue *q = &t->queue[unit];

    if (q->n_taken == q->n_pushed)
        return READ_UNKNOWN;
    uint64_t at = waits(t, &timeline_head(t, unit)->w.common), other = 0;
    if (at == READ_UNKNOWN)
        return at;
    at = later(at, q->pushed[q->n_taken] + HD_TIMING_ISSUE_PUSH);
    if (q->n_taken > 0)
        at = later(at, q->taken[q->n_taken - 1] + 1);
    if (unit == HD_UNIT_ARRAY)
        return later(at, t->issue.ready);
    const bool alone =
        unit == HD_UNIT_VECTOR || timeline_from_spad(timeline_head(t, unit)); /* these units work on
                                                                               * one command at a
                                                                               * time */
    if (alone && q->n_done < q->n_taken)
        return READ_UNKNOWN;
    if (alone)
        return later(at, q->n_done ? q->done[q->n_done - 1] + 1 : 0);
    if (unit == HD_UNIT_WEIGHT && q->n_taken > 0 &&
        timeline_from_spad(&t->s->cmd[q->index[q->n_taken - 1]])) {
        if (q->n_done < q->n_taken)
            return READ_UNKNOWN; /* the commands of the other source must complete first */
        at = later(at, q->done[q->n_done - 1] + 1);
    }
    if (unit != HD_UNIT_STORE)
        other = read_channel_ready(&t->channel, unit == HD_UNIT_LOAD ? READ_LOAD : READ_WEIGHT);
    if (other == READ_UNKNOWN)
        return other;
    if (q->n_taken >= DMA_TAKEN && q->n_consumed + DMA_TAKEN <= q->n_taken)
        return READ_UNKNOWN;
    if (q->n_taken >= DMA_TAKEN)
        other = later(other, q->consumed[q->n_taken - DMA_TAKEN] + 1);
    return later(at, other);
}
