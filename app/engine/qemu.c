/* qemu.c - see qemu.h. Cross-compiled for the processor that metadata.json names, the package is a
 * bare-metal program; it reads and writes files in a folder of the run through semihosting. */
#define _GNU_SOURCE
#include "qemu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/build/cross.h"
#include "app/build/folders.h"
#include "app/job/job.h"
#include "app/job/shared.h"
#include "base/file.h"
#include "base/home.h"
#include "base/json/json_doc.h"
#include "base/private.h"
#include "processes.h"
#include "sim/build/evict.h"
#include "sim/build/tools.h"

enum { SECONDS = 600, MAX_LOG = 1 << 20 };

/* Machines of qemu with enough memory, for each processor that a package may name. */
static const struct board {
    const char *processor, *qemu, *debian, *machine;
    const char *other; /* the machine's processor, if that is a larger one */
} boards[] = {
    {"cortex-m0", "qemu-system-arm", "qemu-system-arm", "mps2-an385", "cortex-m3"},
    {"cortex-m0plus", "qemu-system-arm", "qemu-system-arm", "mps2-an385", "cortex-m3"},
    {"cortex-m3", "qemu-system-arm", "qemu-system-arm", "mps2-an385", NULL},
    {"cortex-m4", "qemu-system-arm", "qemu-system-arm", "mps2-an386", NULL},
    {"cortex-m7", "qemu-system-arm", "qemu-system-arm", "mps2-an500", NULL},
    {"cortex-m55", "qemu-system-arm", "qemu-system-arm", "mps3-an547", NULL},
    {"rv32im", "qemu-system-riscv32", "qemu-system-misc", "virt", NULL},
    {"rv32imc", "qemu-system-riscv32", "qemu-system-misc", "virt", NULL},
    {"rv64gc", "qemu-system-riscv64", "qemu-system-misc", "virt", NULL},
};
enum { N_BOARDS = sizeof boards / sizeof *boards };

/* The processor for a package that names none. */
static const char usual[] = "rv32imc";

enum status run_qemu_check(const struct job *job, struct diag *d)
{
    const struct options *o = job->options;

    bool outside = false;

    for (uint32_t i = 0; i < o->target.n; i++)
        outside = outside || o->target.target[i]->desc->outside;
    if (o->engine != ENGINE_QEMU && o->seconds && !outside)
        return FAIL(d, ST_USAGE,
                    "--seconds: only with --engine=qemu, --prog or an external target");
    if (o->engine != ENGINE_QEMU)
        return ST_OK;
    if (!job->package)
        return FAIL(d, ST_USAGE,
                    "--engine=qemu: it runs packages; heddle compile MODEL --target=c "
                    "--target-c-mcpu=cortex-m55 -o net.tar makes one");
    if (o->jobs != 1 || o->reset_state)
        return FAIL(d, ST_USAGE, "--engine=qemu: not with %s",
                    o->jobs != 1 ? "--jobs" : "--reset-state");
    return ST_OK;
}

/* --- choose a machine ------------------------------------------------------------------------- */

/* Return the attribute, of any target, that is not "any" (compiler/target/processor.c). */
static const char *named(const cJSON *targets, const char *attribute)
{
    const cJSON *t;

    cJSON_ArrayForEach(t, targets)
    {
        const cJSON *all = cJSON_GetObjectItemCaseSensitive(t, "attributes"),
                    *value = cJSON_GetObjectItemCaseSensitive(all, attribute);
        if (cJSON_IsString(value) && strcmp(value->valuestring, "any") != 0)
            return value->valuestring;
    }
    return NULL;
}

/* Find the board that has the processor. */
static enum status find_board(struct arena *a, const char *name, const struct board **board,
                              struct diag *d)
{
    struct text all;

    text_init(&all, a);
    for (*board = boards; *board < boards + N_BOARDS; ++*board) {
        if (strcmp((*board)->processor, name) == 0)
            return ST_OK;
        text_printf(&all, "%s%s", *board == boards ? "" : ", ", (*board)->processor);
    }
    return FAIL(d, ST_UNSUPPORTED,
                "--engine=qemu: the package is for %.40s, for which qemu has no machine; it has "
                "for %s",
                name, all.data);
}

/* Return an accelerator that the package has commands for; NULL: none. */
static const char *accelerator(const cJSON *targets)
{
    const cJSON *t;

    cJSON_ArrayForEach(t, targets)
    {
        const cJSON *hw = cJSON_GetObjectItemCaseSensitive(t, "hw");
        if (cJSON_IsString(hw))
            return hw->valuestring;
    }
    return NULL;
}

static bool has_any(const cJSON *all, const char *name)
{
    const cJSON *const list = cJSON_GetObjectItemCaseSensitive(all, name);

    return list && cJSON_IsString(list->child);
}

static enum status check_metadata(struct arena *a, const cJSON *all, struct run_qemu *q,
                                  struct diag *d)
{
    const cJSON *targets = cJSON_GetObjectItemCaseSensitive(all, "targets"),
                *libraries = cJSON_GetObjectItemCaseSensitive(all, "libraries");
    const char *hw = accelerator(targets), *name = named(targets, "mcpu");

    if (hw)
        return FAIL(d, ST_UNSUPPORTED,
                    "--engine=qemu: the package has commands for an accelerator (%.40s), which "
                    "qemu does not have; compile with --target=c, or run it with --host=iss",
                    hw);
    q->library = has_any(all, "libraries");
    if (q->library && !has_any(all, "library_dirs"))
        return FAIL(d, ST_UNSUPPORTED,
                    "--engine=qemu: library '%.40s' of a target: without an operating system "
                    "there is none; expected \"library_dirs\" with one for the processor",
                    libraries->child->valuestring);
    name = name ? name : named(targets, "march");
    return find_board(a, name ? name : usual, &q->board, d);
}

static bool is_arm(const struct board *b)
{
    return strncmp(b->processor, "cortex", 6) == 0;
}

/* Find a tool, or report it missing before anything is compiled. */
static enum status find_tool(struct arena *a, const char *name, const char *debian,
                             const char **path, struct diag *d)
{
    struct diag missing = {0};
    struct sim_tool tool;
    const char *cache;

    TRY(home_cache(a, &cache, d));
    if (tool_find(a, cache, name, debian, NULL, &tool, &missing) != ST_OK)
        return FAIL(d, ST_INTERNAL, "--engine=qemu: cannot find '%s': install the package %s", name,
                    debian);
    *path = tool.path;
    return ST_OK;
}

static const char *compiler_of(const struct board *b)
{
    return is_arm(b) ? "arm-none-eabi-gcc" : "riscv64-unknown-elf-gcc";
}

static const char *compiler_package(const struct board *b)
{
    return is_arm(b) ? "gcc-arm-none-eabi" : "gcc-riscv64-unknown-elf";
}

enum status run_qemu_find(struct arena *a, const char *folder, struct run_qemu *q, struct diag *d)
{
    struct json_doc doc = {0};
    const struct board *b;
    const char *gcc;

    *q = (struct run_qemu){0};
    TRY(json_doc_read(a, arena_printf(a, "%s/metadata.json", folder), &doc, d));
    const enum status st = check_metadata(a, doc.root, q, d);
    json_doc_free(&doc);
    TRY(st);
    b = q->board;
    TRY(find_tool(a, b->qemu, b->debian, &q->qemu, d));
    return find_tool(a, compiler_of(b), compiler_package(b), &gcc, d);
}

static enum status compile(const struct job *job, const char *cache, const struct board *b,
                           const char **elf, struct diag *d)
{
    struct cross_source from = {0};
    struct hash128 h;
    struct cross c = {.cache = cache,
                      .kind = "qemu",
                      .what = b->processor,
                      .compiler = compiler_of(b),
                      .debian = compiler_package(b)};

    from.folder = job->package->folder;
    from.changes = !job->package->is_tar;
    hash_init(&h);
    TRY(run_hash_package(job->arena, from.folder, &h, d));
    c.toolchain = arena_printf(
        job->arena, "# libraries: %s\nset(%s %s)\ninclude(%s/bare/%s.cmake)\n",
        hash_text(job->arena, &h), is_arm(b) ? "NET_MCPU" : "NET_MARCH", b->processor, from.folder,
        is_arm(b)                               ? "cortex-m"
        : strncmp(b->processor, "rv64", 4) == 0 ? "riscv64"
                                                : "riscv32");
    return cross_compile(job->arena, &c, &from, elf, d);
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Return the text in `path`; "" if it is empty or missing. */
static const char *text_of(struct arena *a, const char *path)
{
    struct diag ignored = {0};
    uint8_t *data;
    size_t n;

    return file_exists(path) && file_read(a, path, MAX_LOG, &data, &n, &ignored) == ST_OK
               ? (const char *)data
               : "";
}

/* Report why qemu ended, with its output and the program's. */
static enum status failed(struct arena *a, const struct board *b, const struct tool_watch *watch,
                          const char *log, const struct diag *why, struct diag *d)
{
    const char *text = text_of(a, log);

    if (why->status == ST_INTERRUPTED)
        return FAIL(d, why->status, "%s", why->text);
    if (tool_now() - watch->begin > watch->seconds)
        return FAIL(d, ST_DEVICE,
                    "--engine=qemu: %s did not end within %u seconds and was stopped; --seconds=N "
                    "gives it more",
                    b->qemu, watch->seconds);
    if (strstr(text, "unsupported machine type"))
        return FAIL(d, ST_UNSUPPORTED, "--engine=qemu: this %s has no machine %s, for %s", b->qemu,
                    b->machine, b->processor);
    return FAIL(d, ST_DEVICE, "--engine=qemu: the program failed on %s of %s: %.500s", b->machine,
                b->qemu, *text ? text : why->text);
}

/* Run the program once, in `folder`; counted: with the plugin, which some builds of qemu do not
 * accept. */
static enum status execute(const struct job *job, struct run_qemu *q, const char *elf,
                           const char *folder, struct diag *d)
{
    static const char *const flags[] = {"-nographic",
                                        "-monitor",
                                        "none",
                                        "-serial",
                                        "none",
                                        "-semihosting-config",
                                        "enable=on,target=native",
                                        "-kernel",
                                        NULL};
    struct arena *a = job->arena;
    const struct board *b = q->board;
    const char *const log = arena_printf(a, "%s/log", folder), *plugin;
    const char *argv[24] = {q->qemu};
    uint32_t n = 1;

    for (const char *const *f = flags; *f; f++)
        argv[n++] = *f;
    argv[n++] = elf;
    argv[n++] = "-M";
    argv[n++] = b->machine;
    if (!is_arm(b)) {
        argv[n++] = "-bios";
        argv[n++] = "none";
    }
    TRY(home_plugin(a, &plugin, d));
    if (q->counted) {
        argv[n++] = "-plugin";
        argv[n++] = arena_printf(a, "%s,out=counts", plugin);
    }
    argv[n] = NULL;
    struct diag why = {0};
    const struct tool_watch watch = {.seconds =
                                         job->options->seconds ? job->options->seconds : SECONDS,
                                     .output = job->options->output,
                                     .doing = "running on qemu",
                                     .begin = tool_now()};
    (void)remove(log);
    if (tool_run_for(a, "qemu", folder, log, argv, &watch, &why) == ST_OK)
        return ST_OK;
    if (q->counted && strstr(text_of(a, log), "plugin")) {
        q->counted = false;
        return execute(job, q, elf, folder, d);
    }
    return failed(a, b, &watch, log, &why, d);
}

static enum status write_inputs(const struct job *job, const char *folder, struct diag *d)
{
    for (uint32_t i = 0; i < job->p->graph->n_in; i++)
        TRY(file_write(arena_printf(job->arena, "%s/in_%u.bin", folder, i), job->in[i].bytes,
                       job->in[i].n_bytes * job->n, d));
    return ST_OK;
}

static enum status read_outputs(const struct job *job, struct run_measured *m, const char *folder,
                                struct diag *d)
{
    for (uint32_t i = 0; i < job->p->graph->n_out; i++) {
        const size_t want = m->out[i].n_bytes * job->n;
        uint8_t *data;
        size_t n;
        TRY(file_read(job->arena, arena_printf(job->arena, "%s/out_%u.bin", folder, i), want, &data,
                      &n, d));
        if (n != want)
            return FAIL(d, ST_DEVICE, "--engine=qemu: %zu bytes of output %u, expected %zu", n, i,
                        want);
        memcpy(m->out[i].bytes, data, n);
    }
    return ST_OK;
}

static enum status in_folder(const struct job *job, struct run_measured *m, struct run_qemu *q,
                             const char *elf, const char *folder, struct diag *d)
{
    TRY(write_inputs(job, folder, d));
    q->counted = true;
    TRY(execute(job, q, elf, folder, d));
    const char *counts = text_of(job->arena, arena_printf(job->arena, "%s/counts", folder));
    q->counted = sscanf(counts, "%" SCNu64 " %" SCNu64, &q->calls, &q->instructions) == 2 &&
                 q->calls == job->n;
    return read_outputs(job, m, folder, d);
}

/* If no expectation is given, expect the answer of the package's C on this machine. */
static enum status expect_host(struct job *job, struct run_measured *m, const char *so_path,
                               struct diag *d)
{
    const uint32_t n = job->p->graph->n_out;

    m->n_process = 1;
    if (job->expected)
        return run_share(job, m, d);
    TRY(run_engine(job, m, so_path, d));
    job->expected = ARENA_ARRAY(job->arena, struct run_data, n + 1);
    for (uint32_t i = 0; i < n; i++)
        job->expected[i] =
            (struct run_data){arena_memdup(job->arena, m->out[i].bytes, m->out[i].n_bytes * job->n),
                              m->out[i].n_bytes};
    job->checked_against = "expect";
    job->expected_from = "the same package on this machine";
    return ST_OK;
}

enum status run_qemu(struct job *job, struct run_measured *m, const char *so_path,
                     struct run_qemu *q, struct diag *d)
{
    struct arena *a = job->arena;
    const char *cache, *elf, *folder;

    TRY(run_qemu_find(a, job->package->folder, q, d));
    TRY(home_cache(a, &cache, d));
    TRY(compile(job, cache, q->board, &elf, d));
    if (q->library && !job->expected)
        return FAIL(d, ST_USAGE,
                    "--engine=qemu: the package's library is built for %s, so this machine has no "
                    "answer to compare with; expected --expect",
                    q->board->processor);
    TRY(expect_host(job, m, so_path, d));
    const char *const name = arena_printf(a, "qemu/run.%ld", (long)gettid());
    TRY(private_dirs(a, cache, name, d));
    folder = arena_printf(a, "%s/%s", cache, name);
    const enum status st = in_folder(job, m, q, elf, folder, d);
    evict_tree(folder);
    return st;
}

const char *run_qemu_text(struct arena *a, const struct run_qemu *q, uint32_t n)
{
    const struct board *b = q->board;
    const char *where =
        arena_printf(a, "%u inferences on %s (%s%s%s)", n, b->processor, b->machine,
                     b->other ? ", a machine with a " : "", b->other ? b->other : "");

    return q->counted && n
               ? arena_printf(a, "%s, %.1f instructions each", where, (double)q->instructions / n)
               : arena_printf(a, "%s, instructions not counted: this qemu takes another plugin",
                              where);
}
