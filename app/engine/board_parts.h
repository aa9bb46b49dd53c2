/* board_parts.h - the board of --host=iss between its files: board.c (set up, run), board_time.c (one time, the
 * accelerator's registers), board_cores.c (cores of other targets), board_source.c (lines), board_rows.c (rows of the
 * network), board_files.c (semihosting). */
#ifndef HEDDLE_ENGINE_BOARD_PARTS_H
#define HEDDLE_ENGINE_BOARD_PARTS_H

#include "app/job/shared.h"
#include "base/text.h"
#include "board.h"
#include "core_targets.h"
#include "sim/cpu/cpu.h"
#include "sim/iss/iss_elf.h"
#include "waves.h"

#define BOARD_ADDR2LINE "riscv64-unknown-elf-addr2line"
#define BOARD_BINUTILS  "binutils-riscv64-unknown-elf"

enum { OF_REST, OF_DRIVER, OF_RUN }; /* owners of code; OF_RUN: model.c's run() */

/* The driver's activity, in the order of struct run_host's split. */
enum board_phase { BOARD_PREPARES, BOARD_ACCESSES, BOARD_IS_TOLD, BOARD_FINISHES };

struct board {
    struct arena *arena;
    struct run_job *job;
    struct run_shared *shared;
    const char *elf;
    struct iss *cpu;
    struct iss_program program;
    struct cpu core;              /* --host=rtl: executes in its place */
    const struct hd_sim_api *api; /* NULL without accelerator */
    struct hd_sim *sim;
    struct iss_device registers;
    struct device device; /* the accelerator, as waves.h wants it */
    struct waves waves;
    uint32_t shown;    /* symbol in the waves */
    bool line;         /* the accelerator's interrupt */
    uint64_t synced;   /* the accelerator's cycle up to which the model has come */
    bool busy;         /* a submission runs */
    bool sleeping;     /* the processor, for a core */
    bool pending;      /* a submission has ended, and its cost is not collected yet */
    const char *stuck; /* why a model cannot go on; NULL: it can */
    uint32_t n_core;
    struct board_core {
        struct board *board;
        const struct hd_sim_api *api;
        struct hd_sim *sim;
        struct iss_device registers;
        uint64_t synced; /* as above */
        uint64_t begun;  /* the core's cycle at the last register write or interrupt */
        bool runs;       /* its interrupt is low */
    } core_of[BOARD_CORES];
    uint32_t process;
    uint64_t begun; /* cycle in which the inference began */
    bool within;
    bool slept;         /* at a wfi that the processor has gone past */
    uint32_t *row_of;   /* of each instruction of run() that calls: its row; NULL: not known */
    uint32_t first_row; /* or IR_NONE */
    uint32_t row;       /* that the processor works for, or IR_NONE */
    enum board_phase phase;
    uint32_t n_time;    /* commands whose times are kept */
    uint64_t rang;      /* the cycle of the submission's doorbell */
    uint64_t traced;    /* the cycle up to which the processor's track has come */
    uint64_t before[4]; /* parts[] when it began */
    uint64_t parts[4];  /* cycles by owner, while the devices rest (0, 1) and work (2, 3) */
    uint64_t read[64];  /* inferences that each file has given or taken */
    struct text printed;
    bool ended;
    uint32_t reason, code; /* of its end */
    struct diag *d;
};

/* board_time.c */
/* The accelerator's cycle at one of the processor's; the processor waits until one of the accelerator's
 * (--host-clock). */
uint64_t board_device_cycle(const struct board *b, uint64_t cycle);
void board_wait_until(struct board *b, uint64_t device_cycle);
/* Cycles of the processor that a load or store of the accelerator's memory takes beyond one of its own (--host-bus). */
uint32_t board_bus_wait(const struct board *b);
/* Cycles of a model since it was opened. */
uint64_t board_cycles(const struct hd_sim_api *api, struct hd_sim *sim);
void board_account(struct board *b);
void board_collect(struct board *b);
/* Bring the models to the processor's cycle. */
void board_follow(struct board *b);
/* Sleep until the interrupt. */
enum status board_sleep(struct board *b);
bool board_read_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t *value);
bool board_write_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t value);

/* board_waves.c: --waves of the accelerator: the model is then clocked while it rests, too, and shown is the function that
 * the processor executes. Before a submission or, of a network's first inference, the first operator; to this cycle of the
 * accelerator; is each cycle of the processor wanted. */
enum status board_waves_open(struct board *b);
void board_waves_begin(struct board *b);
void board_waves_follow(struct board *b, uint64_t now);
bool board_waves_want(const struct board *b);

/* The processor's external interrupt is any device's. */
void board_line(struct board *b);

/* board_cores.c: give each core of the job its registers and memory; advance those that run to
 * the processor's cycle; run them until one raises its interrupt or the given number of cycles
 * has passed (true: one raised it). */
enum status board_open_cores(struct board *b);
void board_follow_cores(struct board *b);
bool board_run_cores(struct board *b, uint64_t cycles);
bool board_cores_run(const struct board *b);
bool board_cores_line(const struct board *b);
void board_close_cores(struct board *b);

/* board_source.c: where the program is: "hdk_softmax + 0x1c (hdk_softmax.c:57)". */
const char *board_place(struct board *b);

/* board_rows.c: return true if the symbol is run() of the emitted C; find the rows of its calls;
 * iss.left. */
bool board_is_run(const struct iss_symbol *s);
enum status board_find_rows(struct board *b);
void board_left(void *ctx, uint32_t owner, uint32_t from);

/* board_files.c: an inference, or a program of --prog, begins and ends; what the program asked for by semihosting. */
void board_begin(struct board *b);
void board_end(struct board *b);
void board_semihosting(struct board *b);

#endif
