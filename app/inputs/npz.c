/* npz.c - see npz.h: the members of a ZIP archive that are .npy files. */
#include <string.h>

#include "npz.h"
#include "zip.h"

enum { MAX_ARRAYS = 256 };

static enum status read_array(struct zip *z, const struct zip_member *m, struct npz_array *to)
{
    const char *dot = strrchr(m->name, '.');

    if (!dot || strcmp(dot, ".npy") != 0)
        return FAIL(z->d, ST_USAGE, "%s: member '%.200s' is no .npy file; expected arrays only",
                    z->path, m->name);
    to->name = arena_strndup(z->arena, m->name, (size_t)(dot - m->name));
    return zip_data(z, m, &to->file, &to->n_bytes);
}

enum status npz_read(struct arena *a, const char *path, const uint8_t *file, size_t n_bytes,
                     size_t max_bytes, struct npz_array **array, uint32_t *n, struct diag *d)
{
    struct zip z = {a, path, ".npz file", file, n_bytes, max_bytes, d};
    struct zip_member *member;

    TRY(zip_members(&z, MAX_ARRAYS, &member, n));
    *array = ARENA_ARRAY(a, struct npz_array, *n + 1);
    for (uint32_t i = 0; i < *n; i++)
        TRY(read_array(&z, &member[i], *array + i));
    return *n ? ST_OK : FAIL(d, ST_USAGE, "%s: found no array, expected at least one", path);
}
