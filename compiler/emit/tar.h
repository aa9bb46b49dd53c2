/* tar.h - a ustar archive as bytes: files only; written with mode 644, owner and time 0; read with
 * suspicion. */
#ifndef HEDDLE_EMIT_TAR_H
#define HEDDLE_EMIT_TAR_H

#include "../base/text.h"

/* Append one file. Its path has at most 100 bytes. */
enum status tar_add(struct text *t, const char *path, const void *data, size_t n_bytes,
                    struct diag *d);
void tar_end(struct text *t);

/* One file of an archive at *at, which moves behind it; *path is NULL at the end. Only plain files
 * with relative paths of letters, digits and "._-/" without a ".." are taken, checksums must hold,
 * and nothing is read beyond n_bytes: ST_USAGE says what is wrong with which entry. */
enum status tar_next(struct arena *a, const uint8_t *tar, size_t n_bytes, size_t *at,
                     const char **path, const uint8_t **data, size_t *size, struct diag *d);

#endif
