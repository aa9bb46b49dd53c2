/* read_channel.h - the AXI read channel on the estimate's timeline: bursts of LOAD, WEIGHT and
 * FETCH, one grant a cycle, a bounded number outstanding, data in the order of the grants at the
 * memory's rate after its latency. States what hd_dma_bursts, hd_axi_read and the memory model do.
 */
#ifndef HEDDLE_SCHED_READ_CHANNEL_H
#define HEDDLE_SCHED_READ_CHANNEL_H

#include <stdbool.h>

#include "../../hw/gen/config.h"
#include "../base/arena.h"

#define READ_UNKNOWN UINT64_MAX /* hangs on a step still to come */

enum read_source { READ_LOAD, READ_WEIGHT, READ_FETCH, READ_SOURCES };

/* Bytes [at, end) of memory, asked for from cycle `ready` on. words: what they become, one taken a
 * cycle (0: as many as beats). */
struct read_walk {
    uint64_t at, end, ready;
    uint32_t beats, words;
};

struct read_channel {
    uint32_t bytes, rate, latency, bursts; /* of a beat; a cycle; cycles; outstanding at most */
    struct read_walk walk[READ_SOURCES][2];
    uint32_t n_walk[READ_SOURCES];
    uint64_t granted[READ_SOURCES];  /* last grant of the source */
    uint64_t consumed[READ_SOURCES]; /* its data path is through with all data granted */
    uint64_t last_grant, bus_free;
    uint64_t *end; /* ring of the last `bursts` bursts' ends */
    uint32_t n_grant;
    bool weight_next;
    /* LOAD's words wait for other writes to the scratchpad: of 256 words, up to cycle slow_until.
     */
    uint32_t slow;
    uint64_t slow_until;
    uint32_t slow_rest; /* of 256 */
};

/* One burst's data: first and last beat, and when the source's data path is through with them. */
struct read_burst {
    enum read_source source;
    uint64_t first, last, consumed, at;
    uint32_t beats, words;
    bool ends; /* the last of its walk */
};

void read_channel_init(struct read_channel *c, struct arena *a, const struct hd_config *hw,
                       uint32_t latency, uint32_t bytes_per_cycle);
/* Earliest cycle in which source `s` takes another walk; READ_UNKNOWN while bursts of the walk
 * before it wait. */
uint64_t read_channel_ready(const struct read_channel *c, enum read_source s);
void read_channel_add(struct read_channel *c, enum read_source s, const struct read_walk *w);
/* Cycle of the next grant, READ_UNKNOWN without requests. */
uint64_t read_channel_next(const struct read_channel *c);
struct read_burst read_channel_grant(struct read_channel *c);

#endif
