/* hd_cpu.h - the C table of a Verilated processor, `const struct hd_cpu_api hd_cpu_api` in its
 * shared object: PicoRV32 with memory regions of the caller, clocked by the caller. */
#ifndef HD_CPU_H
#define HD_CPU_H

#include <stdint.h>

#define HD_CPU_ABI 3u

struct hd_cpu;

/* Memory that the core accesses directly; an access outside all regions is passed to the caller. */
struct hd_cpu_region {
    uint32_t base, n_bytes;
    uint8_t *bytes;
    uint32_t wait; /* additional cycles of its answer beyond hd_cpu_options.latency */
};

/* A completed instruction: its word and its result (rd 0: none). */
struct hd_cpu_retired {
    uint32_t pc, word, rd, value;
};

struct hd_cpu_options {
    const struct hd_cpu_region *region; /* copied */
    uint32_t n_region;
    uint32_t pc;      /* after reset */
    uint32_t latency; /* cycles from an address to its answer, at least 1 */
    /* Called for each instruction when the next one begins; hd_cpu_state.cycles is then the first
     * cycle of the next one. */
    void (*retired)(void *ctx, const struct hd_cpu_retired *what);
    void *ctx;
};

enum hd_cpu_stop {
    HD_CPU_LIMIT = 0, /* the given number of cycles has passed */
    HD_CPU_ACCESS,    /* address, strobe, word: an access outside all regions; call answer() */
    HD_CPU_OFFER,     /* word, rs1, rs2: an instruction unknown to the core; call answer() */
    HD_CPU_TRAP,      /* the core has stopped: misaligned address or unknown instruction */
};

struct hd_cpu_state {
    uint64_t cycles;  /* since reset */
    uint32_t pc;      /* of the current instruction */
    uint32_t address; /* of an access: a multiple of 4 */
    uint32_t strobe;  /* bytes to be written; 0: a read */
    uint32_t fetch;   /* 1: an instruction fetch */
    uint32_t word;    /* the word to be written; the offered instruction */
    uint32_t rs1, rs2;
};

struct hd_cpu_api {
    uint32_t abi; /* HD_CPU_ABI */
    const char *source_hash;

    struct hd_cpu *(*open)(const struct hd_cpu_options *options); /* NULL: no memory */
    void (*close)(struct hd_cpu *cpu);
    /* Run for at most `cycles` clock cycles. */
    enum hd_cpu_stop (*run)(struct hd_cpu *cpu, uint64_t cycles);
    const struct hd_cpu_state *(*state)(const struct hd_cpu *cpu);
    /* After HD_CPU_ACCESS: the core gets the word after `wait` cycles. After HD_CPU_OFFER: it gets
     * the result after `wait` cycles if `writes`. */
    void (*answer)(struct hd_cpu *cpu, uint32_t word, int writes, uint64_t wait);
};

#endif
