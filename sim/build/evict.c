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

void evict_cache(struct arena *a, const char *cache)
{
    DIR *const dir = opendir(cache);
    const time_t now = time(NULL);
    const struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const char *const path = arena_printf(a, "%s/%s", cache, entry->d_name);
        struct stat info;

        if (is_ours(entry->d_name) && lstat(path, &info) == 0 && now - info.st_mtime > KEEP_SECONDS)
            evict_tree(path);
    }
    if (dir != NULL)
        (void)closedir(dir);
}

struct file {
    const char *path;
    uint64_t bytes;
    time_t used;
};

static int latest_first(const void *a, const void *b)
{
    const struct file *const x = a, *const y = b;

    return x->used != y->used ? (x->used < y->used) - (x->used > y->used)
                              : strcmp(x->path, y->path);
}

/* List the files of `folder`; *n: their number. */
static struct file *list_files(struct arena *a, const char *folder, uint32_t *n)
{
    DIR *const dir = opendir(folder);
    const struct dirent *entry;
    struct file *file = NULL;
    uint32_t cap = 0;

    *n = 0;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const char *const path = arena_printf(a, "%s/%s", folder, entry->d_name);
        struct stat info;

        if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
            continue;
        ARENA_GROW(a, file, *n, &cap);
        file[(*n)++] = (struct file){path, (uint64_t)info.st_size, info.st_mtime};
    }
    if (dir != NULL)
        (void)closedir(dir);
    return file;
}

void evict_files(struct arena *a, const char *folder, uint64_t most)
{
    const time_t now = time(NULL);
    uint64_t bytes = 0;
    uint32_t n;
    struct file *const file = list_files(a, folder, &n);

    if (n > 1)
        qsort(file, n, sizeof *file, latest_first);
    for (uint32_t i = 0; i < n; i++) {
        bytes += file[i].bytes;
        if (bytes > most || now - file[i].used > KEEP_SECONDS)
            (void)remove(file[i].path);
    }
}
