/* tar.c - see tar.h. The header's fields are octal digits in ASCII, POSIX.1-1988 ("ustar"). */
#include "tar.h"

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
