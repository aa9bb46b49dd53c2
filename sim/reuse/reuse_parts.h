/* reuse_parts.h - the state of a store in front of a simulator, and its steps: reuse.c has these,
 * reuse_table.c calls them from the functions of the table. */
#ifndef HEDDLE_SIM_REUSE_REUSE_PARTS_H
#define HEDDLE_SIM_REUSE_REUSE_PARTS_H

#include "driver/hd_port.h"
#include "measured.h"
#include "reuse.h"
#include "same_cycles.h"
#include "sim/functional/hd_func.h"

struct reuse {
    struct hd_sim_api api;
    struct arena *arena, *scratch; /* scratch: of the last submission */
    struct reuse_setup setup;
    struct hd_sim_options options; /* of the model: its memory is `copy` */
    uint8_t *memory, *copy;        /* the driver's bytes, and those that the RTL sees */
    struct hd_func func, shadow;   /* shadow: what the RTL wrote into its memories */
    struct hd_port port;           /* of func */
    struct hd_sim *sim;            /* the RTL; NULL until the first submission without a record */
    bool stale;                    /* the RTL's memories are older than func's */
    bool pending, alone;
    struct hash128 key;
    struct key_stream stream;
    struct reuse_record record;
    bool found;       /* `record` was read, and the RTL runs nevertheless */
    int claim;        /* lock of the submission that the RTL runs for `fill`; -1: none */
    uint32_t n_found; /* records found */
    struct reuse_counts counts;
    uint64_t read_bytes, write_bytes;
    struct {
        bool on; /* the RTL writes waves, of these windows (hd_sim_api.trace_window) */
        int by_command;
        uint64_t first, last;
    } wave;
    void (*sink)(void *ctx, const struct hd_sim_commit *commit);
    void *sink_ctx;
    char why[512];
};

/* Open the RTL unless it is open; false: it cannot be, and r->why has the reason. */
bool reuse_open_sim(struct reuse *r);
/* Execute the submission that the registers describe, or start it on the RTL (r->pending). */
void reuse_ring(struct reuse *r);
/* The RTL's interrupt is high: compare, and keep what it measured. */
void reuse_end_sim(struct reuse *r);
/* Continue with the RTL alone, with the bytes that it wrote. */
void reuse_go_alone(struct reuse *r);
/* Write waves of the next submission, or of nothing. */
void reuse_trace(const struct reuse *r, bool on);

#endif
