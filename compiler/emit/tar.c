/* tar.c - see tar.h. */
#include "tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static la_ssize_t append(struct archive *a, void *ctx, const void *data, size_t n_bytes)
{
    (void)a;
    text_add_n(ctx, data, n_bytes);
    return (la_ssize_t)n_bytes;
}

static bool write_file(struct archive *a, const struct tar_file *f)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, f->path);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, (la_int64_t)f->n_bytes);
    bool done = archive_write_header(a, e) == ARCHIVE_OK &&
                archive_write_data(a, f->data, f->n_bytes) == (la_ssize_t)f->n_bytes;
    archive_entry_free(e);
    return done;
}

enum status tar_write(struct text *out, const struct tar_file *file, uint32_t n, struct diag *d)
{
    struct archive *a = archive_write_new();
    enum status st = ST_OK;

    archive_write_set_format_ustar(a);
    archive_write_set_bytes_per_block(a, 0); /* no padding after the end */
    if (archive_write_open(a, out, NULL, append, NULL) != ARCHIVE_OK)
        st = FAIL(d, ST_INTERNAL, "tar file: %s", archive_error_string(a));
    for (uint32_t i = 0; i < n && st == ST_OK; i++)
        if (!write_file(a, &file[i]))
            st = FAIL(d, ST_INTERNAL, "tar file: %s: %s", file[i].path, archive_error_string(a));
    if (st == ST_OK && archive_write_close(a) != ARCHIVE_OK)
        st = FAIL(d, ST_INTERNAL, "tar file: %s", archive_error_string(a));
    archive_write_free(a);
    return st;
}

/* A path that stays below where it is put. */
static bool path_is_safe(const char *path)
{
    size_t n = path ? strlen(path) : 0;

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

static enum status take_entry(struct archive *a, struct archive_entry *e, size_t n_bytes,
                              tar_take *take, void *ctx, struct diag *d)
{
    const char *path = archive_entry_pathname(e);

    la_int64_t size = archive_entry_size(e);
    if (archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e) || !path_is_safe(path))
        return FAIL(d, ST_USAGE,
                    "tar file: the entry at byte %lld is not a plain file with a path of its own "
                    "below the package; expected what heddle compile wrote",
                    (long long)archive_read_header_position(a));
    if (size < 0 || (uint64_t)size > n_bytes)
        return FAIL(d, ST_USAGE, "tar file: %s is cut short", path);
    void *data = malloc((size_t)size + 1);
    if (!data)
        return FAIL(d, ST_INTERNAL, "tar file: no memory for the %lld bytes of %s", (long long)size,
                    path);
    enum status st = archive_read_data(a, data, (size_t)size) == size
                         ? take(ctx, &(struct tar_file){path, data, (size_t)size}, d)
                         : FAIL(d, ST_USAGE, "tar file: %s is cut short", path);
    free(data);
    return st;
}

enum status tar_read(const uint8_t *tar, size_t n_bytes, tar_take *take, void *ctx, struct diag *d)
{
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    enum status st = ST_OK;

    archive_read_support_format_tar(a);
    int got = archive_read_open_memory(a, tar, n_bytes);
    while (got == ARCHIVE_OK && st == ST_OK &&
           (got = archive_read_next_header(a, &e)) == ARCHIVE_OK)
        st = take_entry(a, e, n_bytes, take, ctx, d);
    if (st == ST_OK && got != ARCHIVE_EOF)
        st = FAIL(d, ST_USAGE, "tar file: damaged: %s; expected what heddle compile wrote",
                  archive_error_string(a));
    archive_read_free(a);
    return st;
}
