/* host_c.c - the host CPU: emitted C calls a function of kernels/. Accepts whatever no other target
 * accepts. */
#include "compiler/host/host_cycles.h"
#include "compiler/target/target.h"

static const char *refusal(const struct target_question *q)
{
    (void)q;
    return NULL;
}

static struct target_cost cost(const struct target_question *q)
{
    const double cycles = (double)host_cycles(q->graph, q->op);

    return (struct target_cost){cycles, cycles, 0};
}

static double transfer(const struct target *t, const struct hd_config *hw,
                       const struct target_memory *m, uint64_t n_bytes)
{
    (void)t;
    (void)hw;
    (void)m;
    (void)n_bytes;
    return 0;
}

enum { MCPU, MARCH, N_ATTR };
static const struct target_attr attr[N_ATTR] = {
    [MCPU] = {.name = "mcpu",
              .help = "the Cortex-M that a package is for",
              .type = TARGET_CHOICE,
              .fallback = "any",
              .choice = processor_cortex_m},
    [MARCH] = {.name = "march",
               .help = "the RISC-V that a package is for",
               .type = TARGET_CHOICE,
               .fallback = "any",
               .choice = processor_riscv},
};

const struct target_desc target_host_desc = {.name = "c",
                                             .version = HEDDLE_VERSION,
                                             .help = "the host CPU, portable C",
                                             .origin = "built in",
                                             .n_attr = N_ATTR,
                                             .attr = attr,
                                             .refusal = refusal,
                                             .cost = cost,
                                             .transfer = transfer};
const struct target target_host_c = {&target_host_desc, "c", NULL, NULL};
