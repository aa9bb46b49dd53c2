/* hd_sim.h - the C table of every simulated accelerator, `const struct hd_sim_api hd_sim_api` in
 * its shared object. heddle loads it with dlopen; nothing else in sim/ names a Verilog module. Not
 * thread safe: one simulator per thread; several may live in one process. */
#ifndef HD_SIM_H
#define HD_SIM_H

#include <stddef.h>
#include <stdint.h>

#define HD_SIM_ABI      15u
#define HD_SIM_UNITS    6u
#define HD_SIM_KINDS    8u
#define HD_SIM_COUNTERS 8u /* maximum counters of a core */

struct hd_sim;
struct hd_sim_api;

/* A fault of the memory at one beat. read: R beats; write: W beats, or the B of their burst.
 * tests/e2e/layers/bus_faults.c shows the accelerator's response to each. */
enum hd_sim_bus_kind {
    HD_SIM_BUS_NONE,
    HD_SIM_BUS_READ_SLVERR,
    HD_SIM_BUS_READ_DECERR,
    HD_SIM_BUS_READ_LATE,    /* HD_SIM_BUS_LATE cycles later */
    HD_SIM_BUS_READ_MISSING, /* this beat and all later ones are withheld until the fault is lifted */
    HD_SIM_BUS_READ_SHORT,   /* this beat has RLAST, and the rest of its burst is left out */
    HD_SIM_BUS_READ_LONG,    /* the burst's last beat has no RLAST, and one more beat follows */
    HD_SIM_BUS_WRITE_SLVERR,
    HD_SIM_BUS_WRITE_DECERR,
    HD_SIM_BUS_WRITE_LATE,
    HD_SIM_BUS_WRITE_MISSING, /* its B and all later ones are withheld until the fault is lifted */
    HD_SIM_BUS_WRITE_EARLY,   /* B comes before the burst's last beat */
    HD_SIM_BUS_KINDS
};
#define HD_SIM_BUS_LATE 1000u

struct hd_sim_bus_fault {
    uint32_t kind;  /* enum hd_sim_bus_kind */
    uint64_t beat;  /* number of the beat, counted from 0 when the fault was set */
    uint64_t beats; /* of a core: set to the number of beats read, or written, until now */
    /* Set by the memory when it happened: the unit whose beat it was (AXI ID: enum unit), the bus
     * addresses of the beat and of its burst. */
    uint32_t happened, unit;
    uint64_t address, burst;
};

struct hd_sim_options {
    /* Device memory: bus addresses [memory_base, memory_base + memory_bytes) are these host bytes.
     * Other accesses get DECERR. */
    uint8_t *memory;
    uint64_t memory_base, memory_bytes;
    uint32_t latency; /* cycles from AR handshake to first R beat, and from last W beat to B */
    uint32_t bytes_per_cycle; /* 0: AXI width. Applies to reads and to writes separately. */
    uint64_t stall_seed;      /* 0: no random back-pressure */
    uint64_t fault_address;   /* bus address that answers SLVERR, if fault_enable is set */
    uint32_t fault_enable;
    uint64_t watchdog_cycles; /* cycles without any progress (no commit, no bus beat, no unit busy);
                                 0: 100,000 */
    const char *const *layer_names; /* for waves: shown as text */
    uint32_t n_layers;
    /* For waves: return the part of its layer that a command computes ("rows 4-7, channels 0-15"),
     * by its index in the stream at `offset` of region 0. NULL: unknown. */
    const char *(*tile)(void *ctx, uint32_t offset, uint32_t command);
    void *tile_ctx;
    uint32_t
        clock[2]; /* of a core: [0] of its cycles are [1] of the system's, in which run() counts;
                          0, 0: the same */
    uint64_t max_cycles;  /* of a core that the host only reads registers of; 0: any */
    uint32_t irq_of_unit; /* 1: a core of several units; its interrupt may rise while others work */
    uint32_t mutant;      /* of a core's netlist that has some (app/grade); 0: none */
    const char
        *coverage; /* of a core built with coverage: the file that close writes; NULL: none */
};

enum hd_sim_stop {
    HD_SIM_IRQ = 0,    /* the interrupt line is high */
    HD_SIM_CYCLES = 1, /* max_cycles passed */
    HD_SIM_STUCK = 2,  /* watchdog; see stuck_text */
    HD_SIM_FAILED = 3, /* the model itself stopped ($finish, assertion) */
};

/* Bytes moved over the bus, in whole beats. */
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

/* The cost of one layer within a submission. Rows are in the order of their layers' last commands.
 * A cycle in which ARRAY takes steps (busy or conflict) belongs to the layer of these steps. Any
 * other cycle belongs to the first row whose layer, or an earlier one, has incomplete commands. */
struct hd_sim_row {
    uint64_t cycles;
    /* Busy cycles of ARRAY and VECTOR for all commands of the layer: those of ARRAY are included in
     * `cycles`. */
    uint64_t array_cycles, vector_cycles;
    /* Cycles by activity of each unit (accel.json `units`); those of a unit add up to `cycles`. */
    uint64_t counter[HD_SIM_UNITS][HD_SIM_KINDS];
    /* Beats of the bus moved by the layer's commands at any time, including the fetch of the
     * commands. Sum of all rows: the memory traffic of the submission. */
    uint64_t read_bytes, write_bytes;
    uint32_t layer;
};

/* One write at the commit ports. */
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
    uint32_t trace_limited;             /* 1: the file reached its size limit and was closed */
    uint64_t doorbell; /* cycle, since open, of the last doorbell, from which struct hd_sim_command
                          counts */
    uint64_t counter[HD_SIM_COUNTERS]; /* for a core: sums of its counters' ports since open */
    uint64_t register_reads;           /* likewise, by the host */
    uint64_t time; /* cycles of the system since open: of a core, `cycles` by its clock's ratio */
};

struct hd_sim_api {
    uint32_t abi;     /* HD_SIM_ABI */
    const char *name; /* configuration */
    uint32_t config_hash;
    const char *source_hash; /* hash of RTL, JSON and simulator sources */

    struct hd_sim *(*open)(const struct hd_sim_options *options, char *error, size_t error_bytes);
    void (*close)(struct hd_sim *sim);

    /* Access the register bus; each access takes cycles. */
    uint32_t (*read32)(struct hd_sim *sim, uint32_t offset);
    void (*write32)(struct hd_sim *sim, uint32_t offset, uint32_t value);

    /* Clock until the interrupt is high, at most max_cycles of the system. */
    enum hd_sim_stop (*run)(struct hd_sim *sim, uint64_t max_cycles);
    /* Return the reason, valid until the next call. After HD_SIM_STUCK: "array waits for load: has
     * 3, needs 4 with command 12 (03_conv2d); ...". After HD_SIM_FAILED: "AXI rule broken: ...". */
    const char *(*stuck_text)(struct hd_sim *sim);

    /* Apply `fault`, which the caller keeps, from now on; NULL: send what was withheld. */
    void (*bus_fault)(struct hd_sim *sim, struct hd_sim_bus_fault *fault);

    /* Continue random back-pressure as if stall_seed were `seed` and nothing had run before. The
     * memory must be idle; without a stall_seed at open it has no effect. */
    void (*seed)(struct hd_sim *sim, uint64_t seed);

    void (*totals)(struct hd_sim *sim, struct hd_sim_totals *totals);
    /* Return the commands of the current or last submission, and their number. */
    uint32_t (*commands)(struct hd_sim *sim, const struct hd_sim_command **commands);
    /* Return the rows of the last completed submission, and their number. */
    uint32_t (*rows)(struct hd_sim *sim, const struct hd_sim_row **rows);

    /* Write FST into `path` from now until trace_stop, or until limit_bytes (0: no limit) are
     * reached. Returns 0, or -1: no such file, or a model built without waves. */
    int (*trace_start)(struct hd_sim *sim, const char *path, uint64_t limit_bytes);
    void (*trace_stop)(struct hd_sim *sim);
    /* Trace only these cycles (since the doorbell) or commands of each submission; last < first:
     * everything. */
    void (*trace_window)(struct hd_sim *sim, int by_command, uint64_t first, uint64_t last);

    /* Send every commit from now on to `sink` (NULL: off, without cost). */
    void (*commits)(struct hd_sim *sim, void (*sink)(void *ctx, const struct hd_sim_commit *commit),
                    void *ctx);
    /* For waves: clock `cycles` cycles, whatever the interrupt; then show that the host executes
     * `function` (NULL: unchanged). NULL for a core. */
    void (*show_host)(struct hd_sim *sim, uint64_t cycles, const char *function);
    uint32_t memory_bits; /* width of a core's memory port with ready/valid; 0: another kind of
                           * memory */
    /* Execute `word` with the values of its source registers; NULL unless the core is a unit of
     * custom instructions. Returns 1 and a result, 0 without one, -1 after a failure
     * (stuck_text). Takes at least one cycle. */
    int (*instruction)(struct hd_sim *sim, uint32_t word, uint32_t rs1, uint32_t rs2,
                       uint32_t *result);
    /* Return the bytes of a core's array that sim_core.array names, lowest entry and lowest byte
     * first, which the caller may change between two calls; NULL: there is no such array. NULL for
     * the accelerator. */
    uint8_t *(*array)(struct hd_sim *sim, const char *name, uint64_t *n_bytes);
};

#endif
