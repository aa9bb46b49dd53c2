/* hd_sim.h - the C table that every simulated accelerator offers, as `const struct hd_sim_api
 * hd_sim_api` in its shared object. heddle loads it with dlopen; nothing else in sim/ names a
 * Verilog module. Not thread safe: one simulator per thread; several may live in one process. */
#ifndef HD_SIM_H
#define HD_SIM_H

#include <stddef.h>
#include <stdint.h>

#define HD_SIM_ABI      10u
#define HD_SIM_UNITS    6u
#define HD_SIM_KINDS    8u
#define HD_SIM_COUNTERS 8u /* of a core, at most */

struct hd_sim;
struct hd_sim_api;

/* The memory's fault at one beat. read: R beats; write: W beats, whose burst's B it is.
 * tests/e2e/bus_faults.c shows the accelerator's answer to each. */
enum hd_sim_bus_kind {
    HD_SIM_BUS_NONE,
    HD_SIM_BUS_READ_SLVERR,
    HD_SIM_BUS_READ_DECERR,
    HD_SIM_BUS_READ_LATE,    /* HD_SIM_BUS_LATE cycles later */
    HD_SIM_BUS_READ_MISSING, /* never, and none after it, until the fault is lifted */
    HD_SIM_BUS_READ_SHORT,   /* with RLAST, the rest of its burst left out */
    HD_SIM_BUS_READ_LONG,    /* the last of its burst without RLAST, one more after it */
    HD_SIM_BUS_WRITE_SLVERR,
    HD_SIM_BUS_WRITE_DECERR,
    HD_SIM_BUS_WRITE_LATE,
    HD_SIM_BUS_WRITE_MISSING, /* its B, and none after it, until the fault is lifted */
    HD_SIM_BUS_WRITE_EARLY,   /* B before the burst's last beat */
    HD_SIM_BUS_KINDS
};
#define HD_SIM_BUS_LATE 1000u

struct hd_sim_bus_fault {
    uint32_t kind; /* enum hd_sim_bus_kind */
    uint64_t beat; /* counted from 0 when the fault was set */
    /* Set by the memory when it happened: whose beat it was (AXI ID: enum unit), the beat's bus
     * address, its burst's. */
    uint32_t happened, unit;
    uint64_t address, burst;
};

struct hd_sim_options {
    /* Device memory: bus addresses [memory_base, memory_base + memory_bytes) are these host bytes.
     * Accesses outside answer DECERR. */
    uint8_t *memory;
    uint64_t memory_base, memory_bytes;
    uint32_t latency;         /* cycles from AR handshake to first R beat, from last W beat to B */
    uint32_t bytes_per_cycle; /* 0: AXI width. Reads and writes each. */
    uint64_t stall_seed;      /* 0: no random back-pressure */
    uint64_t fault_address;   /* bus address that answers SLVERR; with fault_enable */
    uint32_t fault_enable;
    uint64_t watchdog_cycles; /* cycles without any progress (no commit, no bus beat, no unit busy);
                                 0: 100,000 */
    const char *const *layer_names; /* for waves: shown as text */
    uint32_t n_layers;
    /* For waves: what part of its layer a command computes ("rows 4-7, channels 0-15"); the command
     * by its index in the stream at `offset` of region 0. NULL: not known. */
    const char *(*tile)(void *ctx, uint32_t offset, uint32_t command);
    void *tile_ctx;
};

enum hd_sim_stop {
    HD_SIM_IRQ = 0,    /* the interrupt line is high */
    HD_SIM_CYCLES = 1, /* max_cycles passed */
    HD_SIM_STUCK = 2,  /* watchdog; see stuck_text */
    HD_SIM_FAILED = 3, /* the model itself stopped ($finish, assertion) */
};

/* Bytes that went over the bus, in whole beats. */
struct hd_sim_moved {
    uint64_t read, written;
};

/* One command of the current submission, by index. Cycles count from the doorbell. */
struct hd_sim_command {
    uint64_t start, done; /* done 0: not completed */
    /* Sums over all commands, from the doorbell to the end of cycle `start` and of cycle `done`. */
    struct hd_sim_moved at_start, at_done;
    uint32_t unit, layer;
};

/* The cost of one layer within a submission. Rows are in the order of their layers' last
 * commands. A cycle in which ARRAY takes steps (busy or conflict) is that of the layer it takes
 * them for; any other cycle is the first row's whose layer, or one before, has commands that are
 * not complete. */
struct hd_sim_row {
    uint64_t cycles;
    /* Busy cycles of ARRAY and VECTOR for commands of the layer, all of them: those of ARRAY are
     * among `cycles`. */
    uint64_t array_cycles, vector_cycles;
    /* Cycles by what each unit did (accel.json `units`); those of a unit add up to `cycles`. */
    uint64_t counter[HD_SIM_UNITS][HD_SIM_KINDS];
    /* Beats of the bus moved by the layer's own commands at any time, with their own words. All
     * rows: the memory traffic of the submission. */
    uint64_t read_bytes, write_bytes;
    uint32_t layer;
};

/* One write seen at the commit ports. */
struct hd_sim_commit {
    uint64_t cycle;   /* since the doorbell */
    uint32_t unit;    /* enum hd_unit */
    uint32_t command; /* index in the submission */
    uint32_t space;   /* 0 scratchpad (byte address), 1 memory (bus address), 2 + enum hd_space:
                         weight and parameter memories (byte address = word * N) */
    uint64_t address;
    uint32_t n_bytes; /* at most 64 */
    uint8_t data[64];
    uint64_t strobe; /* bit i: data[i] is written */
};

enum hd_sim_trace { HD_SIM_TRACE_OFF, HD_SIM_TRACE_ON };

struct hd_sim_totals {
    uint64_t cycles;                    /* simulated since open */
    uint64_t read_bytes, write_bytes;   /* memory traffic since open */
    double wall_seconds;                /* inside the clock loop of run() */
    uint64_t trace_cycles, trace_bytes; /* in the last or current FST file */
    uint32_t trace_limited;             /* 1: it reached its size limit and was closed */
    uint64_t doorbell; /* cycle, since open, of the last doorbell: what struct hd_sim_command counts
                          from */
    uint64_t counter[HD_SIM_COUNTERS]; /* of a core, since open: sums of its counters' ports */
};

struct hd_sim_api {
    uint32_t abi;     /* HD_SIM_ABI */
    const char *name; /* configuration */
    uint32_t config_hash;
    const char *source_hash; /* of RTL, JSON, simulator sources */

    struct hd_sim *(*open)(const struct hd_sim_options *options, char *error, size_t error_bytes);
    void (*close)(struct hd_sim *sim);

    /* Register bus; each access takes its cycles. */
    uint32_t (*read32)(struct hd_sim *sim, uint32_t offset);
    void (*write32)(struct hd_sim *sim, uint32_t offset, uint32_t value);

    /* Clock until the interrupt is high, at most max_cycles. */
    enum hd_sim_stop (*run)(struct hd_sim *sim, uint64_t max_cycles);
    /* After HD_SIM_STUCK: "array waits for load: has 3, needs 4 with command 12 (03_conv2d); ...".
     * After HD_SIM_FAILED: the reason ("AXI rule broken: ..."). Valid until the next call. */
    const char *(*stuck_text)(struct hd_sim *sim);

    /* From now on `fault`, which the caller keeps, happens; NULL: what was withheld comes. NULL of a
     * core. */
    void (*bus_fault)(struct hd_sim *sim, struct hd_sim_bus_fault *fault);

    /* Random back-pressure goes on as if stall_seed were `seed` and nothing had run before. The
     * memory must be at rest; without a stall_seed at open it changes nothing. */
    void (*seed)(struct hd_sim *sim, uint64_t seed);

    void (*totals)(struct hd_sim *sim, struct hd_sim_totals *totals);
    /* Commands of the current or last submission; returns their number. */
    uint32_t (*commands)(struct hd_sim *sim, const struct hd_sim_command **commands);
    /* Rows of the last completed submission; returns their number. */
    uint32_t (*rows)(struct hd_sim *sim, const struct hd_sim_row **rows);

    /* FST into `path` from now until trace_stop; at most limit_bytes (0: none), then it stops by
     * itself. 0, or -1: no such file, or a model built without waves. */
    int (*trace_start)(struct hd_sim *sim, const char *path, uint64_t limit_bytes);
    void (*trace_stop)(struct hd_sim *sim);
    /* Trace only these cycles (since the doorbell) or commands of each submission; last < first:
     * everything. */
    void (*trace_window)(struct hd_sim *sim, int by_command, uint64_t first, uint64_t last);

    /* Every commit from now on goes to `sink` (NULL: off, costs nothing). */
    void (*commits)(struct hd_sim *sim, void (*sink)(void *ctx, const struct hd_sim_commit *commit),
                    void *ctx);
    /* For waves: clock `cycles` cycles, whether the interrupt is high or not; then the host
     * executes `function` (NULL: as before). NULL for a core. */
    void (*show_host)(struct hd_sim *sim, uint64_t cycles, const char *function);
    uint32_t memory_bits; /* of a core's memory port with ready/valid; 0: another memory */
};

#endif
