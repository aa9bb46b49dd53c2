/* npz.c - see npz.h: the members of a ZIP archive, by libarchive. */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "npz.h"

enum { MAX_ARRAYS = 256 };

struct members {
    struct arena *arena;
    const char *path;
    struct npz_array *array;
    uint32_t n;
    size_t left; /* bytes that may still come */
    struct diag *d;
};

static enum status broken(struct members *m, struct archive *a)
{
    const char *why = archive_error_string(a);

    return FAIL(m->d, ST_USAGE, "%s: damaged .npz file: %s", m->path, why ? why : "no archive");
}

/* Sizes in the archive may be missing or wrong: read until there is no more. */
static enum status read_data(struct members *m, struct archive *a, struct npz_array *to)
{
    size_t room = 65536;
    uint8_t *data = arena_alloc(m->arena, room);

    for (la_ssize_t n = 1; n > 0; to->n_bytes += (size_t)n) {
        if (to->n_bytes == room) {
            uint8_t *more = arena_alloc(m->arena, 2 * room);

            memcpy(more, data, room);
            data = more;
            room *= 2;
        }
        n = archive_read_data(a, data + to->n_bytes, room - to->n_bytes);
        if (n < 0)
            return broken(m, a);
        if ((size_t)n > m->left)
            return FAIL(m->d, ST_USAGE,
                        "%s: array '%s': its data exceed what heddle reads from a file", m->path,
                        to->name);
        m->left -= (size_t)n;
    }
    to->file = data;
    return ST_OK;
}

static enum status add(struct members *m, struct archive *a, const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;

    if (!dot || strcmp(dot, ".npy") != 0)
        return FAIL(m->d, ST_USAGE, "%s: member '%.200s' is no .npy file; expected arrays only",
                    m->path, name ? name : "");
    if (m->n == MAX_ARRAYS)
        return FAIL(m->d, ST_USAGE, "%s: more than %d arrays", m->path, MAX_ARRAYS);
    m->array[m->n] =
        (struct npz_array){.name = arena_strndup(m->arena, name, (size_t)(dot - name))};
    return read_data(m, a, &m->array[m->n++]);
}

static enum status read_all(struct members *m, struct archive *a)
{
    struct archive_entry *e;
    int rc;

    while ((rc = archive_read_next_header(a, &e)) == ARCHIVE_OK)
        TRY(add(m, a, archive_entry_pathname(e)));
    if (rc != ARCHIVE_EOF)
        return broken(m, a);
    return m->n ? ST_OK
                : FAIL(m->d, ST_USAGE, "%s: found no array, expected at least one", m->path);
}

enum status npz_read(struct arena *a, const char *path, const uint8_t *file, size_t n_bytes,
                     size_t max_bytes, struct npz_array **array, uint32_t *n, struct diag *d)
{
    struct members m = {.arena = a, .path = path, .left = max_bytes, .d = d};
    struct archive *zip = archive_read_new();
    enum status st;

    if (!zip)
        return FAIL(d, ST_NO_MEMORY, "out of memory");
    m.array = ARENA_ARRAY(a, struct npz_array, MAX_ARRAYS);
    archive_read_support_format_zip(zip);
    st = archive_read_open_memory(zip, file, n_bytes) == ARCHIVE_OK ? read_all(&m, zip)
                                                                    : broken(&m, zip);
    archive_read_free(zip);
    *array = m.array;
    *n = m.n;
    return st;
}
