/* check_kit.c - see check_kit.h. The object is found by the hash of the preprocessed sources. */
#define _GNU_SOURCE
#include "check_kit.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private.h"
#include "sim/build/cached.h"
#include "sim/build/evict.h"
#include "sim/build/hash.h"

static const char *const sources[] = {
    "targets/kit/harness.c",
    "kernels/hdk_blocks.c",
    "kernels/hdk_shape.c",
    "kernels/described/hdk_described.c",
    "kernels/described/hdk_described_host.c",
    "kernels/described/hdk_meaning.c",
    "kernels/described/hdk_order.c",
};

enum { N_SOURCE = sizeof sources / sizeof *sources, MAX_FLAGS = 32 };

/* Run the compiler with `mode` (NULL at the end) on the sources, its output appended to `log`. */
static enum status run(struct arena *a, const struct sim_tool *cc, const char *const *flags,
                       const char *home, const char *folder, const char *const *mode,
                       const char *log, struct diag *d)
{
    const char **argv = ARENA_ARRAY(a, const char *, MAX_FLAGS + N_SOURCE + 8 + cc->n_argument);
    uint32_t n = tool_begin(cc, argv);

    for (; *flags; flags++)
        argv[n++] = *flags;
    for (; *mode; mode++)
        argv[n++] = *mode;
    for (uint32_t i = 0; i < N_SOURCE; i++)
        argv[n++] = arena_printf(a, "%s/%s", home, sources[i]);
    return tool_run(a, "compiling the harness", folder, log, argv, d);
}

enum status check_kit(struct arena *a, const struct sim_tool *cc, const char *const *flags,
                      const char *home, const char *cache, const char *folder, const char **object,
                      struct diag *d)
{
    const char *const text = arena_printf(a, "%s/kit.i", folder);
    const char *const log = arena_printf(a, "%s/cc.log", folder);
    const char *const made = arena_printf(a, "%s/kit.o", folder);
    struct hash128 h;
    bool whole;

    TRY(run(a, cc, flags, home, folder, (const char *const[]){"-E", "-fno-working-directory", NULL},
            text, d));
    hash_init(&h);
    tool_hash(cc, &h);
    for (uint32_t i = 0; flags[i]; i++)
        hash_string(&h, flags[i]);
    TRY(hash_file(a, &h, text, d));
    const char *const name = arena_printf(a, "host/%s", hash_text(a, &h));
    *object = arena_printf(a, "%s/%s/kit.o", cache, name);
    TRY(private_dirs(a, cache, name, d));
    TRY(cached_find(a, *object, &whole, d));
    if (whole) {
        evict_touch(arena_printf(a, "%s/%s", cache, name));
        return ST_OK;
    }
    TRY(run(a, cc, flags, home, folder,
            (const char *const[]){"-r", "-nostdlib", "-o", "kit.o", NULL}, log, d));
    if (chmod(made, 0700) != 0 || rename(made, *object) != 0)
        return FAIL(d, ST_NO_MEMORY, "%s: cannot be written", *object);
    return cached_seal(a, *object, d);
}
