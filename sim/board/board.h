/* board.h - a simulated RISC-V processor with RAM, semihosting, the accelerator and cores of other targets.
 * in:  a program (ELF), Verilated models, files that it reads.   out: files that it writes, cycles.
 * One time: the model is advanced by the cycles of each instruction while a submission runs, and by those of register
 * accesses; while none runs it is not evaluated. Semihosting takes no time but its own instructions. */
#ifndef HEDDLE_BOARD_H
#define HEDDLE_BOARD_H

#include "sim/build/build.h"
#include "sim/hd_sim.h"
#include "sim/iss/iss.h"

/* Addresses of the processor, and of the accelerator, which sees its memory where the processor does. */
#define BOARD_RAM             0x80000000u
#define BOARD_RAM_BYTES       (64u << 20)
#define BOARD_REGISTERS       0x40000000u
#define BOARD_REGISTERS_BYTES 0x1000u
#define BOARD_MEMORY          0x50000000u
#define BOARD_MEMORY_BYTES    (64u << 20)
#define BOARD_PROGRAM_BYTES   (16u << 20) /* the part that a C program has */
/* Addresses of core i of another target, counted from 0; memories one after another, each from a
 * multiple of BOARD_CORE_ALIGN on. */
#define BOARD_CORES                4u
#define BOARD_CORE_REGISTERS(i)    (0x48000000u + BOARD_CORE_REGISTERS_BYTES * (i))
#define BOARD_CORE_REGISTERS_BYTES 0x10000u
#define BOARD_CORE_MEMORY          0x60000000u /* the first; up to BOARD_RAM */
#define BOARD_CORE_ALIGN           0x1000u

#define BOARD_NO_ROW UINT32_MAX

/* A core of another target. */
struct board_device {
    const char *name;
    uint32_t memory_bytes;
    const struct sim_model *model;
};

/* A file of the program: "in_0.bin", ..., "out_0.bin", ...; inferences one after another. */
struct board_file {
    uint8_t *bytes;
    uint64_t n_bytes; /* of one inference */
};

/* The activity of the processor; it waits for accelerators and cores. */
enum board_doing { BOARD_WORKS, BOARD_DRIVES, BOARD_WAITS };

/* Calls of the board as things happen, with ctx. */
struct board_watch {
    void *ctx;
    /* The accelerator's model is open; it will be closed, having moved `totals`. */
    enum status (*opened)(void *ctx, const struct hd_sim_api *api, struct hd_sim *sim,
                          struct diag *d);
    void (*closing)(void *ctx, const struct hd_sim_totals *totals);
    /* A submission begins, while the processor works for `row`; it has ended. */
    void (*submission)(void *ctx, uint32_t row);
    void (*submission_ended)(void *ctx);
    /* Inference k begins; it has ended; true if each cycle from now to its end is wanted. */
    void (*inference)(void *ctx, uint32_t k);
    void (*inference_ended)(void *ctx);
    bool (*wanted)(void *ctx);
    /* Cycles of the processor for a row, the driver's among them. */
    void (*worked)(void *ctx, uint32_t row, uint64_t cycles, bool driver);
    /* From `begin` to `end`, cycles of the accelerator since the inference began; doorbell: of the
     * submission that it waits for, or 0. */
    void (*did)(void *ctx, uint32_t row, enum board_doing doing, uint64_t begin, uint64_t end,
                uint64_t doorbell);
};

struct board_setup {
    struct arena *arena;
    const char *elf;
    const char *program;  /* a C program by its name: its code ends the run; NULL: a network */
    const char *source;   /* model.c, to find the row of each call of its run(); NULL: not wanted */
    uint32_t n_in, n_out; /* files; */
    const struct board_file *file; /* inputs, then outputs */
    uint32_t n, first, step;       /* inferences first, first + step, ... below n */
    struct iss_cycles cost;
    const struct sim_model *cpu; /* executes in place of the ISS, or NULL */
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
    uint32_t clock[2]; /* the processor's clock over the accelerator's */
    uint32_t bus,
        ram; /* cycles of an access of the accelerator's memory (0: its latency), of RAM */
    const struct board_watch *watch;
};

/* Cycles, sums over the inferences: in all; host operators and what is around them; the driver while the
 * accelerator rests, and while it works. */
struct board_host {
    uint64_t total, operators, driver, waiting;
    uint64_t
        split[4]; /* of driver: before the doorbell, in register accesses, until it knows of the
                        * end, after that */
    uint64_t accesses; /* of the accelerator's registers */
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

/* Address of core i's memory, or of the end of all if i is their number; 0: they do not fit.
 * n_bytes: of each. */
uint32_t board_core_memory(const uint32_t *n_bytes, uint32_t i);
/* The accelerator's cycle at one of the processor's. */
uint64_t board_scaled(const uint32_t clock[2], uint64_t cycle);

/* Run the program to its end. ST_DEVICE: it does not end, fails or traps, with the function's name;
 * ST_INTERNAL: the program or a model cannot be loaded. */
enum status board_run(const struct board_setup *setup, struct board_result *result, struct diag *d);

#endif
