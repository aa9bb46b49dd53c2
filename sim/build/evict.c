/* evict.c - remove old models and old emitted C from the cache. */
#define _GNU_SOURCE
#include "evict.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { KEEP_SECONDS = 14 * 24 * 3600, HASH_DIGITS = 32 };

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

void evict_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void evict_touch(const char *folder)
{
    (void)utimensat(AT_FDCWD, folder, NULL, 0);
}

/* Return true for <hash>, <hash>.lock, <hash>.o or <hash>.part; other files in the cache are never
 * removed. */
static bool is_ours(const char *name)
{
    const char *const rest = name + strspn(name, "0123456789abcdef");

    return rest - name == HASH_DIGITS && (*rest == '\0' || strcmp(rest, ".lock") == 0 ||
                                          strcmp(rest, ".o") == 0 || strcmp(rest, ".part") == 0);
}

struct entry {
    const char *name, *path;
    uint64_t bytes;
    time_t used;
    bool file; /* a regular one */
};

static int latest_first(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;

    return x->used != y->used ? (x->used < y->used) - (x->used > y->used)
                              : strcmp(x->path, y->path);
}

/* List a folder; *n: the number of its entries. */
static struct entry *list(struct arena *a, const char *folder, uint32_t *n)
{
    DIR *const dir = opendir(folder);
    const struct dirent *found;
    struct entry *entry = NULL;
    uint32_t cap = 0;

    *n = 0;
    while (dir != NULL && (found = readdir(dir)) != NULL) {
        const char *const path = arena_printf(a, "%s/%s", folder, found->d_name);
        struct stat info;

        if (lstat(path, &info) != 0)
            continue;
        ARENA_GROW(a, entry, *n, &cap);
        entry[(*n)++] = (struct entry){arena_strdup(a, found->d_name), path, (uint64_t)info.st_size,
                                       info.st_mtime, S_ISREG(info.st_mode)};
    }
    if (dir != NULL)
        (void)closedir(dir);
    return entry;
}

static bool is_old(const struct entry *e)
{
    return time(NULL) - e->used > KEEP_SECONDS;
}

void evict_cache(struct arena *a, const char *cache)
{
    uint32_t n;
    const struct entry *const entry = list(a, cache, &n);

    for (uint32_t i = 0; i < n; i++)
        if (is_ours(entry[i].name) && is_old(&entry[i]))
            evict_tree(entry[i].path);
}

void evict_files(struct arena *a, const char *folder, uint64_t most)
{
    uint64_t bytes = 0;
    uint32_t n;
    struct entry *const entry = list(a, folder, &n);

    if (n > 1)
        qsort(entry, n, sizeof *entry, latest_first);
    for (uint32_t i = 0; i < n; i++) {
        if (!entry[i].file)
            continue;
        bytes += entry[i].bytes;
        if (bytes > most || is_old(&entry[i]))
            (void)remove(entry[i].path);
    }
}
