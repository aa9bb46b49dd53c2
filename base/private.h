/* private.h - the owner of a file. Objects in the cache are executed, so they count only if the
 * user or root wrote them and no other user can. Checks are on open descriptors: what was
 * checked is what is used. */
#ifndef HEDDLE_BASE_PRIVATE_H
#define HEDDLE_BASE_PRIVATE_H

#include <stdbool.h>

#include "arena.h"
#include "status.h"

/* Make the folder `path` (mode 0700, those above it as usual) if it does not exist. One of the
 * user's own that others can write is made 0700. ST_USAGE: it, or a link that leads to it, is
 * another user's, or it is root's and others can write it; the message states what to do. */
enum status private_dir(const char *path, struct diag *d);
/* The same for `below`, "host/<hash>", part by part, none of them a link. */
enum status private_dirs(struct arena *a, const char *path, const char *below, struct diag *d);

/* Open the file for reading into *fd; -1 if there is none. ST_USAGE: it is a link, no regular file,
 * another user's, or others can write it. */
enum status private_open(const char *path, int *fd, struct diag *d);

/* file_write, mode 0600. */
enum status private_write(const char *path, const void *data, size_t n_bytes, struct diag *d);

/* Return true if the file exists and private_open would take it. */
bool private_file(const char *path);

#endif
