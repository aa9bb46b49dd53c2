/* evict.c - remove old models and old emitted C from the cache. */
#define _GNU_SOURCE
#include "evict.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
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
