/* npz.h - read NumPy's .npz files: a ZIP archive of .npy files. */
#ifndef HEDDLE_INPUTS_NPZ_H
#define HEDDLE_INPUTS_NPZ_H

#include "base/npy.h"

/* An array of an .npz archive: a .npy file. */
struct npz_array {
    const char *name; /* the member's name, without .npy */
    const uint8_t *file;
    size_t n_bytes;
};

/* Read all arrays of an archive, in its order. ST_USAGE: no ZIP archive, a truncated one, members
 * that are no .npy, more than max_bytes in total, or no arrays. */
enum status npz_read(struct arena *a, const char *path, const uint8_t *file, size_t n_bytes,
                     size_t max_bytes, struct npz_array **array, uint32_t *n, struct diag *d);

#endif
