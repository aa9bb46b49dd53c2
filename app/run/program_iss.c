/* program_iss.c - --prog with --host=iss or rtl: cross-compile the program with the driver and
 * driver/program and run it on the board. Its output is printed; a fault is reported with function
 * and line. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/build/object.h"
#include "app/engine/core_targets.h"
#include "app/engine/host_core.h"
#include "app/engine/host_iss.h"
#include "app/engine/processes.h"
#include "app/job/job.h"
#include "app/job/shared.h"
#include "base/file.h"
#include "base/home.h"
#include "base/private.h"
#include "program_iss.h"
#include "sim/board/board.h"
#include "sim/build/evict.h"
#include "sim/build/hash.h"
#include "sim/build/tools.h"

#define STACK "65536" /* bytes; a program may keep its streams there */

/* Set up a job without a network: one accelerator, no inputs or outputs. */
static void prepare(struct job *job, struct run_measured *m, struct arena *a,
                    const struct options *o, const struct hd_config *hw)
{
    struct sched_program *const program = ARENA_NEW(a, struct sched_program);

    program->n_device = program->n_stream = 1;
    program->device[0] = (struct sched_device){IR_NONE, hw};
    *job = (struct job){
        .arena = a, .options = o, .n = 1, .p = ARENA_NEW(a, struct pipeline), .program = true};
    job->p->arena = a;
    job->p->program = program;
    job->p->graph = ir_graph_new(a, o->prog);
    m->cores = ARENA_NEW(a, struct core_targets);
}

/* Compile all files in one call of the compiler. */
static enum status compile(const struct job *job, const struct sim_tool *gcc, const char *folder,
                           const char *source, const char *elf, struct diag *d)
{
    static const char *const flags[] = {"-march=rv32im",
                                        "-mabi=ilp32",
                                        "-std=c11",
                                        "-O2",
                                        "-g",
                                        "-w",
                                        "-ffreestanding",
                                        "-nostdlib",
                                        "-ffunction-sections",
                                        "-fno-tree-loop-distribute-patterns",
                                        "-Wl,--gc-sections",
                                        ("-Wl,--defsym=STACK_BYTES=" STACK)};
    static const char *const files[] = {"program/program_main.c",
                                        "program/program_print.c",
                                        "package/bare/riscv.c",
                                        "package/bare/semihosting.c",
                                        "package/bare/memory.c",
                                        "hd.c",
                                        "hd_text.c",
                                        "port_mmio.c"};
    struct arena *const a = job->arena;
    const char *argv[80], *const *own = run_config_flags(a, job->p->program->device[0].hw);
    const char *home, *gen;
    uint32_t n = 0;

    TRY(home_find(a, &home, d));
    TRY(home_generated(a, &gen, d));
    argv[n++] = gcc->path;
    for (uint32_t i = 0; i < sizeof flags / sizeof *flags; i++)
        argv[n++] = flags[i];
    while (*own)
        argv[n++] = *own++;
    argv[n++] = arena_printf(a, "-DHD_REGISTERS=0x%xu", BOARD_REGISTERS);
    argv[n++] = arena_printf(a, "-DHD_MEMORY=0x%xu", BOARD_MEMORY);
    argv[n++] = arena_printf(a, "-DHD_MEMORY_BYTES=%uu", BOARD_PROGRAM_BYTES);
    if (!job->options->poll)
        argv[n++] = "-DHD_IRQ";
    argv[n++] = arena_printf(a, "-I%s", home);
    argv[n++] = arena_printf(a, "-I%s/driver", home);
    argv[n++] = arena_printf(a, "-I%s/driver/program", home);
    argv[n++] = arena_printf(a, "-I%s", gen);
    argv[n++] = arena_printf(a, "-T%s/driver/package/bare/riscv.ld", home);
    argv[n++] = source;
    for (uint32_t i = 0; i < sizeof files / sizeof *files; i++)
        argv[n++] = arena_printf(a, "%s/driver/%s", home, files[i]);
    argv[n++] = "-lgcc";
    argv[n++] = "-o";
    argv[n++] = elf;
    argv[n] = NULL;
    const enum status st =
        tool_run(a, arena_printf(a, "compiling '%s' for rv32im", job->options->prog), folder,
                 arena_printf(a, "%s.log", elf), argv, d);
    return st == ST_INTERNAL ? d->status = ST_USAGE : st; /* their file */
}

/* Make the program. It is always compiled, since headers next to the file are not hashed. */
static enum status make_elf(const struct job *job, const char *cache, const char **elf,
                            struct diag *d)
{
    struct arena *const a = job->arena;
    struct sim_tool gcc;
    struct hash128 h;
    char *const source = realpath(job->options->prog, NULL);

    if (!source)
        return FAIL(d, ST_USAGE, "'%s' cannot be read", job->options->prog);
    const char *const path = arena_strdup(a, source);
    free(source);
    TRY(tool_find(a, cache, "riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf", NULL, &gcc, d));
    hash_init(&h);
    hash_string(&h, path);
    const char *const name = arena_printf(a, "iss/%s", hash_text(a, &h)), *const folder =
                                                                              arena_printf(
                                                                                  a, "%s/%s", cache,
                                                                                  name);
    TRY(private_dirs(a, cache, name, d));
    *elf = arena_printf(a, "%s/program.%ld", folder, (long)getpid());
    TRY(compile(job, &gcc, folder, path, *elf, d));
    evict_cache(a, arena_printf(a, "%s/iss", cache));
    return ST_OK;
}

static void report(const struct job *job, const struct run_measured *m)
{
    const struct run_shared *const s = m->shared;
    const char *const hw = job->p->program->device[0].hw->name;

    output_printf(job->options->output, OUTPUT_RESULT,
                  "%s: %llu cycles in %u submissions on %s\n"
                  "end to end %llu cycles (%s): program %llu, driver %llu, waiting %llu\n",
                  job->options->prog, (unsigned long long)s->cycles, s->submissions, hw,
                  (unsigned long long)s->host.total, run_iss_name(job->options),
                  (unsigned long long)s->host.operators, (unsigned long long)s->host.driver,
                  (unsigned long long)s->host.waiting);
}

static enum status judge(const struct job *job, const struct run_measured *m, struct diag *d)
{
    const int32_t rc = m->shared->code;
    const char *const source = job->options->prog;

    if (rc < 0)
        return FAIL(d, ST_DEVICE, "%s: %s", source, hd_error_text(rc));
    if (rc != 0)
        return FAIL(d, ST_MISMATCH, "%s: hd_program returned %d", source, rc);
    output_text(job->options->output, OUTPUT_RESULT, "verdict: PASS\n");
    return ST_OK;
}

enum status run_program_iss(struct arena *a, const struct options *o, struct diag *d)
{
    struct run run = {0};
    struct job *const job = &run.job;
    struct run_measured *const m = &run.measured;
    struct hd_config hw;
    const char *cache, *elf = NULL;
    enum status st;

    TRY(pipeline_config(a, o->hw, &hw, d));
    prepare(job, m, a, o, &hw);
    TRY(run_iss_check(job, d));
    TRY(home_cache(a, &cache, d));
    TRY(run_iss_processor(job, m, cache, d));
    TRY(make_elf(job, cache, &elf, d));
    st = run_engine(job, m, elf, d);
    (void)remove(elf);
    if (st == ST_OK) {
        report(job, m);
        st = judge(job, m, d);
    }
    if (m->shared)
        run_release(&run);
    return st;
}
