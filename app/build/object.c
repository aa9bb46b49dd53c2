/* object.c - compile emitted or user C to a shared object with $CC (default cc), cached by content.
 * The object takes the driver and the kernels from libheddle_runtime.so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"
#include "base/private.h"
#include "folders.h"
#include "object.h"
#include "sim/build/cached.h"
#include "sim/build/evict.h"
#include "sim/build/hash.h"
#include "sim/build/tools.h"

struct compiler {
    struct arena *arena;
    const char *home, *cache, *gen;
    struct sim_tool cc;
};

static enum status find_compiler(struct arena *a, struct compiler *c, struct diag *d)
{
    c->arena = a;
    TRY(home_find(a, &c->home, d));
    TRY(home_cache(a, &c->cache, d));
    TRY(home_generated(a, &c->gen, d));
    return tool_find(a, c->cache, tool_name("CC", "cc"), "gcc", NULL, &c->cc, d);
}

static uint32_t count(const char *const *list)
{
    uint32_t n = 0;

    while (list[n])
        n++;
    return n;
}

/* Run the compiler. what: "compiling the emitted C". libraries: names without lib and -l. */
static enum status build(struct compiler *c, const char *what, const char *folder,
                         const char *const *sources, const char *const *extra,
                         const char *const *libraries, const char *so, struct diag *d)
{
    static const char *const flags[] = {"-std=c11", "-O2", "-fPIC", "-shared", "-w", "-I."};
    const char **argv =
        ARENA_ARRAY(c->arena, const char *,
                    17 + c->cc.n_argument + count(sources) + count(extra) + count(libraries));
    uint32_t n = tool_begin(&c->cc, argv);

    for (uint32_t i = 0; i < sizeof flags / sizeof *flags; i++)
        argv[n++] = flags[i];
    const char *include[] = {c->home, arena_printf(c->arena, "%s/driver", c->home), c->gen};
    for (uint32_t i = 0; i < 3; i++) {
        argv[n++] = "-I";
        argv[n++] = include[i];
    }
    while (*extra)
        argv[n++] = *extra++;
    while (*sources)
        argv[n++] = *sources++;
    while (*libraries)
        argv[n++] = arena_printf(c->arena, "-l%s", *libraries++);
    argv[n++] = "-o";
    argv[n++] = arena_printf(c->arena, "%s.%ld", so, (long)gettid());
    const char *log = arena_printf(c->arena, "%s/cc.log", folder);
    (void)remove(log);
    TRY(tool_run(c->arena, what, folder, log, argv, d));
    if (chmod(argv[n - 1], 0700) != 0 || rename(argv[n - 1], so) != 0)
        return FAIL(d, ST_NO_MEMORY, "%s: cannot be written", so);
    return ST_OK;
}

/* Hash the headers that emitted code may include: an object made with others is not reused. */
static enum status hash_headers(struct compiler *c, struct hash128 *h, struct diag *d)
{
    const char *const patterns[] = {"driver/*.h", "kernels/*.h", "kernels/described/*.h"};
    enum status st = ST_OK;
    glob_t found = {0};

    for (uint32_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        (void)glob(arena_printf(c->arena, "%s/%s", c->home, patterns[i]), i ? GLOB_APPEND : 0, NULL,
                   &found);
    for (size_t i = 0; i < found.gl_pathc && st == ST_OK; i++)
        st = hash_file(c->arena, h, found.gl_pathv[i], d);
    globfree(&found);
    TRY(st);
    return hash_file(c->arena, h, arena_printf(c->arena, "%s/hd_accel.h", c->gen), d);
}

/* Names of files to compile and link. */
struct parts {
    const char *sources[EMIT_MAX_FILES + 1], *libraries[EMIT_MAX_LIBRARIES + 1];
};

static void parts_of(const struct emit_unit *u, struct parts *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < u->n; i++) {
        const char *dot = strrchr(u->file[i].name, '.');
        if (strcmp(dot, ".c") == 0 || strcmp(dot, ".S") == 0)
            p->sources[n++] = u->file[i].name;
    }
    p->sources[n] = NULL;
    for (uint32_t i = 0; i < u->n_library; i++)
        p->libraries[i] = u->library[i];
    p->libraries[u->n_library] = NULL;
}

static enum status build_into(struct compiler *c, const struct emit_unit *u, const char *folder,
                              const char *so, struct diag *d)
{
    const struct run_folders where = run_folders_of(u);
    const char *const *folders;
    struct parts parts;

    parts_of(u, &parts);
    TRY(run_folders(c->arena, &where, &folders, d));
    TRY(emit_write(u, folder, d));
    return build(c, "compiling the emitted C", folder, parts.sources, folders, parts.libraries, so,
                 d);
}

enum status run_compile_into(struct arena *a, const struct emit_unit *u, const char *folder,
                             const char **so_path, struct diag *d)
{
    struct compiler c;

    TRY(find_compiler(a, &c, d));
    *so_path = arena_printf(a, "%s/model.so", folder);
    return build_into(&c, u, folder, *so_path, d);
}

enum status run_compile(struct arena *a, const struct emit_unit *u, const char **so_path,
                        struct diag *d)
{
    struct compiler c;
    struct hash128 h;

    TRY(find_compiler(a, &c, d));
    hash_init(&h);
    tool_hash(&c.cc, &h);
    TRY(hash_headers(&c, &h, d));
    for (uint32_t i = 0; i < u->n; i++) {
        hash_string(&h, u->file[i].name);
        hash_bytes(&h, u->file[i].text.data, u->file[i].text.length);
    }
    for (uint32_t i = 0; i < u->n_library; i++)
        hash_string(&h, u->library[i]);
    TRY(run_hash_folders(a, u, &h, d));
    const char *name = arena_printf(a, "host/%s", hash_text(a, &h)),
               *folder = arena_printf(a, "%s/%s", c.cache, name);
    bool whole;
    *so_path = arena_printf(a, "%s/model.so", folder);
    TRY(private_dirs(a, c.cache, name, d));
    TRY(cached_find(a, *so_path, &whole, d));
    if (whole) {
        evict_touch(folder);
        return ST_OK;
    }
    TRY(build_into(&c, u, folder, *so_path, d));
    TRY(cached_seal(a, *so_path, d));
    evict_cache(a, arena_printf(a, "%s/host", c.cache));
    return ST_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* List the sources of a package, relative to it and sorted: all but its program and start-up
 * code, and without `targets` the C of those. */
static enum status package_sources(struct arena *a, const char *folder, bool targets,
                                   const char ***sources, struct diag *d)
{
    static const char *const patterns[] = {"*.c", "*.S", "*/*.c", "*/*/*.c"};

    glob_t found = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        (void)glob(arena_printf(a, "%s/%s", folder, patterns[i]), i ? GLOB_APPEND : 0, NULL,
                   &found);
    *sources = ARENA_ARRAY(a, const char *, found.gl_pathc + 1);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = found.gl_pathv[i] + strlen(folder) + 1;
        if (strcmp(name, "main.c") != 0 && strcmp(name, "port_hosted.c") != 0 &&
            strncmp(name, "bare/", 5) != 0 &&
            (targets || !strchr(name, '/') || strncmp(name, "runtime/", 8) == 0))
            (*sources)[n++] = arena_strdup(a, name);
    }
    globfree(&found);
    qsort(*sources, n, sizeof **sources, by_name);
    return n ? ST_OK : FAIL(d, ST_USAGE, "%s: no C sources; expected a package", folder);
}

enum status run_runtime(struct arena *a, struct diag *d)
{
    const char *path;

    TRY(home_runtime(a, &path, d));
    if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        return FAIL(d, ST_INTERNAL, "driver and kernels do not load: %s", dlerror());
    return ST_OK;
}

enum status run_compile_package(struct arena *a, const char *folder, const char *so_path,
                                bool links, struct diag *d)
{
    struct compiler c;
    const char *const *libraries, *const *folders;
    const char **sources,
        *flags[] = {"-std=c11", "-O3",     "-fPIC",   "-shared",       "-w", "-I", ".",
                    "-I",       "runtime", "-Wa,-I.", "-Wl,-Bsymbolic"};

    TRY(find_compiler(a, &c, d));
    TRY(package_sources(a, folder, links, &sources, d));
    TRY(run_package_flags(a, folder, &folders, &libraries, d));
    const char **argv = ARENA_ARRAY(a, const char *,
                                    count((const char *const *)sources) + count(folders) +
                                        count(libraries) + c.cc.n_argument + 16);
    uint32_t n = tool_begin(&c.cc, argv);
    for (uint32_t i = 0; i < sizeof flags / sizeof *flags; i++)
        argv[n++] = flags[i];
    while (*sources)
        argv[n++] = *sources++;
    while (*folders)
        argv[n++] = *folders++;
    while (links && *libraries)
        argv[n++] = arena_printf(a, "-l%s", *libraries++);
    argv[n++] = "-o";
    argv[n++] = arena_printf(a, "%s.%ld", so_path, (long)gettid());
    TRY(tool_run(a, "compiling the package", folder, arena_printf(a, "%s.log", so_path), argv, d));
    if (chmod(argv[n - 1], 0700) != 0 || rename(argv[n - 1], so_path) != 0)
        return FAIL(d, ST_NO_MEMORY, "%s: cannot be written", so_path);
    return ST_OK;
}

const char *const *run_config_flags(struct arena *a, const struct hd_config *hw)
{
    const char *const flags[] = {arena_printf(a, "-DHD_N=%u", hw->n),
                                 arena_printf(a, "-DHD_ROWS=%u", hw->rows),
                                 arena_printf(a, "-DHD_COLUMNS=%u", hw->columns),
                                 arena_printf(a, "-DHD_PORTS=%u", hw->ports),
                                 arena_printf(a, "-DHD_SCRATCHPAD_BYTES=%u", hw->scratchpad_bytes),
                                 arena_printf(a, "-DHD_WEIGHT_BYTES=%u", hw->weight_bytes),
                                 arena_printf(a, "-DHD_ACC_DEPTH=%u", hw->acc_depth),
                                 arena_printf(a, "-DHD_PARAM_ENTRIES=%u", hw->param_entries),
                                 arena_printf(a, "-DHD_SOFTMAX_ROWS=%u", hw->softmax_rows),
                                 arena_printf(a, "-DHD_CONFIG_HASH=0x%08xu", hw->hash),
                                 NULL};

    return arena_memdup(a, flags, sizeof flags);
}

enum status run_compile_program(struct arena *a, const char *source, const struct hd_config *hw,
                                const char **so_path, struct diag *d)
{
    struct compiler c;
    struct hash128 h;
    uint8_t *text;
    size_t n_bytes;

    TRY(find_compiler(a, &c, d));
    TRY(file_read(a, source, (size_t)16 << 20, &text, &n_bytes, d));
    hash_init(&h);
    tool_hash(&c.cc, &h);
    hash_bytes(&h, text, n_bytes);
    hash_bytes(&h, hw, sizeof *hw);
    const char *name = arena_printf(a, "host/%s", hash_text(a, &h)),
               *folder = arena_printf(a, "%s/%s", c.cache, name);
    const char *path = realpath(source, NULL);
    const char *sources[] = {path ? arena_strdup(a, path) : source, NULL};
    free((void *)(uintptr_t)path);
    const char *none[] = {NULL};
    const char *extra[16] = {"-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"};
    uint32_t n = 2;

    for (const char *const *f = run_config_flags(a, hw); *f; f++)
        extra[n++] = *f;
    *so_path = arena_printf(a, "%s/program.so", folder);
    TRY(private_dirs(a, c.cache, name, d));
    /* always compiled: headers next to it are not hashed */
    enum status st = build(&c, arena_printf(a, "compiling '%s'", source), folder, sources, extra,
                           none, *so_path, d);
    if (st == ST_INTERNAL) /* their file */
        st = d->status = ST_USAGE;
    TRY(st);
    evict_cache(a, arena_printf(a, "%s/host", c.cache));
    return ST_OK;
}
