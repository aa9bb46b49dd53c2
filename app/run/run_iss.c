/* run_iss.c - the package as a program of the simulated processor (--host=iss, rtl): cross-compiled by its own
 * CMakeLists.txt, cached by content. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "base/private.h"
#include "board.h"
#include "compiler/emit/emit_package.h"
#include "sim/cached.h"
#include "sim/cpu/cpu.h"
#include "sim/evict.h"
#include "sim/hash.h"
#include "sim/tools.h"

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
    if (o->host == HOST_NATIVE)
        return ST_OK;
    if (o->engine != ENGINE_RTL)
        return FAIL(d, ST_USAGE,
                    "--host=%s: only the RTL has cycles; expected --engine=rtl, found %s",
                    run_iss_name(o), o->engine == ENGINE_REF ? "ref" : "func");
    wrong = job->package         ? "a package; give the network"
            : o->reset_state     ? "--reset-state"
            : o->separate_memory ? "--memory=separate"
            : o->waves           ? "--waves"
                                 : NULL;
    if (wrong)
        return FAIL(d, ST_USAGE, "--host=%s: not with %s", run_iss_name(o), wrong);
    return ST_OK;
}

/* What the processor's program can be made of: one accelerator, no targets with C or cores of their
 * own. */
static enum status check_program(const struct run_job *job, struct diag *d)
{
    const struct target *port[TARGET_MAX];

    if (job->p->program->n_device > 1)
        return FAIL(d, ST_UNSUPPORTED, "--host=%s: %u accelerators; it supports one",
                    run_iss_name(job->options), job->p->program->n_device);
    if (emit_outside_ports(job->p->emitted, port) > 0)
        return FAIL(d, ST_UNSUPPORTED, "--host=%s: the core of target '%s'; it supports none",
                    run_iss_name(job->options), port[0]->name);
    return ST_OK;
}

/* The package's own toolchain file, and where the board has the accelerator. */
static enum status write_toolchain(struct arena *a, const struct options *o, const char *folder,
                                   struct diag *d)
{
    const char *const text = arena_printf(
        a,
        "include(${CMAKE_CURRENT_LIST_DIR}/bare/riscv32.cmake)\n"
        "add_compile_definitions(HD_REGISTERS=0x%xu HD_MEMORY=0x%xu HD_MEMORY_BYTES=%uu%s)\n",
        BOARD_REGISTERS, BOARD_MEMORY, BOARD_MEMORY_BYTES, o->poll ? "" : " HD_IRQ");

    return file_write(arena_printf(a, "%s/board.cmake", folder), text, strlen(text), d);
}

static enum status build(struct arena *a, const struct sim_tool *cmake, const char *folder,
                         struct diag *d)
{
    const char *const log = arena_printf(a, "%s/build.log", folder);
    const char *const configure[] = {
        cmake->path,
        "-S",
        ".",
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

static enum status build_cpu(struct run_job *job, const char *cache, struct diag *d)
{
    struct sim_paths paths = {.cache = cache, .output = job->options->output};

    if (job->options->host != HOST_RTL)
        return ST_OK;
    job->cpu = ARENA_NEW(job->arena, struct sim_model);
    TRY(home_find(job->arena, &paths.home, d));
    return cpu_build(job->arena, &paths, job->cpu, d);
}

enum status run_iss_compile(struct run_job *job, const char **elf, struct diag *d)
{
    struct arena *const a = job->arena;
    struct sim_tool gcc, cmake;
    struct package *package;
    struct hash128 h;
    const char *cache;
    bool whole;

    TRY(check_program(job, d));
    TRY(home_cache(a, &cache, d));
    TRY(build_cpu(job, cache, d));
    TRY(tool_find(a, cache, "riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf", NULL, &gcc, d));
    TRY(tool_find(a, cache, "cmake", "cmake", NULL, &cmake, d));
    TRY(package_make(job->p->emitted, &package, d));
    hash_init(&h);
    hash_string(&h, gcc.path);
    hash_string(&h, gcc.version);
    hash_string(&h, job->options->poll ? "poll" : "irq");
    for (uint32_t i = 0; i < package->n; i++) {
        hash_string(&h, package->file[i].path);
        hash_bytes(&h, package->file[i].data, package->file[i].n_bytes);
    }
    const char *const name = arena_printf(a, "iss/%s", hash_text(a, &h)), *const folder =
                                                                              arena_printf(
                                                                                  a, "%s/%s", cache,
                                                                                  name);
    *elf = arena_printf(a, "%s/net.elf", folder);
    TRY(private_dirs(a, cache, name, d));
    TRY(cached_find(a, *elf, &whole, d));
    if (whole) {
        evict_touch(folder);
        return ST_OK;
    }
    TRY(package_write(package, folder, d));
    TRY(write_toolchain(a, job->options, folder, d));
    TRY(build(a, &cmake, folder, d));
    if (rename(arena_printf(a, "%s/build/net", folder), *elf) != 0)
        return FAIL(d, ST_NO_MEMORY, "%s: cannot be written", *elf);
    TRY(cached_seal(a, *elf, d));
    evict_cache(a, arena_printf(a, "%s/iss", cache));
    return ST_OK;
}
