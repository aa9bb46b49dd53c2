/* same_cycles.h - which submissions take the same cycles: a hash over the model, its memory and the stream,
 * without what changes no cycle. in: a stream in memory, the bus addresses of the regions. out: a
 * hash; the rows of the network by their order in the stream. */
#ifndef HEDDLE_SIM_REUSE_SAME_CYCLES_H
#define HEDDLE_SIM_REUSE_SAME_CYCLES_H

#include "base/arena.h"
#include "sim/build/hash.h"
#include "sim/hd_sim.h"

/* A submission, as registers and memory describe it. */
struct key_stream {
    const uint8_t *bytes; /* header and commands */
    uint32_t n_bytes;
    uint64_t address;         /* on the bus */
    const uint64_t *base;     /* bus address of each region */
    uint32_t n_layer, *layer; /* rows in the order of their first commands; set by key_cycles */
    uint32_t *number;         /* by row: 1 + its index in `layer`; likewise */
};

/* Return the hash of all that decides about the cycles of `s`. Left out are zero points, clamps,
 * multipliers and shifts, and the header's CRC. A row counts by its order in the stream, an address
 * in memory by its place in a page of 4 KiB, which decides how it is cut into bursts. */
struct hash128 key_cycles(struct arena *a, const char *source_hash, uint32_t config_hash,
                          const struct hd_sim_options *o, struct key_stream *s);

#endif
