/* zip.c - see zip.h. After PKWARE's APPNOTE.TXT, 4.3. Archives of 4 GiB and more (ZIP64) are
 * refused. */
#include "zip.h"

#include <string.h>
#include <zlib.h>

enum {
    END_BYTES = 22,   /* bytes of the end record, without its comment of up to 65535 bytes */
    ENTRY_BYTES = 46, /* bytes of a member's directory entry, without its name */
    LOCAL_BYTES = 30  /* bytes of the header before its data, likewise */
};

static uint32_t u16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const uint8_t *p)
{
    return u16(p) | u16(p + 2) << 16;
}

static enum status broken(struct zip *z, const char *why)
{
    return FAIL(z->d, ST_USAGE, "%s: damaged %s: %s", z->path, z->kind, why);
}

/* Return `n` bytes from `at` on if they begin with this signature; NULL: they do not. */
static const uint8_t *record(const struct zip *z, size_t at, size_t n, const char *signature)
{
    return n <= z->n_bytes && at <= z->n_bytes - n && memcmp(z->file + at, signature, 4) == 0
               ? z->file + at
               : NULL;
}

static enum status inflate_data(struct zip *z, const uint8_t *from, uint32_t n, uint8_t *data,
                                size_t n_bytes)
{
    z_stream s = {.next_in = (Bytef *)(uintptr_t)from,
                  .avail_in = n,
                  .next_out = data,
                  .avail_out = (uInt)n_bytes};
    int rc = inflateInit2(&s, -MAX_WBITS);

    if (rc == Z_OK) {
        rc = inflate(&s, Z_FINISH);
        (void)inflateEnd(&s);
    }
    if (rc == Z_MEM_ERROR)
        return FAIL(z->d, ST_NO_MEMORY, "%s: out of memory", z->path);
    return rc == Z_STREAM_END && s.avail_out == 0 ? ST_OK : broken(z, "deflated data");
}

enum status zip_data(struct zip *z, const struct zip_member *m, const uint8_t **data,
                     size_t *n_bytes)
{
    const uint8_t *e = m->entry;
    const uint32_t method = u16(e + 10), n = u32(e + 20);
    const size_t at = u32(e + 42), size = u32(e + 24);
    const uint8_t *local = record(z, at, LOCAL_BYTES, "PK\3\4");
    const size_t begin = local ? at + LOCAL_BYTES + u16(local + 26) + u16(local + 28) : 0;
    uint8_t *made;

    if (!local || n > z->n_bytes || begin > z->n_bytes - n)
        return broken(z, "a member is cut short");
    if ((u16(e + 8) & 1) != 0 || (method != 0 && method != 8))
        return FAIL(z->d, ST_USAGE,
                    "%s: member '%.200s': expected data stored or deflated, found method %u%s",
                    z->path, m->name, method, u16(e + 8) & 1 ? ", encrypted" : "");
    if (size > z->left)
        return FAIL(z->d, ST_USAGE,
                    "%s: member '%.200s': its data exceed what heddle reads from a file", z->path,
                    m->name);
    z->left -= size;
    if (method == 0 && size != n)
        return broken(z, "sizes of a stored member");
    if (size / 1032 > (uint64_t)n + 1) /* more than deflate can expand to */
        return broken(z, "sizes of a deflated member");
    made = arena_alloc(z->arena, size + 1);
    if (method == 0)
        memcpy(made, z->file + begin, n);
    else
        TRY(inflate_data(z, z->file + begin, n, made, size));
    *data = made;
    *n_bytes = size;
    return crc32(0, made, (uInt)size) == u32(e + 16) ? ST_OK : broken(z, "a checksum");
}

/* Find the record at the file's end; a comment may follow it. */
static const uint8_t *find_end(const struct zip *z)
{
    for (size_t back = END_BYTES; back <= z->n_bytes && back <= END_BYTES + 65535; back++) {
        const uint8_t *end = record(z, z->n_bytes - back, END_BYTES, "PK\5\6");

        if (end && u16(end + 20) == back - END_BYTES)
            return end;
    }
    return NULL;
}

enum status zip_members(struct zip *z, uint32_t most, struct zip_member **member, uint32_t *n)
{
    const uint8_t *end = find_end(z);

    if (!end)
        return broken(z, "no directory of a ZIP archive at its end");
    if (u16(end + 10) > most)
        return FAIL(z->d, ST_USAGE, "%s: expected at most %u members, found %u", z->path, most,
                    u16(end + 10));
    *n = u16(end + 10);
    *member = ARENA_ARRAY(z->arena, struct zip_member, *n + 1);
    size_t at = u32(end + 16);
    for (uint32_t i = 0; i < *n; i++) {
        const uint8_t *e = record(z, at, ENTRY_BYTES, "PK\1\2");
        const size_t size = e ? (size_t)ENTRY_BYTES + u16(e + 28) + u16(e + 30) + u16(e + 32) : 0;

        if (!e || !record(z, at, size, "PK\1\2"))
            return broken(z, "its directory is cut short");
        (*member)[i] = (struct zip_member){
            arena_strndup(z->arena, (const char *)e + ENTRY_BYTES, u16(e + 28)), e};
        at += size;
    }
    return ST_OK;
}
