/* read_channel.h - the AXI read channel on the estimate's timeline: bursts of LOAD, WEIGHT and
 * FETCH, one grant a cycle, a bounded number outstanding, data in the order of the grants at the
 * memory's rate after its latency. LOAD's words wait for results (write_back.h), and once its data
 * path is full all data do. States what hd_dma_bursts, hd_axi_read, hd_dma_read and the memory
 * model do. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_READ_CHANNEL_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_READ_CHANNEL_H

#include "arrivals.h"
#include "write_back.h"

#define READ_UNKNOWN UINT64_MAX /* depends on a step still to come */

#define READ_LOADS 64u /* bursts in LOAD's data path */

enum read_source { READ_LOAD, READ_WEIGHT, READ_FETCH, READ_SOURCES };

/* Bytes [at, end) of memory and `runs` more runs, each `pitch` after the one before, requested
 * from cycle `ready` on. A burst is of one run. */
struct read_walk {
    uint64_t at, end, ready;
    const struct hd_cmd_dma_read *m; /* words of N bytes that they become; NULL: one a beat */
    uint32_t runs, run_bytes, pitch; /* runs after this one; bytes of each */
    uint64_t from;                   /* bytes asked for before `at` */
};

/* A burst: its data's first and last beat, and when the source's data path is through with them. */
struct read_burst {
    enum read_source source;
    uint64_t granted, first, last, consumed;
    const struct hd_cmd_dma_read *m;
    uint64_t at, from; /* memory address; bytes of its walk before it */
    uint32_t beats, words;
    bool ends; /* the last of its walk */
};

/* LOAD's data path: words from the beats that have come. */
struct read_load {
    struct read_burst burst[READ_LOADS]; /* a ring */
    uint32_t n_arrived, n_written;       /* bursts */
    uint32_t row, column, left; /* of burst n_written: its next word, words still to be written */
    uint64_t next;              /* which is not written before this cycle */
    uint64_t arrived, through;  /* words on the bus and written since the doorbell */
    uint64_t quiet;             /* no result lands before this cycle */
};

struct read_channel {
    uint32_t bytes, n, rate, latency, bursts; /* a beat; a word; beats a cycle; cycles; at most */
    struct read_walk walk[READ_SOURCES][2];
    uint32_t n_walk[READ_SOURCES];
    uint64_t granted[READ_SOURCES];  /* last grant of the source */
    uint64_t consumed[READ_SOURCES]; /* its data path is through with what it was given */
    uint64_t last_grant, bus_free;
    uint64_t fetch_first;        /* FETCH's next burst goes before others' from this cycle on */
    struct read_burst *burst;    /* a ring of those outstanding */
    uint32_t n_granted, n_begun; /* data have begun of those before n_begun */
    bool held;                   /* of the burst begun last, `last` is still to come */
    bool weight_next;
    bool watched; /* ARRAY's next command awaits words of WEIGHT */
    struct read_load load;
    struct write_back results;
    struct arrivals arrivals; /* of WEIGHT's words */
};

void read_channel_init(struct read_channel *c, struct arena *a, const struct hd_config *hw,
                       uint32_t latency, uint32_t bytes_per_cycle);
/* Earliest cycle in which source `s` takes another walk; READ_UNKNOWN while bursts of the walk
 * before it wait. */
uint64_t read_channel_ready(const struct read_channel *c, enum read_source s);
void read_channel_add(struct read_channel *c, enum read_source s, const struct read_walk *w);

/* Events of the channel that others see. */
enum read_event {
    READ_NOTHING,
    READ_GRANTED, /* a burst of FETCH, or read_channel_ready of its source is known now */
    READ_BEGUN,   /* data of FETCH, or of WEIGHT while `watched`: `first` is known */
    READ_ENDED,   /* the last of a walk's data: `consumed` is known */
};

/* Runs the channel as far as it goes in cycles up to `limit`, before which no command of ARRAY or
 * VECTOR begins; or up to the next event, of *b. */
enum read_event read_channel_run(struct read_channel *c, uint64_t limit, struct read_burst *b);

#endif
