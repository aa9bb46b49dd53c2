/* registry.c - find the targets. */
#define _GNU_SOURCE
#include "compiler/target/registry.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "compiler/target/describe.h"

static void add(struct registry *r, const char *name, const struct target_desc *desc,
                const char *error)
{
    ARENA_GROW(r->arena, r->entry, r->n, &r->cap);
    r->entry[r->n++] = (struct registry_entry){name, desc, error, NULL};
}

void registry_init(struct registry *r, struct arena *a)
{
    *r = (struct registry){.arena = a};
    add(r, target_systolic_desc.name, &target_systolic_desc, NULL);
    add(r, target_host_desc.name, &target_host_desc, NULL);
}

const struct registry_entry *registry_find(const struct registry *r, const char *name)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (strcmp(r->entry[i].name, name) == 0)
            return &r->entry[i];
    return NULL;
}

static bool has_target(struct registry *r, const char *dir)
{
    return file_exists(arena_printf(r->arena, "%s/target.json", dir)) != 0;
}

/* Return an absolute path, so that a target's files are found from any folder. */
static const char *absolute(struct registry *r, const char *dir)
{
    char *real = realpath(dir, NULL);
    const char *path = arena_strdup(r->arena, real ? real : dir);

    free(real);
    return path;
}

static const char *taken_by(struct registry *r, const char *path, const char *name,
                            const struct registry_entry *taken)
{
    return arena_printf(r->arena, "%s/target.json: the name '%s' is taken: %s", path, name,
                        taken->desc ? taken->desc->origin : taken->error);
}

/* Record that another folder has the same name and is not used. */
static void add_other(struct registry *r, const struct registry_entry *taken, const char *version,
                      const char *path)
{
    struct registry_entry *e = &r->entry[taken - r->entry];

    if (e->others && strstr(e->others, arena_printf(r->arena, "'%s'", path)))
        return; /* the same folder listed twice */
    e->others = arena_printf(r->arena, "%s%s%s of '%s'", e->others ? e->others : "",
                             e->others ? ", " : "", version, path);
}

const char *registry_clash(struct arena *a, const struct registry_entry *e)
{
    if (!e->desc || !e->others)
        return NULL;
    return arena_printf(a, "target %s: %s of '%s' is used, not %s", e->name, e->desc->version,
                        e->desc->origin, e->others);
}

/* Add a folder with a target.json. `quiet`: keep an error as an entry, and accept that an earlier
 * folder has the same name. The name of a built-in target is always refused. */
static enum status add_one(struct registry *r, const char *dir, bool quiet, struct diag *d)
{
    const struct target_desc *desc;
    struct diag inner = {0};
    const char *path = absolute(r, dir), *slash = strrchr(path, '/');
    enum status st = describe_read(r->arena, path, &desc, &inner);

    if (st != ST_OK) {
        if (!quiet)
            return FAIL(d, st, "%s", inner.text);
        const char *name = slash ? slash + 1 : path;
        if (!registry_find(r, name))
            add(r, name, NULL, arena_strdup(r->arena, inner.text));
        return ST_OK;
    }
    const struct registry_entry *taken = registry_find(r, desc->name);
    if (taken && taken->desc && strcmp(taken->desc->origin, desc->origin) == 0)
        return ST_OK;
    if (taken && quiet) {
        if (taken->desc && !taken->desc->outside)
            add(r, desc->name, NULL, taken_by(r, path, desc->name, taken));
        else
            add_other(r, taken, desc->version, desc->origin);
        return ST_OK;
    }
    if (taken)
        return FAIL(d, ST_USAGE, "%s", taken_by(r, path, desc->name, taken));
    add(r, desc->name, desc, NULL);
    return ST_OK;
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* Add the folder itself, or each folder in it in alphabetical order. *found: their number. */
static enum status add_folder(struct registry *r, const char *dir, bool quiet, uint32_t *found,
                              struct diag *d)
{
    struct dirent **list = NULL;
    enum status st = ST_OK;

    *found = 0;
    if (has_target(r, dir)) {
        *found = 1;
        return add_one(r, dir, quiet, d);
    }
    int n = scandir(dir, &list, visible, alphasort);
    for (int i = 0; i < n; i++) {
        const char *sub = arena_printf(r->arena, "%s/%s", dir, list[i]->d_name);
        free(list[i]);
        if (st != ST_OK || !has_target(r, sub))
            continue;
        ++*found;
        st = add_one(r, sub, quiet, d);
    }
    free(list);
    return st;
}

enum status registry_add_dir(struct registry *r, const char *dir, struct diag *d)
{
    uint32_t found;

    TRY(add_folder(r, dir, false, &found, d));
    if (found == 0)
        return FAIL(d, ST_USAGE, "--target-dir: found no target.json in '%s' nor in a folder of it",
                    dir);
    return ST_OK;
}

static enum status add_path(struct registry *r, const char *path, struct diag *d)
{
    uint32_t found;

    while (path && *path) {
        size_t n = strcspn(path, ":");
        if (n > 0)
            TRY(add_folder(r, arena_strndup(r->arena, path, n), true, &found, d));
        path += n + (path[n] == ':');
    }
    return ST_OK;
}

static const char *variable_or(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value && *value ? value : fallback;
}

/* Add the folders into which `cmake --install` puts targets: the user's prefix and the system's.
 * Relative folders are ignored, as the XDG specification requires. */
static enum status add_installed(struct registry *r, struct diag *d)
{
    const char *home = variable_or("HOME", ""),
               *dirs = arena_printf(
                   r->arena, "%s:%s",
                   variable_or("XDG_DATA_HOME", arena_printf(r->arena, "%s/.local/share", home)),
                   variable_or("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
    uint32_t found;

    while (*dirs) {
        const int n = (int)strcspn(dirs, ":");
        if (dirs[0] == '/')
            TRY(add_folder(r, arena_printf(r->arena, "%.*s/heddle/targets", n, dirs), true, &found,
                           d));
        dirs += n + (dirs[n] == ':');
    }
    return ST_OK;
}

enum status registry_add_environment(struct registry *r, struct diag *d)
{
    const char *home;
    struct diag inner = {0};

    TRY(add_path(r, getenv("HEDDLE_TARGET_PATH"), d));
    TRY(add_path(r, getenv("UMA_BACKENDS"), d));
    TRY(add_installed(r, d));
    if (home_find(r->arena, &home, &inner) != ST_OK)
        return ST_OK; /* the function that needs the home reports it */
    uint32_t found;
    return add_folder(r, arena_printf(r->arena, "%s/targets", home), true, &found, d);
}
