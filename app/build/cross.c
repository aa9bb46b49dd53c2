/* cross.c - see cross.h. */
#include "cross.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/private.h"
#include "sim/build/cached.h"
#include "sim/build/evict.h"
#include "sim/build/hash.h"
#include "sim/build/tools.h"

/* Build the program build/net in `folder`, whose board.cmake is written first. */
static enum status build(struct arena *a, const struct cross *c, const struct sim_tool *cmake,
                         const char *folder, const struct cross_source *from, struct diag *d)
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
    TRY(tool_run(a, arena_printf(a, "configuring the package for %s", c->what), folder, log,
                 configure, d));
    return tool_run(a, arena_printf(a, "compiling the package for %s", c->what), folder, log, make,
                    d);
}

/* Hash the program's source without its compiler: all files, or for a tar file its name in the
 * cache. */
static void hash_source(struct hash128 *h, const struct cross_source *from)
{
    if (from->folder)
        hash_string(h, from->folder);
    for (uint32_t i = 0; from->package && i < from->package->n; i++) {
        hash_string(h, from->package->file[i].path);
        hash_bytes(h, from->package->file[i].data, from->package->file[i].n_bytes);
    }
}

/* With the lock held, build the program of `from` in `folder` unless it exists. */
static enum status fill(struct arena *a, const struct cross *c, const char *folder,
                        const struct cross_source *from, const struct sim_tool *cmake,
                        const char *elf, struct diag *d)
{
    bool whole;

    TRY(cached_find(a, elf, &whole, d));
    if (whole && !from->changes) {
        evict_touch(folder);
        return ST_OK;
    }
    if (from->package)
        TRY(package_write(from->package, folder, d));
    TRY(file_write(arena_printf(a, "%s/board.cmake", folder), c->toolchain, strlen(c->toolchain),
                   d));
    TRY(build(a, c, cmake, folder, from, d));
    if (rename(arena_printf(a, "%s/build/net", folder), elf) != 0)
        return FAIL(d, ST_NO_MEMORY, "%s: cannot be written", elf);
    TRY(cached_seal(a, elf, d));
    evict_cache(a, arena_printf(a, "%s/%s", c->cache, c->kind));
    return ST_OK;
}

enum status cross_compile(struct arena *a, const struct cross *c, const struct cross_source *from,
                          const char **elf, struct diag *d)
{
    struct sim_tool gcc, cmake;
    struct hash128 h;
    enum status st;
    int lock;

    TRY(tool_find(a, c->cache, c->compiler, c->debian, NULL, &gcc, d));
    TRY(tool_find(a, c->cache, "cmake", "cmake", NULL, &cmake, d));
    hash_init(&h);
    hash_string(&h, gcc.path);
    hash_string(&h, gcc.version);
    hash_string(&h, c->toolchain);
    hash_source(&h, from);
    const char *const name = arena_printf(a, "%s/%s", c->kind, hash_text(a, &h));
    const char *const folder = arena_printf(a, "%s/%s", c->cache, name);
    *elf = arena_printf(a, "%s/net.elf", folder);
    TRY(private_dirs(a, c->cache, name, d));
    TRY(file_lock(arena_printf(a, "%s.lock", folder), &lock, d));
    st = fill(a, c, folder, from, &cmake, *elf, d);
    (void)close(lock);
    return st;
}

enum status cross_library(struct arena *a, const char *folder, const char **name, struct diag *d)
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
