/* timeline_parts.h - the state of a timeline, shared by timeline*.c. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_TIMELINE_PARTS_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_TIMELINE_PARTS_H

#include "contention.h"
#include "cost.h"
#include "hd_timing.h"
#include "read_channel.h"

/* A unit's commands, by sequence. Times are known up to the count. */
struct queue {
    uint32_t *index; /* of the stream's commands */
    uint64_t *pushed, *taken, *consumed, *done;
    uint32_t n_pushed, n_taken, n_consumed, n_done, depth;
};

struct fetch {
    uint32_t next;            /* command to hand over */
    uint32_t at;              /* bytes taken, from the border of the stream's first beat */
    uint64_t free;            /* a chunk may be taken from this cycle on */
    uint64_t collected;       /* the command is in; READ_UNKNOWN: beats are missing */
    uint64_t *arrival, *used; /* by beat */
    uint32_t n_asked, n_arrived, n_used; /* beats */
    bool has_header;
    bool waits; /* the next burst has no credit yet */
};

/* The cost found for an operator's last ARRAY command; tiles of equal shape have the same. */
struct seen {
    uint32_t out_h, out_w, out_channels, kernel_h, kernel_row_bytes, streams;
    struct array_cost cost;
};

/* ARRAY's issue: the command taken last, and when. */
struct array_issue {
    const struct sched_command *command; /* NULL: none yet */
    uint64_t begin;                      /* its first tile is loaded; READ_UNKNOWN: and looked at */
    uint64_t ready;                      /* the next one can be taken */
    uint64_t last_step;
    uint64_t last_position[COST_CELLS]; /* by what it sets up in the cells; 0: none yet */
    /* Taken, but not all words are known of the WEIGHT command that it follows, by sequence. */
    bool pending;
    uint32_t follows;
    uint64_t earliest; /* cycle in which it could begin without them */
    bool begun;        /* when it begins is known */
};

struct timeline {
    const struct sched_program *p;
    struct sched_stream *s;
    struct queue queue[HD_UNIT_FETCH];
    struct read_channel channel;
    struct fetch fetch;
    struct array_issue issue;
    /* Known while the array reads for its command. weight: of the scratchpad. */
    struct contention_work store, vector, weight;
    uint64_t store_ends, vector_ends, weight_ends; /* if ARRAY begins nothing more until then */
    uint32_t storing;              /* STORE command in its data phase, by sequence */
    struct contention_array array; /* the command that ARRAY is at, or was */
    struct contention_trace trace;
    uint64_t array_steps; /* its, without conflicts */
    struct seen *seen;    /* by row */
    uint64_t region[16];  /* address in device memory */
    uint64_t last;        /* latest completion so far */
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* --- timeline_waits.c --- */

/* Return true for WEIGHT from the scratchpad, not from memory. */
bool timeline_from_spad(const struct sched_command *c);
struct sched_command *timeline_head(const struct timeline *t, uint32_t unit);
/* Earliest cycle in which `unit` takes its next command. */
uint64_t timeline_take_time(const struct timeline *t, uint32_t unit);

/* --- timeline_fetch.c --- */

/* The next burst of the stream may be asked for once there are places for a whole one: when the
 * beats that leave them are used. It goes first once more than half of all are free. */
void fetch_give_credit(struct timeline *t);
void fetch_asked(struct timeline *t, const struct read_burst *b);
void fetch_arrived(struct timeline *t, const struct read_burst *b);
/* The cycle when FETCH has the next command and its unit's queue has a place. */
uint64_t fetch_push_time(struct timeline *t);
void fetch_push(struct timeline *t, uint64_t now);

#endif
