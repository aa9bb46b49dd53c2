/* file.h - read and write whole files. */
#ifndef HEDDLE_BASE_FILE_H
#define HEDDLE_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "status.h"

/* Read all of `path` (regular file, at most `max_bytes`). A NUL is put after the data. */
enum status file_read(struct arena *a, const char *path, size_t max_bytes, uint8_t **data,
                      size_t *n_bytes, struct diag *d);
/* Write `path` under a temporary name and rename it; a failure leaves no file. */
enum status file_write(const char *path, const void *data, size_t n_bytes, struct diag *d);
/* mkdir -p. */
enum status file_make_dirs(const char *path, struct diag *d);
/* mkdir -p, and lock the folder until close(*fd). A second process is refused with ST_USAGE. */
enum status file_lock_dir(const char *path, int *fd, struct diag *d);
/* Wait until no other process holds the lock of file `path`, and hold it until close(*fd). The file
 * is created if missing. ST_USAGE: it cannot be written or locked. */
enum status file_lock(const char *path, int *fd, struct diag *d);
/* Return `path` with every $NAME replaced by that environment variable. ST_USAGE: it is not set. */
enum status file_expand(struct arena *a, const char *path, const char **full, struct diag *d);
int file_exists(const char *path);

#endif
