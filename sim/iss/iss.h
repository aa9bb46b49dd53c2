/* iss.h - an instruction-set simulator: one RISC-V hart, RV32IM with Zicsr, machine mode only.
 * in:  memory regions of the caller, a program in them, a cycle table.   out: registers, memory, cycles.
 * After "The RISC-V Instruction Set Manual", volume I 20191213, volume II 20211203.
 *
 *     struct iss *c = iss_new(arena, &iss_five_stages);
 *     iss_memory(c, 0x80000000, n_bytes, bytes, 0);  RAM
 *     iss_device(c, 0x10000000, 0x1000, &device);    registers
 *     iss_code(c, arena, 0x80000000, n_text);        where instructions may be
 *     c->pc = 0x80000000;
 *     while (iss_run(c, 1000000) == ISS_WAITING)
 *         iss_irq(c, ISS_IRQ_EXTERNAL, line_of_the_device());
 *
 * Instructions are decoded once; a store over decoded code, by the hart, has it decoded again.
 * A host of little-endian byte order is assumed. */
#ifndef HEDDLE_SIM_ISS_H
#define HEDDLE_SIM_ISS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* The cost of a CPU's instructions in cycles, 0 to 255 each. */
struct iss_cycles {
    const char *name;
    uint8_t fetch;    /* every instruction */
    uint8_t load;     /* from a load to the use of its result, beyond that of an addition */
    uint8_t multiply; /* the same for a multiplication */
    uint8_t divide;   /* additional cycles of a division or remainder, without overlap */
    uint8_t taken;    /* additional cycles of a taken branch, a trap, mret */
    uint8_t jump;     /* more for jal */
    uint8_t indirect; /* more for jalr */
    uint8_t store;    /* additional cycles of a store */
    uint8_t system;   /* additional cycles of a control-register instruction, wfi */
    uint8_t custom;   /* additional cycles of a custom instruction whose unit answers at once, set
                       * by iss_with_memory */
    uint8_t hidden;   /* those of a custom instruction that overlap with a fetch, likewise */
    /* Instructions do not overlap: each waits for a load or multiplication even if its result is
     * not used yet; the next instruction is fetched meanwhile. */
    bool waits;
};

/* The in-order core of compiler/host: 1, 2, 2, 33, 5. An estimate, not calibrated. */
extern const struct iss_cycles iss_five_stages;
/* PicoRV32 as in sim/cpu, measured there. */
extern const struct iss_cycles iss_picorv32;

/* Return the cycles with memory that answers 1 to 16 cycles (`latency`) after the address instead
 * of 1. */
struct iss_cycles iss_with_memory(const struct iss_cycles *cost, uint32_t latency);

/* Why iss_run returned. */
enum iss_stop {
    ISS_LIMIT = 0,   /* c->cycles has reached the bound */
    ISS_WAITING,     /* wfi, and no interrupt that mie enables is pending; pc is after it */
    ISS_ECALL,       /* ecall with c->stop_at_calls; pc is at it, and the caller adds 4 */
    ISS_SEMIHOSTING, /* ebreak in semihosting's sequence, with stop_at_calls; pc as above */
    ISS_TRAP,        /* a trap without a handler (mtvec 0): mcause, mepc, mtval */
    ISS_YIELD,       /* requested by a device (iss.yield) */
};

/* Bits of mip and mie; causes of interrupts. */
enum iss_irq { ISS_IRQ_SOFTWARE = 3, ISS_IRQ_TIMER = 7, ISS_IRQ_EXTERNAL = 11 };

/* Causes of exceptions (volume II, table 3.6). */
enum iss_cause {
    ISS_FETCH_MISALIGNED = 0,
    ISS_FETCH_FAULT = 1,
    ISS_ILLEGAL = 2,
    ISS_BREAKPOINT = 3,
    ISS_LOAD_MISALIGNED = 4,
    ISS_LOAD_FAULT = 5,
    ISS_STORE_MISALIGNED = 6,
    ISS_STORE_FAULT = 7,
    ISS_CALL = 11,
};

/* Mapped I/O: aligned accesses of n_bytes (1, 2, 4) at byte `offset` of the region. They may add
 * the bus's wait to iss.cycles, change interrupts, set iss.yield. False: the access faults. */
struct iss_device {
    bool (*read)(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t *value);
    bool (*write)(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t value);
    void *ctx;
};

/* A unit of custom instructions (custom-0, custom-1). */
struct iss_answer {
    uint32_t value;
    bool writes;   /* rd gets the value */
    uint32_t wait; /* cycles until the answer, beyond the first */
};
struct iss_unit {
    /* Execute `word` with the values of its source registers; false: it is illegal. */
    bool (*execute)(void *ctx, uint32_t word, uint32_t rs1, uint32_t rs2,
                    struct iss_answer *answer);
    void *ctx;
};

#define ISS_REGIONS 16u
#define ISS_OWNERS  4u

struct iss_region {
    uint32_t base, n_bytes;          /* at least 4; base + n_bytes is at most 2^32 */
    uint8_t *bytes;                  /* NULL: a device */
    uint32_t wait;                   /* additional cycles of a load or store beyond the table's */
    const struct iss_device *device; /* NULL: memory */
};

struct iss {
    uint32_t x[32], pc;
    /* Cycles, and instructions completed, since iss_new. */
    uint64_t cycles, instructions;
    bool stop_at_calls; /* ecall and semihosting's ebreak end iss_run instead of trapping */
    bool stop_at_traps; /* an exception ends iss_run (ISS_TRAP), whatever mtvec is */
    bool yield;         /* set by a device: iss_run returns after this instruction and clears it */
    /* Cycles in code of each owner: owner[k] is that of the instruction at code_base + 4 k, set by
     * the caller, below ISS_OWNERS, initially 0. Added up by iss_spend and whenever the owner
     * changes; then `left`, if not NULL, is called with the previous owner and the address of the
     * jump. */
    uint8_t *owner;
    uint64_t spent[ISS_OWNERS];
    void (*left)(void *ctx, uint32_t owner, uint32_t from);
    void *left_ctx;
    const struct iss_unit *unit; /* NULL: custom instructions are illegal */
    uint32_t mstatus, mie, mip, mtvec, mscratch, mepc, mcause, mtval;

    /* The rest is private to iss_*.c. */
    struct iss_cycles cost;
    uint64_t mcycle_base, minstret_base; /* subtracted from cycles and instructions */
    uint64_t ready[32];                  /* by register: cycle from which its value is available */
    struct iss_region region[ISS_REGIONS];
    uint32_t n_region, last; /* last: region of the last access */
    struct iss_op *op;       /* decoded instructions of [code_base, code_base + code_bytes) */
    uint32_t code_base, code_bytes;
    uint64_t spent_at; /* cycle up to which `spent` counts */
    uint32_t in;       /* the owner now */
    bool attend;       /* an interrupt may be pending */
    bool stopped;      /* a trap without handler */
};

/* A hart after reset: registers, mstatus.MIE and mtvec 0. The table is copied. */
struct iss *iss_new(struct arena *a, const struct iss_cycles *cost);

/* Map memory or a device at [base, base + n_bytes). Asserts that regions do not overlap and number
 * at most ISS_REGIONS. The caller keeps ownership of `bytes` and `device`. `wait`: additional
 * cycles of each load and store in this memory beyond the table's. */
void iss_memory(struct iss *c, uint32_t base, uint32_t n_bytes, uint8_t *bytes, uint32_t wait);
void iss_device(struct iss *c, uint32_t base, uint32_t n_bytes, const struct iss_device *device);

/* Allow instructions only in this range of mapped memory (base and n_bytes multiples of 4); fetches
 * elsewhere fault. Uses 9 bytes of the arena for each 4 of code. */
void iss_code(struct iss *c, struct arena *a, uint32_t base, uint32_t n_bytes);

/* Update iss.spent. */
void iss_spend(struct iss *c);

/* Return the host bytes of [address, address + n_bytes) if one memory region contains them all,
 * otherwise NULL. */
uint8_t *iss_bytes(struct iss *c, uint32_t address, uint32_t n_bytes);

/* Set or clear an interrupt line. */
void iss_irq(struct iss *c, enum iss_irq line, bool high);

/* Execute until c->cycles is at least `until` (the last instruction may end beyond it), or for one
 * of the other reasons. Interrupts are taken between instructions. */
enum iss_stop iss_run(struct iss *c, uint64_t until);

/* Return the region that contains all of [address, address + n_bytes), or NULL. */
const struct iss_region *iss_find(struct iss *c, uint32_t address, uint32_t n_bytes);

/* Return true if the instruction at c->pc is semihosting's ebreak. */
bool iss_is_semihosting(struct iss *c);

/* Return a cause of an exception as text: "load access fault". */
const char *iss_cause_text(uint32_t cause);

#endif
