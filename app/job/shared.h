/* shared.h - memory that the processes of a run share: each one's results, and all outputs. */
#ifndef HEDDLE_JOB_SHARED_H
#define HEDDLE_JOB_SHARED_H

#include "job.h"
#include "sim/board/board.h"
#include "sim/hd_sim.h"
#include "sim/reuse/reuse.h"

/* The report of a child process in shared memory, of fixed size except the rows at its end. */
struct run_shared {
    volatile uint32_t layer, submission; /* currently executed; 0, or 1 + the device's index */
    volatile uint32_t inference;         /* being executed */
    volatile uint32_t inferences;        /* completed by this process */
    volatile uint32_t working;           /* layer of the last command started */
    int state;                           /* from waitpid; not 0: it crashed */
    enum status status;
    char message[4096];
    uint64_t cycles;      /* sums over the inferences */
    int32_t code;         /* result of hd_program for --prog on the board */
    uint32_t submissions; /* likewise */
    uint64_t read_bytes, write_bytes;
    uint64_t fault_beats; /* most beats of the kind of --bus-fault on one accelerator */
    bool fault_happened;  /* --bus-fault, of any */
    double wall_seconds;
    uint64_t sim_cycles;
    struct reuse_counts reuse;                               /* --reuse, of all accelerators */
    struct board_host host;                                  /* --host=iss, rtl */
    uint64_t core_cycles, core_read_bytes, core_write_bytes; /* of external targets' cores */
    uint64_t core_register_reads;
    uint64_t wave_cycles, wave_bytes; /* in the wave file; 0 without one */
    uint32_t wave_limited;            /* it reached --waves-limit */
    struct compare_first first;
    uint64_t counter[HD_SIM_UNITS * HD_SIM_KINDS]; /* from the registers, for the first inference */
    struct run_row {
        uint64_t cycles, counter[HD_SIM_UNITS][HD_SIM_KINDS], read_bytes, write_bytes;
        uint64_t array_cycles, vector_cycles;
        struct compare_row compare;
        uint64_t host_cycles,
            driver_cycles; /* --host=iss, rtl: the host's cycles include the driver's */
        uint64_t core_counter[TARGET_MAX][HD_SIM_COUNTERS]; /* by index in struct core_targets */
    } row[]; /* n_row entries: sums over the inferences (struct hd_sim_row) */
};

/* Allocate m->out for the outputs of the network; run_share maps their bytes. */
void run_outputs(const struct job *job, struct run_measured *m);
/* Map m->shared, the outputs and the times in memory that processes share. */
enum status run_share(const struct job *job, struct run_measured *m, struct diag *d);
/* Return the results of one process. */
struct run_shared *run_results(const struct job *job, const struct run_measured *m,
                               uint32_t process);
/* Add the cost of a submission's layers (hd_sim_api.rows). */
void run_add_rows(const struct job *job, struct run_shared *to, const struct hd_sim_row *from,
                  uint32_t n);
/* Return true if the commands of the first inference are traced. */
bool run_traced(const struct job *job);
/* Add the times of the commands of the submission that ended; *n: number of entries in m->times. */
void run_add_times(const struct job *job, struct run_measured *m, uint32_t *n,
                   const struct hd_sim_api *api, struct hd_sim *sim);
/* Release what is not in arenas. */
void run_release(struct run *run);
void run_unlock(struct run *run);

#endif
