/* cpu.h - a processor as Verilog next to the accelerator's model: PicoRV32, RV32IM in one to a few
 * cycles an instruction, without caches and branch predictor. It replaces iss_run: registers,
 * memory map, control registers, interrupt lines, cycles and owners of code are those of a struct
 * iss. in: the core's Verilog, a hart of iss_new with its memory, its program loaded. out: as
 * iss_run. The core has no control registers: their instructions, wfi, ecall and semihosting arrive
 * through its co-processor interface and take no additional cycle. No interrupt is taken: the
 * program waits for them by wfi. */
#ifndef HEDDLE_SIM_CPU_H
#define HEDDLE_SIM_CPU_H

#include "hd_cpu.h"
#include "sim/build/build.h"
#include "sim/iss/iss.h"

#define CPU_NAME "picorv32"

struct cpu {
    /* Called for each completed instruction, or NULL. */
    void (*retired)(void *ctx, const struct hd_cpu_retired *what);
    void *ctx;

    /* The rest is private to cpu.c. */
    const struct hd_cpu_api *api;
    struct hd_cpu *core;
    struct iss *c;
    uint64_t base; /* c->cycles minus the core's cycles */
    bool offered;  /* an instruction awaits its answer, in a0 if `writes` */
    bool writes;
};

/* Find or build the model of the core's Verilog: $HEDDLE_PICORV32, or that of build/venv-cores in
 * paths->home. ST_INTERNAL: neither exists; the message states how to get it. */
enum status cpu_build(struct arena *a, const struct sim_paths *paths, struct sim_model *model,
                      struct diag *d);

/* Open the core at c->pc with the current memory of `c`. latency: cycles from an address to its
 * answer. */
enum status cpu_open(struct cpu *u, const struct sim_model *model, struct iss *c, uint32_t latency,
                     struct diag *d);
void cpu_close(struct cpu *u);

/* As iss_run. */
enum iss_stop cpu_run(struct cpu *u, uint64_t until);

#endif
