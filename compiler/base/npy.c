/* npy.c - see npy.h. Format: numpy.lib.format, "\x93NUMPY", version, header length, a Python dict
 * as text. */
#include "npy.h"

#include <stdlib.h>
#include <string.h>

/* Text behind 'key': in the header, or NULL. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " :");
    return at;
}

static enum status element_type(const char *path, const char *header, struct npy *npy,
                                struct diag *d)
{
    const char *descr = value_of(header, "'descr'");
    if (!descr || (descr[0] != '\'' && descr[0] != '"') || !strchr("<|=", descr[1]) ||
        strlen(descr) < 5)
        return FAIL(d, ST_USAGE,
                    "%s: .npy element type: expected little-endian numbers such as '<f4' or '|i1'",
                    path);
    size_t n = strcspn(descr + 2, "'\"");
    if (n == 0 || n >= sizeof npy->type)
        return FAIL(d, ST_USAGE, "%s: .npy element type: expected numbers, found a structure",
                    path);
    memcpy(npy->type, descr + 2, n);
    npy->type[n] = '\0';
    const char *order = value_of(header, "'fortran_order'");
    if (!order || strncmp(order, "False", 5) != 0)
        return FAIL(d, ST_USAGE,
                    "%s: .npy is in Fortran order; save it with numpy.ascontiguousarray", path);
    return ST_OK;
}

enum status npy_parse(const char *path, const uint8_t *file, size_t n_bytes, struct npy *npy,
                      struct diag *d)
{
    char header[4096];
    if (n_bytes < 12 || memcmp(file, "\x93NUMPY", 6) != 0 || file[6] < 1 || file[6] > 3)
        return FAIL(d, ST_USAGE, "%s: not a .npy file of version 1 to 3", path);
    size_t start = file[6] == 1 ? 10 : 12, length = (size_t)file[8] | (size_t)file[9] << 8;
    if (file[6] > 1)
        length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (length >= sizeof header || start + length > n_bytes)
        return FAIL(d, ST_USAGE, "%s: .npy header of %zu bytes is cut short or too long", path,
                    length);
    memcpy(header, file + start, length);
    header[length] = '\0';
    TRY(element_type(path, header, npy, d));
    npy->data = file + start + length;
    npy->n_bytes = n_bytes - start - length;
    return ST_OK;
}
