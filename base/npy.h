/* npy.h - read NumPy's .npy files, versions 1 to 3, C order, little-endian. */
#ifndef HEDDLE_BASE_NPY_H
#define HEDDLE_BASE_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "status.h"

#define NPY_MAX_RANK 32 /* NumPy's own */

struct npy {
    char type[8]; /* "i1", "u1", "f4", "i4", ... without the byte order */
    uint32_t rank;
    uint64_t dim[NPY_MAX_RANK];
    const uint8_t *data; /* within the file's bytes */
    size_t n_bytes;
};

/* Read the header of a file's bytes. ST_USAGE: not .npy, Fortran order, big-endian, truncated, a
 * key repeated or missing; `path` for messages. The caller, who knows the element's size, checks
 * n_bytes against the shape. */
enum status npy_parse(const char *path, const uint8_t *file, size_t n_bytes, struct npy *npy,
                      struct diag *d);

#endif
