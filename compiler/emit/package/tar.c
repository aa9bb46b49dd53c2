/* tar.c - see tar.h. Writes headers of POSIX.1-1988; reads also the long names of GNU tar and of
 * POSIX.1-2001 (pax). */
#define _GNU_SOURCE
#include "tar.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 512, PATH = 1024 };

struct header {
    char path[100], mode[8], user[8], group[8], size[12], time[12], sum[8], type, link[100];
    char magic[6], version[2], user_name[32], group_name[32], major[8], minor[8], prefix[155];
    char rest[12];
};
static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* Return the sum of all bytes, with those of the checksum field counted as blanks. */
static unsigned sum_of(const struct header *h)
{
    const uint8_t *byte = (const uint8_t *)h;
    unsigned sum = ' ' * (unsigned)sizeof h->sum;

    for (size_t i = 0; i < BLOCK; i++)
        if (i < offsetof(struct header, sum) || i >= offsetof(struct header, type))
            sum += byte[i];
    return sum;
}

static size_t padding(size_t n_bytes)
{
    return (BLOCK - n_bytes % BLOCK) % BLOCK;
}

/* --- writing --- */

static void write_file(struct text *out, const struct tar_file *f)
{
    static const char zeros[BLOCK];
    struct header h = {.mode = "000644 ",
                       .user = "000000 ",
                       .group = "000000 ",
                       .type = '0',
                       .magic = "ustar",
                       .version = {'0', '0'},
                       .major = "000000 ",
                       .minor = "000000 "};
    char number[16];

    memcpy(h.path, f->path, strlen(f->path));
    (void)snprintf(number, sizeof number, "%011zo ", f->n_bytes);
    memcpy(h.size, number, sizeof h.size);
    memcpy(h.time, "00000000000 ", sizeof h.time);
    (void)snprintf(number, sizeof number, "%06o", sum_of(&h));
    memcpy(h.sum, number, 7);
    h.sum[7] = ' ';
    text_add_n(out, (const char *)&h, sizeof h);
    text_add_n(out, f->data, f->n_bytes);
    text_add_n(out, zeros, padding(f->n_bytes));
}

enum status tar_write(struct text *out, const struct tar_file *file, uint32_t n, struct diag *d)
{
    static const char end[2 * BLOCK];

    for (uint32_t i = 0; i < n; i++) {
        if (strlen(file[i].path) > sizeof((struct header *)0)->path)
            return FAIL(d, ST_INTERNAL, "tar file: %s: the name has more than 100 bytes",
                        file[i].path);
        if (file[i].n_bytes > 077777777777u)
            return FAIL(d, ST_NO_SPACE, "tar file: %s has 8 GiB or more", file[i].path);
        write_file(out, &file[i]);
    }
    text_add_n(out, end, sizeof end);
    return ST_OK;
}

/* --- reading --- */

struct reader {
    const uint8_t *tar;
    size_t n_bytes, at;     /* at: offset of the next header */
    char path[PATH], *next; /* `next`: long name in `name` for the next entry */
    char name[PATH];
    const uint8_t *data; /* of this entry */
    size_t size;
    struct diag *d;
};

static enum status damaged(const struct reader *r, const char *what)
{
    return FAIL(r->d, ST_USAGE,
                "tar file: damaged: the entry at byte %zu %s; expected what heddle compile wrote",
                r->at, what);
}

/* Read octal digits up to a blank or the field's end. */
static bool octal(const char *field, size_t n, uint64_t *value)
{
    size_t i = 0;

    *value = 0;
    while (i < n && field[i] == ' ')
        i++;
    for (; i < n && field[i] >= '0' && field[i] <= '7'; i++)
        *value = *value << 3 | (uint64_t)(field[i] - '0');
    return i == n || field[i] == ' ' || field[i] == '\0';
}

/* Return true if the path stays below the folder of extraction. */
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

/* Read the long name of the next entry. */
static enum status long_name(struct reader *r, const void *name, size_t n)
{
    if (n >= PATH)
        return damaged(r, "has a name of 1024 bytes or more");
    memcpy(r->name, name, n);
    r->name[n] = '\0';
    r->next = r->name;
    return ST_OK;
}

/* Read pax records "LENGTH KEY=VALUE\n"; only the path is used. */
static enum status extended(struct reader *r)
{
    const char *at = (const char *)r->data;
    size_t left = r->size;

    while (left > 0) {
        size_t n = 0, i = 0;
        for (; i < left && i < 9 && at[i] >= '0' && at[i] <= '9'; i++)
            n = 10 * n + (size_t)(at[i] - '0');
        if (i == 0 || i == left || at[i] != ' ' || n > left || n < i + 2 || at[n - 1] != '\n')
            return damaged(r, "has an extended header that is none");
        i++;
        if (n - i > 5 && memcmp(at + i, "path=", 5) == 0)
            TRY(long_name(r, at + i + 5, n - i - 6));
        at += n;
        left -= n;
    }
    return ST_OK;
}

static void find_path(struct reader *r, const struct header *h)
{
    const bool split = memcmp(h->magic, "ustar", sizeof h->magic) == 0 && h->prefix[0] != '\0';

    if (r->next != NULL)
        strcpy(r->path, r->next);
    else
        (void)snprintf(r->path, sizeof r->path, "%.*s%s%.*s", split ? (int)sizeof h->prefix : 0,
                       h->prefix, split ? "/" : "", (int)sizeof h->path, h->path);
    r->next = NULL;
}

static enum status take_entry(struct reader *r, const struct header *h, tar_take *take, void *ctx)
{
    switch (h->type) {
    case 'x': return extended(r);
    case 'g': return ST_OK; /* attributes of all entries, such as times and comments */
    case 'L': return long_name(r, r->data, strnlen((const char *)r->data, r->size));
    default: break;
    }
    find_path(r, h);
    if ((h->type != '0' && h->type != '\0') || !path_is_safe(r->path))
        return FAIL(r->d, ST_USAGE,
                    "tar file: the entry at byte %zu is not a plain file with a path of its own "
                    "below the package; expected what heddle compile wrote",
                    r->at);
    return take(ctx, &(struct tar_file){r->path, r->data, r->size}, r->d);
}

/* Read the header at r->at; set *end after the last entry. */
static enum status find_entry(struct reader *r, const struct header **h, bool *end)
{
    static const struct header none;
    const size_t left = r->n_bytes - r->at;
    uint64_t sum, size;

    *h = (const struct header *)(r->tar + r->at);
    *end = left == 0 || (left >= BLOCK && memcmp(*h, &none, BLOCK) == 0);
    if (*end)
        return ST_OK;
    if (left < BLOCK)
        return damaged(r, "is cut short");
    if (!octal((*h)->sum, sizeof(*h)->sum, &sum) || sum != sum_of(*h))
        return damaged(r, "has a wrong checksum");
    if (!octal((*h)->size, sizeof(*h)->size, &size))
        return damaged(r, "has a size that is no octal number");
    if (size > left - BLOCK)
        return damaged(r, "is cut short");
    r->data = r->tar + r->at + BLOCK;
    r->size = (size_t)size;
    return ST_OK;
}

enum status tar_read(const uint8_t *tar, size_t n_bytes, tar_take *take, void *ctx, struct diag *d)
{
    struct reader r = {.tar = tar, .n_bytes = n_bytes, .d = d};
    const struct header *h;
    bool end;

    for (;;) {
        TRY(find_entry(&r, &h, &end));
        if (end)
            return ST_OK;
        TRY(take_entry(&r, h, take, ctx));
        const size_t left = n_bytes - r.at - BLOCK - r.size, pad = padding(r.size);
        r.at += BLOCK + r.size + (pad < left ? pad : left);
    }
}
