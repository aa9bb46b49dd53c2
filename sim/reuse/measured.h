/* measured.h - what the simulation of a submission measured, as a file of the store. in: a key, which
 * names the file. out: cycles, counters, times of the commands, costs of the layers. A file is
 * written under another name first and has a digest: it is whole or not there. */
#ifndef HEDDLE_SIM_REUSE_MEASURED_H
#define HEDDLE_SIM_REUSE_MEASURED_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "sim/build/hash.h"
#include "sim/hd_sim.h"

/* Layers of commands and rows count from 0 in the order of their first commands in the stream:
 * `layer` of the stream that is executed maps them to rows of the network. */
struct reuse_record {
    uint64_t cycles; /* register CYCLES */
    uint32_t counter[HD_SIM_UNITS * HD_SIM_KINDS];
    uint32_t n_row, n_command;
    struct hd_sim_row *row;
    struct hd_sim_command *command;
};

/* Read the record of `key`. false: there is none, or it is damaged. */
bool measured_read(struct arena *a, const char *store, const struct hash128 *key,
                   struct reuse_record *r);
/* Remove records that were not used for two weeks, and the oldest ones beyond 512 MiB. */
void measured_evict(struct arena *a, const char *store);
/* Write it. A full disk, or a store that cannot be written, loses the record only. */
void measured_write(struct arena *a, const char *store, const struct hash128 *key,
                    const struct reuse_record *r);

/* Claim the simulation of a submission: return a descriptor for measured_release; -1: another process
 * has claimed it, or there can be no lock. A claim ends with its process. */
int measured_claim(struct arena *a, const char *store, const struct hash128 *key);
void measured_release(struct arena *a, const char *store, const struct hash128 *key, int claim);

#endif
