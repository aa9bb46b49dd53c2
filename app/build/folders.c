/* folders.c - folders of the headers and libraries of targets: include_dirs and library_dirs of
 * target.json, with environment variables replaced, as options of a C compiler. */
#include <string.h>

#include "base/file.h"
#include "folders.h"

/* Add -I or -L for each folder; report a missing folder before the compiler starts. */
static enum status add_folders(struct arena *a, const char *member, const char *option,
                               const char *const *dir, uint32_t n_dir, const char **flag,
                               uint32_t *n, struct diag *d)
{
    for (uint32_t i = 0; i < n_dir; i++) {
        const char *full;
        struct diag inner = {0};
        if (file_expand(a, dir[i], &full, &inner) != ST_OK)
            return FAIL(d, ST_USAGE, "%s: '%s': %s", member, dir[i], inner.text);
        if (!file_exists(full))
            return FAIL(d, ST_USAGE, "%s: '%s': folder '%s' not found", member, dir[i], full);
        flag[(*n)++] = arena_printf(a, "%s%s", option, full);
    }
    return ST_OK;
}

enum status run_folders(struct arena *a, const struct run_folders *f, const char *const **flags,
                        struct diag *d)
{
    const char **flag = ARENA_ARRAY(a, const char *, f->n_include + 2 * f->n_library + 1);
    uint32_t n = 0;

    TRY(add_folders(a, "include_dirs", "-I", f->include, f->n_include, flag, &n, d));
    TRY(add_folders(a, "library_dirs", "-L", f->library, f->n_library, flag, &n, d));
    TRY(add_folders(a, "library_dirs", "-Wl,-rpath,", f->library, f->n_library, flag, &n, d));
    *flags = flag;
    return ST_OK;
}

struct run_folders run_folders_of(const struct emit_unit *u)
{
    return (struct run_folders){u->n_include_dir, u->n_library_dir, u->include_dir, u->library_dir};
}

/* Read a list of a package, with one name per line. */
static enum status lines(struct arena *a, const char *folder, const char *file,
                         const char *const **name, uint32_t *n, struct diag *d)
{
    const char *path = arena_printf(a, "%s/%s", folder, file);
    const char **all = ARENA_ARRAY(a, const char *, EMIT_MAX_LIBRARIES + 1);
    uint8_t *text = NULL;
    size_t n_bytes = 0;

    *name = all;
    *n = 0;
    if (!file_exists(path))
        return ST_OK;
    TRY(file_read(a, path, 16384, &text, &n_bytes, d));
    for (const char *p = (const char *)text; *p; p += *p == '\n') {
        size_t length = strcspn(p, "\n");
        if (length && *n < EMIT_MAX_LIBRARIES)
            all[(*n)++] = arena_strndup(a, p, length);
        p += length;
    }
    return ST_OK;
}

/* The folders of a package, and the names of its libraries. */
static enum status package_folders(struct arena *a, const char *folder, struct run_folders *f,
                                   const char *const **libraries, uint32_t *n, struct diag *d)
{
    TRY(lines(a, folder, "libraries.txt", libraries, n, d));
    TRY(lines(a, folder, "include_dirs.txt", &f->include, &f->n_include, d));
    return lines(a, folder, "library_dirs.txt", &f->library, &f->n_library, d);
}

enum status run_package_flags(struct arena *a, const char *folder, const char *const **folders,
                              const char *const **libraries, struct diag *d)
{
    struct run_folders f;
    uint32_t n;

    TRY(package_folders(a, folder, &f, libraries, &n, d));
    return run_folders(a, &f, folders, d);
}

static enum status hash_folders(struct arena *a, const struct run_folders *where,
                                const char *const *library, uint32_t n_library, struct hash128 *h,
                                struct diag *d)
{
    static const char *const endings[] = {"a", "so"};
    const char *const *flags;

    TRY(run_folders(a, where, &flags, d));
    for (; *flags; flags++)
        hash_string(h, *flags);
    for (uint32_t i = 0; i < where->n_library; i++) {
        const char *full;
        TRY(file_expand(a, where->library[i], &full, d));
        for (uint32_t k = 0; k < 2 * n_library; k++) {
            const char *path = arena_printf(a, "%s/lib%s.%s", full, library[k / 2], endings[k % 2]);
            uint8_t *bytes;
            size_t n;
            if (!file_exists(path))
                continue;
            TRY(file_read(a, path, (size_t)1 << 28, &bytes, &n, d));
            hash_bytes(h, bytes, n);
        }
    }
    return ST_OK;
}

enum status run_hash_folders(struct arena *a, const struct emit_unit *u, struct hash128 *h,
                             struct diag *d)
{
    const struct run_folders where = run_folders_of(u);

    return hash_folders(a, &where, u->library, u->n_library, h, d);
}

enum status run_hash_package(struct arena *a, const char *folder, struct hash128 *h, struct diag *d)
{
    struct run_folders where;
    const char *const *library;
    uint32_t n;

    TRY(package_folders(a, folder, &where, &library, &n, d));
    return hash_folders(a, &where, library, n, h, d);
}
