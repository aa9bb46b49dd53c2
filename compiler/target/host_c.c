/* host_c.c - the host CPU: emitted C calls a kernel of kernels. Takes whatever no other
 * target took. */
#include <string.h>

#include "compiler/hostcycles/host_cycles.h"
#include "target.h"

static const char *refusal(const struct target_question *q)
{
    (void)q;
    return NULL;
}

static struct target_cost cost(const struct target_question *q)
{
    const double cycles = (double)host_cycles(q->graph, q->op);

    return (struct target_cost){cycles, cycles};
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

/* A Cortex-M's -mcpu, a RISC-V's -march, as the package's toolchain files take them. */
static const char *const cortex_m[] = {"any",       "cortex-m0", "cortex-m0plus", "cortex-m3",
                                       "cortex-m4", "cortex-m7", "cortex-m55",    NULL};
static const char *const riscv[] = {"any", "rv32im", "rv32imc", "rv64gc", NULL};

enum { MCPU, MARCH, N_ATTR };
static const struct target_attr attr[N_ATTR] = {
    [MCPU] = {.name = "mcpu",
              .help = "the Cortex-M that a package is for",
              .type = TARGET_CHOICE,
              .fallback = "any",
              .choice = cortex_m},
    [MARCH] = {.name = "march",
               .help = "the RISC-V that a package is for",
               .type = TARGET_CHOICE,
               .fallback = "any",
               .choice = riscv},
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

static const char *word_of(const struct target *t, uint32_t i)
{
    return t->setting && t->setting[i].number ? t->setting[i].text : NULL;
}

enum status target_host_check(const struct target *t, struct diag *d)
{
    if (word_of(t, MCPU) && word_of(t, MARCH))
        return FAIL(d, ST_USAGE,
                    "--target-c-mcpu=%s and --target-c-march=%s: a package is for one processor",
                    word_of(t, MCPU), word_of(t, MARCH));
    return ST_OK;
}

const char *target_host_toolchain(struct arena *a, const struct target *t)
{
    const char *const mcpu = word_of(t, MCPU), *const march = word_of(t, MARCH);

    if (!mcpu && !march)
        return NULL;
    return arena_printf(a,
                        "# toolchain.cmake - of --target-c-%s=%s, which CMakeLists.txt takes where "
                        "no other is given.\n"
                        "set(NET_%s %s)\n"
                        "include(${CMAKE_CURRENT_LIST_DIR}/%s.cmake)\n",
                        mcpu ? "mcpu" : "march", mcpu ? mcpu : march, mcpu ? "MCPU" : "MARCH",
                        mcpu ? mcpu : march,
                        mcpu                             ? "cortex-m"
                        : strncmp(march, "rv64", 4) == 0 ? "riscv64"
                                                         : "riscv32");
}
