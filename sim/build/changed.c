/* changed.c - find the modules of hw/rtl that changed since a model was last built in this tree.
 * in: the files of a build. out: a text, and a record of the files in the cache. Only in a tree
 * with benches to run after a change. */
#define _GNU_SOURCE
#include "changed.h"

#include <string.h>

#include "base/file.h"
#include "base/private.h"
#include "base/text.h"

/* Write one line "HASH rtl/hd_pe.sv" per file. */
static void list(struct text *t, const struct build_files *files)
{
    text_add(t, "");
    for (uint32_t i = 0; i < files->n; i++) {
        const struct build_file *f = &files->file[i];
        struct hash128 h;
        if (strncmp(f->name, "rtl/", 4) != 0)
            continue;
        hash_init(&h);
        build_file_hash(t->arena, f, false, &h);
        text_printf(t, "%s %s\n", hash_text(t->arena, &h), f->name);
    }
}

/* Return the names in the lines of `now` that `before` lacks. */
static const char *others(struct arena *a, const char *now, const char *before)
{
    char *rest = arena_strdup(a, now), *line;
    struct text t;
    int n = 0;

    text_init(&t, a);
    while ((line = strsep(&rest, "\n")) != NULL) {
        const char *name = strrchr(line, '/');
        if (name == NULL || strstr(before, line) != NULL)
            continue;
        if (n++ < 4)
            text_printf(&t, "%s%.*s", n > 1 ? ", " : "", (int)strcspn(name + 1, "."), name + 1);
    }
    if (n > 4)
        text_printf(&t, " and %d more", n - 4);
    return n != 0 ? t.data : NULL;
}

const char *changed_modules(struct arena *a, const struct sim_paths *paths,
                            const struct build_files *files)
{
    struct diag ignored = {.status = ST_OK};
    struct hash128 h;
    struct text now;
    uint8_t *before;
    size_t n;

    if (paths->core != NULL || paths->cpu != NULL || paths->rtl != NULL ||
        !file_exists(arena_printf(a, "%s/tests/hw/check_rtl.sh", paths->home)))
        return NULL;
    hash_init(&h);
    hash_string(&h, paths->home);
    const char *const note = arena_printf(a, "%s/rtl-%s", paths->cache, hash_text(a, &h));
    text_init(&now, a);
    list(&now, files);
    const bool known =
        private_file(note) && file_read(a, note, 1 << 20, &before, &n, &ignored) == ST_OK;
    (void)private_write(note, now.data, now.length, &ignored);
    return known ? others(a, now.data, (const char *)before) : NULL;
}
