/* home.c - find the folder of heddle's files. */
#define _GNU_SOURCE
#include "home.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "private.h"

/* The file that identifies a heddle tree. */
static const char mark[] = "hw/accel.json";

/* Return the folder of the library or program that contains this code. */
static const char *own_folder(struct arena *a)
{
    char path[PATH_MAX];
    struct link_map *map = NULL;

    Dl_info info;
    char *slash;

    if (dladdr1(mark, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return NULL;
    if (realpath(map->l_name[0] != '\0' ? map->l_name : "/proc/self/exe", path) == NULL)
        return NULL;
    slash = strrchr(path, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    return arena_strdup(a, path);
}

/* Return the real path of `folder` if it is a heddle tree, otherwise NULL. */
static const char *tree_at(struct arena *a, const char *folder)
{
    char real[PATH_MAX];

    if (!file_exists(arena_printf(a, "%s/%s", folder, mark)) || realpath(folder, real) == NULL)
        return NULL;
    return arena_strdup(a, real);
}

enum status home_find(struct arena *a, const char **home, struct diag *d)
{
    static const char *const nearby[] = {"..", "../share/heddle", "../..", "../../share/heddle"};
    const char *const named = getenv("HEDDLE_HOME");
    const char *const folder = own_folder(a);

    if (named != NULL && named[0] != '\0') {
        *home = tree_at(a, named);
        if (*home == NULL)
            return FAIL(d, ST_INTERNAL, "HEDDLE_HOME '%s' holds no %s", named, mark);
        return ST_OK;
    }
    for (size_t i = 0; folder != NULL && i < sizeof nearby / sizeof nearby[0]; i++) {
        *home = tree_at(a, arena_printf(a, "%s/%s", folder, nearby[i]));
        if (*home != NULL)
            return ST_OK;
    }
    return FAIL(d, ST_INTERNAL,
                "cannot find heddle's own files: no %s in '..', '../share/heddle', '../..' or "
                "'../../share/heddle' of '%s'; set HEDDLE_HOME",
                mark, folder != NULL ? folder : "?");
}

enum status home_generated(struct arena *a, const char **gen, struct diag *d)
{
    const char *const folder = own_folder(a);
    const char *home;

    TRY(home_find(a, &home, d));
    *gen = arena_printf(a, "%s/gen", folder != NULL ? folder : home);
    if (!file_exists(arena_printf(a, "%s/hd_accel.h", *gen)))
        *gen = arena_printf(a, "%s/gen", home);
    return ST_OK;
}

/* Find one of heddle's shared objects that are loaded by path. */
static enum status find_object(struct arena *a, const char *name, const char **path, struct diag *d)
{
    static const char *const nearby[] = {".", "heddle", "../lib/heddle", ".."};
    const char *const folder = own_folder(a);
    const char *home;

    for (size_t i = 0; folder != NULL && i < sizeof nearby / sizeof nearby[0]; i++) {
        *path = arena_printf(a, "%s/%s/%s", folder, nearby[i], name);
        if (file_exists(*path))
            return ST_OK;
    }
    TRY(home_find(a, &home, d)); /* for a program with libheddle.a, $HEDDLE_HOME gives it */
    *path = arena_printf(a, "%s/../../lib/heddle/%s", home, name);
    if (file_exists(*path))
        return ST_OK;
    return FAIL(d, ST_INTERNAL, "cannot find %s next to '%s', nor '%s'", name,
                folder != NULL ? folder : "?", *path);
}

enum status home_runtime(struct arena *a, const char **path, struct diag *d)
{
    return find_object(a, "libheddle_runtime.so", path, d);
}

enum status home_prover(struct arena *a, const char **path, struct diag *d)
{
    return find_object(a, "libheddle_prove.so", path, d);
}

enum status home_plugin(struct arena *a, const char **path, struct diag *d)
{
    return find_object(a, "libheddle_qemu.so", path, d);
}

enum status home_program(struct arena *a, const char **path, struct diag *d)
{
    static const char *const nearby[] = {".", "../bin", "../../bin"};
    const char *const folder = own_folder(a);

    for (size_t i = 0; folder != NULL && i < sizeof nearby / sizeof nearby[0]; i++) {
        *path = arena_printf(a, "%s/%s/heddle", folder, nearby[i]);
        if (access(*path, X_OK) == 0)
            return ST_OK;
    }
    return FAIL(d, ST_INTERNAL,
                "cannot find the program heddle in '.', '../bin' or '../../bin' of "
                "'%s'",
                folder != NULL ? folder : "?");
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
    return private_dir(*cache, d);
}
