/* tar.h - a ustar archive as bytes, plain files only. Written with mode 644, owner and time 0, so
 * that equal files give equal bytes. Read with every field checked. */
#ifndef HEDDLE_COMPILER_EMIT_PACKAGE_TAR_H
#define HEDDLE_COMPILER_EMIT_PACKAGE_TAR_H

#include "base/text.h"

struct tar_file {
    const char *path; /* relative, at most 100 bytes */
    const void *data;
    size_t n_bytes;
};

/* Append an archive of `n` files to `out`. */
enum status tar_write(struct text *out, const struct tar_file *file, uint32_t n, struct diag *d);

/* Call `take` with each file of an archive. Only plain files with relative paths of letters, digits
 * and "._-/" without a ".." are taken; on ST_USAGE the message names the entry and its fault. The
 * data are valid during the call only. */
typedef enum status tar_take(void *ctx, const struct tar_file *file, struct diag *d);
enum status tar_read(const uint8_t *tar, size_t n_bytes, tar_take *take, void *ctx, struct diag *d);

#endif
