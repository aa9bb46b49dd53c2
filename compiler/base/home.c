/* home.c - where heddle's own files are. */
#define _GNU_SOURCE
#include "home.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

/* What tells a heddle tree from any other folder. */
static const char mark[] = "hw/accel.json";

static const char *executable_folder(struct arena *a)
{
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash;

    if (n <= 0)
        return NULL;
    path[n] = '\0';
    slash = strrchr(path, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    return arena_strdup(a, path);
}

/* The real path of `folder` if it is a tree, else NULL. */
static const char *tree_at(struct arena *a, const char *folder)
{
    char real[PATH_MAX];

    if (!file_exists(arena_printf(a, "%s/%s", folder, mark)) || realpath(folder, real) == NULL)
        return NULL;
    return arena_strdup(a, real);
}

enum status home_find(struct arena *a, const char **home, struct diag *d)
{
    static const char *const beside[] = {"..", "../share/heddle", "../.."};
    const char *const named = getenv("HEDDLE_HOME");
    const char *const folder = executable_folder(a);

    if (named != NULL && named[0] != '\0') {
        *home = tree_at(a, named);
        if (*home == NULL)
            return FAIL(d, ST_INTERNAL, "HEDDLE_HOME '%s' holds no %s", named, mark);
        return ST_OK;
    }
    for (size_t i = 0; folder != NULL && i < sizeof beside / sizeof beside[0]; i++) {
        *home = tree_at(a, arena_printf(a, "%s/%s", folder, beside[i]));
        if (*home != NULL)
            return ST_OK;
    }
    return FAIL(d, ST_INTERNAL,
                "cannot find heddle's own files: no %s in '..', '../share/heddle' or '../..' of "
                "'%s'; set HEDDLE_HOME",
                mark, folder != NULL ? folder : "?");
}

enum status home_generated(struct arena *a, const char **gen, struct diag *d)
{
    const char *const folder = executable_folder(a);
    const char *home;

    TRY(home_find(a, &home, d));
    *gen = arena_printf(a, "%s/gen", folder != NULL ? folder : home);
    if (!file_exists(arena_printf(a, "%s/hd_accel.h", *gen)))
        *gen = arena_printf(a, "%s/gen", home);
    return ST_OK;
}

enum status home_cache(struct arena *a, const char **cache, struct diag *d)
{
    const char *const xdg = getenv("XDG_CACHE_HOME");
    const char *const home = getenv("HOME");

    if (xdg != NULL && xdg[0] == '/')
        *cache = arena_printf(a, "%s/heddle", xdg);
    else if (home != NULL && home[0] == '/')
        *cache = arena_printf(a, "%s/.cache/heddle", home);
    else
        return FAIL(d, ST_USAGE, "no folder for built files: set XDG_CACHE_HOME or HOME");
    return file_make_dirs(*cache, d);
}
