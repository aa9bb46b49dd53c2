/* board.h - a simulated RISC-V processor with RAM, semihosting, the accelerator and cores of
 * external targets. in: a program (ELF), Verilated models, files that it reads. out: files that it
 * writes, cycles. There is a single time: while a submission runs, the model advances by the cycles
 * of each instruction and of register accesses; while none runs it is not evaluated. Semihosting
 * takes only the time of its instructions. */
#ifndef HEDDLE_BOARD_H
#define HEDDLE_BOARD_H

#include "sim/build/build.h"
#include "sim/hd_sim.h"
#include "sim/iss/iss.h"

/* Addresses of the processor, and of the accelerator, which has its memory at the same
 * addresses. */
#define BOARD_RAM             0x80000000u
#define BOARD_RAM_BYTES       (64u << 20)
#define BOARD_REGISTERS       0x40000000u
#define BOARD_REGISTERS_BYTES 0x1000u
#define BOARD_MEMORY          0x50000000u
#define BOARD_MEMORY_BYTES    (64u << 20)
#define BOARD_PROGRAM_BYTES   (16u << 20) /* the part for a C program */
/* Addresses of core i of an external target, counted from 0; its memories follow one another at
 * multiples of BOARD_CORE_ALIGN. */
#define BOARD_CORES                4u
#define BOARD_CORE_REGISTERS(i)    (0x48000000u + BOARD_CORE_REGISTERS_BYTES * (i))
#define BOARD_CORE_REGISTERS_BYTES 0x10000u
#define BOARD_CORE_MEMORY          0x60000000u /* address of the first; they end at BOARD_RAM */
#define BOARD_CORE_ALIGN           0x1000u

#define BOARD_NO_ROW UINT32_MAX

/* A core of an external target. */
struct board_device {
    const char *name;
    uint32_t memory_bytes;
    const struct sim_model *model;
    const uint32_t *clock; /* [2], as in hd_sim_options */
};

/* A file of the program ("in_0.bin", ..., "out_0.bin", ...), with one inference after another. */
struct board_file {
    uint8_t *bytes;
    uint64_t n_bytes; /* of one inference */
};

/* The activity of the processor. WAITS: it waits for accelerators and cores. */
enum board_doing { BOARD_WORKS, BOARD_DRIVES, BOARD_WAITS };

/* Callbacks of the board, called with ctx. */
struct board_watch {
    void *ctx;
    /* The accelerator's model is open; the second: it will be closed and has moved `totals`. */
    enum status (*opened)(void *ctx, const struct hd_sim_api *api, struct hd_sim *sim,
                          struct diag *d);
    void (*closing)(void *ctx, const struct hd_sim_totals *totals);
    /* A submission begins while the processor works for `row`; the second: it has ended. */
    void (*submission)(void *ctx, uint32_t row);
    void (*submission_ended)(void *ctx);
    /* Inference k begins; the second: it has ended; the third: true if each cycle until its end is
     * needed. */
    void (*inference)(void *ctx, uint32_t k);
    void (*inference_ended)(void *ctx);
    bool (*wanted)(void *ctx);
    /* Cycles of the processor for a row, including the driver's. */
    void (*worked)(void *ctx, uint32_t row, uint64_t cycles, bool driver);
    /* Core i has ended work for `row`: the cycles, and its totals since it is open. */
    void (*core_rested)(void *ctx, uint32_t row, uint32_t i, uint64_t cycles,
                        const struct hd_sim_totals *totals);
    /* An activity from `begin` to `end`, in cycles of the accelerator since the inference began;
     * doorbell: that of the submission it waits for, or 0. */
    void (*did)(void *ctx, uint32_t row, enum board_doing doing, uint64_t begin, uint64_t end,
                uint64_t doorbell);
};

struct board_setup {
    struct arena *arena;
    const char *elf;
    const char *program;  /* a C program by its name: its result ends the run; NULL: a network */
    const char *source;   /* model.c, to find the row of each call in its run(); NULL: not needed */
    uint32_t n_in, n_out; /* files; */
    const struct board_file *file; /* inputs, then outputs */
    uint32_t n, first, step;       /* inferences first, first + step, ... below n */
    struct iss_cycles cost;
    const struct sim_model *cpu; /* executes instead of the ISS, or NULL */
    const struct sim_model *sim; /* the accelerator's model; path NULL: there is none */
    uint32_t hash;               /* of its configuration */
    uint32_t n_row;
    const char *const *row_name;
    const char *(*tile)(void *ctx, uint32_t offset, uint32_t command); /* hd_sim_options */
    void *tile_ctx;
    uint32_t n_core; /* at most BOARD_CORES */
    const struct board_device *core;
    uint32_t memory_latency, memory_bytes; /* hd_sim_options */
    uint64_t stall_seed, max_cycles;
    uint32_t clock[2]; /* the processor's clock relative to the accelerator's */
    uint32_t bus,
        ram; /* cycles of an access to the accelerator's memory (0: its latency), and to RAM */
    const struct board_watch *watch;
};

/* Cycles, summed over the inferences: total; host operators and the code around them; the driver
 * while the accelerator rests, and while it works. */
struct board_host {
    uint64_t total, operators, driver, waiting;
    uint64_t
        split[4]; /* of the driver: before the doorbell, in register accesses, until it detects the
                   * end, after that */
    uint64_t accesses; /* accesses to the accelerator's registers */
    bool by_row;       /* rows are known */
};

struct board_result {
    uint32_t code;        /* of the program */
    uint32_t submissions; /* sums, as are: */
    uint64_t cycles, read_bytes, write_bytes;
    uint64_t sim_cycles;
    double wall_seconds;
    struct board_host host;
};

/* Return the address of core i's memory, or of the end of all if i is their number; 0: they do not
 * fit. n_bytes: size of each. */
uint32_t board_core_memory(const uint32_t *n_bytes, uint32_t i);
/* Convert a cycle of the processor to the accelerator's. */
uint64_t board_scaled(const uint32_t clock[2], uint64_t cycle);

/* Run the program to its end. ST_DEVICE: it does not end, fails or traps; the message names the
 * function. ST_INTERNAL: the program or a model cannot be loaded. */
enum status board_run(const struct board_setup *setup, struct board_result *result, struct diag *d);

#endif
