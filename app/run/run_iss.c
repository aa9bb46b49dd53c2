/* run_iss.c - a package as a program of the simulated processor (--host=iss, rtl): cross-compiled by its own
 * CMakeLists.txt, cached by content. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"
#include "base/private.h"
#include "base/text.h"
#include "board.h"
#include "compiler/emit/emit_package.h"
#include "core_targets.h"
#include "sim/cached.h"
#include "sim/cpu/cpu.h"
#include "sim/evict.h"
#include "sim/hash.h"
#include "sim/tools.h"

/* What is compiled: a package in memory, or one in a folder of its own. */
struct source {
    struct package *package;
    const char *folder;
    bool changes; /* the folder is a user's: compile what is in it now */
};

const char *run_iss_name(const struct options *o)
{
    return o->host == HOST_RTL ? "rtl" : "iss";
}

const struct iss_cycles *run_iss_core(const struct options *o)
{
    return o->host == HOST_RTL || o->host_core == CORE_PICORV32 ? &iss_picorv32 : &iss_five_stages;
}

enum status run_iss_check(const struct run_job *job, struct diag *d)
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
                    run_iss_name(o), o->engine == ENGINE_REF ? "ref" : "func");
    wrong = o->reset_state             ? "--reset-state"
            : o->separate_memory       ? "--memory=separate"
            : o->waves && job->program ? "--waves and --prog"
                                       : NULL;
    if (wrong)
        return FAIL(d, ST_USAGE, "--host=%s: not with %s", run_iss_name(o), wrong);
    return ST_OK;
}

/* What the processor's program can be made of: one accelerator, cores for which there are addresses. */
static enum status check_program(const struct run_job *job, struct diag *d)
{
    const struct core_targets *const cores = job->cores;
    const char *const name = run_iss_name(job->options);

    if (job->p->program->n_device > 1)
        return FAIL(d, ST_UNSUPPORTED, "--host=%s: %u accelerators; it supports one", name,
                    job->p->program->n_device);
    if (cores->n > BOARD_CORES)
        return FAIL(d, ST_UNSUPPORTED, "--host=%s: %u cores of targets; it supports %u", name,
                    cores->n, BOARD_CORES);
    if (board_core_memory(cores, cores->n) == 0)
        return FAIL(
            d, ST_UNSUPPORTED,
            "--host=%s: cores with more than %u MiB of memory together; it supports no more", name,
            (BOARD_RAM - BOARD_CORE_MEMORY) >> 20);
    return ST_OK;
}

/* The first library that a package in a folder links; *name "": none. */
static enum status first_library(struct arena *a, const char *folder, const char **name,
                                 struct diag *d)
{
    const char *const path = arena_printf(a, "%s/libraries.txt", folder);
    uint8_t *text = NULL;
    size_t n_bytes = 0;

    *name = "";
    if (!file_exists(path))
        return ST_OK;
    TRY(file_read(a, path, 4096, &text, &n_bytes, d));
    *name = arena_strndup(a, (const char *)text, strcspn((const char *)text, "\n"));
    return ST_OK;
}

/* A list of addresses or sizes, one a core. */
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

/* A toolchain file around the package's own: where the board has the devices. */
static const char *toolchain(struct arena *a, const struct run_job *job, const struct source *from)
{
    struct text t;

    text_init(&t, a);
    text_printf(&t,
                "include(%s/bare/riscv32.cmake)\n"
                "add_compile_definitions(HD_REGISTERS=0x%xu HD_MEMORY=0x%xu HD_MEMORY_BYTES=%uu%s",
                from->folder ? from->folder : "${CMAKE_CURRENT_LIST_DIR}", BOARD_REGISTERS,
                BOARD_MEMORY, BOARD_MEMORY_BYTES, job->options->poll ? "" : " HD_IRQ");
    if (job->cores->n) {
        add_cores(&t, "HD_CORE_REGISTERS", job->cores, registers_of);
        add_cores(&t, "HD_CORE_MEMORY", job->cores, board_core_memory);
        add_cores(&t, "HD_CORE_MEMORY_BYTES", job->cores, bytes_of);
    }
    text_add(&t, ")\nadd_compile_options(-g)\n"); /* lines of faults (board_source.c) */
    return t.data;
}

/* In `folder`, whose board.cmake is written, the program build/net. */
static enum status build(struct arena *a, const struct sim_tool *cmake, const char *folder,
                         const struct source *from, struct diag *d)
{
    const char *const log = arena_printf(a, "%s/build.log", folder);
    const char *const configure[] = {
        cmake->path,
        "-S",
        from->folder ? from->folder : ".",
        "-B",
        "build",
        "-G",
        "Unix Makefiles",
        arena_printf(a, "-DCMAKE_TOOLCHAIN_FILE=%s/board.cmake", folder),
        NULL};
    const char *const make[] = {cmake->path, "--build", "build", "--parallel", "4", NULL};

    (void)remove(log);
    TRY(tool_run(a, "configuring the package for rv32im", folder, log, configure, d));
    return tool_run(a, "compiling the package for rv32im", folder, log, make, d);
}

enum status run_iss_processor(struct run_job *job, const char *cache, struct diag *d)
{
    struct sim_paths paths = {.cache = cache, .output = job->options->output};

    if (job->options->host != HOST_RTL)
        return ST_OK;
    job->cpu = ARENA_NEW(job->arena, struct sim_model);
    TRY(home_find(job->arena, &paths.home, d));
    return cpu_build(job->arena, &paths, job->cpu, d);
}

/* What names the program, but for its compiler: all files, or those of a tar file by its name in the cache. */
static void hash_source(struct hash128 *h, const struct source *from)
{
    if (from->folder)
        hash_string(h, from->folder);
    for (uint32_t i = 0; from->package && i < from->package->n; i++) {
        hash_string(h, from->package->file[i].path);
        hash_bytes(h, from->package->file[i].data, from->package->file[i].n_bytes);
    }
}

/* With the lock held: the program of `from`, made in `folder` of `all` unless it is there. */
static enum status fill(struct arena *a, const char *all, const char *folder, const char *board,
                        const struct source *from, const struct sim_tool *cmake, const char *elf,
                        struct diag *d)
{
    bool whole;

    TRY(cached_find(a, elf, &whole, d));
    if (whole && !from->changes) {
        evict_touch(folder);
        return ST_OK;
    }
    if (from->package)
        TRY(package_write(from->package, folder, d));
    TRY(file_write(arena_printf(a, "%s/board.cmake", folder), board, strlen(board), d));
    TRY(build(a, cmake, folder, from, d));
    if (rename(arena_printf(a, "%s/build/net", folder), elf) != 0)
        return FAIL(d, ST_NO_MEMORY, "%s: cannot be written", elf);
    TRY(cached_seal(a, elf, d));
    evict_cache(a, all);
    return ST_OK;
}

/* The program of `from` in a folder of the cache, which other runs may want at the same time. */
static enum status make_elf(struct run_job *job, const char *cache, const struct source *from,
                            const char **elf, struct diag *d)
{
    struct arena *const a = job->arena;
    const char *const text = toolchain(a, job, from);
    struct sim_tool gcc, cmake;
    struct hash128 h;
    enum status st;
    int lock;

    TRY(tool_find(a, cache, "riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf", NULL, &gcc, d));
    TRY(tool_find(a, cache, "cmake", "cmake", NULL, &cmake, d));
    hash_init(&h);
    hash_string(&h, gcc.path);
    hash_string(&h, gcc.version);
    hash_string(&h, text);
    hash_source(&h, from);
    const char *const name = arena_printf(a, "iss/%s", hash_text(a, &h));
    const char *const folder = arena_printf(a, "%s/%s", cache, name);
    *elf = arena_printf(a, "%s/net.elf", folder);
    TRY(private_dirs(a, cache, name, d));
    TRY(file_lock(arena_printf(a, "%s.lock", folder), &lock, d));
    st = fill(a, arena_printf(a, "%s/iss", cache), folder, text, from, &cmake, *elf, d);
    (void)close(lock);
    return st;
}

enum status run_iss_compile(struct run_job *job, const char **elf, struct diag *d)
{
    struct source from = {0};
    const char *cache, *library = "";

    if (!job->cores) {
        job->cores = ARENA_NEW(job->arena, struct core_targets);
        core_targets_find(job, job->cores);
    }
    TRY(check_program(job, d));
    TRY(home_cache(job->arena, &cache, d));
    TRY(run_iss_processor(job, cache, d));
    if (job->package) {
        from.folder = run_package_folder(job, &from.changes);
        TRY(first_library(job->arena, from.folder, &library, d));
    } else if (job->p->emitted->n_library) {
        library = job->p->emitted->library[0];
    }
    if (*library) /* without an operating system there is none */
        return FAIL(d, ST_UNSUPPORTED,
                    "--host=%s: library '%s' of a target: the processor has no libraries",
                    run_iss_name(job->options), library);
    if (!job->package)
        TRY(package_make(job->p->emitted, &from.package, d));
    return make_elf(job, cache, &from, elf, d);
}
