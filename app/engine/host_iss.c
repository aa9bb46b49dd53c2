/* host_iss.c - cross-compile a package as a program of the simulated processor (--host=iss,
 * rtl). */
#include "host_iss.h"
#include "app/build/cross.h"
#include "base/home.h"
#include "base/text.h"
#include "core_targets.h"
#include "host_core.h"
#include "sim/board/board.h"
#include "sim/cpu/cpu.h"

enum status run_iss_check(const struct job *job, struct diag *d)
{
    const struct options *o = job->options;
    const char *wrong = NULL;

    if (o->host != HOST_ISS && o->host_core != CORE_FIVE_STAGES)
        return FAIL(d, ST_USAGE, "--host-core: only with --host=iss");
    if (o->host == HOST_NATIVE && o->host_memory != 1)
        return FAIL(d, ST_USAGE, "--host-memory: only with --host=iss or rtl");
    if (o->host == HOST_NATIVE && o->host_bus)
        return FAIL(d, ST_USAGE, "--host-bus: only with --host=iss or rtl");
    if (o->host == HOST_NATIVE && (o->host_clock[0] != 1 || o->host_clock[1] != 1))
        return FAIL(d, ST_USAGE, "--host-clock: only with --host=iss or rtl");
    if (o->host == HOST_NATIVE)
        return ST_OK;
    if (o->engine != ENGINE_RTL)
        return FAIL(d, ST_USAGE,
                    "--host=%s: only the RTL has cycles; expected --engine=rtl, found %s",
                    run_iss_name(o), options_engines[o->engine]);
    wrong = o->reset_state             ? "--reset-state"
            : o->separate_memory       ? "--memory=separate"
            : o->waves && job->program ? "--waves and --prog"
                                       : NULL;
    if (wrong)
        return FAIL(d, ST_USAGE, "--host=%s: not with %s", run_iss_name(o), wrong);
    return ST_OK;
}

/* Return the address of core i's memory, or of the end of all; 0: they do not fit. */
static uint32_t memory_of(const struct core_targets *cores, uint32_t i)
{
    uint32_t n_bytes[TARGET_MAX];

    for (uint32_t k = 0; k < cores->n; k++)
        n_bytes[k] = cores->core[k].memory_bytes;
    return board_core_memory(n_bytes, i);
}

/* Check that the processor's program can be made: one accelerator, and no more cores than there are
 * addresses. */
static enum status check_program(const struct job *job, const struct run_measured *m,
                                 struct diag *d)
{
    const struct core_targets *const cores = m->cores;
    const char *const name = run_iss_name(job->options);

    if (job->p->program->n_device > 1)
        return FAIL(d, ST_UNSUPPORTED, "--host=%s: %u accelerators; it supports one", name,
                    job->p->program->n_device);
    if (cores->n > BOARD_CORES)
        return FAIL(d, ST_UNSUPPORTED, "--host=%s: %u cores of targets; it supports %u", name,
                    cores->n, BOARD_CORES);
    if (memory_of(cores, cores->n) == 0)
        return FAIL(
            d, ST_UNSUPPORTED,
            "--host=%s: cores with more than %u MiB of memory together; it supports no more", name,
            (BOARD_RAM - BOARD_CORE_MEMORY) >> 20);
    return ST_OK;
}

/* Add a list of addresses or sizes, one per core. */
static void add_cores(struct text *t, const char *macro, const struct core_targets *cores,
                      uint32_t (*of)(const struct core_targets *cores, uint32_t i))
{
    text_printf(t, " %s=", macro);
    for (uint32_t i = 0; i < cores->n; i++)
        text_printf(t, "%s0x%xu", i ? "," : "", of(cores, i));
}

static uint32_t registers_of(const struct core_targets *cores, uint32_t i)
{
    (void)cores;
    return BOARD_CORE_REGISTERS(i);
}

static uint32_t bytes_of(const struct core_targets *cores, uint32_t i)
{
    return cores->core[i].memory_bytes;
}

/* Return a toolchain file that extends the package's with the addresses of the board's devices. */
static const char *toolchain(struct arena *a, const struct job *job, const struct run_measured *m,
                             const struct cross_source *from)
{
    struct text t;

    text_init(&t, a);
    text_printf(&t,
                "include(%s/bare/riscv32.cmake)\n"
                "add_compile_definitions(HD_REGISTERS=0x%xu HD_MEMORY=0x%xu HD_MEMORY_BYTES=%uu%s",
                from->folder ? from->folder : "${CMAKE_CURRENT_LIST_DIR}", BOARD_REGISTERS,
                BOARD_MEMORY, BOARD_MEMORY_BYTES, job->options->poll ? "" : " HD_IRQ");
    if (m->cores->n) {
        add_cores(&t, "HD_CORE_REGISTERS", m->cores, registers_of);
        add_cores(&t, "HD_CORE_MEMORY", m->cores, memory_of);
        add_cores(&t, "HD_CORE_MEMORY_BYTES", m->cores, bytes_of);
    }
    text_add(&t, ")\nadd_compile_options(-g)\n"); /* line numbers for faults (board_source.c) */
    return t.data;
}

enum status run_iss_processor(const struct job *job, struct run_measured *m, const char *cache,
                              struct diag *d)
{
    struct sim_paths paths = {.cache = cache, .output = job->options->output};

    if (job->options->host != HOST_RTL)
        return ST_OK;
    m->cpu = ARENA_NEW(job->arena, struct sim_model);
    TRY(home_find(job->arena, &paths.home, d));
    return cpu_build(job->arena, &paths, m->cpu, d);
}

enum status run_iss_compile(const struct job *job, struct run_measured *m, const char **elf,
                            struct diag *d)
{
    struct cross_source from = {0};
    const char *cache, *library = "";

    if (!m->cores) {
        m->cores = ARENA_NEW(job->arena, struct core_targets);
        core_targets_find(job, m->cores);
    }
    TRY(check_program(job, m, d));
    TRY(home_cache(job->arena, &cache, d));
    TRY(run_iss_processor(job, m, cache, d));
    if (job->package) {
        from.folder = job->package->folder;
        from.changes = !job->package->is_tar;
        TRY(cross_library(job->arena, from.folder, &library, d));
    } else if (job->p->emitted->n_library) {
        library = job->p->emitted->library[0];
    }
    if (*library) /* a bare-metal program cannot link one */
        return FAIL(d, ST_UNSUPPORTED,
                    "--host=%s: library '%s' of a target: the processor has no libraries",
                    run_iss_name(job->options), library);
    if (!job->package)
        TRY(package_make(job->p->emitted, &from.package, d));
    return cross_compile(job->arena,
                         &(struct cross){.cache = cache,
                                         .kind = "iss",
                                         .what = "rv32im",
                                         .compiler = "riscv64-unknown-elf-gcc",
                                         .debian = "gcc-riscv64-unknown-elf",
                                         .toolchain = toolchain(job->arena, job, m, &from)},
                         &from, elf, d);
}
