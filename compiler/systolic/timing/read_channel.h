/* read_channel.h - the AXI read channel on the estimate's timeline: bursts of LOAD, WEIGHT and
 * FETCH, one grant per cycle, a limited number outstanding, data in the order of the grants at
 * the memory's rate after its latency. LOAD's words wait for results (write_back.h), and all
 * data wait once its data path is full. Models hd_dma_bursts, hd_axi_read, hd_dma_read and the
 * memory model. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_READ_CHANNEL_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_READ_CHANNEL_H

#include "arrivals.h"
#include "write_back.h"

#define READ_UNKNOWN UINT64_MAX /* depends on a later step */

#define READ_LOADS 64u /* bursts in LOAD's data path */

enum read_source { READ_LOAD, READ_WEIGHT, READ_FETCH, READ_SOURCES };

/* Bytes [at, end) of memory and `runs` more runs, each `pitch` after the previous one, requested
 * from cycle `ready` on. A burst is within one run. */
struct read_walk {
    uint64_t at, end, ready;
    const struct hd_cmd_dma_read *m; /* command that defines the words of N bytes; NULL: one word
                                      * per beat */
    uint32_t runs, run_bytes, pitch; /* remaining runs; bytes of each */
    uint64_t from;                   /* bytes requested before `at` */
};

/* A burst: the first and last beat of its data, and the cycle in which the source's data path has
 * consumed them. */
struct read_burst {
    enum read_source source;
    uint64_t granted, first, last, consumed;
    const struct hd_cmd_dma_read *m;
    uint64_t at, from; /* memory address; bytes of its walk before the burst */
    uint32_t beats, words;
    bool ends; /* true if it is the last of its walk */
};

/* LOAD's data path: words from the arrived beats. */
struct read_load {
    struct read_burst burst[READ_LOADS]; /* a ring */
    uint32_t n_arrived, n_written;       /* bursts */
    uint32_t row, column, left; /* of burst n_written: the next word, and words left to write */
    uint64_t next;              /* earliest cycle for writing it */
    uint64_t arrived, through;  /* words received and written since the doorbell */
    uint64_t quiet;             /* no result is written before this cycle */
};

struct read_channel {
    uint32_t bytes, n, rate, latency, bursts; /* bytes of a beat, N, beats per cycle, cycles,
                                               * maximum of bursts */
    struct read_walk walk[READ_SOURCES][2];
    uint32_t n_walk[READ_SOURCES];
    uint64_t granted[READ_SOURCES];  /* last grant by source */
    uint64_t consumed[READ_SOURCES]; /* by source: cycle in which its data path has consumed all it
                                      * was given */
    uint64_t last_grant, bus_free;
    uint64_t fetch_first;        /* from this cycle on FETCH's next burst has priority */
    struct read_burst *burst;    /* circular buffer of the outstanding bursts */
    uint32_t n_granted, n_begun; /* data of the bursts before n_begun have started */
    bool held;                   /* `last` of the most recent burst is still unknown */
    bool weight_next;
    bool watched; /* ARRAY's next command waits for words of WEIGHT */
    struct read_load load;
    struct write_back results;
    struct arrivals arrivals; /* of WEIGHT's words */
};

void read_channel_init(struct read_channel *c, struct arena *a, const struct hd_config *hw,
                       uint32_t latency, uint32_t bytes_per_cycle);
/* Return the earliest cycle in which source `s` accepts another walk; READ_UNKNOWN while bursts of
 * its previous walk wait. */
uint64_t read_channel_ready(const struct read_channel *c, enum read_source s);
void read_channel_add(struct read_channel *c, enum read_source s, const struct read_walk *w);

/* Events of the channel that other actors observe. */
enum read_event {
    READ_NOTHING,
    READ_GRANTED, /* a burst of FETCH was granted, or read_channel_ready of its source is now known */
    READ_BEGUN,   /* data of FETCH started, or of WEIGHT while `watched`: `first` is known */
    READ_ENDED,   /* the last data of a walk: `consumed` is known */
};

/* Run the channel in cycles up to `limit`, before which no ARRAY or VECTOR command begins, or up to
 * the next event, of *b. */
enum read_event read_channel_run(struct read_channel *c, uint64_t limit, struct read_burst *b);

#endif
