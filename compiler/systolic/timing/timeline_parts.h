/* timeline_parts.h - the state of a timeline, shared by timeline*.c. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_TIMELINE_PARTS_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_TIMELINE_PARTS_H

#include "contention.h"
#include "cost.h"
#include "hd_timing.h"
#include "read_channel.h"

/* A unit's commands by sequence number. Times are known up to the count. */
struct queue {
    uint32_t *index; /* indices into the stream's commands */
    uint64_t *pushed, *taken, *consumed, *done;
    uint32_t n_pushed, n_taken, n_consumed, n_done, depth;
};

struct fetch {
    uint32_t next;            /* next command to hand over */
    uint32_t at;              /* bytes taken, from the aligned start of the stream's first beat */
    uint64_t free;            /* cycle from which a chunk may be taken */
    uint64_t collected;       /* cycle in which the command is complete; READ_UNKNOWN if beats are
                               * missing */
    uint64_t *arrival, *used; /* by beat */
    uint32_t n_asked, n_arrived, n_used; /* beats */
    bool has_header;
    bool waits; /* the next burst has no credit */
};

/* The cost of an operator's last ARRAY command; tiles of equal shape cost the same. */
struct seen {
    uint32_t out_h, out_w, out_channels, kernel_h, kernel_row_bytes, streams;
    struct array_cost cost;
};

/* ARRAY's issue: the last command taken, and when. */
struct array_issue {
    const struct sched_command *command; /* NULL: none yet */
    uint64_t begin;                      /* its first tile is loaded; READ_UNKNOWN if not known */
    uint64_t ready;                      /* cycle from which the next one can be taken */
    uint64_t last_step;
    uint64_t last_position[COST_CELLS]; /* by the state set up in the cells; 0 if none yet */
    /* A command taken whose WEIGHT command, by sequence number, has words not yet known. */
    bool pending;
    uint32_t follows;
    uint64_t earliest; /* cycle in which it could begin without waiting for them */
    bool begun;        /* true if its start is known */
};

struct timeline {
    const struct sched_program *p;
    struct sched_stream *s;
    struct queue queue[HD_UNIT_FETCH];
    struct read_channel channel;
    struct fetch fetch;
    struct array_issue issue;
    /* Known while the array reads for its command. weight: from the scratchpad. */
    struct contention_work store, vector, weight;
    uint64_t store_ends, vector_ends, weight_ends; /* ends of the work if ARRAY begins no command
                                                    * before */
    uint32_t storing;              /* sequence number of the STORE command in its data phase */
    struct contention_array array; /* ARRAY's current or last command */
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

/* Return true for a WEIGHT command from the scratchpad, false from memory. */
bool timeline_from_spad(const struct sched_command *c);
struct sched_command *timeline_head(const struct timeline *t, uint32_t unit);
/* Return the earliest cycle in which `unit` takes its next command. */
uint64_t timeline_take_time(const struct timeline *t, uint32_t unit);

/* --- timeline_fetch.c --- */

/* Give credit to the next burst of the stream once there are free slots for a whole one, that is,
 * when the beats in them are used. It has priority once more than half of the slots are free. */
void fetch_give_credit(struct timeline *t);
void fetch_asked(struct timeline *t, const struct read_burst *b);
void fetch_arrived(struct timeline *t, const struct read_burst *b);
/* Return the cycle in which FETCH has the next command and its unit's queue has a free slot. */
uint64_t fetch_push_time(struct timeline *t);
void fetch_push(struct timeline *t, uint64_t now);

#endif
