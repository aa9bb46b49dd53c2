/* board_state.h - the board's state, shared by its files. */
#ifndef HEDDLE_BOARD_STATE_H
#define HEDDLE_BOARD_STATE_H

#include "base/text.h"
#include "board.h"
#include "sim/cpu/cpu.h"
#include "sim/iss/iss_elf.h"

#define BOARD_ADDR2LINE "riscv64-unknown-elf-addr2line"
#define BOARD_BINUTILS  "binutils-riscv64-unknown-elf"

enum { OF_REST, OF_DRIVER, OF_RUN }; /* owners of code; OF_RUN: model.c's run() */

/* The driver's activity, in the order of struct board_host's split. */
enum board_phase { BOARD_PREPARES, BOARD_ACCESSES, BOARD_IS_TOLD, BOARD_FINISHES };

struct board {
    struct arena *arena;
    const struct board_setup *setup;
    const struct board_watch *watch;
    struct board_result *result;
    struct iss *cpu;
    struct iss_program program;
    struct cpu core;              /* setup->cpu: executes instead of the ISS */
    const struct hd_sim_api *api; /* NULL without accelerator */
    struct hd_sim *sim;
    struct iss_device registers;
    uint32_t shown;    /* symbol shown in the waves */
    bool line;         /* the accelerator's interrupt */
    uint64_t synced;   /* the accelerator's cycle that the model has reached */
    bool busy;         /* a submission runs */
    bool sleeping;     /* the processor sleeps until a core's interrupt */
    bool pending;      /* a submission has ended, and its cost is not yet collected */
    const char *stuck; /* why a model cannot continue; NULL: it can */
    uint32_t n_core;
    struct board_core {
        struct board *board;
        const struct hd_sim_api *api;
        struct hd_sim *sim;
        struct iss_device registers;
        uint64_t synced;      /* as above */
        uint64_t begun;       /* the core's cycle at the last register write or interrupt */
        bool runs;            /* its interrupt is low */
        struct iss_unit unit; /* of custom instructions; `synced` is then the processor's cycle */
    } core_of[BOARD_CORES];
    uint32_t done;  /* inferences */
    uint64_t begun; /* cycle in which the inference began */
    bool within;
    bool slept;         /* at a wfi that has been executed */
    uint32_t *row_of;   /* row of each call instruction of run(); NULL: unknown */
    uint32_t first_row; /* or BOARD_NO_ROW */
    uint32_t row;       /* row for which the processor works, or BOARD_NO_ROW */
    enum board_phase phase;
    uint64_t rang;      /* cycle of the submission's doorbell */
    uint64_t traced;    /* the cycle that the processor's track has reached */
    uint64_t before[4]; /* parts[] when the inference began */
    uint64_t parts[4];  /* cycles by owner, while the devices rest (0, 1) and work (2, 3) */
    uint64_t read[64];  /* by file: inferences read or written */
    struct text printed;
    bool ended;
    uint32_t reason, code; /* of its end */
    struct diag *d;
};

#endif
