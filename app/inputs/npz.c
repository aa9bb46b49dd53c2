/* npz.c - see npz.h: read the members of a ZIP archive, stored or deflated, from its central
 * directory. After PKWARE's APPNOTE.TXT, 4.3. Archives of 4 GiB and more (ZIP64) are refused. */
#include <string.h>
#include <zlib.h>

#include "npz.h"

enum {
    MAX_ARRAYS = 256,
    END_BYTES = 22,   /* bytes of the end record, without its comment of up to 65535 bytes */
    ENTRY_BYTES = 46, /* bytes of a member's directory entry, without its name */
    LOCAL_BYTES = 30  /* bytes of the header before its data, likewise */
};

struct members {
    struct arena *arena;
    const char *path;
    const uint8_t *file;
    size_t n_bytes;
    struct npz_array *array;
    uint32_t n;
    size_t left; /* bytes left to read */
    struct diag *d;
};

static uint32_t u16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const uint8_t *p)
{
    return u16(p) | u16(p + 2) << 16;
}

static enum status broken(struct members *m, const char *why)
{
    return FAIL(m->d, ST_USAGE, "%s: damaged .npz file: %s", m->path, why);
}

/* Return `n` bytes from `at` on if they begin with this signature; NULL: they do not. */
static const uint8_t *record(const struct members *m, size_t at, size_t n, const char *signature)
{
    return n <= m->n_bytes && at <= m->n_bytes - n && memcmp(m->file + at, signature, 4) == 0
               ? m->file + at
               : NULL;
}

static enum status inflate_data(struct members *m, const uint8_t *from, uint32_t n,
                                struct npz_array *to, uint8_t *data)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)from,
                  .avail_in = n,
                  .next_out = data,
                  .avail_out = (uInt)to->n_bytes};
    int rc = inflateInit2(&z, -MAX_WBITS);

    if (rc == Z_OK) {
        rc = inflate(&z, Z_FINISH);
        (void)inflateEnd(&z);
    }
    if (rc == Z_MEM_ERROR)
        return FAIL(m->d, ST_NO_MEMORY, "%s: out of memory", m->path);
    return rc == Z_STREAM_END && z.avail_out == 0 ? ST_OK : broken(m, "deflated data");
}

/* Read the data of directory entry `e` into an array. */
static enum status read_data(struct members *m, const uint8_t *e, struct npz_array *to)
{
    const uint32_t method = u16(e + 10), n = u32(e + 20);
    const size_t at = u32(e + 42);
    const uint8_t *local = record(m, at, LOCAL_BYTES, "PK\3\4");
    const size_t begin = local ? at + LOCAL_BYTES + u16(local + 26) + u16(local + 28) : 0;
    uint8_t *data;

    if (!local || n > m->n_bytes || begin > m->n_bytes - n)
        return broken(m, "a member is cut short");
    if ((u16(e + 8) & 1) != 0 || (method != 0 && method != 8))
        return FAIL(m->d, ST_USAGE,
                    "%s: array '%s': expected data stored or deflated, found method %u%s", m->path,
                    to->name, method, u16(e + 8) & 1 ? ", encrypted" : "");
    to->n_bytes = u32(e + 24);
    if (to->n_bytes > m->left)
        return FAIL(m->d, ST_USAGE, "%s: array '%s': its data exceed what heddle reads from a file",
                    m->path, to->name);
    m->left -= to->n_bytes;
    if (method == 0 && to->n_bytes != n)
        return broken(m, "sizes of a stored member");
    if (to->n_bytes / 1032 > (uint64_t)n + 1) /* more than deflate can expand to */
        return broken(m, "sizes of a deflated member");
    to->file = data = arena_alloc(m->arena, to->n_bytes + 1);
    if (method == 0)
        memcpy(data, m->file + begin, n);
    else
        TRY(inflate_data(m, m->file + begin, n, to, data));
    return crc32(0, data, (uInt)to->n_bytes) == u32(e + 16) ? ST_OK : broken(m, "a checksum");
}

static enum status add(struct members *m, const uint8_t *e)
{
    const char *name = arena_strndup(m->arena, (const char *)e + ENTRY_BYTES, u16(e + 28)),
               *dot = strrchr(name, '.');

    if (!dot || strcmp(dot, ".npy") != 0)
        return FAIL(m->d, ST_USAGE, "%s: member '%.200s' is no .npy file; expected arrays only",
                    m->path, name);
    if (m->n == MAX_ARRAYS)
        return FAIL(m->d, ST_USAGE, "%s: more than %d arrays", m->path, MAX_ARRAYS);
    m->array[m->n] =
        (struct npz_array){.name = arena_strndup(m->arena, name, (size_t)(dot - name))};
    return read_data(m, e, &m->array[m->n++]);
}

/* Find the record at the file's end; a comment may follow it. */
static const uint8_t *find_end(const struct members *m)
{
    for (size_t back = END_BYTES; back <= m->n_bytes && back <= END_BYTES + 65535; back++) {
        const uint8_t *end = record(m, m->n_bytes - back, END_BYTES, "PK\5\6");

        if (end && u16(end + 20) == back - END_BYTES)
            return end;
    }
    return NULL;
}

static enum status read_all(struct members *m)
{
    const uint8_t *end = find_end(m);

    if (!end)
        return broken(m, "no directory of a ZIP archive at its end");
    size_t at = u32(end + 16);
    for (uint32_t i = 0; i < u16(end + 10); i++) {
        const uint8_t *e = record(m, at, ENTRY_BYTES, "PK\1\2");
        const size_t n = e ? (size_t)ENTRY_BYTES + u16(e + 28) + u16(e + 30) + u16(e + 32) : 0;

        if (!e || !record(m, at, n, "PK\1\2"))
            return broken(m, "its directory is cut short");
        TRY(add(m, e));
        at += n;
    }
    return m->n ? ST_OK
                : FAIL(m->d, ST_USAGE, "%s: found no array, expected at least one", m->path);
}

enum status npz_read(struct arena *a, const char *path, const uint8_t *file, size_t n_bytes,
                     size_t max_bytes, struct npz_array **array, uint32_t *n, struct diag *d)
{
    struct members m = {
        .arena = a, .path = path, .file = file, .n_bytes = n_bytes, .left = max_bytes, .d = d};

    m.array = ARENA_ARRAY(a, struct npz_array, MAX_ARRAYS);
    TRY(read_all(&m));
    *array = m.array;
    *n = m.n;
    return ST_OK;
}
