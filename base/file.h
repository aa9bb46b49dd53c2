/* file.h - whole files in and out. */
#ifndef HEDDLE_BASE_FILE_H
#define HEDDLE_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "status.h"

/* Read all of `path` (regular file, at most `max_bytes`). A NUL is put after the data. */
enum status file_read(struct arena *a, const char *path, size_t max_bytes, uint8_t **data,
                      size_t *n_bytes, struct diag *d);
/* Write `path` by way of a temporary name and rename; on failure nothing is left after it. */
enum status file_write(const char *path, const void *data, size_t n_bytes, struct diag *d);
/* mkdir -p. */
enum status file_make_dirs(const char *path, struct diag *d);
/* mkdir -p, and lock the folder until close(*fd): a second process that asks is refused,
 * ST_USAGE. */
enum status file_lock_dir(const char *path, int *fd, struct diag *d);
/* Wait until no other process has the file `path` locked, and hold the lock until close(*fd).
 * Created where missing. ST_USAGE: it cannot be written or locked. */
enum status file_lock(const char *path, int *fd, struct diag *d);
/* `path` with every $NAME replaced by the environment variable of that name. ST_USAGE: not set. */
enum status file_expand(struct arena *a, const char *path, const char **full, struct diag *d);
int file_exists(const char *path);

#endif
