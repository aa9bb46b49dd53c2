/* tar.c - see tar.h. The header's fields are octal digits in ASCII, POSIX.1-1988 ("ustar"). */
#define _GNU_SOURCE
#include "tar.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 512u

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a tar header is one block");

static void checksum(struct header *h)
{
    const unsigned char *byte = (const unsigned char *)h;
    unsigned sum = 0;
    memset(h->checksum, ' ', sizeof h->checksum);
    for (size_t i = 0; i < BLOCK; i++)
        sum += byte[i];
    snprintf(h->checksum, sizeof h->checksum, "%06o", sum & 0777777u);
}

enum status tar_add(struct text *t, const char *path, const void *data, size_t n_bytes,
                    struct diag *d)
{
    static const char zeros[BLOCK];
    struct header h = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
    size_t n = strlen(path);
    if (n > sizeof h.name || n_bytes > 077777777777u)
        return FAIL(d, ST_INTERNAL, "%s: name or size is too large for a tar file", path);
    memcpy(h.name, path, n);
    snprintf(h.mode, sizeof h.mode, "%07o", 0644u);
    snprintf(h.uid, sizeof h.uid, "%07o", 0u);
    snprintf(h.gid, sizeof h.gid, "%07o", 0u);
    snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)n_bytes);
    snprintf(h.mtime, sizeof h.mtime, "%011o", 0u);
    checksum(&h);
    text_add_n(t, (const char *)&h, sizeof h);
    text_add_n(t, data, n_bytes);
    text_add_n(t, zeros, (BLOCK - n_bytes % BLOCK) % BLOCK);
    return ST_OK;
}

void tar_end(struct text *t)
{
    static const char zeros[2 * BLOCK];
    text_add_n(t, zeros, sizeof zeros);
}

/* Octal digits up to a NUL or a space; false if there is anything else. */
static bool octal(const char *field, size_t n, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < n && field[i] != '\0' && field[i] != ' '; i++) {
        if (field[i] < '0' || field[i] > '7')
            return false;
        *value = *value * 8 + (uint64_t)(field[i] - '0');
    }
    return true;
}

static bool checksum_holds(const struct header *h)
{
    struct header again = *h;
    uint64_t want, got;
    checksum(&again);
    return octal(h->checksum, sizeof h->checksum, &want) &&
           octal(again.checksum, sizeof again.checksum, &got) && want == got;
}

/* A path that stays below where it is put. */
static bool path_is_safe(const char *path)
{
    size_t n = strlen(path);
    if (n == 0 || path[0] == '/' || path[n - 1] == '/')
        return false;
    for (const char *p = path; *p; p++) {
        bool starts = p == path || p[-1] == '/';
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/", *p) ||
            (starts && (*p == '/' || (p[0] == '.' && p[1] == '.'))))
            return false;
    }
    return true;
}

static bool at_end(const uint8_t *tar, size_t n_bytes, size_t at)
{
    for (size_t i = at; i < n_bytes && i < at + BLOCK; i++)
        if (tar[i])
            return false;
    return true;
}

enum status tar_next(struct arena *a, const uint8_t *tar, size_t n_bytes, size_t *at,
                     const char **path, const uint8_t **data, size_t *size, struct diag *d)
{
    struct header h;
    uint64_t n;
    *path = NULL;
    if (at_end(tar, n_bytes, *at))
        return ST_OK;
    if (n_bytes - *at < BLOCK)
        return FAIL(d, ST_USAGE, "tar file: cut short at byte %zu", *at);
    memcpy(&h, tar + *at, sizeof h);
    if (memcmp(h.magic, "ustar", 6) != 0 || !checksum_holds(&h) ||
        !octal(h.size, sizeof h.size, &n))
        return FAIL(d, ST_USAGE, "tar file: the header at byte %zu is damaged", *at);
    *path = arena_strndup(a, h.name, strnlen(h.name, sizeof h.name));
    if (h.type != '0' || h.prefix[0] != '\0' || !path_is_safe(*path))
        return FAIL(d, ST_USAGE,
                    "tar file: the entry at byte %zu is not a plain file with a path of its own "
                    "below the package; expected what heddle compile wrote",
                    *at);
    if (n > n_bytes - *at - BLOCK)
        return FAIL(d, ST_USAGE, "tar file: %s is cut short", *path);
    *data = tar + *at + BLOCK;
    *size = (size_t)n;
    *at += BLOCK + ((size_t)n + BLOCK - 1) / BLOCK * BLOCK;
    *at = *at > n_bytes ? n_bytes : *at;
    return ST_OK;
}
