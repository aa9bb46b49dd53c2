/* zip.h - the members of a ZIP archive, stored or deflated, from its central directory at the end
 * of the bytes: before it anything may be, as a TFLite model is before its associated files. */
#ifndef HEDDLE_INPUTS_ZIP_H
#define HEDDLE_INPUTS_ZIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* An archive; set all members but `left` alone, which zip_data lowers. */
struct zip {
    struct arena *arena;
    const char *path, *kind; /* for messages: "x.npz", ".npz file" */
    const uint8_t *file;
    size_t n_bytes;
    size_t left; /* bytes that may still be made of it */
    struct diag *d;
};

struct zip_member {
    const char *name;
    const uint8_t *entry; /* in the directory */
};

/* Return the archive's members, at most `most`, in its order. ST_USAGE: no archive, or damaged. */
enum status zip_members(struct zip *z, uint32_t most, struct zip_member **member, uint32_t *n);
/* Return the data of a member, checked by its checksum. */
enum status zip_data(struct zip *z, const struct zip_member *m, const uint8_t **data,
                     size_t *n_bytes);

#endif
